//! The server: listens, cuts off who takes too much, and ends when it is told to.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;

use crate::gate::Gate;
use crate::responder::Responder;
use crate::room::{Line, Room};
use crate::{Limits, Settings, Shutdown, Source};

/// The most bytes that the head of a request may have.
const HEAD_BYTES: usize = 16 * 1024;

/// The most headers that a request may have.
const HEAD_LINES: usize = 64;

/// Threads that may wait for the history at the same time.
const READERS: usize = 8;

/// How long to wait where no connection can be taken, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others could reach the server, and nothing keeps them out.
    #[error("{address} can be reached from other machines, and there is no token")]
    Exposed {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The operating system refuses what a server needs.
    #[error("cannot run a server")]
    Run(#[from] io::Error),
}

impl Server {
    /// Listen, but do not answer yet.
    ///
    /// # Errors
    /// When the address cannot be had, or is not a loopback address and there is no token.
    pub fn bind(settings: Settings) -> Result<Self, Error> {
        let address = settings.address;
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(Error::Exposed { address });
        }
        let listen = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, settings })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answer until told to stop.
    ///
    /// # Errors
    /// When the operating system refuses what a server needs.
    pub fn serve(self, source: impl Source, shutdown: Shutdown) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(READERS)
            .build()?;
        let ended = runtime.block_on(self.answer(source, shutdown));
        // Who is still reading the history changes nothing, and need not be waited for.
        runtime.shutdown_background();
        ended
    }

    async fn answer(self, source: impl Source, mut shutdown: Shutdown) -> Result<(), Error> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let gate = Gate { address: self.address, token: self.settings.token };
        let responder = Arc::new(Responder::new(gate, source));
        let limits = self.settings.limits;
        let mut room = Room::new(limits.connections);
        let open = GracefulShutdown::new();
        loop {
            let next = async {
                let accepted = listener.accept().await;
                (room.enter().await, accepted)
            };
            tokio::select! {
                () = shutdown.requested() => break,
                ((permit, line), accepted) = next => match accepted {
                    Ok((stream, _)) => {
                        let talk = open.watch(talk(&responder, stream, limits, &line));
                        tokio::spawn(async move {
                            // A client that goes away, or is cut off, is not our trouble.
                            tokio::select! {
                                _ = tokio::time::timeout(limits.connection_time, talk) => {}
                                () = line.is_cut() => {}
                            }
                            drop(permit);
                        });
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
            }
        }
        drop(listener);
        let _ = tokio::time::timeout(limits.grace, open.shutdown()).await;
        Ok(())
    }
}

/// The talk with one client, which goes on as it is polled.
fn talk<S: Source>(
    responder: &Arc<Responder<S>>,
    stream: TcpStream,
    limits: Limits,
    line: &Arc<Line>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<S> {
    let (responder, line) = (Arc::clone(responder), Arc::clone(line));
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (responder, line) = (Arc::clone(&responder), Arc::clone(&line));
        async move {
            let _answering = line.answering();
            Ok::<_, Infallible>(responder.respond(request.into_parts().0).await)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service)
}
