//! A finder that gives up on a file after a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeproof_syntax::Finder;

/// A file that takes longer to parse is garbage, when somebody waits for an answer.
pub(super) const WHILE_SOMEBODY_WAITS: Duration = Duration::from_secs(2);
/// The same, when models are trained or measured: what is read should then depend on the files and
/// not on how busy the machine is.
pub(super) const FOR_TRAINING: Duration = Duration::from_secs(120);

/// A finder that gives up on a file after a while.
pub(super) struct FinderWithDeadline {
    finder: Finder,
    begin: Instant,
    deadline: Arc<AtomicU64>,
    longest: Duration,
}

impl FinderWithDeadline {
    /// One for each thread, for somebody who waits.
    pub(super) fn new() -> Self {
        Self::giving_up_after(WHILE_SOMEBODY_WAITS)
    }

    /// One for each thread, which gives up on a file after this time.
    pub(super) fn giving_up_after(longest: Duration) -> Self {
        let begin = Instant::now();
        let deadline = Arc::new(AtomicU64::new(0));
        let until = Arc::clone(&deadline);
        let stop = move || milliseconds(begin.elapsed()) > until.load(Ordering::Relaxed);
        Self { finder: Finder::default().stopping_when(stop), begin, deadline, longest }
    }

    /// The finder for one more file, which may take its time from now on.
    pub(super) fn for_next_file(&mut self) -> &mut Finder {
        let until = milliseconds(self.begin.elapsed() + self.longest);
        self.deadline.store(until, Ordering::Relaxed);
        &mut self.finder
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
