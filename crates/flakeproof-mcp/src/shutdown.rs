//! The end of a server, from a thread such as one that waits for Ctrl-C.

use tokio_util::sync::CancellationToken;

/// Ends a server.
#[derive(Debug, Clone)]
pub struct Stopper(CancellationToken);

impl Stopper {
    /// End the server and every experiment that it runs.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// What a server waits for. If all its [`Stopper`]s are gone, nothing ends it.
#[derive(Debug, Clone)]
pub struct Shutdown(pub(crate) CancellationToken);

/// A way to end a server, and what the server waits for.
#[must_use]
pub fn shutdown() -> (Stopper, Shutdown) {
    let token = CancellationToken::new();
    (Stopper(token.clone()), Shutdown(token))
}
