//! What the history says about each test, without calling broken code flaky.
//!
//! A failure counts as flaky only on code on which the test also passed. A failure on code on which
//! it never passed may be a real one: it is *unexplained*, it only widens the interval of the rate,
//! and twice in a row it makes the test *broken*. When many tests fail together, that is one outage
//! and no test's fault.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::statistics::{Rate, clean_runs_needed, failure_rate};
use crate::{
    HuntRecord, HuntedTest, KnownFlaky, Mark, Outcome, PastRun, Tally, TestId, TestTimeline,
    Timeline, Verdict,
};

/// A run with fewer failures than this is no outage.
const OUTAGE_TESTS: usize = 10;

/// A run in which at least one test of so many failed is an outage.
const OUTAGE_SHARE: usize = 5;

/// A test that was seen in fewer runs than this, while there were more, is new.
const NEW_RUNS: u32 = 10;

/// How sure it must be that a test is mended.
const CONFIDENCE: f64 = 0.95;

/// What the history says about each test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Every test that ran, by id.
    pub tests: Vec<TestScore>,
    /// Runs in which many tests failed together.
    pub outages: Vec<Outage>,
    /// Executions in all runs, reruns left out.
    pub executions: u64,
}

/// What the history says about one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestScore {
    /// The test.
    pub test: TestId,
    /// What it comes to.
    pub standing: Standing,
    /// Whether it appeared lately, so that little can be said yet.
    pub is_new: bool,
    /// Its runs, skips and outages left out.
    pub all: Tally,
    /// Its runs on code on which it passed at least once.
    pub proven: Tally,
    /// Failures on code on which it never passed.
    pub unexplained: u32,
    /// Failures that were one outage with those of many others.
    pub outages: u32,
    /// How often it fails on unchanged code, by its proven runs; the upper end counts unexplained
    /// failures too.
    pub rate: Rate,
    /// How often its outcome differs from that of the run before, from 0 to 1.
    pub flip_rate: f64,
    /// How unpredictable its outcome is on code on which it passes, in bits.
    pub entropy: f64,
    /// When it was first seen, as an RFC 3339 time stamp.
    pub first_seen: String,
    /// When it was last seen.
    pub last_seen: String,
    /// When it last failed.
    pub last_failed: Option<String>,
    /// Time of CI burnt by its flaky failures: these and its reruns, and its share of builds that
    /// failed for flaky tests alone.
    pub cost: Duration,
    /// Builds that failed for flaky tests alone, this one among them.
    pub failed_builds: u32,
}

/// What a test's history comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It passed and failed on the same code.
    Flaky,
    /// It fails in every run since some time, and passed on none of that code.
    Broken,
    /// It failed, and nobody knows whether that was the code.
    Unexplained,
    /// It was flaky, and has passed so often since that it would have failed again, with 95 %.
    Mended,
    /// It never failed, outages left out.
    Steady,
}

impl Standing {
    /// The standing as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flaky => "flaky",
            Self::Broken => "broken",
            Self::Unexplained => "unexplained",
            Self::Mended => "mended",
            Self::Steady => "steady",
        }
    }
}

/// A run in which many tests failed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outage {
    /// The run, as an index into [`Timeline::runs`].
    pub run: u32,
    /// How many tests failed.
    pub failed: u32,
    /// How many ran.
    pub tests: u32,
}

impl Scores {
    /// Reckon the scores of every test.
    #[must_use]
    pub fn from_timeline(timeline: &Timeline) -> Self {
        let (outages, tallies) = counts(timeline);
        let in_outage: BTreeSet<u32> = outages.iter().map(|outage| outage.run).collect();
        let looks: Vec<Look<'_>> = timeline
            .tests
            .iter()
            .zip(tallies)
            .filter(|(test, _)| !test.marks.is_empty())
            .map(|(test, tally)| Look::at(test, tally, &timeline.runs, &in_outage))
            .collect();
        let shares = shares_of_builds(&looks, timeline);
        let newest = timeline.runs.len();
        let mut tests: Vec<TestScore> =
            looks.iter().map(|look| look.score(&timeline.runs, newest, &shares)).collect();
        tests.sort_by(|one, other| one.test.cmp(&other.test));
        let executions = timeline.tests.iter().map(|test| test.marks.len() as u64).sum();
        Self { tests, outages, executions }
    }

    /// Count what hunts found: a test that one of them saw pass and fail on the same code is flaky,
    /// whether runs have shown it or not.
    pub fn add_hunted(&mut self, known: &[KnownFlaky]) {
        for KnownFlaky { hunt, test } in known {
            match self.tests.binary_search_by(|score| score.test.cmp(&test.id)) {
                Ok(at) => {
                    let standing = &mut self.tests[at].standing;
                    if matches!(standing, Standing::Steady | Standing::Unexplained) {
                        *standing = Standing::Flaky;
                    }
                }
                Err(at) => self.tests.insert(at, TestScore::hunted_only(hunt, test)),
            }
        }
    }

    /// The tests of a standing.
    pub fn standing(&self, standing: Standing) -> impl Iterator<Item = &TestScore> {
        self.tests.iter().filter(move |test| test.standing == standing)
    }

    /// What was burnt by all flaky tests.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.tests.iter().map(|test| test.cost).sum()
    }
}

impl TestScore {
    /// The score of a test that never failed.
    fn steady(test: &TestId, runs: u32) -> Self {
        Self::new(test, Standing::Steady, Tally { runs, failures: 0 })
    }

    /// The score of a test that no run has seen.
    fn hunted_only(hunt: &HuntRecord, test: &HuntedTest) -> Self {
        Self {
            first_seen: hunt.started.clone(),
            last_seen: hunt.started.clone(),
            last_failed: Some(hunt.started.clone()),
            ..Self::new(&test.id, Standing::Flaky, test.telling())
        }
    }

    fn new(test: &TestId, standing: Standing, tally: Tally) -> Self {
        Self {
            test: test.clone(),
            standing,
            is_new: false,
            all: tally,
            proven: tally,
            unexplained: 0,
            outages: 0,
            rate: failure_rate(tally),
            flip_rate: 0.0,
            entropy: entropy(tally),
            first_seen: String::new(),
            last_seen: String::new(),
            last_failed: None,
            cost: Duration::ZERO,
            failed_builds: 0,
        }
    }
}

/// The outages, and how each test fared with them; both in one go through all marks, which are many.
fn counts(timeline: &Timeline) -> (Vec<Outage>, Vec<Tally>) {
    let mut counts = vec![(0_u32, 0_u32); timeline.runs.len()];
    let mut tally = |test: &TestTimeline| {
        let mut tally = Tally::default();
        for mark in &test.marks {
            let is_run = u32::from(mark.outcome != Outcome::Skipped);
            let has_failed = u32::from(mark.has_failed());
            tally.runs += is_run;
            tally.failures += has_failed;
            if let Some((failed, tests)) = counts.get_mut(mark.run as usize) {
                *failed += has_failed;
                *tests += is_run;
            }
        }
        tally
    };
    let tallies = timeline.tests.iter().map(&mut tally).collect();
    let outage = |(run, (failed, tests)): (u32, (u32, u32))| {
        let is_outage =
            failed as usize >= OUTAGE_TESTS && failed as usize * OUTAGE_SHARE >= tests as usize;
        is_outage.then_some(Outage { run, failed, tests })
    };
    ((0..).zip(counts).filter_map(outage).collect(), tallies)
}

/// What is shared by the flaky failures of a build that failed for nothing else: its time, by run.
type Shares = BTreeMap<u32, Duration>;

/// Builds that failed for flaky tests alone, each with what every such test is charged for it.
fn shares_of_builds(looks: &[Look<'_>], timeline: &Timeline) -> Shares {
    let mut failures: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    for (mark, is_flaky) in looks.iter().flat_map(Look::failures) {
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

/// One test's marks, with what is known about the code of each.
struct Look<'a> {
    test: &'a TestTimeline,
    in_outage: &'a BTreeSet<u32>,
    /// How it fared, outages counted too.
    tally: Tally,
    /// Its failures in outages.
    outages: u32,
    /// For each mark, whether the test passed on its code; empty if it is steady.
    can_pass: Vec<bool>,
}

impl<'a> Look<'a> {
    fn at(
        test: &'a TestTimeline,
        tally: Tally,
        runs: &[PastRun],
        in_outage: &'a BTreeSet<u32>,
    ) -> Self {
        let code = |mark: &Mark| runs.get(mark.run as usize).and_then(|run| run.code);
        // Most tests never fail but in an outage that is over, and then nothing has to be looked up.
        let mut look = Self { test, in_outage, tally, outages: 0, can_pass: Vec::new() };
        if tally.failures > 0 {
            look.outages = test.marks.iter().map(|mark| u32::from(look.is_outage(mark))).sum();
        }
        if look.is_steady() {
            return look;
        }
        let passed = passed_codes(test, code);
        let can_pass = |mark: &Mark| {
            let is_flaky = mark.verdict.is_some_and(Verdict::is_shown_flaky);
            let is_on_good_code = code(mark).is_some_and(|code| passed.contains(&code));
            // What was found to be real stays real, whatever other runs say.
            let is_real = mark.verdict == Some(Verdict::Real);
            mark.has_passed() || is_flaky || (is_on_good_code && !is_real)
        };
        look.can_pass = test.marks.iter().map(can_pass).collect();
        look
    }

    /// Marks of a test that failed which say something: no skips, and no failures in outages.
    fn telling(&self) -> impl Iterator<Item = (&'a Mark, bool)> {
        let marks = self.test.marks.iter().zip(self.can_pass.iter().copied());
        marks.filter(|(mark, _)| mark.outcome != Outcome::Skipped && !self.is_outage(mark))
    }

    /// Whether it failed in outages only, and not in the last of its runs.
    fn is_steady(&self) -> bool {
        let last = self.test.marks.iter().rev().find(|mark| mark.outcome != Outcome::Skipped);
        self.outages == self.tally.failures && !last.is_some_and(|mark| mark.has_failed())
    }

    fn is_outage(&self, mark: &Mark) -> bool {
        mark.has_failed() && self.in_outage.contains(&mark.run)
    }

    /// Its failures, and whether each is flaky.
    fn failures(&self) -> impl Iterator<Item = (&'a Mark, bool)> {
        self.telling().filter(|(mark, _)| mark.has_failed())
    }

    fn score(&self, runs: &[PastRun], newest: usize, shares: &Shares) -> TestScore {
        let started = |mark: Option<&Mark>| {
            mark.and_then(|mark| runs.get(mark.run as usize)).map(|run| run.started.clone())
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

    fn count_failures(&self, score: &mut TestScore, shares: &Shares) {
        let (mut all, mut proven, mut unexplained) = (Tally::default(), Tally::default(), 0);
        for (mark, can_pass) in self.telling() {
            all.count(mark.has_failed());
            if can_pass {
                proven.count(mark.has_failed());
            } else {
                unexplained += 1;
            }
        }
        score.standing = self.standing(proven, unexplained);
        (score.all, score.proven, score.unexplained) = (all, proven, unexplained);
        score.rate = rate(proven, unexplained);
        score.flip_rate = self.flip_rate();
        score.entropy = entropy(proven);
        (score.cost, score.failed_builds) = self.cost(shares);
    }

    /// Two runs that fail at the end, on code that never passed, are broken, whatever was before; two
    /// outages in a row are none.
    fn standing(&self, proven: Tally, unexplained: u32) -> Standing {
        let marks = self.test.marks.iter().zip(&self.can_pass);
        let failing = marks
            .rev()
            .filter(|(mark, _)| mark.outcome != Outcome::Skipped)
            .take_while(|(mark, can_pass)| mark.has_failed() && !**can_pass);
        if failing.count() >= 2 {
            Standing::Broken
        } else if proven.failures > 0 {
            if self.is_mended() { Standing::Mended } else { Standing::Flaky }
        } else if unexplained > 0 {
            Standing::Unexplained
        } else {
            Standing::Steady
        }
    }

    /// Whether a test that fails as often as this one did would have failed again by now.
    fn is_mended(&self) -> bool {
        let telling: Vec<&Mark> = self.telling().map(|(mark, _)| mark).collect();
        let clean = telling.iter().rev().take_while(|mark| !mark.has_failed()).count();
        let before = &telling[..telling.len() - clean];
        let failures = before.iter().filter(|mark| mark.has_failed()).count();
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

fn entropy(tally: Tally) -> f64 {
    if !tally.is_inconsistent() {
        return 0.0;
    }
    let share = f64::from(tally.failures) / f64::from(tally.runs);
    -(share * share.log2() + (1.0 - share) * (1.0 - share).log2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Again;

    /// A run of the code with this number, `?` for code nobody knows.
    fn run(code: char) -> PastRun {
        PastRun {
            started: "2026-11-16T00:00:00Z".to_owned(),
            duration: Duration::from_secs(60),
            code: code.to_digit(10),
            ..PastRun::default()
        }
    }

    /// `.` passed, `F` failed, `r` passed when run again, `s` skipped, blank: not there.
    fn marks(letters: &str) -> Vec<Mark> {
        let mark = |(run, letter): (u32, char)| {
            let outcome = match letter {
                '.' => Outcome::Passed,
                's' => Outcome::Skipped,
                'F' | 'r' => Outcome::Failed,
                _ => return None,
            };
            let again = if letter == 'r' { Again::Passed } else { Again::Never };
            let verdict = None;
            let (milliseconds, again_milliseconds) = (1000, u32::from(letter == 'r') * 500);
            Some(Mark { run, outcome, again, verdict, milliseconds, again_milliseconds })
        };
        (0..).zip(letters.chars()).filter_map(mark).collect()
    }

    fn timeline(codes: &str, tests: &[&str]) -> Timeline {
        let test = |(number, letters): (usize, &&str)| TestTimeline {
            test: format!("test_{number:02}").into(),
            marks: marks(letters),
        };
        Timeline {
            runs: codes.chars().map(run).collect(),
            tests: tests.iter().enumerate().map(test).collect(),
        }
    }

    fn score(codes: &str, letters: &str) -> TestScore {
        Scores::from_timeline(&timeline(codes, &[letters])).tests.remove(0)
    }

    #[test]
    fn both_outcomes_on_the_same_code_are_flaky() {
        let score = score("1112", ".F..");
        assert_eq!(score.standing, Standing::Flaky);
        assert_eq!(score.proven, Tally { runs: 4, failures: 1 });
        assert_eq!(score.unexplained, 0);
    }

    #[test]
    fn a_failure_on_code_that_never_passed_is_not_flaky() {
        let score = score("12345", "..F..");
        assert_eq!(score.standing, Standing::Unexplained);
        assert_eq!(score.proven, Tally { runs: 4, failures: 0 });
        assert!(score.rate.low == 0.0 && score.rate.high > 0.5, "{:?}", score.rate);
    }

    #[test]
    fn a_test_that_fails_until_the_end_is_broken_even_if_it_was_flaky() {
        assert_eq!(score("1123", "F.FF").standing, Standing::Broken);
        assert_eq!(score("1122", "F.FF").standing, Standing::Broken);
        assert_eq!(score("112", "F.F").standing, Standing::Flaky);
        assert_eq!(score("1222", "...F").standing, Standing::Flaky);
    }

    #[test]
    fn a_pass_in_a_rerun_shows_that_the_code_can_pass() {
        let score = score("??", ".r");
        assert_eq!(score.standing, Standing::Flaky);
        assert_eq!(score.cost, Duration::from_millis(60_500));
        assert_eq!(score.failed_builds, 1);
    }

    #[test]
    fn code_that_nobody_knows_proves_nothing() {
        assert_eq!(score("??", ".F").standing, Standing::Unexplained);
    }

    #[test]
    fn a_build_with_another_failure_did_not_fail_for_flaky_tests() {
        let scores = Scores::from_timeline(&timeline("11", &[".F", "FF"]));
        assert_eq!(scores.tests[0].failed_builds, 0);
        assert_eq!(scores.tests[0].cost, Duration::from_secs(1));
        assert_eq!(scores.tests[1].cost, Duration::ZERO);
    }

    #[test]
    fn an_outage_is_counted_once_and_is_no_tests_fault() {
        let scores = Scores::from_timeline(&timeline("111", &[".F."; 12]));
        assert_eq!(scores.outages, [Outage { run: 1, failed: 12, tests: 12 }]);
        assert!(scores.tests.iter().all(|test| test.standing == Standing::Steady));
        assert!(scores.tests.iter().all(|test| test.outages == 1 && test.flip_rate == 0.0));
    }

    #[test]
    fn many_tests_that_stay_broken_are_no_outage_to_shrug_off() {
        let scores = Scores::from_timeline(&timeline("123", &[".FF"; 12]));
        assert!(scores.tests.iter().all(|test| test.standing == Standing::Broken));
    }

    #[test]
    fn a_test_that_would_have_failed_again_by_now_is_mended() {
        let codes = "1".repeat(12);
        assert_eq!(score(&codes, ".F.F.F......").standing, Standing::Mended);
        assert_eq!(score(&codes, ".F.F.F.....F").standing, Standing::Flaky);
        assert_eq!(score(&codes, ".....F......").standing, Standing::Flaky);
    }

    #[test]
    fn skips_say_nothing() {
        let score = score("111", ".s.");
        assert_eq!((score.all.runs, score.flip_rate), (2, 0.0));
    }

    #[test]
    fn a_test_that_just_appeared_is_new_and_the_first_run_has_no_new_tests() {
        let codes = "1".repeat(30);
        let late = format!("{}..", " ".repeat(28));
        let scores = Scores::from_timeline(&timeline(&codes, &[&".".repeat(30), &late]));
        assert_eq!(scores.tests.iter().map(|test| test.is_new).collect::<Vec<_>>(), [false, true]);
        assert!(!score("1", ".").is_new);
    }

    #[test]
    fn what_a_run_called_real_stays_real() {
        let mut timeline = timeline("11", &[".F"]);
        timeline.tests[0].marks[1].verdict = Some(Verdict::Real);
        assert_eq!(Scores::from_timeline(&timeline).tests[0].standing, Standing::Unexplained);
    }

    proptest::proptest! {
        #[test]
        fn a_failure_is_flaky_only_where_the_code_passed(codes in "[12?]{1,12}", letters in "[.Frs]{12}") {
            let letters = &letters[..codes.len()];
            let score = score(&codes, letters);
            let passed = |code: char| {
                codes.chars().zip(letters.chars()).any(|(it, letter)| it == code && ".r".contains(letter))
            };
            let flaky = codes.chars().zip(letters.chars()).filter(|(code, letter)| {
                *letter == 'r' || (*letter == 'F' && *code != '?' && passed(*code))
            });
            proptest::prop_assert_eq!(score.proven.failures as usize, flaky.count());
            proptest::prop_assert!(score.rate.low <= score.rate.mean && score.rate.mean <= score.rate.high);
            proptest::prop_assert!((0.0..=1.0).contains(&score.entropy));
        }
    }
}
