//! What a hunt found out, as one JSON document.
//!
//! Its schema is published as `docs/reference/hunt-report.schema.json`. Every test of the suite is
//! listed, flaky or not: what was not seen has its limit, which `missed` says.

use flakeproof_core::statistics::Rate;
use flakeproof_core::{
    FlakyKind, Hidden, HuntCost, HuntEnd, HuntFindings, HuntedTest, ImplementationDependence,
    LeftBehind, Location, Pair, Seed, StageCost, Tally, TestId,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::cause::KnownCauseReport;
use super::document::{
    self, Json, NoticeReport, RunFactsReport, ToolReport, rounded, seconds, to_the_millionth,
};
use crate::{Error, Renderer, words};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<HuntFindings> for Json {
    fn render(&self, findings: &HuntFindings) -> Result<Vec<u8>, Error> {
        document::bytes(&HuntReport::new(findings))
    }
}

/// The JSON schema of what [`Json`] makes of a hunt, indented, with a newline at its end.
#[must_use]
pub fn hunt_schema() -> String {
    document::schema_of::<HuntReport<'_>>()
}

/// What a hunt for flaky tests found out.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof hunt report")]
struct HuntReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What was run, when and how.
    run: RunFactsReport<'a>,
    /// Every test of the suite, in its order.
    tests: Vec<HuntedTestReport<'a>>,
    /// Every single test that makes another one fail.
    pairs: Vec<Pair>,
    /// Tests that always pass here and fail under a lever, which does not make them flaky; empty unless
    /// that was looked for.
    latent: Vec<KnownCauseReport<'a>>,
    /// What the hunt took, all sessions together.
    cost: CostReport,
    /// The seed of all orders.
    seed: Seed,
    /// Why the hunt ended.
    end: HuntEnd,
    /// How many flaky tests are expected to be still hidden; `null` if no plan kept count.
    hidden: Option<Hidden>,
    /// What the reader should know about the hunt itself.
    notices: Vec<NoticeReport<'a>>,
    /// The number the process ends with.
    exit_code: u8,
}

/// What was found out about one test.
#[derive(Serialize, JsonSchema)]
pub(super) struct HuntedTestReport<'a> {
    /// Its id, as its framework writes it.
    id: &'a TestId,
    /// Where it is defined.
    location: Option<&'a Location>,
    /// How it is flaky; `null` if it did not show that it is.
    kind: Option<FlakyKind>,
    /// How it fared in the suite's own order.
    baseline: Tally,
    /// How it fared in other orders.
    shuffled: Tally,
    /// How it fared alone in a fresh environment.
    alone: Tally,
    /// How often it fails, with the interval that holds the rate with 95 %: in the suite's order and
    /// alone if it is `NOD`, in other orders if it is a victim or brittle, with the seed that shows it
    /// if it is `ID`, else over all executions.
    rate: Rate,
    /// The failure rate that its executions do not rule out, with 95 %; `null` if it failed.
    missed: Option<f64>,
    /// Minimal sets of tests that make it fail when they run before it.
    polluters: &'a [Vec<TestId>],
    /// Minimal sets of tests that make it pass when they run before it.
    setters: &'a [Vec<TestId>],
    /// Tests that make it pass again when they run after its first polluter.
    cleaners: &'a [TestId],
    /// What its first polluters, or its first state-setters, leave behind.
    left_behind: &'a [LeftBehind],
    /// How it relies on an order that the language leaves open, if it is `ID`.
    implementation: Option<&'a ImplementationDependence>,
    /// Its first failure in one line.
    failure: Option<&'a str>,
    /// A command that shows the failure again.
    reproduce: Option<&'a str>,
}

/// What a hunt took.
#[derive(Serialize, JsonSchema)]
pub(super) struct CostReport {
    /// Tests run, each execution counted.
    executions: u64,
    /// Time that environments ran.
    seconds: f64,
    /// The same for each stage.
    stages: Vec<StageReport>,
}

/// What a stage of a hunt took.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StageCost")]
struct StageReport {
    /// The stage, in words.
    stage: String,
    /// Trials made, or read from an earlier session.
    trials: u32,
    /// Tests run in them.
    executions: u64,
    /// Time that they took.
    seconds: f64,
}

impl<'a> HuntReport<'a> {
    fn new(findings: &'a HuntFindings) -> Self {
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&findings.run.version),
            run: RunFactsReport::new(&findings.run),
            tests: findings.tests.iter().map(HuntedTestReport::new).collect(),
            pairs: findings.pairs(),
            latent: findings.latent.iter().map(KnownCauseReport::new).collect(),
            cost: CostReport::new(&findings.cost),
            seed: findings.run.seed,
            end: findings.end,
            hidden: findings.hidden.map(rounded_hidden),
            notices: findings.notices.iter().map(NoticeReport::new).collect(),
            exit_code: findings.exit.number(),
        }
    }
}

impl<'a> HuntedTestReport<'a> {
    pub(super) fn new(test: &'a HuntedTest) -> Self {
        Self {
            id: &test.id,
            location: test.location.as_ref(),
            kind: test.kind,
            baseline: test.baseline,
            shuffled: test.shuffled,
            alone: test.alone,
            rate: rounded(test.rate()),
            missed: words::missed(test).map(to_the_millionth),
            polluters: &test.polluters,
            setters: &test.setters,
            cleaners: &test.cleaners,
            left_behind: &test.left_behind,
            implementation: test.implementation.as_ref(),
            failure: test.failure.as_ref().map(|failure| failure.message.as_str()),
            reproduce: test.reproduction.as_ref().map(|it| it.command.as_str()),
        }
    }
}

impl CostReport {
    pub(super) fn new(cost: &HuntCost) -> Self {
        let stage = |stage: &StageCost| StageReport {
            stage: stage.stage.clone(),
            trials: stage.trials,
            executions: stage.executions,
            seconds: seconds(stage.time),
        };
        let stages = cost.stages.iter().map(stage).collect();
        Self { executions: cost.executions, seconds: seconds(cost.time), stages }
    }
}

fn rounded_hidden(hidden: Hidden) -> Hidden {
    Hidden { expected: to_the_millionth(hidden.expected), ..hidden }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::sample;

    fn rendered(findings: &HuntFindings) -> Value {
        serde_json::from_slice(&Json.render(findings).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::hunt_findings()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn only_single_polluters_are_pairs() {
        let report = rendered(&sample::hunt_findings());
        let victim = "tests/test_pay.py::test_total";
        assert_eq!(
            report["pairs"],
            json!([{ "polluter": "tests/test_cart.py::test_currency", "victim": victim }])
        );
    }

    #[test]
    fn what_was_not_seen_says_what_could_have_been_missed() {
        let mut findings = sample::hunt_findings();
        findings.tests = vec![HuntedTest::new("a".into(), None)];
        findings.tests[0].alone = Tally { runs: 50, failures: 0 };
        let report = rendered(&findings);
        assert_eq!(report["tests"][0]["missed"], json!(0.058_155));
        assert_eq!(report["tests"][0]["kind"], Value::Null);
    }

    #[test]
    fn the_schema_requires_every_member_of_a_test() {
        let schema: Value = serde_json::from_str(&hunt_schema()).unwrap();
        let required = schema["$defs"]["HuntedTestReport"]["required"].as_array().unwrap();
        assert_eq!(required.len(), 15, "{required:?}");
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }
}
