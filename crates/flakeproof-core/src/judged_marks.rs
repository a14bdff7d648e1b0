//! One test's marks, each judged by whether its code is shown to let the test pass, and what they
//! come to: rates, standing and cost.
//!
//! A failure counts once for a state of the code until the test passes there again: whoever starts
//! a failed build anew sees the same failure once more, and learns nothing about how often it comes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::statistics::{Rate, clean_runs_needed, failure_rate};
use crate::{
    Mark, Outcome, PastRun, Standing, Streak, Tally, TestScore, TestTimeline, Timeline, Verdict,
};

/// How sure it must be that a test is mended.
const CONFIDENCE: f64 = 0.95;

/// A test that was seen in fewer runs than this, while there were more, is new.
const NEW_RUNS: u32 = 10;

/// So many failures in a row on code that never passed are no chance.
const BROKEN_RUNS: usize = 2;

/// What is shared by the flaky failures of a build that failed for nothing else: its time, by run.
pub(crate) type Shares = BTreeMap<u32, Duration>;

/// One test's marks, with what is known about the code of each.
pub(crate) struct JudgedMarks<'a> {
    test: &'a TestTimeline,
    runs: &'a [PastRun],
    in_outage: &'a BTreeSet<u32>,
    /// How it fared, outages counted too.
    tally: Tally,
    /// Its failures in outages.
    outages: u32,
    /// For each mark, whether the test passed on its code; empty if it is steady.
    can_pass: Vec<bool>,
}

/// The code of a run, as far as it can tell repeats of a failure from new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Code<'a> {
    /// It is known in full.
    Exact(u32),
    /// Only the revision is known, and not what was edited on top of it.
    Revision(&'a str),
}

impl<'a> JudgedMarks<'a> {
    /// Judge the marks of a test that fared so, all runs counted.
    pub(crate) fn new(
        test: &'a TestTimeline,
        tally: Tally,
        runs: &'a [PastRun],
        in_outage: &'a BTreeSet<u32>,
    ) -> Self {
        let code = |mark: &Mark| runs.get(mark.run as usize).and_then(|run| run.code);
        // Most tests never fail but in an outage that is over, and then nothing has to be looked up.
        let mut judged = Self { test, runs, in_outage, tally, outages: 0, can_pass: Vec::new() };
        if tally.failures > 0 {
            judged.outages = test.marks.iter().map(|mark| u32::from(judged.is_outage(mark))).sum();
        }
        if judged.is_steady() {
            return judged;
        }
        let passed = passed_codes(test, code);
        let can_pass = |mark: &Mark| {
            let is_flaky = mark.verdict.is_some_and(Verdict::is_shown_flaky);
            let is_on_good_code = code(mark).is_some_and(|code| passed.contains(&code));
            // What was found to be real stays real, whatever other runs say.
            let is_real = mark.verdict == Some(Verdict::Real);
            mark.has_passed() || is_flaky || (is_on_good_code && !is_real)
        };
        judged.can_pass = test.marks.iter().map(can_pass).collect();
        judged
    }

    /// What the marks come to, in a history of so many runs.
    pub(crate) fn score(&self, newest: usize, shares: &Shares) -> TestScore {
        let started = |mark: Option<&Mark>| {
            mark.and_then(|mark| self.run(mark)).map(|run| run.started.clone())
        };
        let marks = &self.test.marks;
        let mut score = TestScore {
            is_new: (marks.len() as u64) < u64::from(NEW_RUNS).min(newest as u64),
            first_seen: started(marks.first()).unwrap_or_default(),
            last_seen: started(marks.last()).unwrap_or_default(),
            ..TestScore::steady(&self.test.test, self.tally.runs - self.outages)
        };
        score.outages = self.outages;
        if !self.is_steady() {
            self.count_failures(&mut score, shares);
        }
        if self.tally.failures > 0 {
            score.last_failed = started(marks.iter().rev().find(|mark| mark.has_failed()));
        }
        score
    }

    /// The runs in which it could show that it is flaky, and whether it failed.
    pub(crate) fn proven(&self) -> impl Iterator<Item = (u32, bool)> + use<'a> {
        let counted = self.without_repeats().into_iter();
        counted.filter(|(_, can_pass)| *can_pass).map(|(mark, _)| (mark.run, mark.has_failed()))
    }

    /// Its failures, and whether each is flaky.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&'a Mark, bool)> {
        self.telling().filter(|(mark, _)| mark.has_failed())
    }

    /// Marks of a test that failed which say something: no skips, and no failures in outages.
    fn telling(&self) -> impl DoubleEndedIterator<Item = (&'a Mark, bool)> {
        self.ended().filter(|(mark, _)| !self.is_outage(mark))
    }

    /// Marks of a test that failed, skips left out.
    fn ended(&self) -> impl DoubleEndedIterator<Item = (&'a Mark, bool)> {
        let marks = self.test.marks.iter().zip(self.can_pass.iter().copied());
        marks.filter(|(mark, _)| mark.outcome != Outcome::Skipped)
    }

    /// The telling marks without repeats of a failure: failures on code on which the test failed
    /// before and has not passed since.
    fn without_repeats(&self) -> Vec<(&'a Mark, bool)> {
        let mut failing: BTreeSet<Code<'_>> = BTreeSet::new();
        let is_new = |(mark, _): &(&Mark, bool)| {
            let Some(code) = self.code(mark) else { return true };
            // A run that shows by its own reruns that the code can pass always counts.
            if mark.has_passed() {
                failing.remove(&code);
                return true;
            }
            failing.insert(code)
        };
        self.telling().filter(is_new).collect()
    }

    /// Whether it failed in outages only, and not in the last of its runs.
    fn is_steady(&self) -> bool {
        let last = self.test.marks.iter().rev().find(|mark| mark.outcome != Outcome::Skipped);
        self.outages == self.tally.failures && !last.is_some_and(|mark| mark.has_failed())
    }

    fn is_outage(&self, mark: &Mark) -> bool {
        mark.has_failed() && self.in_outage.contains(&mark.run)
    }

    fn run(&self, mark: &Mark) -> Option<&'a PastRun> {
        self.runs.get(mark.run as usize)
    }

    fn code(&self, mark: &Mark) -> Option<Code<'a>> {
        let run = self.run(mark)?;
        let revision = || run.revision.as_deref().map(Code::Revision);
        run.code.map(Code::Exact).or_else(revision)
    }

    fn count_failures(&self, score: &mut TestScore, shares: &Shares) {
        let (mut all, mut proven, mut open) = (Tally::default(), Tally::default(), 0);
        for (mark, can_pass) in self.telling() {
            all.count(mark.has_failed());
            score.unexplained += u32::from(!can_pass);
        }
        for (mark, can_pass) in self.without_repeats() {
            if can_pass {
                proven.count(mark.has_failed());
            } else {
                open += 1;
            }
        }
        (score.all, score.proven) = (all, proven);
        score.repeats = all.failures - proven.failures - open;
        score.rate = rate(proven, open);
        score.flip_rate = self.flip_rate();
        score.entropy = entropy(proven);
        let flaky_since = self.flaky_since().and_then(|run| self.runs.get(run as usize));
        score.flaky_since = flaky_since.map(|run| run.started.clone());
        (score.standing, score.since) = self.standing(proven, score.unexplained);
        (score.cost, score.failed_builds) = self.cost(shares);
    }

    /// The first run by which it was shown to pass and fail on the same code.
    fn flaky_since(&self) -> Option<u32> {
        let exact = |mark: &Mark| self.run(mark).and_then(|run| run.code);
        let mut passed: BTreeMap<u32, u32> = BTreeMap::new();
        for mark in self.test.marks.iter().filter(|mark| mark.has_passed()) {
            if let Some(code) = exact(mark) {
                passed.entry(code).or_insert(mark.run);
            }
        }
        let shown_by = |(mark, is_flaky): (&Mark, bool)| {
            let is_shown = mark.has_passed() || mark.verdict.is_some_and(Verdict::is_shown_flaky);
            let pass = || exact(mark).and_then(|code| passed.get(&code).copied());
            is_flaky.then(|| if is_shown { Some(mark.run) } else { Some(pass()?.max(mark.run)) })?
        };
        self.failures().filter_map(shown_by).min()
    }

    /// What the test is, and since when where that is one streak of runs. Broken comes first, whatever
    /// was before.
    fn standing(&self, proven: Tally, unexplained: u32) -> (Standing, Option<Streak>) {
        // Outages count here: many tests that stay broken look like one.
        let failing = failures_first(self.ended().rev());
        if is_broken(&failing) {
            return (Standing::Broken, self.streak(&failing));
        }
        let clean: Vec<&Mark> = self
            .telling()
            .rev()
            .map(|(mark, _)| mark)
            .take_while(|mark| !mark.has_failed())
            .collect();
        let before = failures_first(self.telling().rev().skip(clean.len()));
        let was_broken = !clean.is_empty() && is_broken(&before);
        if proven.failures > 0 {
            let is_mended = self.is_mended(clean.len());
            if is_mended {
                (Standing::Mended, self.streak(&clean))
            } else {
                (Standing::Flaky, None)
            }
        } else if was_broken {
            (Standing::Mended, self.streak(&clean))
        } else if unexplained > 0 {
            (Standing::Unexplained, None)
        } else {
            (Standing::Steady, None)
        }
    }

    /// A streak of marks, the latest first.
    fn streak(&self, latest_first: &[&Mark]) -> Option<Streak> {
        let run = self.run(latest_first.last()?)?;
        Some(Streak {
            revision: run.revision.clone(),
            started: run.started.clone(),
            runs: u32::try_from(latest_first.len()).unwrap_or(u32::MAX),
        })
    }

    /// Whether a test that fails as often as this one did would have failed again in so many runs.
    fn is_mended(&self, clean: usize) -> bool {
        let counted = self.without_repeats();
        let before = &counted[..counted.len() - clean];
        let failures = before.iter().filter(|(mark, _)| mark.has_failed()).count();
        let rate = failures as f64 / before.len().max(1) as f64;
        clean as u64 >= u64::from(clean_runs_needed(rate, CONFIDENCE))
    }

    fn flip_rate(&self) -> f64 {
        let failed: Vec<bool> = self.telling().map(|(mark, _)| mark.has_failed()).collect();
        let flips = failed.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if failed.len() < 2 { 0.0 } else { flips as f64 / (failed.len() - 1) as f64 }
    }

    fn cost(&self, shares: &Shares) -> (Duration, u32) {
        let (mut cost, mut builds) = (Duration::ZERO, 0);
        for (mark, is_flaky) in self.failures() {
            if !is_flaky {
                continue;
            }
            cost += Duration::from_millis(u64::from(mark.again_milliseconds));
            match shares.get(&mark.run) {
                // The build's time has the failure in it.
                Some(share) => {
                    cost += *share;
                    builds += 1;
                }
                None => cost += Duration::from_millis(u64::from(mark.milliseconds)),
            }
        }
        (cost, builds)
    }
}

/// Builds that failed for flaky tests alone, each with what every such test is charged for it.
pub(crate) fn shares_of_builds(tests: &[JudgedMarks<'_>], timeline: &Timeline) -> Shares {
    let mut failures: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    for (mark, is_flaky) in tests.iter().flat_map(JudgedMarks::failures) {
        let (count, are_all_flaky) = failures.entry(mark.run).or_insert((0, true));
        *count += 1;
        *are_all_flaky &= is_flaky;
    }
    let share = |(run, (count, are_all_flaky)): (u32, (u32, bool))| {
        let duration = timeline.runs.get(run as usize)?.duration;
        are_all_flaky.then(|| (run, duration / count))
    };
    failures.into_iter().filter_map(share).collect()
}

/// The failures that marks start with, on code on which the test never passed.
fn failures_first<'a>(marks: impl Iterator<Item = (&'a Mark, bool)>) -> Vec<&'a Mark> {
    let failing = marks.take_while(|(mark, can_pass)| mark.has_failed() && !can_pass);
    failing.map(|(mark, _)| mark).collect()
}

/// Whether failures in a row are more than one that nobody explained.
fn is_broken(failures: &[&Mark]) -> bool {
    let is_real = |mark: &&Mark| mark.verdict == Some(Verdict::Real);
    failures.len() >= BROKEN_RUNS || failures.iter().any(is_real)
}

/// The codes on which a test failed in some run and passed in some. They are few, so they are searched
/// one by one.
fn passed_codes(test: &TestTimeline, code: impl Fn(&Mark) -> Option<u32>) -> Vec<u32> {
    let failures = test.marks.iter().filter(|mark| mark.has_failed());
    let mut failed: Vec<u32> = failures.filter_map(&code).collect();
    failed.sort_unstable();
    failed.dedup();
    let is_passed = |wanted: &u32| {
        test.marks.iter().any(|mark| mark.has_passed() && code(mark) == Some(*wanted))
    };
    failed.retain(is_passed);
    failed
}

/// The rate by what is proven. What is not explained may all be flaky, so it raises the upper end.
fn rate(proven: Tally, unexplained: u32) -> Rate {
    let rate = failure_rate(proven);
    let worst = Tally { runs: unexplained, failures: unexplained } + proven;
    Rate { high: failure_rate(worst).high.max(rate.high), ..rate }
}

/// How unpredictable an outcome is, in bits.
pub(crate) fn entropy(tally: Tally) -> f64 {
    if !tally.is_inconsistent() {
        return 0.0;
    }
    let share = f64::from(tally.failures) / f64::from(tally.runs);
    -(share * share.log2() + (1.0 - share) * (1.0 - share).log2())
}
