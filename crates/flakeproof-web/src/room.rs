//! Room for a number of clients, in which nobody can sit and keep others out.
//!
//! A client that is not being answered, because it has not finished its request, says nothing, or
//! does not read, gives its place to the next one when all places are taken: the one that came first
//! goes first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Room for a number of clients.
#[derive(Debug)]
pub(crate) struct Room {
    places: Arc<Semaphore>,
    /// Those who are there, the first first.
    clients: VecDeque<Arc<Client>>,
}

/// A client, as long as it has a place.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Requests that are being answered.
    answering: AtomicUsize,
    cut: Notify,
}

/// Held as long as a request is being answered.
#[derive(Debug)]
pub(crate) struct Answering<'a>(&'a Client);

impl Room {
    /// An empty room with so many places.
    pub(crate) fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), clients: VecDeque::new() }
    }

    /// A place, at once if somebody there can be cut off.
    pub(crate) async fn enter(&mut self) -> (Option<OwnedSemaphorePermit>, Arc<Client>) {
        // Those who left are known here only.
        self.clients.retain(|client| Arc::strong_count(client) > 1);
        let permit = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => {
                self.cut_the_first();
                // The semaphore is never closed, so there is always a permit in the end.
                Arc::clone(&self.places).acquire_owned().await.ok()
            }
        };
        let client = Arc::new(Client::default());
        self.clients.push_back(Arc::clone(&client));
        (permit, client)
    }

    fn cut_the_first(&mut self) {
        if let Some(at) = self.clients.iter().position(|client| !client.is_answered())
            && let Some(client) = self.clients.remove(at)
        {
            client.cut.notify_one();
        }
    }
}

impl Client {
    /// Note that a request is being answered.
    pub(crate) fn answering(&self) -> Answering<'_> {
        self.answering.fetch_add(1, Ordering::Relaxed);
        Answering(self)
    }

    /// Wait until somebody else needs the place.
    pub(crate) async fn is_cut(&self) {
        self.cut.notified().await;
    }

    fn is_answered(&self) -> bool {
        self.answering.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}
