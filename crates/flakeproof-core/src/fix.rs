//! Proof of a fix: how many clean runs it takes, and what they leave open.
//!
//! A test that still fails at its former rate `r` passes `n` runs in a row with the chance
//! `(1 - r)^n`. Once that is smaller than `1 - confidence`, clean runs say that it no longer fails so
//! often; that it never fails they cannot say. One failure refutes the fix.

use serde::{Deserialize, Serialize};

use crate::statistics::{clean_runs_needed, failure_rate, pass_rate_not_ruled_out};
use crate::{
    ExitCode, Failure, FlakyKind, HuntedTest, Isolation, Notice, PASSING_RATE, RunFacts, Tally,
    TestId,
};

/// So many failures in a row, and no pass, may be a test that is broken rather than flaky.
pub const ALWAYS: u32 = 3;
/// More failures in a row are not waited for, however often the test failed before.
const MOST_FAILURES: u32 = 20;

/// What clean and failed runs say about a fix.
///
/// ```
/// use flakeproof_core::{FixTest, FixVerdict};
///
/// let mut test = FixTest::new(0.05, 0.95, 1);
/// assert_eq!(test.needed(), 59);
/// (0..59).for_each(|_| test.observe(false));
/// assert_eq!(test.verdict(), Some(FixVerdict::Fixed));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixTest {
    was: f64,
    /// The most often that it may have failed.
    at_most: f64,
    confidence: f64,
    orders: u32,
    tally: Tally,
}

/// What is said about a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixVerdict {
    /// A test that fails as often as before would have shown itself.
    Fixed,
    /// It failed.
    StillFlaky,
    /// It fails every time, also where it used to pass: broken rather than flaky.
    AlwaysFails,
}

impl FixTest {
    /// A test against a former rate, to be run in so many orders in turns.
    ///
    /// Every order gets the same number of runs, because mending what one polluter leaves behind does
    /// not mend what another one does.
    #[must_use]
    pub fn new(was: f64, confidence: f64, orders: u32) -> Self {
        Self { was, at_most: was, confidence, orders: orders.max(1), tally: Tally::default() }
    }

    /// The same where the test may have failed up to this often: clean runs are counted against the
    /// low end of what was seen, failures in a row against the high end.
    #[must_use]
    pub fn failing_at_most(self, rate: f64) -> Self {
        Self { at_most: rate.max(self.was), ..self }
    }

    /// The clean runs that each order needs.
    #[must_use]
    pub fn needed_in_each(&self) -> u32 {
        clean_runs_needed(self.was, self.confidence)
    }

    /// The clean runs that are needed in all.
    #[must_use]
    pub fn needed(&self) -> u32 {
        self.needed_in_each().saturating_mul(self.orders)
    }

    /// So many failures in a row are too many for a test that fails as often as it did: it is broken.
    #[must_use]
    pub fn failures_of_a_broken_test(&self) -> u32 {
        clean_runs_needed(1.0 - self.at_most, self.confidence).clamp(ALWAYS, MOST_FAILURES)
    }

    /// Take in the outcome of the next run; orders take turns.
    pub fn observe(&mut self, has_failed: bool) {
        self.tally.count(has_failed);
    }

    /// The runs so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What the runs say, once they say something. Whether a failing test is broken rather than flaky
    /// takes a second look.
    #[must_use]
    pub fn verdict(&self) -> Option<FixVerdict> {
        if self.tally.failures > 0 {
            Some(FixVerdict::StillFlaky)
        } else if self.tally.runs >= self.needed() {
            Some(FixVerdict::Fixed)
        } else {
            None
        }
    }

    /// The failure rate that clean runs do not exclude, in the order that had the fewest; everything
    /// before the first run.
    #[must_use]
    pub fn not_excluded(&self) -> f64 {
        pass_rate_not_ruled_out(self.tally.runs / self.orders, self.confidence)
    }
}

/// How often a test failed before the fix, and who says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormerRate {
    /// The rate that the fix is tested against.
    pub rate: f64,
    /// Where it comes from.
    pub source: RateSource,
}

/// Where a former rate comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateSource {
    /// Somebody said so.
    Given,
    /// The low end of the interval behind these executions of a hunt: a smaller rate needs more runs.
    Seen(Tally, WhereSeen),
    /// A hunt says that the order of tests makes it fail only if it does so more often than this.
    Decided,
}

/// In what orders a test was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhereSeen {
    /// In the suite's own order.
    OwnOrder,
    /// In other orders.
    OtherOrders,
    /// Alone.
    Alone,
    /// Wherever it ran.
    Anywhere,
    /// Under the lever that makes it fail.
    UnderLever,
}

impl FormerRate {
    /// A rate that somebody gave.
    #[must_use]
    pub fn given(rate: f64) -> Self {
        Self { rate, source: RateSource::Given }
    }

    /// The rate of a test under the lever that makes it fail, at its low end.
    #[must_use]
    pub fn under_lever(tally: Tally) -> Self {
        let source = RateSource::Seen(tally, WhereSeen::UnderLever);
        Self { rate: failure_rate(tally).low, source }
    }

    /// The rate of a test that a hunt found to be flaky, at its low end; `None` if it was not measured.
    ///
    /// A victim fails after its polluters at least as often as in orders that may have them behind it,
    /// and a brittle test alone at least as often as in orders that may have a state-setter before it.
    #[must_use]
    pub fn from_hunted(test: &HuntedTest) -> Option<Self> {
        let seen = |tally: Tally, place| Self {
            rate: failure_rate(tally).low,
            source: RateSource::Seen(tally, place),
        };
        let other = seen(test.shuffled, WhereSeen::OtherOrders);
        let decided = Self { rate: PASSING_RATE, source: RateSource::Decided };
        let candidates = match test.kind {
            Some(FlakyKind::Victim) => {
                vec![other, seen(test.baseline, WhereSeen::OwnOrder), decided]
            }
            Some(FlakyKind::Brittle) => vec![other, seen(test.alone, WhereSeen::Alone), decided],
            Some(FlakyKind::Nod | FlakyKind::Id) | None => {
                vec![seen(test.telling(), WhereSeen::Anywhere)]
            }
        };
        let best = candidates.into_iter().max_by(|one, other| one.rate.total_cmp(&other.rate));
        best.filter(|it| it.rate > 0.0)
    }

    /// The most often that the test may have failed.
    #[must_use]
    pub fn high(&self) -> f64 {
        match self.source {
            RateSource::Seen(tally, _) => failure_rate(tally).high,
            RateSource::Given | RateSource::Decided => self.rate,
        }
    }
}

/// All that was found out about a fix.
#[derive(Debug, Clone, PartialEq)]
pub struct FixFindings {
    /// What was run, when and how.
    pub run: RunFacts,
    /// The test.
    pub test: TestId,
    /// How it was flaky, if that is known.
    pub kind: Option<FlakyKind>,
    /// The lever that it was run under, because that makes it fail.
    pub lever: Option<crate::LeverValue>,
    /// The orders that it was run in, itself last.
    pub orders: Vec<Vec<TestId>>,
    /// How most environments were made.
    pub isolation: Isolation,
    /// How often it failed before.
    pub was: FormerRate,
    /// How sure a fix must be.
    pub confidence: f64,
    /// Its runs, and what they say.
    pub runs: FixTest,
    /// Tests run, those before it included.
    pub executions: u64,
    /// What is said; `None` if nothing can be.
    pub verdict: Option<FixVerdict>,
    /// Why it ended.
    pub end: FixEnd,
    /// Its first failure.
    pub failure: Option<Failure>,
    /// A command that runs it as it failed, or as it was run.
    pub reproduce: Option<String>,
    /// What the reader should know.
    pub notices: Vec<Notice>,
    /// How the program ends.
    pub exit: ExitCode,
}

/// Why a proof ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FixEnd {
    /// There is a verdict.
    Decided,
    /// Its time is spent.
    BudgetSpent,
    /// The user interrupted it.
    Interrupted,
    /// The test is skipped, or what runs before it ends the process.
    NotReached,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(runs: u32, failures: u32) -> Tally {
        Tally { runs, failures }
    }

    #[test]
    fn one_failure_refutes_a_fix() {
        let mut test = FixTest::new(0.5, 0.95, 1);
        test.observe(false);
        assert_eq!(test.verdict(), None);
        test.observe(true);
        assert_eq!(test.verdict(), Some(FixVerdict::StillFlaky));
    }

    #[test]
    fn a_test_that_failed_4_of_11_is_not_broken_after_three_failures() {
        let seen = failure_rate(tally(11, 4));
        let test = FixTest::new(seen.low, 0.95, 1).failing_at_most(seen.high);
        let enough = test.failures_of_a_broken_test();
        assert!(enough >= 6, "{enough}");
        assert!(seen.high.powi(i32::try_from(enough).unwrap_or(i32::MAX)) < 0.05);
    }

    #[test]
    fn every_order_gets_its_runs() {
        let test = FixTest::new(0.5, 0.95, 3);
        assert_eq!((test.needed_in_each(), test.needed()), (5, 15));
    }

    #[test]
    fn nothing_is_excluded_before_every_order_has_run() {
        let mut test = FixTest::new(0.5, 0.95, 2);
        test.observe(false);
        assert!((test.not_excluded() - 1.0).abs() < f64::EPSILON);
        test.observe(false);
        assert!((test.not_excluded() - 0.95).abs() < 1e-9);
    }

    #[test]
    fn the_low_end_of_the_rate_is_taken() {
        let mut test = HuntedTest::new("a".into(), None);
        test.kind = Some(FlakyKind::Nod);
        test.baseline = tally(10, 3);
        let former = FormerRate::from_hunted(&test).unwrap();
        assert_eq!(former.source, RateSource::Seen(tally(10, 3), WhereSeen::Anywhere));
        assert!(former.rate > 0.0 && former.rate < 0.3);
    }

    #[test]
    fn a_test_that_depends_on_the_order_is_taken_where_it_shows_most() {
        let mut test = HuntedTest::new("a".into(), None);
        test.kind = Some(FlakyKind::Brittle);
        (test.shuffled, test.alone) = (tally(20, 14), tally(1, 1));
        let source = FormerRate::from_hunted(&test).unwrap().source;
        assert_eq!(source, RateSource::Seen(tally(20, 14), WhereSeen::OtherOrders));
        // Found by trying pairs alone: no order has shown it.
        (test.kind, test.shuffled) = (Some(FlakyKind::Victim), tally(0, 0));
        assert_eq!(FormerRate::from_hunted(&test).unwrap().source, RateSource::Decided);
    }

    #[test]
    fn a_rate_that_was_not_measured_is_none() {
        let mut test = HuntedTest::new("a".into(), None);
        test.kind = Some(FlakyKind::Nod);
        assert_eq!(FormerRate::from_hunted(&test), None);
    }

    proptest! {
        #[test]
        fn a_fix_excludes_the_former_rate(was in 1e-4f64..=1.0, orders in 1u32..5) {
            let mut test = FixTest::new(was, 0.95, orders);
            (0..test.needed()).for_each(|_| test.observe(false));
            prop_assert_eq!(test.verdict(), Some(FixVerdict::Fixed));
            prop_assert!(test.not_excluded() <= was + 1e-9);
        }
    }
}
