//! What a run found out, as one JSON document.
//!
//! Its schema is published as `docs/reference/run-report.schema.json`.

use flakeproof_core::{
    Attempt, Evidence, Findings, Group, GroupCause, Isolation, Kind, Location, Outcome,
    Quarantined, Signature, Stage, SuiteCounts, TestFinding, TestId, Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, RunFactsReport, ToolReport, seconds};
use crate::{Error, Renderer};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer for Json {
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error> {
        document::bytes(&RunReport::new(findings))
    }
}

/// The JSON schema of what [`Json`] makes of findings, indented, with a newline at its end.
#[must_use]
pub fn json_schema() -> String {
    document::schema_of::<RunReport<'_>>()
}

/// What a run of `flakeproof` found out.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof run report")]
struct RunReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What was run, when and how.
    run: RunFactsReport<'a>,
    /// How the suite's own run ended, in numbers.
    suite: SuiteReport,
    /// Every test that ran, in the suite's order.
    tests: Vec<TestReport<'a>>,
    /// Failures that share a signature.
    groups: Vec<GroupReport<'a>>,
    /// What the reader should know about the run itself.
    notices: Vec<NoticeReport<'a>>,
    /// The number the process ends with.
    exit_code: u8,
}

/// How the suite's own run ended, and what its failures are, in numbers.
#[derive(Serialize, JsonSchema)]
struct SuiteReport {
    #[serde(flatten)]
    counts: SuiteCounts,
    /// Failures that are flaky.
    flaky: usize,
    /// Failures that are real.
    real: usize,
    /// Failures of which neither could be shown.
    unknown: usize,
    newly_flaky: usize,
    unrelated: usize,
}

/// What was found out about one test.
#[derive(Serialize, JsonSchema)]
struct TestReport<'a> {
    /// Its id, as its framework writes it.
    id: &'a TestId,
    /// Where it is defined.
    location: Option<&'a Location>,
    /// How the suite's own run of it ended.
    outcome: Outcome,
    /// What its failure is; `null` if it did not fail.
    verdict: Option<Verdict>,
    /// How it is flaky, where the evidence shows it.
    kind: Option<Kind>,
    /// What the verdict rests on.
    evidence: &'a [Evidence],
    /// Every execution of it, the first one first.
    attempts: Vec<AttemptReport<'a>>,
    /// A command that shows the failure again.
    reproduce: Option<&'a str>,
    /// The group it belongs to, as an index into `groups`, counted from 0.
    group: Option<usize>,
    /// Its entry in the quarantine and what that does for it, if it failed and has one.
    quarantine: Option<&'a Quarantined>,
}

/// One execution of a test, and why it was made.
#[derive(Serialize, JsonSchema)]
struct AttemptReport<'a> {
    /// The step of the triage that asked for it.
    stage: Stage,
    /// The environment it ran in.
    isolation: Isolation,
    /// How it ended.
    outcome: Outcome,
    /// How long set-up, test and teardown took together.
    seconds: f64,
    /// The failure without what differs from run to run; equal signatures are the same failure.
    signature: Option<&'a Signature>,
    /// The failure in one line.
    message: Option<&'a str>,
}

/// Tests that failed with the same signature.
#[derive(Serialize, JsonSchema)]
struct GroupReport<'a> {
    /// What they share.
    signature: &'a Signature,
    /// Their ids, in the suite's order.
    tests: &'a [TestId],
    /// What the reruns say about all of them.
    cause: GroupCause,
}

impl<'a> RunReport<'a> {
    fn new(findings: &'a Findings) -> Self {
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&findings.run.version),
            run: RunFactsReport::new(&findings.run),
            suite: SuiteReport {
                counts: findings.suite,
                flaky: findings.count(Verdict::Flaky),
                real: findings.count(Verdict::Real),
                unknown: findings.count(Verdict::Unknown),
                newly_flaky: findings.count(Verdict::NewlyFlaky),
                unrelated: findings.count(Verdict::Unrelated),
            },
            tests: findings.tests.iter().map(TestReport::new).collect(),
            groups: findings.groups.iter().map(GroupReport::new).collect(),
            notices: findings.notices.iter().map(NoticeReport::new).collect(),
            exit_code: findings.exit.number(),
        }
    }
}

impl<'a> TestReport<'a> {
    fn new(test: &'a TestFinding) -> Self {
        Self {
            id: &test.id,
            location: test.location.as_ref(),
            outcome: test.outcome,
            verdict: test.verdict,
            kind: test.kind,
            evidence: &test.evidence,
            attempts: test.attempts.iter().map(AttemptReport::new).collect(),
            reproduce: test.reproduce.as_deref(),
            group: test.group,
            quarantine: test.quarantine.as_ref(),
        }
    }
}

impl<'a> AttemptReport<'a> {
    fn new(attempt: &'a Attempt) -> Self {
        let failure = attempt.execution.failure.as_ref();
        Self {
            stage: attempt.stage,
            isolation: attempt.isolation,
            outcome: attempt.execution.outcome,
            seconds: seconds(attempt.execution.duration),
            signature: failure.map(|failure| &failure.signature),
            message: failure.map(|failure| failure.message.as_str()),
        }
    }
}

impl<'a> GroupReport<'a> {
    fn new(group: &'a Group) -> Self {
        Self { signature: &group.signature, tests: &group.tests, cause: group.cause }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::sample;

    fn rendered(findings: &Findings) -> Value {
        serde_json::from_slice(&Json.render(findings).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::findings()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_is_not_known_is_null_and_never_left_out() {
        let report = rendered(&sample::findings_of(vec![sample::passed("t.py::test_a")]));
        assert_eq!(
            report["tests"][0],
            json!({
                "id": "t.py::test_a", "location": null, "outcome": "passed", "verdict": null,
                "kind": null, "evidence": [], "reproduce": null, "group": null,
                "quarantine": null,
                "attempts": [{
                    "stage": "first", "isolation": "same", "outcome": "passed", "seconds": 0.25,
                    "signature": null, "message": null,
                }],
            })
        );
    }

    #[test]
    fn the_schema_requires_every_member_of_a_test() {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        let required = schema["$defs"]["TestReport"]["required"].as_array().unwrap();
        assert_eq!(required.len(), 10, "{required:?}");
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }
}
