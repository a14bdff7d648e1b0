//! What a client asks, tool by tool. The comments are what it reads in the schemas.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Trouble;

/// What `triage_failure` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriageInput {
    /// The tests that failed; without any, the failures of the latest run that flakeproof recorded.
    #[serde(default)]
    pub failures: Vec<FailureInput>,
    /// `next_cursor` of an earlier answer.
    #[serde(default)]
    pub cursor: Option<String>,
    /// At most so many tests.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// A failure that somebody saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureInput {
    /// The test, by its id or the end of it.
    pub test: String,
    /// Its message, one line, to tell whether it failed like this before.
    #[serde(default)]
    pub message: Option<String>,
}

/// What `list_flaky` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// `next_cursor` of an earlier answer.
    #[serde(default)]
    pub cursor: Option<String>,
    /// At most so many tests.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// What `explain_test` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainInput {
    /// The test, by its id or the end of it; or a word of an answer, such as `brittle`.
    pub test: String,
}

/// What `repro_command` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReproInput {
    /// The test, by its id or the end of it.
    pub test: String,
}

/// What `predict_diff` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictInput {
    /// Only tests that were added or changed since the branch left this revision; without it, all tests.
    #[serde(default)]
    pub base: Option<String>,
    /// Files and folders to look in, relative to the project; without any, the whole project.
    #[serde(default)]
    pub paths: Vec<String>,
    /// `next_cursor` of an earlier answer.
    #[serde(default)]
    pub cursor: Option<String>,
    /// At most so many suspects.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// What `run_tests` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunInput {
    /// Tests, files or folders, added to the user's own test command; without any, all its tests.
    #[serde(default)]
    pub select: Vec<String>,
    /// Stop after so many seconds, with what is known then.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
}

/// What `hunt` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HuntInput {
    /// Only find out who makes this test fail; its id, or the end of it.
    #[serde(default)]
    pub victim: Option<String>,
    /// Only tests that changed since the branch left this revision, and suspects in the files it touched.
    #[serde(default)]
    pub base: Option<String>,
    /// Tests, files or folders, added to the user's own test command; without any, all its tests.
    #[serde(default)]
    pub select: Vec<String>,
    /// Stop after so many seconds, with what was found.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
}

/// What `cause` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CauseInput {
    /// The test, by its id or the end of it.
    pub test: String,
    /// The levers to try, such as `zone` or `zone=Asia/Kolkata`; without any, all of them.
    #[serde(default)]
    pub levers: Vec<String>,
    /// Stop after so many seconds, with what can be said so far.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
}

/// What `verify_fix` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyInput {
    /// The test, by its id or the end of it.
    pub test: String,
    /// How often it failed before, such as `3%` or `1/30`; without it, what the last hunt saw.
    #[serde(default)]
    pub was: Option<String>,
    /// Stop after so many seconds, with what can be said so far.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
}

/// What `propose_fix` is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposeInput {
    /// The test, by its id or the end of it.
    pub test: String,
    /// Write the proven patch into the project; only where the user allowed writing.
    #[serde(default)]
    pub apply: bool,
    /// Stop after so many seconds.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
}

/// Something that runs tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Experiment {
    /// Run the suite and say of each failure what it is.
    Run(RunInput),
    /// Look for flaky tests.
    Hunt(HuntInput),
    /// Find out what makes a test fail.
    Cause(CauseInput),
    /// Prove that a test is mended.
    Verify(VerifyInput),
    /// Propose a proven patch.
    Propose(ProposeInput),
}

impl Experiment {
    /// How long it may take, as it was asked.
    #[must_use]
    pub fn budget(&self) -> Option<Duration> {
        let seconds = match self {
            Self::Run(it) => it.budget_seconds,
            Self::Hunt(it) => it.budget_seconds,
            Self::Cause(it) => it.budget_seconds,
            Self::Verify(it) => it.budget_seconds,
            Self::Propose(it) => it.budget_seconds,
        };
        seconds.map(Duration::from_secs)
    }

    /// Refuse words that a command line would take for options.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        let one = |text: &String| vec![text.clone()];
        let words: Vec<String> = match self {
            Self::Run(it) => it.select.clone(),
            Self::Hunt(it) => {
                let named = it.victim.iter().chain(&it.base);
                named.chain(&it.select).cloned().collect()
            }
            Self::Cause(it) => it.levers.iter().chain([&it.test]).cloned().collect(),
            Self::Verify(it) => it.was.iter().chain([&it.test]).cloned().collect(),
            Self::Propose(it) => one(&it.test),
        };
        words.iter().try_for_each(|word| no_option(word))
    }
}

/// Refuse a word that is empty, or that a command line would take for an option.
pub(crate) fn no_option(word: &str) -> Result<(), Trouble> {
    if word.is_empty() || word.starts_with('-') {
        return Err(Trouble::new(
            format!("`{word}` is no test, file, revision or lever"),
            "leave out empty words and options; the user's test command is set when the server starts",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_cannot_be_smuggled_into_a_command() {
        let run = |word: &str| {
            let select = vec![word.to_owned()];
            Experiment::Run(RunInput { select, ..RunInput::default() }).check()
        };
        assert!(run("tests/test_a.py::test_b[-1]").is_ok());
        for word in ["", "-p", "--rootdir=/"] {
            assert!(run(word).is_err(), "{word:?}");
        }
        let test = "--store=/etc/passwd".to_owned();
        let cause = CauseInput { test, levers: Vec::new(), budget_seconds: None };
        assert!(Experiment::Cause(cause).check().is_err());
    }
}
