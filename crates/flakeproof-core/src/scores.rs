//! What the history says about each test, without calling broken code flaky.
//!
//! A failure counts as flaky only on code on which the test also passed. A failure on code on which
//! it never passed may be a real one: it is *unexplained* and only widens the interval of the rate;
//! found to be real, or twice in a row, it makes the test *broken* until it passes. When many tests
//! fail together, that is one outage and no test's fault.
//!
//! Whoever shows a test's standing or its rate takes them from here, so that all show the same.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::judged_marks::{JudgedMarks, entropy, shares_of_builds};
use crate::statistics::{Rate, failure_rate};
use crate::{
    HuntRecord, HuntedTest, KnownFlaky, Outcome, Standing, Streak, Tally, TestId, TestTimeline,
    Timeline,
};

/// A run with fewer failures than this is no outage.
const OUTAGE_TESTS: usize = 10;

/// A run in which at least one test of so many failed is an outage.
const OUTAGE_SHARE: usize = 5;

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
    /// Its runs on code on which it passed at least once, without [repeats](Self::repeats).
    pub proven: Tally,
    /// Failures on code on which it never passed.
    pub unexplained: u32,
    /// Failures that were one outage with those of many others.
    pub outages: u32,
    /// Failures that no rate counts: on the same code the test had failed before, and not passed
    /// since.
    #[serde(default)]
    pub repeats: u32,
    /// How often it fails on unchanged code, by its proven runs; the upper end counts unexplained
    /// failures too, once for each state of the code.
    pub rate: Rate,
    /// How it fared in the hunt that its rate is from; `None` if the rate is from runs.
    #[serde(default)]
    pub hunted: Option<Tally>,
    /// Since when it fails, if it is broken; since when it passes, if it is mended.
    #[serde(default)]
    pub since: Option<Streak>,
    /// When it was first shown to be flaky, as an RFC 3339 time stamp: the start of the first run, or of
    /// the latest hunt, by which it had passed and failed on the same code.
    #[serde(default)]
    pub flaky_since: Option<String>,
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

impl Outage {
    /// Whether so many failures are one: enough of them, and of enough tests.
    #[must_use]
    pub fn is_one(&self) -> bool {
        let (failed, tests) = (self.failed as usize, self.tests as usize);
        failed >= OUTAGE_TESTS && failed * OUTAGE_SHARE >= tests
    }
}

impl Scores {
    /// Reckon the scores of every test from its runs and from what hunts found.
    #[must_use]
    pub fn new(timeline: &Timeline, hunted: &[KnownFlaky]) -> Self {
        let mut scores = Self::from_timeline(timeline);
        scores.add_hunted(hunted);
        scores
    }

    /// Reckon the scores of every test from its runs alone.
    #[must_use]
    pub fn from_timeline(timeline: &Timeline) -> Self {
        let (outages, tallies) = counts(timeline);
        let in_outage: BTreeSet<u32> = outages.iter().map(|outage| outage.run).collect();
        let judged: Vec<JudgedMarks<'_>> = timeline
            .tests
            .iter()
            .zip(tallies)
            .filter(|(test, _)| !test.marks.is_empty())
            .map(|(test, tally)| JudgedMarks::new(test, tally, &timeline.runs, &in_outage))
            .collect();
        let shares = shares_of_builds(&judged, timeline);
        let newest = timeline.runs.len();
        let mut tests: Vec<TestScore> =
            judged.iter().map(|marks| marks.score(newest, &shares)).collect();
        tests.sort_by(|one, other| one.test.cmp(&other.test));
        let marks: u64 = timeline.tests.iter().map(|test| test.marks.len() as u64).sum();
        let others = timeline.others.iter().flat_map(|it| [it.passed, it.failed, it.skipped]);
        let executions = marks + others.map(u64::from).sum::<u64>();
        Self { tests, outages, executions }
    }

    /// Count what hunts found: a test that one of them saw pass and fail on the same code is flaky,
    /// whether runs have shown it or not, unless its latest runs show it to be broken.
    fn add_hunted(&mut self, known: &[KnownFlaky]) {
        for KnownFlaky { hunt, test } in known {
            match self.tests.binary_search_by(|score| score.test.cmp(&test.id)) {
                Ok(at) => self.tests[at].add_hunted(hunt, test),
                Err(at) => self.tests.insert(at, TestScore::hunted_only(hunt, test)),
            }
        }
    }

    /// The score of a test.
    #[must_use]
    pub fn find(&self, test: &TestId) -> Option<&TestScore> {
        let at = self.tests.binary_search_by(|score| score.test.cmp(test)).ok()?;
        self.tests.get(at)
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
    /// The runs that its rate is from.
    #[must_use]
    pub fn rated(&self) -> Tally {
        self.hunted.unwrap_or(self.proven)
    }

    /// The score of a test that never failed.
    pub(crate) fn steady(test: &TestId, runs: u32) -> Self {
        Self::new(test, Standing::Steady, Tally { runs, failures: 0 })
    }

    /// Count what a hunt found. It rates the test where it executed it more often than runs did on
    /// good code, or where these have shown no failure.
    fn add_hunted(&mut self, hunt: &HuntRecord, test: &HuntedTest) {
        if self.standing == Standing::Broken {
            return;
        }
        (self.standing, self.since) = (Standing::Flaky, None);
        self.flaky_since.get_or_insert_with(|| hunt.started.clone());
        let (hunted, proven) = (test.telling(), self.proven);
        let knows_more = proven.failures == 0 || hunted.runs > proven.runs;
        if hunted.failures > 0 && knows_more {
            self.hunted = Some(hunted);
            self.rate = test.rate();
        }
    }

    /// The score of a test that no run has seen.
    fn hunted_only(hunt: &HuntRecord, test: &HuntedTest) -> Self {
        Self {
            hunted: Some(test.telling()),
            first_seen: hunt.started.clone(),
            last_seen: hunt.started.clone(),
            last_failed: Some(hunt.started.clone()),
            flaky_since: Some(hunt.started.clone()),
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
            repeats: 0,
            rate: failure_rate(tally),
            hunted: None,
            since: None,
            flaky_since: None,
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
    for (count, others) in counts.iter_mut().zip(&timeline.others) {
        *count = (others.failed, others.passed + others.failed);
    }
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
        let outage = Outage { run, failed, tests };
        outage.is_one().then_some(outage)
    };
    ((0..).zip(counts).filter_map(outage).collect(), tallies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Again, Mark, PastRun, Verdict};

    /// A run of the code with this number, `?` for code nobody knows.
    fn run(code: char) -> PastRun {
        PastRun {
            started: "2026-11-16T00:00:00Z".to_owned(),
            duration: Duration::from_secs(60),
            revision: Some(format!("revision {code}")),
            code: code.to_digit(10),
            ..PastRun::default()
        }
    }

    /// `.` passed, `F` failed, `X` failed and was found real, `r` passed when run again, `s` skipped,
    /// blank: not there.
    fn marks(letters: &str) -> Vec<Mark> {
        let mark = |(run, letter): (u32, char)| {
            let outcome = match letter {
                '.' => Outcome::Passed,
                's' => Outcome::Skipped,
                'F' | 'X' | 'r' => Outcome::Failed,
                _ => return None,
            };
            let again = if letter == 'r' { Again::Passed } else { Again::Never };
            let verdict = (letter == 'X').then_some(Verdict::Real);
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
            others: Vec::new(),
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
    fn a_test_is_flaky_since_the_run_that_shows_both_outcomes() {
        let since = |codes: &str, letters: &str| {
            let mut timeline = timeline(codes, &[letters]);
            for (day, run) in (10..).zip(&mut timeline.runs) {
                run.started = format!("2026-11-{day}T00:00:00Z");
            }
            let score = Scores::from_timeline(&timeline).tests.remove(0);
            score.flaky_since.map(|since| since[8..10].to_owned())
        };
        assert_eq!(since("1112", ".F.."), Some("11".to_owned()));
        assert_eq!(since("1231", "F..."), Some("13".to_owned()), "the pass came later");
        assert_eq!(since("????", ".r.r"), Some("11".to_owned()));
        assert_eq!(since("1234", "..F."), None);
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
    fn what_a_run_called_real_is_broken_until_it_passes() {
        let broken = score("12", ".X");
        assert_eq!(broken.standing, Standing::Broken);
        assert_eq!(
            broken.since.map(|it| (it.revision, it.runs)),
            Some((Some("revision 2".into()), 1))
        );
        assert_eq!(score("11", ".X").standing, Standing::Broken, "real stays real");
        assert_eq!(score("12", ".F").standing, Standing::Unexplained);
        assert_eq!(score("123", ".X.").standing, Standing::Mended);
        assert_eq!(score("123", ".XF").standing, Standing::Broken);
    }

    #[test]
    fn a_broken_test_that_passes_is_mended_since_its_first_pass() {
        let mended = score("1223344", ".FFs...");
        assert_eq!(mended.standing, Standing::Mended);
        let since = mended.since.expect("it passes since some run");
        assert_eq!((since.revision.as_deref(), since.runs), (Some("revision 3"), 3));
        // What failed last decides: one failure that nobody explained is not the mended one.
        assert_eq!(score("12345", ".X.F.").standing, Standing::Unexplained);
        assert_eq!(score("12345", "XX.XX").standing, Standing::Broken);
    }

    #[test]
    fn a_failure_counts_once_on_a_revision_until_the_test_passes_there() {
        let score = score("111111", "FFF.F.");
        assert_eq!(score.all, Tally { runs: 6, failures: 4 });
        assert_eq!(score.proven, Tally { runs: 4, failures: 2 });
        assert_eq!(score.repeats, 2);
        assert_eq!(score.rate, failure_rate(score.proven));
    }

    #[test]
    fn a_pass_in_a_rerun_makes_the_next_failure_a_new_one() {
        assert_eq!(score("111", "rr.").proven, Tally { runs: 3, failures: 2 });
    }

    #[test]
    fn sixteen_failures_on_one_revision_widen_the_interval_like_one() {
        let codes = format!("{}{}", "1".repeat(10), "2".repeat(16));
        let often = score(&codes, &format!("F{}{}", ".".repeat(9), "F".repeat(16)));
        let once = score(&codes[..11], &format!("F{}F", ".".repeat(9)));
        assert_eq!((often.unexplained, often.repeats), (16, 15));
        assert_eq!(often.rate, once.rate);
        let edited = score("1?????", "Fr.FFF");
        assert_eq!(edited.repeats, 2, "a revision tells repeats where the code is not known");
    }

    fn hunted(id: &str) -> KnownFlaky {
        let mut test = HuntedTest::new(id.into(), None);
        test.kind = Some(crate::FlakyKind::Victim);
        test.shuffled = Tally { runs: 20, failures: 9 };
        let hunt = HuntRecord {
            id: "hunt".into(),
            started: "2026-11-16T00:00:00Z".into(),
            command: Vec::new(),
            fingerprint: String::new(),
            seed: "7".into(),
            settings: String::new(),
            version: "0.1.0".into(),
        };
        KnownFlaky { hunt, test }
    }

    #[test]
    fn a_hunt_rates_what_it_executed_more_often_and_mends_no_broken_test() {
        let (codes, passes) = ("1".repeat(22) + "22", ".".repeat(22));
        let [steady, broken, often] = [".", "F", "."].map(|end| passes.clone() + end + end);
        let tests = [steady.as_str(), &broken, &often.replacen('.', "r", 1), "r.."];
        let timeline = timeline(&codes, &tests);
        let known = ["test_00", "test_01", "test_02", "test_03", "test_04"].map(hunted);
        let scores = Scores::new(&timeline, &known);
        let standings: Vec<Standing> = scores.tests.iter().map(|test| test.standing).collect();
        let (flaky, broken) = (Standing::Flaky, Standing::Broken);
        assert_eq!(standings, [flaky, broken, flaky, flaky, flaky]);
        let hunted = Tally { runs: 20, failures: 9 };
        let rated: Vec<Tally> = scores.tests.iter().map(TestScore::rated).collect();
        assert_eq!([rated[0], rated[3], rated[4]], [hunted; 3]);
        assert_eq!(rated[2], Tally { runs: 24, failures: 1 });
        assert_eq!(scores.find(&"test_00".into()).map(|it| it.rate), Some(failure_rate(hunted)));
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
            let flaky = u32::try_from(flaky.count()).unwrap();
            proptest::prop_assert_eq!(score.all.failures - score.unexplained, flaky);
            proptest::prop_assert!(score.proven.failures <= flaky);
            proptest::prop_assert_eq!(score.proven.failures > 0, flaky > 0);
            proptest::prop_assert!(flaky - score.proven.failures <= score.repeats);
            proptest::prop_assert!(score.rate.low <= score.rate.mean && score.rate.mean <= score.rate.high);
            proptest::prop_assert!((0.0..=1.0).contains(&score.entropy));
        }
    }
}
