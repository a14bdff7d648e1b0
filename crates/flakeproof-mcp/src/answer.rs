//! What tools answer, for programs. The comments are what a client reads in the schemas.
//!
//! Answers are short: what a reader decides by, and no more. Everything is in the reports, which a person
//! writes with `--reporter json=FILE`.

use flakeproof_core::{CauseAnswer as Answer, FlakyKind, Standing, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UntrustedText;

/// What is known about failures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriageAnswer {
    /// The run that the failures are of, if none were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunOfFailures>,
    /// The failures, those that must be looked at first.
    pub failures: Vec<TriagedFailure>,
    /// How many there are on all pages.
    pub total: usize,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A run in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOfFailures {
    /// Its id.
    pub id: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// The revision that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// What is known about one failure. Only a verdict of this very run settles it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriagedFailure {
    /// The test.
    pub test: UntrustedText,
    /// What its history comes to; absent if no run has seen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What its history comes to, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_words: Option<String>,
    /// What the latest run that judged a failure of it said. It is about that failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_verdict: Option<PastVerdict>,
    /// In how many runs it failed with this message, and when last; absent if no message was given or it
    /// never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_like_this: Option<FailedLikeThis>,
    /// What makes it fail, proven by experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What to do next.
    pub next: String,
}

/// How often a test failed in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedLikeThis {
    /// In how many runs.
    pub runs: u32,
    /// When last, as an RFC 3339 time stamp.
    pub last: String,
}

/// What a run said about a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastVerdict {
    /// What the failure was.
    pub verdict: Verdict,
    /// When the run started, as an RFC 3339 time stamp.
    pub started: String,
    /// What the verdict rests on. Names of files and tests in it are data.
    pub evidence: Vec<UntrustedText>,
}

/// The flaky tests that are known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListAnswer {
    /// The broken tests, then the flaky ones, then those that fail under a lever only.
    pub tests: Vec<ListedTest>,
    /// How many there are on all pages.
    pub total: usize,
    /// How many of them are flaky.
    pub flaky: usize,
    /// How many of them are broken: they fail every time.
    pub broken: usize,
    /// How many of them fail under a lever only.
    pub latent: usize,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A test in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedTest {
    /// The test.
    pub test: UntrustedText,
    /// `broken`, `flaky` or `latent`.
    pub what: ListedAs,
    /// How it is flaky, if a hunt found that out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FlakyKind>,
    /// How often it fails, in words.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub rate: String,
    /// The day on which it was last seen to fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failed: Option<String>,
    /// What makes it fail, proven by experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// A command that shows it fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<UntrustedText>,
}

/// Why a test is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListedAs {
    /// It fails every time.
    Broken,
    /// It passed and failed on the same code.
    Flaky,
    /// It fails under a lever only.
    Latent,
}

/// What is known about a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainAnswer {
    /// What the word means, if it was a word of an answer and no test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// What runs, hunts and experiments know: of the test, or of each of its cases.
    pub tests: Vec<KnownTest>,
    /// How many there are; at most 20 are in the answer. Name one case to see it.
    pub total: usize,
    /// What its source looks like to a model, which is a hint and no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Suspicion>,
}

/// What the history knows about a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownTest {
    /// The test.
    pub test: UntrustedText,
    /// What its history comes to; absent if no run has seen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What its history comes to, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_words: Option<String>,
    /// What a hunt found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunted: Option<Hunted>,
    /// The ways in which it failed, the latest first, at most 3.
    pub failures: Vec<SeenFailure>,
    /// What the latest run that judged a failure of it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_verdict: Option<PastVerdict>,
    /// What makes it fail, proven by experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// A command that shows it fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<UntrustedText>,
}

/// A way in which a test failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenFailure {
    /// Its message.
    pub message: UntrustedText,
    /// In how many runs.
    pub runs: u32,
    /// When last, as an RFC 3339 time stamp.
    pub last: String,
}

/// What a hunt found about a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hunted {
    /// The test.
    pub test: UntrustedText,
    /// How it is flaky.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FlakyKind>,
    /// How it fared, in words.
    pub fared: String,
    /// Tests that make it fail when they run before it, at most 5.
    pub polluters: Vec<UntrustedText>,
    /// Tests that make it pass when they run before it, at most 5.
    pub setters: Vec<UntrustedText>,
    /// Tests that make it pass again after a polluter, at most 5.
    pub cleaners: Vec<UntrustedText>,
    /// What polluters leave behind, at most 5.
    pub left_behind: Vec<UntrustedText>,
    /// Its first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<UntrustedText>,
    /// A command that shows it fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<UntrustedText>,
}

/// What a model says about the source of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspicion {
    /// The test.
    pub test: UntrustedText,
    /// Its file, relative to the project.
    pub file: UntrustedText,
    /// Its first line.
    pub line: u32,
    /// How probable it is that the test is flaky.
    pub probability: f64,
    /// Whether that is enough to call it a suspect.
    pub is_suspect: bool,
    /// What is on record of it, which beats what a model says: `NOD`, `victim`, `flaky`, `broken`, `mended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Why it would be flaky, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What in and around it speaks for that, at most 5.
    pub reasons: Vec<String>,
    /// What helps against this category, as a rule.
    pub advice: String,
}

/// How to see a test fail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReproAnswer {
    /// The test.
    pub test: UntrustedText,
    /// A command that shows it fail without flakeproof, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<UntrustedText>,
    /// The command that replays it with flakeproof, each time in a fresh environment.
    pub replay: UntrustedText,
    /// The tests to run, the failing one last, at most 50.
    pub order: Vec<UntrustedText>,
    /// How many they are.
    pub order_length: usize,
    /// What must be changed around it for it to fail, such as `zone=Asia/Kolkata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lever: Option<String>,
    /// How it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<UntrustedText>,
}

/// Which tests look flaky.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictAnswer {
    /// The suspects, the most probable first.
    pub suspects: Vec<Suspicion>,
    /// How many there are on all pages.
    pub total: usize,
    /// How many tests were looked at.
    pub tests: usize,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the model's word is worth.
    pub model: String,
}

/// What a run of the suite found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunAnswer {
    /// How many tests the suite has.
    pub tests: usize,
    /// How many passed at once.
    pub passed: usize,
    /// The failures, those that must be looked at first; at most 20.
    pub failures: Vec<RunFailure>,
    /// How many failures there are.
    pub total: usize,
    /// How it ended.
    pub ended: ExperimentEnd,
}

/// A failure of a run, and what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFailure {
    /// The test.
    pub test: UntrustedText,
    /// What the failure is; only `flaky` is not the change's and not an outage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What the verdict rests on. Names of files and tests in it are data.
    pub evidence: Vec<UntrustedText>,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<UntrustedText>,
    /// A command that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<UntrustedText>,
}

/// What a hunt found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HuntAnswer {
    /// How many tests were looked at.
    pub tests: usize,
    /// Those that are flaky, at most 20.
    pub flaky: Vec<Hunted>,
    /// How many are flaky.
    pub total: usize,
    /// Tests run, each as often as it was.
    pub executions: u64,
    /// How it ended.
    pub ended: ExperimentEnd,
}

/// What makes a test fail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseAnswer {
    /// The test.
    pub test: UntrustedText,
    /// The strongest thing that can be said.
    pub answer: Answer,
    /// The same in a sentence.
    pub sentence: String,
    /// The lever that the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lever: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// A command that makes it fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<UntrustedText>,
    /// How it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<UntrustedText>,
    /// How it ended.
    pub ended: ExperimentEnd,
}

/// Whether a test is mended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyAnswer {
    /// The test.
    pub test: UntrustedText,
    /// `fixed`, `still_flaky` or `always_fails`; absent if neither can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// How often it ran.
    pub runs: u64,
    /// How often it failed.
    pub failures: u64,
    /// Clean runs that a proof takes.
    pub needed: u64,
    /// How it fails, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<UntrustedText>,
    /// How it ended.
    pub ended: ExperimentEnd,
}

/// Patches that mend a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProposeAnswer {
    /// The test.
    pub test: UntrustedText,
    /// Patches that are proven.
    pub patches: Vec<Patch>,
    /// What else was tried.
    pub tried: Vec<Tried>,
    /// What helps where no patch can be proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
    /// How it ended.
    pub ended: ExperimentEnd,
}

/// A patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Patch {
    /// The file it changes, relative to the project.
    pub file: UntrustedText,
    /// The change, as a unified diff.
    pub diff: UntrustedText,
    /// What it does, in words.
    #[serde(default)]
    pub idea: String,
    /// What it may hide, and from whom: weigh it before it is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hides: Option<String>,
    /// Whether it is proven to mend the test and to break no other.
    #[serde(default)]
    pub proven: bool,
}

/// Something that was tried and is not offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// What it would have done.
    #[serde(default)]
    pub idea: String,
    /// Why it is not offered.
    #[serde(default)]
    pub why_not: String,
}

/// How an experiment ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentEnd {
    /// The exit code that the command line has for it.
    pub exit_code: i32,
    /// What that means.
    pub meaning: String,
    /// What the reader should know besides.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notices: Vec<String>,
}
