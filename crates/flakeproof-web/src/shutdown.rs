//! How another thread, such as one that waits for Ctrl-C, ends the server.

use tokio::sync::watch;

/// Ends a server.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

/// What a server waits for. If all its [`Stopper`]s are gone, nothing ends it.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// A way to end a server, and what the server waits for.
#[must_use]
pub fn shutdown() -> (Stopper, Shutdown) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Shutdown(receiver))
}

impl Stopper {
    /// End the server: no new requests, and a short time for open ones.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Come back when the server is to end.
    pub(crate) async fn requested(&mut self) {
        if self.0.wait_for(|is_over| *is_over).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
