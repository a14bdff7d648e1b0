//! Whether a flaky test is mended, as one JSON document.
//!
//! Its schema is published as `docs/reference/verify-report.schema.json`.

use flakeproof_core::{
    FixEnd, FixFindings, FixVerdict, FlakyKind, FormerRate, Isolation, LeverValue, RateSource,
    Tally, TestId, WhereSeen,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, RunFactsReport, ToolReport, to_the_millionth};
use crate::{Error, Renderer};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<FixFindings> for Json {
    fn render(&self, findings: &FixFindings) -> Result<Vec<u8>, Error> {
        document::bytes(&FixReport::new(findings))
    }
}

/// The JSON schema of what [`Json`] makes of a proof, indented, with a newline at its end.
#[must_use]
pub fn verify_schema() -> String {
    document::schema_of::<FixReport<'_>>()
}

/// Whether a flaky test is mended.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof verify report")]
struct FixReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What was run, when and how.
    run: RunFactsReport<'a>,
    /// The test, by its id.
    test: &'a TestId,
    /// How it was flaky; `null` if no hunt said so.
    kind: Option<FlakyKind>,
    /// The lever that it was run under, because that makes it fail; `null` if none is known.
    lever: Option<&'a LeverValue>,
    /// The orders that it was run in, in turns; itself last in each.
    orders: &'a [Vec<TestId>],
    /// How environments were made, except for the confirmation in new processes.
    isolation: Isolation,
    /// How often it failed before.
    was: FormerRateReport,
    /// How sure a fix must be.
    confidence: f64,
    /// The clean runs that a fix needs, all orders together.
    needed: u32,
    /// The runs that were made, and those that failed.
    runs: Tally,
    /// What is said; `null` if nothing can be.
    verdict: Option<FixVerdict>,
    /// Why it ended.
    end: FixEnd,
    /// A smaller failure rate than this is not excluded; `null` if it failed.
    not_excluded: Option<f64>,
    /// Tests run, those before it included.
    executions: u64,
    /// Its first failure: the message, and the whole text.
    failure: Option<FailureReport<'a>>,
    /// A command that runs it as it failed, or as it was run.
    reproduce: Option<&'a str>,
    /// What the reader should know.
    notices: Vec<NoticeReport<'a>>,
    /// The number the process ends with.
    exit_code: u8,
}

/// How often a test failed before.
#[derive(Serialize, JsonSchema)]
struct FormerRateReport {
    /// The rate that the fix is tested against.
    rate: f64,
    /// Who says so.
    source: SourceReport,
    /// The executions whose interval has the rate at its low end; `null` unless a hunt saw them.
    seen: Option<Tally>,
}

/// Who says how often a test failed before.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SourceReport {
    /// The command line.
    Given,
    /// A hunt, in the suite's own order.
    OwnOrder,
    /// A hunt, in other orders.
    OtherOrders,
    /// A hunt, alone.
    Alone,
    /// A hunt, wherever the test ran.
    Anywhere,
    /// `cause`, under the lever that makes it fail.
    UnderLever,
    /// A hunt, which calls nobody order-dependent who fails less often than this.
    Decided,
}

/// A failure.
#[derive(Serialize, JsonSchema)]
struct FailureReport<'a> {
    /// It in one line.
    message: &'a str,
    /// The whole text, traceback included.
    text: &'a str,
}

impl<'a> FixReport<'a> {
    fn new(findings: &'a FixFindings) -> Self {
        let runs = findings.runs.tally();
        let failure = findings.failure.as_ref();
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&findings.run.version),
            run: RunFactsReport::new(&findings.run),
            test: &findings.test,
            kind: findings.kind,
            lever: findings.lever.as_ref(),
            orders: &findings.orders,
            isolation: findings.isolation,
            was: FormerRateReport::new(findings.was),
            confidence: to_the_millionth(findings.confidence),
            needed: findings.runs.needed(),
            runs,
            verdict: findings.verdict,
            end: findings.end,
            not_excluded: (runs.failures == 0)
                .then(|| to_the_millionth(findings.runs.not_excluded())),
            executions: findings.executions,
            failure: failure.map(|it| FailureReport { message: &it.message, text: &it.text }),
            reproduce: findings.reproduce.as_deref(),
            notices: findings.notices.iter().map(NoticeReport::new).collect(),
            exit_code: findings.exit.number(),
        }
    }
}

impl FormerRateReport {
    fn new(was: FormerRate) -> Self {
        let (source, seen) = match was.source {
            RateSource::Given => (SourceReport::Given, None),
            RateSource::Decided => (SourceReport::Decided, None),
            RateSource::Seen(tally, place) => (place_report(place), Some(tally)),
        };
        Self { rate: to_the_millionth(was.rate), source, seen }
    }
}

fn place_report(place: WhereSeen) -> SourceReport {
    match place {
        WhereSeen::OwnOrder => SourceReport::OwnOrder,
        WhereSeen::OtherOrders => SourceReport::OtherOrders,
        WhereSeen::Alone => SourceReport::Alone,
        WhereSeen::Anywhere => SourceReport::Anywhere,
        WhereSeen::UnderLever => SourceReport::UnderLever,
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{ExitCode, FixTest};
    use serde_json::Value;

    use super::*;
    use crate::sample;

    fn findings() -> FixFindings {
        let mut runs = FixTest::new(0.3, 0.95, 1);
        (0..10).for_each(|_| runs.observe(false));
        FixFindings {
            run: sample::findings_of(Vec::new()).run,
            test: "tests/test_pay.py::test_total".into(),
            kind: Some(FlakyKind::Victim),
            lever: None,
            orders: vec![vec!["tests/test_cart.py::test_currency".into(), "test_total".into()]],
            isolation: Isolation::Fork,
            was: FormerRate {
                rate: 0.3,
                source: RateSource::Seen(Tally { runs: 20, failures: 10 }, WhereSeen::OtherOrders),
            },
            confidence: 0.95,
            runs,
            executions: 20,
            verdict: Some(FixVerdict::Fixed),
            end: FixEnd::Decided,
            failure: None,
            reproduce: None,
            notices: Vec::new(),
            exit: ExitCode::Clean,
        }
    }

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&findings()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_failure_leaves_nothing_to_exclude() {
        let mut failed = findings();
        failed.runs.observe(true);
        let report: Value = serde_json::from_slice(&Json.render(&failed).unwrap()).unwrap();
        assert_eq!(report["not_excluded"], Value::Null);
        assert_eq!(report["runs"]["failures"], 1);
    }
}
