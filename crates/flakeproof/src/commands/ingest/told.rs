//! What the user is told about reports that were read.

use flakeproof_core::RunRecord;
use flakeproof_runner::reports::{Issue, Severity};

/// Everything that one call read.
#[derive(Debug, Default)]
pub(crate) struct Ingested {
    pub(crate) runs: Vec<IngestedRun>,
    /// Files in folders that are no reports.
    pub(crate) passed_over: usize,
    pub(crate) is_dry: bool,
    pub(crate) is_interrupted: bool,
    /// Whether the revision is known to be what ran.
    pub(crate) is_certain: bool,
}

/// One run that was read from reports.
#[derive(Debug)]
pub(crate) struct IngestedRun {
    pub(crate) record: RunRecord,
    /// Whether it was in the history already, so that nothing was read.
    pub(crate) is_known: bool,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) tests: TestCounts,
    pub(crate) remarks: Remarks,
}

/// How many tests there were, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Passed and failed, in the same run.
    pub(crate) mixed: u64,
    pub(crate) skipped: u64,
}

impl TestCounts {
    pub(crate) fn all(self) -> u64 {
        self.passed + self.failed + self.mixed + self.skipped
    }
}

/// What should be known besides.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// What is odd about a file.
    pub(crate) issues: Vec<(String, Issue)>,
    /// Times that a test occurred again and could not be told from a part of the same test.
    pub(crate) parts: u64,
    /// Ids before and after the rules; only some of many.
    pub(crate) rewritten: Vec<(String, String)>,
    pub(crate) rewritten_count: u64,
    /// Tests that kept their ids, because the rules would have made one of several.
    pub(crate) kept_apart: u64,
}

impl Remarks {
    /// Whether tests may be missing.
    pub(crate) fn has_serious_issue(&self) -> bool {
        self.issues.iter().any(|(_, issue)| issue.severity == Severity::Serious)
    }
}
