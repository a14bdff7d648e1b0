//! How every test fared in every run: what scores are reckoned from and pages draw.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Outcome, Tally, TestId, TrackRecord, Verdict};

/// So many attempts say how long a test takes: enough to leave out one that was slowed down, few enough
/// to follow when the test changes.
const LATEST: usize = 5;

/// How every test fared in every run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The runs, oldest first.
    pub runs: Vec<PastRun>,
    /// The tests, with what the runs saw of them.
    pub tests: Vec<TestTimeline>,
    /// The tests that are left out, in each run; empty where none is.
    pub others: Vec<LeftOut>,
}

/// Tests of a run of which a timeline says no more than how many they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// They passed at their first attempt.
    pub passed: u32,
    /// They failed at their first attempt, in an [outage](crate::Outage) that is over.
    pub failed: u32,
    /// They were skipped.
    pub skipped: u32,
}

/// A run as the history remembers it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PastRun {
    /// Its id.
    pub id: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// How long it took, as far as that is known.
    pub duration: Duration,
    /// The revision that ran.
    pub revision: Option<String>,
    /// The branch that ran.
    pub branch: Option<String>,
    /// The job of a CI system that ran it.
    pub job: Option<String>,
    /// Runs with the same number ran the same code in the same surroundings; `None` where nobody
    /// knows what exactly ran.
    pub code: Option<u32>,
}

/// One test through all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TestTimeline {
    /// The test.
    pub test: TestId,
    /// What runs saw of it, oldest first; a run that did not have it has no mark.
    pub marks: Vec<Mark>,
}

/// What one run saw of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The run, as an index into [`Timeline::runs`].
    pub run: u32,
    /// How its first attempt ended.
    pub outcome: Outcome,
    /// What came of running it again in the same run.
    pub again: Again,
    /// What its failure was found to be.
    pub verdict: Option<Verdict>,
    /// How long its first attempt took, in milliseconds.
    pub milliseconds: u32,
    /// How long running it again took, in milliseconds.
    pub again_milliseconds: u32,
}

/// What came of running a test again in the same run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Again {
    /// It was not run again.
    #[default]
    Never,
    /// It passed at least once.
    Passed,
    /// It failed every time.
    Failed,
}

impl Mark {
    /// What a run saw of a test at its first attempt.
    #[must_use]
    pub fn first(run: u32, outcome: Outcome, took: Duration) -> Self {
        Self {
            run,
            outcome,
            again: Again::Never,
            verdict: None,
            milliseconds: rounded(took),
            again_milliseconds: 0,
        }
    }

    /// Count a rerun in the same run.
    pub fn rerun(&mut self, outcome: Outcome, took: Duration) {
        self.again_milliseconds = self.again_milliseconds.saturating_add(rounded(took));
        self.again = match (self.again, outcome) {
            (Again::Passed, _) | (_, Outcome::Passed) => Again::Passed,
            (again, Outcome::Skipped) => again,
            _ => Again::Failed,
        };
    }

    /// Whether it failed at first.
    #[must_use]
    pub fn has_failed(self) -> bool {
        self.outcome.is_failure()
    }

    /// Whether the code that ran is shown to let it pass.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.outcome == Outcome::Passed || self.again == Again::Passed
    }
}

fn rounded(duration: Duration) -> u32 {
    u32::try_from((duration.as_micros() + 500) / 1000).unwrap_or(u32::MAX)
}

impl Timeline {
    /// How each test fared over all runs.
    #[must_use]
    pub fn track_records(&self) -> BTreeMap<TestId, TrackRecord> {
        let record = |test: &TestTimeline| {
            let mut record = TrackRecord::default();
            for mark in &test.marks {
                record.passes += u32::from(mark.outcome == Outcome::Passed);
                record.failures += u32::from(mark.has_failed());
                record.flaky += u32::from(mark.verdict.is_some_and(Verdict::is_shown_flaky));
            }
            (test.test.clone(), record)
        };
        self.tests.iter().map(record).collect()
    }

    /// How often each test ran and failed at its first attempt on one state of the code: on the one
    /// on which it did both, else on the one on which it ran most often, else on the latest. Code that
    /// is not wholly known may have changed unseen and does not count.
    #[must_use]
    pub fn tallies(&self) -> BTreeMap<TestId, Tally> {
        let of_test = |test: &TestTimeline| {
            let mut by_code: BTreeMap<u32, (Tally, u32)> = BTreeMap::new();
            for mark in test.marks.iter().filter(|mark| mark.outcome != Outcome::Skipped) {
                let Some(code) = self.runs.get(mark.run as usize).and_then(|run| run.code) else {
                    continue;
                };
                let (tally, last) = by_code.entry(code).or_default();
                tally.count(mark.has_failed());
                *last = mark.run;
            }
            let weight =
                |(tally, last): &(Tally, u32)| (tally.is_inconsistent(), tally.runs, *last);
            let (tally, _) = by_code.into_values().max_by_key(weight)?;
            Some((test.test.clone(), tally))
        };
        self.tests.iter().filter_map(of_test).collect()
    }

    /// How long each test takes as a rule, in the runs that count: the median of its latest attempts,
    /// those that passed if some did.
    #[must_use]
    pub fn usual_times(&self, counts: impl Fn(&PastRun) -> bool) -> BTreeMap<TestId, Duration> {
        let counts: Vec<bool> = self.runs.iter().map(counts).collect();
        let of_test = |test: &TestTimeline| {
            let latest = test.marks.iter().rev();
            let known = latest.filter(|mark| counts.get(mark.run as usize) == Some(&true));
            let latest: Vec<&Mark> = known.take(LATEST).collect();
            let passed = latest.iter().filter(|mark| mark.outcome == Outcome::Passed);
            let mut times: Vec<u32> = passed.map(|mark| mark.milliseconds).collect();
            if times.is_empty() {
                times.extend(latest.iter().map(|mark| mark.milliseconds));
            }
            times.sort_unstable();
            let median = *times.get(times.len().checked_sub(1)? / 2)?;
            Some((test.test.clone(), Duration::from_millis(u64::from(median))))
        };
        self.tests.iter().filter_map(of_test).collect()
    }

    /// How often each test ran and failed at its first attempt in runs that started on this day
    /// (`2026-11-15`, in UTC) or later.
    #[must_use]
    pub fn tallies_since(&self, day: &str) -> BTreeMap<TestId, Tally> {
        let is_since: Vec<bool> = self.runs.iter().map(|run| *run.started >= *day).collect();
        let of_test = |test: &TestTimeline| {
            let mut tally = Tally::default();
            let marks = test.marks.iter().filter(|mark| mark.outcome != Outcome::Skipped);
            for mark in marks.filter(|mark| is_since.get(mark.run as usize) == Some(&true)) {
                tally.count(mark.has_failed());
            }
            (tally.runs > 0).then(|| (test.test.clone(), tally))
        };
        self.tests.iter().filter_map(of_test).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_time_follows_the_latest_passes_of_the_runs_that_count() {
        let run = |id: &str| PastRun { id: id.to_owned(), ..PastRun::default() };
        let mark = |run, outcome, took| Mark::first(run, outcome, Duration::from_millis(took));
        let passes = [900, 900, 900, 10, 11, 4000, 12, 13];
        let marks = (0..).zip(passes).map(|(run, took)| mark(run, Outcome::Passed, took));
        let often = TestTimeline { test: "often".into(), marks: marks.collect() };
        let marks = vec![mark(0, Outcome::Passed, 5), mark(7, Outcome::Failed, 800)];
        let fails = TestTimeline { test: "fails".into(), marks };
        let skipped =
            TestTimeline { test: "skipped".into(), marks: vec![mark(6, Outcome::Skipped, 0)] };
        let runs = (0..8).map(|number| run(&number.to_string())).collect();
        let timeline = Timeline { runs, tests: vec![often, fails, skipped], ..Timeline::default() };
        let times = |counts: &dyn Fn(&PastRun) -> bool| -> Vec<(String, u128)> {
            let times = timeline.usual_times(counts);
            times.into_iter().map(|(test, time)| (test.to_string(), time.as_millis())).collect()
        };
        let all = [("fails", 5), ("often", 12), ("skipped", 0)];
        assert_eq!(times(&|_| true), all.map(|(test, time)| (test.to_owned(), time)));
        assert_eq!(
            times(&|run| run.id == "7"),
            [("fails".to_owned(), 800), ("often".to_owned(), 13)]
        );
        assert_eq!(times(&|_| false), []);
    }
}
