//! A finder that gives up on a file after a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakeproof_syntax::Finder;

/// A file that takes longer to parse is garbage.
const LONGEST_PARSE: Duration = Duration::from_secs(2);

/// A finder that gives up on a file after a while.
pub(super) struct PatientFinder {
    finder: Finder,
    begin: Instant,
    deadline: Arc<AtomicU64>,
}

impl PatientFinder {
    /// One for each thread.
    pub(super) fn new() -> Self {
        let begin = Instant::now();
        let deadline = Arc::new(AtomicU64::new(0));
        let until = Arc::clone(&deadline);
        let stop = move || milliseconds(begin.elapsed()) > until.load(Ordering::Relaxed);
        Self { finder: Finder::default().stopping_when(stop), begin, deadline }
    }

    /// The finder for one more file, which may take its time from now on.
    pub(super) fn for_next_file(&mut self) -> &mut Finder {
        let until = milliseconds(self.begin.elapsed() + LONGEST_PARSE);
        self.deadline.store(until, Ordering::Relaxed);
        &mut self.finder
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
