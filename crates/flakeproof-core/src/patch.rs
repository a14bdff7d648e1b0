//! What mends a flaky test: patches that are proven, and those that were tried in vain.

use serde::{Deserialize, Serialize};

use crate::{ExitCode, FlakyKind, Notice, RunFacts, Tally, TestId};

/// All that was found out about how to mend a test.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchFindings {
    /// What was run, when and how.
    pub run: RunFacts,
    /// The test.
    pub test: TestId,
    /// How it is flaky, if a hunt said so.
    pub kind: Option<FlakyKind>,
    /// Patches that are proven, the best first.
    pub patches: Vec<ProvenPatch>,
    /// What was tried before that, and why it is not offered.
    pub tried: Vec<TriedPatch>,
    /// What helps where no patch can be proven.
    pub advice: Vec<String>,
    /// What was done with the first patch.
    pub applied: Applied,
    /// Whether it ended because it was interrupted.
    pub is_interrupted: bool,
    /// What the reader should know.
    pub notices: Vec<Notice>,
    /// How the program ends.
    pub exit: ExitCode,
}

/// What was done with a proven patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Applied {
    /// It is only shown.
    Shown,
    /// The files are written.
    Files,
    /// It is a commit on a branch.
    Branch {
        /// The branch.
        name: String,
    },
}

/// A patch that is proven.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenPatch {
    /// The files it changes, relative to the project's root.
    pub files: Vec<String>,
    /// It as a unified diff.
    pub diff: String,
    /// What it does and why, in one sentence.
    pub idea: String,
    /// What it may hide, if it may.
    pub hides: Option<String>,
    /// What proves it.
    pub proof: PatchProof,
}

/// What proves a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatchProof {
    /// How the test fared without the patch, as it used to fail, in a copy of the project.
    pub without: Tally,
    /// How it fared with the patch.
    pub with: Tally,
    /// A smaller failure rate than this is not excluded.
    pub not_excluded: f64,
    /// Tests of the files changed, and of all that import them, with the same outcome as before.
    pub unchanged: u32,
    /// Such tests that failed before and pass now.
    pub mended: u32,
    /// How often they ran with the patch and without, in turns.
    pub turns: u32,
    /// Whether the changed tests still notice a fault in the code.
    pub faults: Vec<FaultNoticed>,
    /// The levers under which it passes, as they are typed, the one that made it fail first; none where an
    /// order makes it fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<String>,
}

/// Whether a changed test still notices a fault in the code that it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultNoticed {
    /// The changed test.
    pub test: TestId,
    /// The fault that it notices with the patch and without: `shop.py:3`, and what was put there; `null`
    /// if it noticed none of those tried, neither with the patch nor without.
    pub fault: Option<String>,
    /// The faults that were tried.
    pub tried: u32,
}

/// A patch that was tried, and is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedPatch {
    /// What it would have done.
    pub idea: String,
    /// Why it is not offered.
    pub why_not: String,
}
