//! Numbers by which tests tell the processes apart that run side by side.
//!
//! A suite that is meant for several processes keeps its databases and ports apart by the number of
//! its process. Two environments that live at the same time never have the same one, and numbers are
//! used again, so that few databases are made.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::lock::locked;

/// The number of the suite's own process.
pub(super) const OF_MAIN: u32 = 0;

/// The numbers in use.
#[derive(Debug)]
pub(super) struct WorkerNumbers(Mutex<BTreeSet<u32>>);

impl WorkerNumbers {
    /// The numbers that are left beside that of the suite's own process.
    pub(super) fn beside_the_main_one() -> Arc<Self> {
        Arc::new(Self(Mutex::new(BTreeSet::from([OF_MAIN]))))
    }

    /// The smallest number that nobody has, until it is dropped.
    pub(super) fn take(self: &Arc<Self>) -> WorkerNumber {
        let mut used = locked(&self.0);
        let number = (0..).find(|number| !used.contains(number)).unwrap_or(u32::MAX);
        used.insert(number);
        WorkerNumber { number, of: Arc::clone(self) }
    }
}

/// The number of one environment.
#[derive(Debug)]
pub(super) struct WorkerNumber {
    number: u32,
    of: Arc<WorkerNumbers>,
}

impl WorkerNumber {
    /// The number itself.
    pub(super) fn get(&self) -> u32 {
        self.number
    }
}

impl Drop for WorkerNumber {
    fn drop(&mut self) {
        locked(&self.of.0).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again_and_never_twice_at_a_time() {
        let numbers = WorkerNumbers::beside_the_main_one();
        let (one, two) = (numbers.take(), numbers.take());
        assert_eq!((one.get(), two.get()), (1, 2));
        drop(one);
        assert_eq!(numbers.take().get(), 1);
        assert_eq!(two.get(), 2);
    }
}
