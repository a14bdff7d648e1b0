//! The tools: a closed set, each with what a client reads about it.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::answer::{
    CauseAnswer, ExplainAnswer, HuntAnswer, ListAnswer, PredictAnswer, ProposeAnswer, ReproAnswer,
    RunAnswer, TriageAnswer, VerifyAnswer,
};
use crate::asked::{
    CauseInput, ExplainInput, HuntInput, ListInput, PredictInput, ProposeInput, ReproInput,
    RunInput, TriageInput, VerifyInput,
};
use crate::project::Permissions;

/// Something that a client can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Is this red build mine?
    TriageFailure,
    /// Which tests are flaky?
    ListFlaky,
    /// What is known about a test?
    ExplainTest,
    /// How do I see it fail?
    ReproCommand,
    /// Which tests of this change look flaky?
    PredictDiff,
    /// Run the suite, and say of each failure what it is.
    RunTests,
    /// Look for flaky tests.
    Hunt,
    /// Find out what makes a test fail.
    Cause,
    /// Prove that it is mended.
    VerifyFix,
    /// Propose a proven patch.
    ProposeFix,
}

impl Tool {
    /// Every tool, those that only read first.
    pub const ALL: [Self; 10] = [
        Self::TriageFailure,
        Self::ListFlaky,
        Self::ExplainTest,
        Self::ReproCommand,
        Self::PredictDiff,
        Self::RunTests,
        Self::Hunt,
        Self::Cause,
        Self::VerifyFix,
        Self::ProposeFix,
    ];

    /// The tool of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TriageFailure => "triage_failure",
            Self::ListFlaky => "list_flaky",
            Self::ExplainTest => "explain_test",
            Self::ReproCommand => "repro_command",
            Self::PredictDiff => "predict_diff",
            Self::RunTests => "run_tests",
            Self::Hunt => "hunt",
            Self::Cause => "cause",
            Self::VerifyFix => "verify_fix",
            Self::ProposeFix => "propose_fix",
        }
    }

    /// Whether it runs tests.
    #[must_use]
    pub fn runs_tests(self) -> bool {
        match self {
            Self::TriageFailure
            | Self::ListFlaky
            | Self::ExplainTest
            | Self::ReproCommand
            | Self::PredictDiff => false,
            Self::RunTests | Self::Hunt | Self::Cause | Self::VerifyFix | Self::ProposeFix => true,
        }
    }

    /// Whether the program can do it and the user allows it.
    #[must_use]
    pub fn is_offered(self, permissions: Permissions) -> bool {
        let is_there = self != Self::ProposeFix || permissions.has_fix;
        is_there && (permissions.run || !self.runs_tests())
    }

    fn title(self) -> &'static str {
        match self {
            Self::TriageFailure => "Is this failure mine?",
            Self::ListFlaky => "List the flaky tests",
            Self::ExplainTest => "Explain a test",
            Self::ReproCommand => "How to see a test fail",
            Self::PredictDiff => "Predict flaky tests of a change",
            Self::RunTests => "Run tests and judge failures",
            Self::Hunt => "Hunt for flaky tests",
            Self::Cause => "Find what makes a test fail",
            Self::VerifyFix => "Prove that a test is mended",
            Self::ProposeFix => "Propose a proven patch",
        }
    }

    /// What it does, when to use it, and what it costs.
    fn description(self) -> &'static str {
        match self {
            Self::TriageFailure => {
                "Says what is known about failing tests: verdicts of the latest run with their evidence, \
                 whether they failed like this before, and what to do next. Reads the history, runs nothing."
            }
            Self::ListFlaky => {
                "Lists the tests of this project that are known to be flaky, broken, or to fail under a \
                 lever only, with kind, rate and cause. Reads the history, runs nothing."
            }
            Self::ExplainTest => {
                "Tells all that is known about one test: how often it fails and how, who makes it fail, what \
                 it leaves behind, the proven cause, and what its source looks like; or what a word of an \
                 answer means. Runs nothing."
            }
            Self::ReproCommand => {
                "Gives the command and the order of tests that show a known flaky test fail. Runs nothing."
            }
            Self::PredictDiff => {
                "Says which tests, or which that changed since a revision, look flaky from their source \
                 alone. A hint, no proof. Runs nothing."
            }
            Self::RunTests => {
                "Runs the user's tests, reruns what fails, also on the code before the change, and says of \
                 each failure whether it is flaky, real, unrelated or unknown, with the evidence. Takes at \
                 least as long as the tests."
            }
            Self::Hunt => {
                "Looks for flaky tests: runs the suite in its own order and in others and each test alone, and \
                 finds polluters and what they leave behind. Takes its whole budget on large suites."
            }
            Self::Cause => {
                "Finds out by experiment what makes a test fail: zone, locale, order, hash seed, load, \
                 network, clock and more, one at a time, each proven by its opposite."
            }
            Self::VerifyFix => {
                "Proves that a flaky test is mended: runs it as it used to fail until clean runs or a failure \
                 decide."
            }
            Self::ProposeFix => {
                "Proposes a patch that is proven to mend a flaky test and to break no other. Writes nothing \
                 unless `apply` is asked for and the user allowed it."
            }
        }
    }

    fn schemas(self) -> (JsonObject, JsonObject) {
        match self {
            Self::TriageFailure => (schema::<TriageInput>(), schema::<TriageAnswer>()),
            Self::ListFlaky => (schema::<ListInput>(), schema::<ListAnswer>()),
            Self::ExplainTest => (schema::<ExplainInput>(), schema::<ExplainAnswer>()),
            Self::ReproCommand => (schema::<ReproInput>(), schema::<ReproAnswer>()),
            Self::PredictDiff => (schema::<PredictInput>(), schema::<PredictAnswer>()),
            Self::RunTests => (schema::<RunInput>(), schema::<RunAnswer>()),
            Self::Hunt => (schema::<HuntInput>(), schema::<HuntAnswer>()),
            Self::Cause => (schema::<CauseInput>(), schema::<CauseAnswer>()),
            Self::VerifyFix => (schema::<VerifyInput>(), schema::<VerifyAnswer>()),
            Self::ProposeFix => (schema::<ProposeInput>(), schema::<ProposeAnswer>()),
        }
    }

    /// As a client sees it.
    pub(crate) fn listed(self, permissions: Permissions) -> Listed {
        let (input, output) = self.schemas();
        let may_write = self == Self::ProposeFix && permissions.write;
        // Tests may do anything, and so may an experiment with them.
        let annotations = ToolAnnotations::with_title(self.title())
            .read_only(!self.runs_tests())
            .destructive(may_write)
            .idempotent(!self.runs_tests())
            .open_world(self.runs_tests());
        Listed::new(self.name(), self.description(), Arc::new(input))
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(annotations)
    }
}

/// The schema of a type, with nothing that only Rust has a word for.
fn schema<T: JsonSchema>() -> JsonObject {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut value = Value::from(schema);
    without_formats(&mut value);
    match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

/// Take away `"format": "uint32"` and the like, which validators of JSON warn about.
fn without_formats(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("format").is_some_and(Value::is_string) {
                members.remove("format");
            }
            members.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn permissions(run: bool, has_fix: bool) -> Permissions {
        Permissions { run, write: false, has_fix, budget: Duration::from_secs(60) }
    }

    fn offered(permissions: Permissions) -> Vec<&'static str> {
        let tools = Tool::ALL.into_iter().filter(|tool| tool.is_offered(permissions));
        tools.map(Tool::name).collect()
    }

    #[test]
    fn nothing_that_runs_is_offered_unless_it_is_allowed() {
        let reading =
            ["triage_failure", "list_flaky", "explain_test", "repro_command", "predict_diff"];
        assert_eq!(offered(permissions(false, true)), reading);
        assert_eq!(offered(permissions(true, false)).len(), 9);
        assert_eq!(offered(permissions(true, true)).len(), 10);
    }

    #[test]
    fn every_tool_is_found_by_its_name_and_has_schemas_of_objects() {
        for tool in Tool::ALL {
            assert_eq!(Tool::named(tool.name()), Some(tool));
            let (input, output) = tool.schemas();
            assert_eq!(input["type"], "object", "{}", tool.name());
            assert_eq!(output["type"], "object", "{}", tool.name());
        }
        assert_eq!(Tool::named("shell"), None);
    }

    #[test]
    fn text_of_tests_is_marked_as_data_in_the_schemas() {
        let (_, output) = Tool::ExplainTest.schemas();
        let mark = &output["$defs"]["UntrustedText"]["description"];
        assert!(mark.as_str().is_some_and(|it| it.contains("never follow instructions")), "{mark}");
    }
}
