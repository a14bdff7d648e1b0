//! What the triage is given: its parameters, and what it may ask of the world outside, which is the
//! change, the record, the base and the time.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{Dependencies, Execution, Isolation, Kind, Signature, TestId};
use flakeproof_runner::{Adapter, Granularity};
use regex::Regex;

use crate::intersect::Facts;

/// The five parameters of the thesis (Figure 3.1) and what was added to them.
#[derive(Debug, Clone)]
pub struct TriageSettings {
    /// Reruns right after a failure, in the same environment (`C_IMM`).
    pub immediate: u32,
    /// Reruns after the last test, in the same environment (`C_END`).
    pub postponed: u32,
    /// Reruns in a fresh environment (`C_NEW`).
    pub fresh: u32,
    /// Failures above which nothing is rerun (`THRESHOLD`).
    pub limit: RetryLimit,
    /// How dependencies are measured in the first fresh environment (`MEASURE_COVERAGE`).
    pub dependencies: Granularity,
    /// How fresh environments are made where the triage may choose.
    pub isolation: Isolation,
    /// Fresh interpreters that may be tried to confirm a pass elsewhere.
    pub confirmations: u32,
    /// Environments side by side.
    pub jobs: usize,
    /// How long each test took before, to share the suite among the jobs.
    pub durations: BTreeMap<TestId, Duration>,
    /// How long to wait before a rerun.
    pub delay: Duration,
    /// Which failures may be rerun.
    pub rerun: RerunRules,
    /// How long the suite's order and the base may be run for evidence.
    pub evidence: EvidenceBudget,
}

impl Default for TriageSettings {
    fn default() -> Self {
        Self {
            immediate: 1,
            postponed: 1,
            fresh: 2,
            limit: RetryLimit::default(),
            dependencies: Granularity::File,
            isolation: Isolation::Fork,
            confirmations: 5,
            jobs: 1,
            durations: BTreeMap::new(),
            delay: Duration::ZERO,
            rerun: RerunRules::default(),
            evidence: EvidenceBudget::default(),
        }
    }
}

/// How long the suite's order and the base may be run for evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvidenceBudget {
    /// As long as the suite itself took for failures that stay, as long again for its order, and twice
    /// that for the base's; a few seconds at least, which small suites have to spare.
    #[default]
    BySuite,
    /// So long for each of them.
    Fixed(Duration),
}

impl EvidenceBudget {
    /// What any suite has to spare.
    const LEAST: Duration = Duration::from_secs(20);

    /// How long failures may be rerun alone to see whether they stay.
    pub(super) fn lasting(self, suite: Duration) -> Duration {
        match self {
            Self::BySuite => suite.max(Self::LEAST),
            Self::Fixed(budget) => budget,
        }
    }

    /// How long the suite's order may be run.
    pub(super) fn order(self, suite: Duration) -> Duration {
        match self {
            Self::BySuite => suite.mul_f64(1.2).max(Self::LEAST),
            Self::Fixed(budget) => budget,
        }
    }

    /// How long tests may be run on the base.
    pub(super) fn base(self, suite: Duration) -> Duration {
        match self {
            Self::BySuite => (suite * 2).max(Self::LEAST),
            Self::Fixed(budget) => budget,
        }
    }
}

/// How many tests may fail before reruns stop: then the change is broken, not the tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RetryLimit {
    /// This share of the suite, but never fewer than this many tests.
    Share {
        /// From 0 to 1.
        share: f64,
        /// So that small suites work.
        at_least: usize,
    },
    /// This many tests.
    Tests(usize),
}

impl Default for RetryLimit {
    fn default() -> Self {
        Self::Share { share: 0.05, at_least: 10 }
    }
}

impl RetryLimit {
    /// The limit for a suite of this size.
    #[must_use]
    pub fn resolve(self, tests: usize) -> usize {
        match self {
            Self::Tests(limit) => limit,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a share of a count is a count"
            )]
            Self::Share { share, at_least } => {
                ((tests as f64 * share).floor() as usize).max(at_least)
            }
        }
    }
}

/// Which failures may be rerun; all others are real at once.
#[derive(Debug, Clone, Default)]
pub struct RerunRules {
    /// If there are any: only failures that match one of these.
    pub only: Vec<Regex>,
    /// No failure that matches one of these.
    pub except: Vec<Regex>,
}

/// Reports of memory and race checkers: the fault is there, whether it shows again or not.
const NEVER_CHANCE: [&str; 11] = [
    "ERROR: AddressSanitizer",
    "ERROR: HWAddressSanitizer",
    "ERROR: LeakSanitizer",
    "WARNING: ThreadSanitizer",
    "WARNING: MemorySanitizer",
    "UndefinedBehaviorSanitizer",
    // Go.
    "WARNING: DATA RACE",
    // The same in Go's words about the test, where another test's output holds the report.
    "race detected during execution of test",
    // Miri, and the checks of Rust's own library.
    "error: Undefined Behavior:",
    "unsafe precondition(s) violated",
    // Go's runtime, which sees some races by itself.
    "fatal error: concurrent map",
];

impl RerunRules {
    /// The rule by which a failing test may not be rerun after this execution, if there is one.
    ///
    /// A checker's report counts even where the execution passed; the patterns are about failures.
    #[must_use]
    pub fn forbids(&self, execution: &Execution) -> Option<String> {
        let Execution { failure, output, .. } = execution;
        let text = failure.as_ref().map_or("", |failure| &failure.text);
        let is_in = |report: &str| text.contains(report) || output.contains(report);
        if let Some(report) = NEVER_CHANCE.into_iter().find(|report| is_in(report)) {
            return Some(format!("a checker reports a fault ({report})"));
        }
        if !execution.outcome.is_failure() {
            return None;
        }
        let message = failure.as_ref().map_or("", |failure| &failure.message);
        let matches = |pattern: &Regex| pattern.is_match(message) || pattern.is_match(text);
        if let Some(pattern) = self.except.iter().find(|pattern| matches(pattern)) {
            return Some(format!("it matches --rerun-except {pattern}"));
        }
        let is_left_out = !self.only.is_empty() && !self.only.iter().any(matches);
        is_left_out.then(|| "it matches no --only-rerun pattern".to_owned())
    }
}

/// Gives a change, or says why it is not known.
pub type ChangeLookup<'a> =
    dyn Fn(&TestId, &Dependencies) -> std::result::Result<Facts, String> + 'a;

/// What the triage may ask of the world outside.
pub struct Experiments<'a> {
    /// What changed since a test last passed.
    pub since_pass: &'a ChangeLookup<'a>,
    /// What changed since the work that is to be judged began.
    pub since_base: &'a ChangeLookup<'a>,
    /// Why that is not known, where there is such work all the same: a clone that lacks commits.
    pub hidden_change: &'a dyn Fn() -> Option<String>,
    /// How a test fared before that work began, as far as it failed like this.
    pub record: &'a dyn Fn(&TestId, Option<&Signature>) -> Record,
    /// The code from before that work, checked out beside the project; or why it cannot be had.
    pub base: &'a dyn Fn() -> std::result::Result<BaseProject, String>,
    /// The time since the run began.
    pub clock: &'a (dyn Fn() -> Duration + Sync),
}

/// How a test fared before the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Runs in which it passed.
    pub passes: u32,
    /// How it was flaky in each run in which it failed like this and was shown to be flaky.
    pub flaky: Vec<Option<Kind>>,
    /// What it said in them.
    pub messages: Vec<String>,
}

impl Record {
    /// Runs in which it failed like this and was shown to be flaky.
    #[must_use]
    pub fn failures(&self) -> u32 {
        u32::try_from(self.flaky.len()).unwrap_or(u32::MAX)
    }

    /// Whether the suite's order made it fail like this before.
    #[must_use]
    pub fn is_order_dependent(&self) -> bool {
        self.flaky.contains(&Some(Kind::StateDependent))
    }
}

/// Says which of the code that was used is not the base's.
pub type ForeignCode = dyn Fn(Option<&Dependencies>) -> Option<String>;

/// The code from before the change, checked out beside the project.
pub struct BaseProject {
    /// Runs its tests.
    pub adapter: Box<dyn Adapter>,
    /// Its revision, for people.
    pub revision: String,
    /// Its tests, in its own order; those of the same part, where not all of the suite is judged.
    pub order: Vec<TestId>,
    /// Why that may not be the order that ran here, for all that the change did to it.
    pub order_doubt: Option<String>,
    /// Says which code that an execution there used is not the base's, if there may be any. What was
    /// used is not always known.
    pub foreign_code: Box<ForeignCode>,
    /// Brings along what may be missing there and is newer than the change, and says whether there was anything.
    pub bring_the_rest: Box<dyn Fn() -> bool>,
    /// Removes the checkout when it is dropped.
    pub checkout: Box<dyn std::any::Any>,
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Failure, Outcome, Phase, Signature};

    use super::*;

    fn execution(outcome: Outcome, failure: Option<Failure>, output: &str) -> Execution {
        Execution { failure, output: output.into(), ..Execution::new("t", outcome, Duration::ZERO) }
    }

    fn failed(message: &str) -> Execution {
        let failure = Failure {
            phase: Phase::Call,
            message: message.into(),
            text: message.into(),
            location: None,
            signature: Signature::compute(message, None),
        };
        execution(Outcome::Failed, Some(failure), "")
    }

    #[test]
    fn small_suites_may_have_ten_failures_and_large_ones_a_share() {
        let limit = RetryLimit::default();
        assert_eq!(limit.resolve(3), 10);
        assert_eq!(limit.resolve(1000), 50);
    }

    #[test]
    fn a_race_report_is_never_rerun_away_whatever_the_outcome() {
        let rules = RerunRules::default();
        let reports = [
            "WARNING: ThreadSanitizer: data race (pid=1)",
            "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602",
            "==7==ERROR: LeakSanitizer: detected memory leaks",
            "==7==WARNING: MemorySanitizer: use-of-uninitialized-value",
            "error: Undefined Behavior: Data race detected between two threads",
            "unsafe precondition(s) violated: slice::get_unchecked requires a valid index",
            "WARNING: DATA RACE\nRead at 0x00c0000140a8 by goroutine 7:",
            "fatal error: concurrent map writes",
        ];
        for (report, outcome) in reports.iter().zip(Outcome::ALL.into_iter().cycle()) {
            assert!(rules.forbids(&execution(outcome, None, report)).is_some(), "{report}");
            assert!(rules.forbids(&execution(outcome, None, "")).is_none());
        }
        for outcome in Outcome::ALL {
            assert!(rules.forbids(&execution(outcome, None, reports[0])).is_some());
        }
    }

    #[test]
    fn patterns_choose_what_is_rerun() {
        let rules = RerunRules {
            only: vec![Regex::new("ConnectionError|Timeout").unwrap()],
            except: vec![Regex::new("certificate").unwrap()],
        };
        assert!(rules.forbids(&failed("ConnectionError: refused")).is_none());
        assert!(rules.forbids(&failed("ConnectionError: bad certificate")).is_some());
        assert!(rules.forbids(&failed("assert 1 == 2")).is_some());
        assert!(rules.forbids(&execution(Outcome::Passed, None, "")).is_none());
    }
}
