//! The server over standard input and output, as a client starts it.
//!
//! The end of the input is the end of the client: experiments are told at once, and not only when answers
//! that are on their way have been written.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::handler::{Handler, Shared};
use crate::project::{Permissions, Project};
use crate::{Error, Shutdown};

/// Answer the client at standard input and output until it is gone, or until told to stop.
///
/// Returns when nothing runs any more that was started here.
///
/// # Errors
/// When the operating system refuses what a server needs, or the client does not begin as the protocol has it.
pub fn serve_stdio(
    project: Arc<dyn Project>,
    permissions: Permissions,
    shutdown: &Shutdown,
) -> Result<(), Error> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let shared = Arc::new(Shared::new(project, permissions));
    let ended = runtime.block_on(answer(Arc::clone(&shared), shutdown.0.clone()));
    shared.close();
    // A thread that still waits for input is not worth waiting for.
    runtime.shutdown_background();
    ended
}

async fn answer(shared: Arc<Shared>, stop: CancellationToken) -> Result<(), Error> {
    let gone = stop.child_token();
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let input = UntilGone { input, gone: gone.clone() };
    let handler = Handler::new(shared, gone);
    let begun = tokio::select! {
        begun = handler.serve_with_ct((input, output), stop.clone()) => begun,
        () = stop.cancelled() => return Ok(()),
    };
    match begun {
        Ok(service) => {
            let _ = service.waiting().await;
            Ok(())
        }
        // A client that looks in and leaves is none that did something wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Error::Greeting(error.to_string())),
    }
}

/// An input that tells when it ends.
struct UntilGone<R> {
    input: R,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilGone<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        let has_ended = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if has_ended {
            self.gone.cancel();
        }
        polled
    }
}
