//! What a history of runs must be able to do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Attempt, CauseRecord, Features, Findings, HuntFindings, HuntOverview, HuntRecord, Kind,
    KnownFlaky, Outcome, PastFailure, PastFinding, Seed, Signature, TestId, Timeline, TreeState,
    TrialRecord, Verdict,
};

/// Runs and their executions, kept from one run to the next.
///
/// Implementations promise that what [`record`](Self::record) returned from survives a killed
/// process, and that several processes may write at the same time.
pub trait History: Send {
    /// Open a new run; what follows belongs to it.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError>;

    /// Keep attempts of the open run, all of them or none.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError>;

    /// Close the open run with what was found.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError>;

    /// Close the open run, which was read from reports and has no findings.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn close(&mut self, took: Duration) -> Result<(), HistoryError>;

    /// Whether there is a run of this id.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn has_run(&self, id: &str) -> Result<bool, HistoryError>;

    /// How every test fared in every run.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn timeline(&self) -> Result<Timeline, HistoryError>;

    /// The timeline of the tests about which there is something to say: those that ever did anything but pass,
    /// be skipped or fail in an outage that is over, those that may have been renamed, and these. How long
    /// passes took is left out. It takes much less to read where most tests just pass.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn brief_timeline(&self, _with: &[TestId]) -> Result<Timeline, HistoryError> {
        self.timeline()
    }

    /// The open run proves nothing about its code, which changed while it ran.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn unsettle(&mut self) -> Result<(), HistoryError>;

    /// The latest run before the open one, in the same folder, in which the test passed at its first
    /// attempt, or `None` if there is no such run. Runs that were read from reports do not count: what
    /// surrounded them is not known. Nor do those whose code changed while they ran.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError>;

    /// How the test fared at its first attempt in runs before the open one, in the same folder, the
    /// latest first; of the same runs as [`last_pass`](Self::last_pass).
    ///
    /// # Errors
    /// When the history cannot be read.
    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError>;

    /// How long each test took when it last passed.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError>;

    /// Keep what was measured about tests in the open run, all of it or nothing.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError>;

    /// What was measured about tests on the state of the code that was measured last.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError>;

    /// Open a hunt; trials and findings that follow belong to it. If there is one of this id, it is
    /// taken up again with all its trials.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError>;

    /// The latest hunt of a command that was not finished, or `None`.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError>;

    /// Keep a trial of the open hunt under its key.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError>;

    /// The trial of the open hunt with this key.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError>;

    /// Keep what the open hunt found, in place of what it had found before; it stays unfinished unless
    /// it ended by itself.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError>;

    /// What the latest hunt that looked at a test says about it, for every test that it found to be
    /// flaky.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError>;

    /// Keep an experiment with a test, in place of what was kept of it before.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError>;

    /// What makes tests fail: the latest answer about each of them.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError>;

    /// The latest experiment of a command with a test, if it was not finished.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError>;

    /// What runs said about failures, the latest first; of each test only the latest few.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError>;

    /// How these tests failed, or all, the latest first, each way once; of each test only the latest few.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError>;

    /// The latest hunt.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError>;
}

/// What was measured about a test in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRecord {
    /// The test.
    pub test: TestId,
    /// The run, counted from 1 among those of the same code.
    pub run: u32,
    /// Its features in that run.
    pub features: Features,
}

/// How often a test ran, and how often it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// The runs.
    pub runs: u32,
    /// The runs in which it failed.
    pub failures: u32,
}

impl Tally {
    /// Count one more run.
    pub fn count(&mut self, has_failed: bool) {
        self.runs += 1;
        self.failures += u32::from(has_failed);
    }

    /// Whether it both passed and failed.
    #[must_use]
    pub fn is_inconsistent(self) -> bool {
        0 < self.failures && self.failures < self.runs
    }

    /// Whether it never passed.
    #[must_use]
    pub fn always_fails(self) -> bool {
        self.failures == self.runs
    }
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { runs: self.runs + other.runs, failures: self.failures + other.failures }
    }
}

/// How a test fared over all runs, reruns left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrackRecord {
    /// Runs in which it passed at its first attempt.
    pub passes: u32,
    /// Runs in which it failed at its first attempt.
    pub failures: u32,
    /// Failures that were found to be flaky.
    pub flaky: u32,
}

/// What is known of a run when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The run's id.
    pub id: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// The user's own command.
    pub command: Vec<String>,
    /// Where it ran, relative to the repository: tests of two folders may have the same ids.
    pub folder: String,
    /// The seed of all chance.
    pub seed: Seed,
    /// The code that ran.
    pub tree: TreeState,
    /// What surrounded the code.
    pub surroundings: Surroundings,
    /// The version of flakeproof.
    pub version: String,
    /// Where it is known from.
    pub origin: Origin,
}

/// Where a run is known from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// flakeproof ran it.
    #[default]
    Run,
    /// It was read from the reports of a CI system.
    Reports {
        /// The job that wrote them.
        job: Option<String>,
    },
}

impl Origin {
    /// The origin as one lower-case word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Reports { .. } => "reports",
        }
    }

    /// The job that wrote the reports.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        match self {
            Self::Run => None,
            Self::Reports { job } => job.as_deref(),
        }
    }
}

/// What surrounds the code and may change without it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The runtime and framework: `Python 3.11.7`, `pytest 8.3.5`.
    pub runtime: Vec<String>,
    /// A digest of the installed packages and their versions.
    pub packages: String,
    /// A digest of the value of each environment variable, by name.
    pub variables: BTreeMap<String, String>,
    /// The machine whose files these were, where that is known.
    #[serde(default)]
    pub machine: Option<String>,
}

/// A run in which a test passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassRecord {
    /// The run's id.
    pub run: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// The code that ran.
    pub tree: TreeState,
    /// What surrounded it.
    pub surroundings: Surroundings,
}

/// How a test fared in an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastOutcome {
    /// The revision that was checked out.
    pub revision: Option<String>,
    /// Whether nothing was edited on top of it.
    pub is_clean: bool,
    /// How the first attempt ended.
    pub outcome: Outcome,
    /// What the failure looked like.
    pub signature: Option<Signature>,
    /// The failure's own words, in one line.
    pub message: Option<String>,
    /// What it was found to be, by the rules of evidence of this version.
    pub verdict: Option<Verdict>,
    /// How it was flaky.
    pub kind: Option<Kind>,
}

/// Why a history cannot be used.
///
/// The text names the file and the cause; the variant says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryError {
    /// It was written by a newer version.
    Newer {
        /// Where it is.
        place: String,
        /// The version of its schema.
        found: u32,
        /// The newest version this program knows.
        known: u32,
    },
    /// It is damaged, or not a history at all.
    Unreadable {
        /// Where it is.
        place: String,
        /// What the engine said.
        cause: String,
    },
    /// It is on another machine that does not answer, or lets nobody in.
    Unreachable {
        /// Where it is.
        place: String,
        /// What went wrong on the way.
        cause: String,
    },
    /// It cannot be written.
    Unwritable {
        /// Where it is.
        place: String,
        /// What the engine said.
        cause: String,
    },
}

impl std::fmt::Display for HistoryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Newer { place, found, known } => write!(
                f,
                "the history {place} has schema {found}, and this program knows up to {known}"
            ),
            Self::Unreadable { place, cause } => {
                write!(f, "the history {place} cannot be read: {cause}")
            }
            Self::Unreachable { place, cause } => {
                write!(f, "the history {place} cannot be reached: {cause}")
            }
            Self::Unwritable { place, cause } => {
                write!(f, "the history {place} cannot be written: {cause}")
            }
        }
    }
}

impl std::error::Error for HistoryError {}
