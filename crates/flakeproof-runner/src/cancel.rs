//! Ctrl-C as a value.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, never};

/// Tells long work that it should stop. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Cancel {
    /// Disconnects when the work should stop.
    signal: Receiver<()>,
}

/// The other end of a [`Cancel`].
#[derive(Debug, Clone)]
pub struct Canceller {
    sender: Arc<Mutex<Option<Sender<()>>>>,
}

impl Cancel {
    /// A pair: whoever holds the second half waits, the first half ends the wait.
    #[must_use]
    pub fn new() -> (Canceller, Self) {
        let (sender, signal) = bounded(0);
        (Canceller { sender: Arc::new(Mutex::new(Some(sender))) }, Self { signal })
    }

    /// Work that nobody interrupts.
    #[must_use]
    pub fn never() -> Self {
        Self { signal: never() }
    }

    /// Whether the work should stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.signal.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Wait this long, or until the work should stop.
    pub fn wait(&self, time: std::time::Duration) {
        if !time.is_zero() {
            // Nothing is ever sent: the wait ends by its time, or because the other half is gone.
            let _ = self.signal.recv_timeout(time);
        }
    }

    /// The same, and also after this time.
    #[must_use]
    pub fn or_after(&self, time: std::time::Duration) -> Self {
        let (canceller, cancel) = Self::new();
        let sooner = self.clone();
        std::thread::spawn(move || {
            sooner.wait(time);
            canceller.cancel();
        });
        cancel
    }

    /// A channel that becomes ready when the work should stop.
    pub(crate) fn signal(&self) -> &Receiver<()> {
        &self.signal
    }
}

impl Canceller {
    /// End all work that waits on the other half.
    pub fn cancel(&self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clone_sees_the_interrupt() {
        let (canceller, cancel) = Cancel::new();
        let other = cancel.clone();
        assert!(!cancel.is_cancelled());
        canceller.cancel();
        assert!(cancel.is_cancelled());
        assert!(other.is_cancelled());
    }

    #[test]
    fn work_with_a_limit_ends_by_it_or_by_the_interrupt() {
        let hour = std::time::Duration::from_secs(3600);
        let (canceller, user) = Cancel::new();
        let (short, long) = (user.or_after(std::time::Duration::ZERO), user.or_after(hour));
        short.wait(hour);
        assert!(short.is_cancelled() && !user.is_cancelled() && !long.is_cancelled());
        canceller.cancel();
        long.wait(hour);
        assert!(long.is_cancelled());
    }
}
