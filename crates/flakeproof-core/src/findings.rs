//! All that a run found out, ready to be rendered or kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Attempt, Evidence, Hold, Isolation, Kind, Location, Outcome, Quarantined, Seed, Signature,
    Stage, TestId, Verdict,
};

/// All that a run found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// What was run, when and how.
    pub run: RunFacts,
    /// How the suite's own run ended, in numbers.
    pub suite: SuiteCounts,
    /// Every test that ran, in the suite's order.
    pub tests: Vec<TestFinding>,
    /// Failures that share a signature.
    pub groups: Vec<Group>,
    /// What the reader should know about the run itself.
    pub notices: Vec<Notice>,
    /// The verdict on the whole run.
    pub exit: ExitCode,
}

impl Findings {
    /// The tests that failed, in the suite's order.
    pub fn failures(&self) -> impl Iterator<Item = &TestFinding> {
        self.tests.iter().filter(|test| test.verdict.is_some())
    }

    /// How many failures have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tests.iter().filter(|test| test.verdict == Some(verdict)).count()
    }
}

/// What was run, when and how.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// The run's id, which tests see as `FLAKEPROOF_RUN_ID`.
    pub id: String,
    /// The user's own command.
    pub command: Vec<String>,
    /// The framework and runtime, for people: `pytest 8.3.5, Python 3.11.7`.
    pub runner: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// How long it all took.
    pub duration: Duration,
    /// The seed of all chance.
    pub seed: Seed,
    /// The revision checked out.
    pub revision: Option<String>,
    /// The version of flakeproof.
    pub version: String,
}

/// How the suite's own run ended, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteCounts {
    /// Tests collected.
    pub tests: usize,
    /// Tests that ran or were skipped.
    pub run: usize,
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests whose set-up or teardown failed.
    pub errored: usize,
    /// Tests that were skipped or failed as expected.
    pub skipped: usize,
    /// Tests whose process died.
    pub crashed: usize,
    /// Tests that were killed at their deadline.
    pub timed_out: usize,
}

impl SuiteCounts {
    /// Count one more first outcome.
    pub fn add(&mut self, outcome: Outcome) {
        self.run += 1;
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Errored => &mut self.errored,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Crashed => &mut self.crashed,
            Outcome::TimedOut => &mut self.timed_out,
        } += 1;
    }

    /// Tests whose first outcome turns a build red.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.failed + self.errored + self.crashed + self.timed_out
    }
}

/// What was found out about one test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestFinding {
    /// Its id.
    pub id: TestId,
    /// Where it is defined.
    pub location: Option<Location>,
    /// How the suite's own run of it ended.
    pub outcome: Outcome,
    /// What its failure is; `None` if it did not fail.
    pub verdict: Option<Verdict>,
    /// How it is flaky, where the evidence shows it.
    pub kind: Option<Kind>,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
    /// Every execution of it, the first one first.
    pub attempts: Vec<Attempt>,
    /// A command that shows the failure again.
    pub reproduce: Option<String>,
    /// The group it belongs to, as an index into [`Findings::groups`].
    pub group: Option<usize>,
    /// Its entry in the quarantine, if it failed and has one.
    pub quarantine: Option<Quarantined>,
}

impl TestFinding {
    /// Whether its failure does not count, because it is in quarantine.
    #[must_use]
    pub fn is_excused(&self) -> bool {
        self.quarantine.as_ref().is_some_and(|it| it.hold == Hold::Excused)
    }

    /// Whether it failed among others, and passes alone each time: who ran before it matters, or chance.
    #[must_use]
    pub fn fails_only_among_others(&self) -> bool {
        let among = |stage: Stage| matches!(stage, Stage::First | Stage::Order);
        let is_alone = |it: &&Attempt| it.stage == Stage::Fresh && it.isolation == Isolation::Spawn;
        let outcome = |it: &Attempt| it.execution.outcome;
        let mut among_others = self.attempts.iter().filter(|it| among(it.stage)).map(outcome);
        let alone: Vec<Outcome> = self.attempts.iter().filter(is_alone).map(outcome).collect();
        self.verdict.is_some()
            && alone.contains(&Outcome::Passed)
            && !alone.iter().any(|outcome| outcome.is_failure())
            && !among_others.any(|outcome| outcome == Outcome::Passed)
    }

    /// The first failing attempt.
    #[must_use]
    pub fn first_failure(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.execution.outcome.is_failure())
    }
}

/// Tests that failed with the same signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they share.
    pub signature: Signature,
    /// The tests, in the suite's order; at least two.
    pub tests: Vec<TestId>,
    /// What the reruns say about all of them.
    pub cause: GroupCause,
}

/// What the reruns say about a group of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupCause {
    /// They healed together in time: one outage, not many flaky tests.
    Outage,
    /// They healed together in fresh environments: one polluted state.
    SharedState,
    /// They share a signature; nothing more is shown.
    SameFailure,
}

impl GroupCause {
    /// The cause as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::SharedState => "shared_state",
            Self::SameFailure => "same_failure",
        }
    }
}

/// Something the reader should know about the run itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub next: String,
}

/// How a run may end (DESIGN §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// Nothing to complain about.
    Clean,
    /// Real failures, or failures that could not be explained.
    Failures,
    /// A mistake on the command line or in the configuration.
    Usage,
    /// Only flaky failures, and the policy says that they fail the build.
    Flaky,
    /// No test was selected.
    NoTests,
    /// Not all tests ran, and those that did say nothing worse.
    Inconclusive,
    /// The tool or the runner broke.
    Broken,
    /// Interrupted, after the best result so far was printed.
    Interrupted,
}

impl ExitCode {
    /// The number the process ends with.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Failures => 1,
            Self::Usage => 2,
            Self::Flaky => 3,
            Self::NoTests => 4,
            Self::Inconclusive => 5,
            Self::Broken => 6,
            Self::Interrupted => 130,
        }
    }
}

/// What failures of one verdict do to the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A build with only such failures passes.
    Pass,
    /// A build with such failures fails.
    Fail,
}

/// What each kind of failure that the change did not cause for certain does to the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policies {
    /// Of flaky failures; they fail with an exit code of their own.
    pub flaky: Policy,
    /// Of flaky failures that are new with the change.
    pub newly_flaky: Policy,
    /// Of failures that have nothing to do with the change.
    pub unrelated: Policy,
}

impl Default for Policies {
    fn default() -> Self {
        Self { flaky: Policy::Pass, newly_flaky: Policy::Fail, unrelated: Policy::Fail }
    }
}
