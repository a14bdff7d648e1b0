//! One run, read from its reports into the history.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use flakeproof_core::{Attempt, History, HistoryError, IdRules, RunRecord};
use flakeproof_runner::Cancel;
use flakeproof_runner::reports::{Format, Places, read_each};

use super::gathering::Gathering;
use super::report_files::{Report, unreadable};
use super::{Remarks, TestCounts};
use crate::problem::Problem;
use crate::view;

/// So many attempts are kept in one transaction.
const BATCH: usize = 4_096;

/// So many batches wait while the history is written.
const WAITING: usize = 4;

/// How much is read at once.
const AT_ONCE: usize = 256 * 1024;

/// What a run is read with.
pub(super) struct Reading<'a> {
    pub(super) reports: &'a [&'a Report],
    pub(super) groups: Vec<u32>,
    pub(super) rules: Option<IdRules>,
    pub(super) places: Places,
    pub(super) cancel: Cancel,
    pub(super) progress: &'a view::IngestProgress,
}

/// What came of it.
pub(super) enum Ended {
    Whole(TestCounts, Remarks),
    Interrupted,
}

/// Why it did not work.
pub(super) enum Trouble {
    File(Problem),
    History(HistoryError),
}

impl Reading<'_> {
    /// Read all reports and keep nothing.
    pub(super) fn dry(self) -> Result<Ended, Trouble> {
        self.read(&mut |_| {})
    }

    /// Read all reports into the history. Reading and writing go on side by side.
    pub(super) fn into_history(
        self,
        run: &RunRecord,
        history: &mut dyn History,
    ) -> Result<Ended, Trouble> {
        history.begin(run).map_err(Trouble::History)?;
        let read = std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING);
            let keeper = scope.spawn(|| keep(receiver, &mut *history));
            let mut batches = Batches { sender, batch: Vec::with_capacity(BATCH) };
            let read = self.read(&mut |attempt| batches.add(attempt));
            batches.send();
            drop(batches);
            let kept = keeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            kept.map_err(Trouble::History).and(read)
        })?;
        // A run without a test is not kept: read again, it must not pass for one that is known.
        if let Ended::Whole(tests, _) = &read
            && tests.all() > 0
        {
            // The run took as long as its tests did together; nobody knows better.
            history.close(std::time::Duration::ZERO).map_err(Trouble::History)?;
        }
        Ok(read)
    }

    fn read(self, keep: &mut dyn FnMut(Attempt)) -> Result<Ended, Trouble> {
        let mut gathering = Gathering::new(self.rules, self.places, self.groups, keep);
        for (number, report) in (0..).zip(self.reports) {
            let name = &report.input.name;
            let input = report
                .input
                .open()
                .map_err(|error| Trouble::File(unreadable(Path::new(name), &error)))?;
            let watched = Watched {
                input: BufReader::with_capacity(AT_ONCE, input),
                cancel: &self.cancel,
                progress: self.progress,
            };
            let is_tap = report.format == Format::Tap;
            let read = read_each(watched, None, &mut |mut test| {
                // TAP names the file of failures only, and an id must not depend on the outcome.
                test.file = test.file.filter(|_| !is_tap);
                gathering.take(test, number);
            });
            match read {
                Ok(issues) => {
                    let named = issues.into_iter().map(|issue| (name.clone(), issue));
                    gathering.remarks.issues.extend(named);
                }
                Err(_) if self.cancel.is_cancelled() => return Ok(Ended::Interrupted),
                Err(error) => return Err(Trouble::File(unreadable(Path::new(name), &error))),
            }
        }
        gathering.finish();
        Ok(Ended::Whole(gathering.counts, gathering.remarks))
    }
}

/// Attempts on their way to the history.
struct Batches {
    sender: SyncSender<Vec<Attempt>>,
    batch: Vec<Attempt>,
}

impl Batches {
    fn add(&mut self, attempt: Attempt) {
        self.batch.push(attempt);
        if self.batch.len() >= BATCH {
            self.send();
        }
    }

    fn send(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // Who keeps them is gone only with an error, which is seen when it is joined.
        let _ = self.sender.send(batch);
    }
}

fn keep(batches: Receiver<Vec<Attempt>>, history: &mut dyn History) -> Result<(), HistoryError> {
    batches.into_iter().try_for_each(|batch| history.record(&batch))
}

/// Input that counts for the progress and ends with an error when the user interrupts.
struct Watched<'a> {
    input: BufReader<Box<dyn io::Read + 'a>>,
    cancel: &'a Cancel,
    progress: &'a view::IngestProgress,
}

impl io::Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Watched<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.input.buffer().is_empty() {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("interrupted"));
            }
            let filled = self.input.fill_buf()?.len();
            self.progress.read(filled as u64);
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }
}
