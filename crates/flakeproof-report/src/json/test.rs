//! All that is known about one test, as one JSON document.

use flakeproof_core::{
    Again, Evidence, Kind, Mark, Outcome, Overview, PastFailure, PastFinding, PastRun, Prediction,
    QuarantineEntry, Reason, TestId, Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, ToolReport};
use super::hunt::HuntedTestReport;
use super::overview::TestRow;
use crate::overview::find;
use crate::words;

/// The version of the document's shape.
const SCHEMA: u32 = 1;

/// The JSON schema of a [`TestDocument`], indented, with a newline at its end.
#[must_use]
pub fn test_schema() -> String {
    document::schema_of::<TestDocument<'_>>()
}

/// All that is known about one test; `None` if nothing is.
#[must_use]
pub fn test_document<'a>(overview: &'a Overview, id: &TestId) -> Option<TestDocument<'a>> {
    let view = find(overview, id)?;
    let detail = view.detail;
    let runs = &overview.timeline.runs;
    let hunted = detail.and_then(|detail| detail.hunted.as_ref());
    Some(TestDocument {
        schema: SCHEMA,
        tool: ToolReport::new(&overview.version),
        project: &overview.project,
        made: &overview.made,
        test: TestRow::new(&view),
        in_words: view.score.map(words::score),
        timeline: view.marks.iter().map(|mark| MarkDocument::new(mark, runs)).collect(),
        hunted: hunted.map(HuntedTestReport::new),
        findings: detail
            .map_or(&[][..], |it| &it.findings)
            .iter()
            .map(FindingDocument::new)
            .collect(),
        failures: detail
            .map_or(&[][..], |it| &it.failures)
            .iter()
            .map(FailureDocument::new)
            .collect(),
        prediction: detail.and_then(|it| it.prediction.as_ref()),
        features: detail.map_or(&[], |it| &it.features),
        quarantine: detail.and_then(|it| it.quarantine.as_ref()),
        reproduce: view.reproduce(),
    })
}

/// All that is known about one test.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof test report")]
pub struct TestDocument<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What people call the project.
    project: &'a str,
    /// When this was put together, as an RFC 3339 time stamp.
    made: &'a str,
    /// The test, in short.
    test: TestRow<'a>,
    /// What its history comes to, in words for people; `null` if no run has seen it.
    in_words: Option<String>,
    /// How it fared in every run, oldest first.
    timeline: Vec<MarkDocument<'a>>,
    /// What the latest hunt that looked at it says.
    hunted: Option<HuntedTestReport<'a>>,
    /// What runs said about its failures, the latest first.
    findings: Vec<FindingDocument<'a>>,
    /// How it failed, the latest first, each way once.
    failures: Vec<FailureDocument<'a>>,
    /// What a model says about its source.
    prediction: Option<&'a Prediction>,
    /// What of its measured features speaks for or against flakiness (SHAP), the strongest first.
    features: &'a [Reason],
    /// Its entry in the quarantine.
    quarantine: Option<&'a QuarantineEntry>,
    /// A command that shows the failure again.
    reproduce: Option<&'a str>,
}

/// What one run saw of the test.
#[derive(Serialize, JsonSchema)]
struct MarkDocument<'a> {
    /// The run's id.
    run: Option<&'a str>,
    /// When the run started, as an RFC 3339 time stamp.
    started: Option<&'a str>,
    /// The revision that ran.
    revision: Option<&'a str>,
    /// The branch that ran.
    branch: Option<&'a str>,
    /// The job of a CI system that ran it.
    job: Option<&'a str>,
    /// How its first attempt ended.
    outcome: Outcome,
    /// What came of running it again in the same run.
    again: AgainDocument,
    /// What its failure was found to be.
    verdict: Option<Verdict>,
    /// How long its first attempt took.
    seconds: f64,
    /// How long running it again took.
    again_seconds: f64,
}

/// What came of running a test again in the same run.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgainDocument {
    /// It was not run again.
    Never,
    /// It passed at least once.
    Passed,
    /// It failed every time.
    Failed,
}

impl<'a> MarkDocument<'a> {
    fn new(mark: &Mark, runs: &'a [PastRun]) -> Self {
        let run = runs.get(mark.run as usize);
        let seconds = |milliseconds: u32| f64::from(milliseconds) / 1000.0;
        Self {
            run: run.map(|run| run.id.as_str()),
            started: run.map(|run| run.started.as_str()),
            revision: run.and_then(|run| run.revision.as_deref()),
            branch: run.and_then(|run| run.branch.as_deref()),
            job: run.and_then(|run| run.job.as_deref()),
            outcome: mark.outcome,
            again: match mark.again {
                Again::Never => AgainDocument::Never,
                Again::Passed => AgainDocument::Passed,
                Again::Failed => AgainDocument::Failed,
            },
            verdict: mark.verdict,
            seconds: seconds(mark.milliseconds),
            again_seconds: seconds(mark.again_milliseconds),
        }
    }
}

/// What a run said about a failure.
#[derive(Serialize, JsonSchema)]
struct FindingDocument<'a> {
    /// The run's id.
    run: &'a str,
    /// When the run started, as an RFC 3339 time stamp.
    started: &'a str,
    /// What the failure is.
    verdict: Verdict,
    /// How it is flaky, where the evidence shows it.
    kind: Option<Kind>,
    /// What the verdict rests on.
    evidence: &'a [Evidence],
    /// The same in words for people.
    in_words: Vec<String>,
}

impl<'a> FindingDocument<'a> {
    fn new(finding: &'a PastFinding) -> Self {
        Self {
            run: &finding.run,
            started: &finding.started,
            verdict: finding.verdict,
            kind: finding.kind,
            evidence: &finding.evidence,
            in_words: finding.evidence.iter().map(words::evidence).collect(),
        }
    }
}

/// A way in which a test failed.
#[derive(Serialize, JsonSchema)]
struct FailureDocument<'a> {
    /// The failure in one line.
    message: &'a str,
    /// How often it failed so.
    times: u32,
    /// When it last failed so, as an RFC 3339 time stamp.
    last: &'a str,
}

impl<'a> FailureDocument<'a> {
    fn new(failure: &'a PastFailure) -> Self {
        Self { message: &failure.message, times: failure.times, last: &failure.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let overview = sample::overview();
        let id = TestId::from(sample::WORST);
        let document = test_document(&overview, &id).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
    }

    #[test]
    fn a_test_that_nobody_knows_has_no_document() {
        assert!(test_document(&sample::overview(), &TestId::from("test_nobody")).is_none());
    }
}
