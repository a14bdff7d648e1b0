//! Trials that start side by side and run their tests one after the other.
//!
//! A new interpreter spends most of its life importing. Several can do that at the same time; their
//! tests still run in turns, so that they meet neither each other's files nor each other's ports, and
//! find what those before them left.

use std::sync::{Condvar, Mutex, PoisonError};

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct TurnLock {
    /// So many are done.
    done: Mutex<usize>,
    changed: Condvar,
}

impl TurnLock {
    /// Wait until so many are done.
    pub(super) fn wait_for(&self, number: usize) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let _turn = self.changed.wait_while(done, |done| *done < number);
    }

    /// One more is done.
    pub(super) fn pass_on(&self) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }
}

/// A place among trials that take turns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub(super) turns: &'a TurnLock,
    pub(super) number: usize,
}

impl Turn<'_> {
    /// Wait for it.
    pub(super) fn wait(self) {
        self.turns.wait_for(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_waits_for_those_before() {
        let (turns, order) = (TurnLock::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for number in (0..5).rev() {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    Turn { turns, number }.wait();
                    order.lock().unwrap().push(number);
                    turns.pass_on();
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4]);
    }
}
