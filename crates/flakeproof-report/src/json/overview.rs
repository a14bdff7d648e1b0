//! All that is known about a project's tests, as JSON documents: one of everything in short, and
//! one of each test in full.
//!
//! Their schemas are published as `docs/reference/overview-report.schema.json` and
//! `docs/reference/test-report.schema.json`.

use flakeproof_core::statistics::Rate;
use flakeproof_core::{
    Again, Evidence, HuntEnd, HuntOverview, Kind, Mark, Outage, Outcome, Overview, PastFailure,
    PastFinding, PastRun, Prediction, QuarantineEntry, Reason, Standing, Streak, Tally, TestId,
    Verdict,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::cause::KnownCauseReport;
use super::cluster::ClusterDocument;
use super::document;
use super::document::{Json, NoticeReport, ToolReport, rounded, seconds, to_the_millionth};
use super::hunt::{CostReport, HuntedTestReport};
use crate::overview::{TestView, Totals, find, views};
use crate::{Error, Renderer, words};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<Overview> for Json {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        document::bytes(&overview_document(overview))
    }
}

/// The JSON schema of an [`OverviewDocument`], indented, with a newline at its end.
#[must_use]
pub fn overview_schema() -> String {
    document::schema_of::<OverviewDocument<'_>>()
}

/// All that is known about a project's tests, each in one row.
#[must_use]
pub fn overview_document(overview: &Overview) -> OverviewDocument<'_> {
    let views = views(overview);
    let runs = &overview.timeline.runs;
    OverviewDocument {
        schema: SCHEMA,
        tool: ToolReport::new(&overview.version),
        project: &overview.project,
        made: &overview.made,
        totals: Totals::new(overview, &views),
        runs: runs.iter().map(RunDocument::new).collect(),
        outages: overview.scores.outages.iter().map(|it| OutageDocument::new(it, runs)).collect(),
        clusters: overview.clusters.iter().map(ClusterDocument::new).collect(),
        tests: views.iter().map(TestRow::new).collect(),
        hunt: overview.hunt.as_ref().map(HuntDocument::new),
        notices: overview.notices.iter().map(NoticeReport::new).collect(),
    }
}

/// All that is known about a project's tests, each in one row.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof overview report")]
pub struct OverviewDocument<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What people call the project.
    project: &'a str,
    /// When this was put together, as an RFC 3339 time stamp.
    made: &'a str,
    /// Everything in a handful of numbers.
    totals: Totals,
    /// The runs in the history, oldest first.
    runs: Vec<RunDocument<'a>>,
    /// Runs in which many tests failed together.
    outages: Vec<OutageDocument<'a>>,
    /// Tests that fail together beyond chance, each group probably for one cause.
    clusters: Vec<ClusterDocument<'a>>,
    /// Every test that something is known about, by id.
    tests: Vec<TestRow<'a>>,
    /// The latest hunt.
    hunt: Option<HuntDocument<'a>>,
    /// What the reader should know besides.
    notices: Vec<NoticeReport<'a>>,
}

/// A run in the history.
#[derive(Serialize, JsonSchema)]
struct RunDocument<'a> {
    /// Its id.
    id: &'a str,
    /// When it started, as an RFC 3339 time stamp.
    started: &'a str,
    /// How long it took.
    seconds: f64,
    /// The revision that ran.
    revision: Option<&'a str>,
    /// The branch that ran.
    branch: Option<&'a str>,
    /// The job of a CI system that ran it.
    job: Option<&'a str>,
    /// Runs with the same number ran the same code; `null` where nobody knows what exactly ran.
    code: Option<u32>,
}

impl<'a> RunDocument<'a> {
    fn new(run: &'a PastRun) -> Self {
        Self {
            id: &run.id,
            started: &run.started,
            seconds: seconds(run.duration),
            revision: run.revision.as_deref(),
            branch: run.branch.as_deref(),
            job: run.job.as_deref(),
            code: run.code,
        }
    }
}

/// A run in which many tests failed together.
#[derive(Serialize, JsonSchema)]
struct OutageDocument<'a> {
    /// The run's id.
    run: Option<&'a str>,
    /// When it started.
    started: Option<&'a str>,
    /// How many tests failed.
    failed: u32,
    /// How many ran.
    tests: u32,
}

impl<'a> OutageDocument<'a> {
    fn new(outage: &Outage, runs: &'a [PastRun]) -> Self {
        let run = runs.get(outage.run as usize);
        Self {
            run: run.map(|run| run.id.as_str()),
            started: run.map(|run| run.started.as_str()),
            failed: outage.failed,
            tests: outage.tests,
        }
    }
}

/// What is known about one test, in short.
#[derive(Serialize, JsonSchema)]
struct TestRow<'a> {
    /// Its id, as its framework writes it.
    id: &'a TestId,
    /// Who owns it by `CODEOWNERS`; empty if nobody does, or its file is not known.
    owners: &'a [String],
    /// What it was called before it was renamed or moved, the latest first; its figures count those runs.
    formerly: &'a [TestId],
    /// What the history and the latest hunt come to; `null` if it ran to an end in neither.
    standing: Option<Standing>,
    /// Whether it appeared lately, so that little can be said yet.
    new: bool,
    /// How it is flaky: `NOD`, `victim` or `brittle` by a hunt; else `not-bursty`, `bursty` or
    /// `state-dependent` by the latest run that could tell; `null` if nothing shows it.
    kind: Option<&'static str>,
    /// Its runs, skips and outages left out.
    runs: u32,
    /// How many of these failed.
    failures: u32,
    /// Its runs on code on which it passed at least once.
    proven_runs: u32,
    /// How many of these failed: flaky failures.
    proven_failures: u32,
    /// Failures that no rate counts: on the same code it had failed before, and not passed since.
    repeats: u32,
    /// Failures on code on which it never passed.
    unexplained: u32,
    /// Failures that were one outage with those of many others.
    outages: u32,
    /// How often it fails on unchanged code, with the interval that holds the rate with 95 %;
    /// `null` if it ran to an end in none.
    rate: Option<Rate>,
    /// The executions of a hunt that the rate is from; `null` if it is from runs.
    rated_by_hunt: Option<Tally>,
    /// Since when it fails, if it is broken; since when it passes, if it is mended.
    since: Option<&'a Streak>,
    /// The message of its latest failure; `null` if none was kept.
    last_message: Option<&'a str>,
    /// When it was first shown to pass and fail on the same code; `null` if it never was.
    flaky_since: Option<&'a str>,
    /// How often its outcome differs from that of the run before, from 0 to 1.
    flip_rate: Option<f64>,
    /// How unpredictable its outcome is on code on which it passes, in bits.
    entropy: Option<f64>,
    /// When it was first seen, as an RFC 3339 time stamp.
    first_seen: Option<&'a str>,
    /// When it was last seen.
    last_seen: Option<&'a str>,
    /// When it last failed.
    last_failed: Option<&'a str>,
    /// Time of CI burnt by its flaky failures.
    cost_seconds: f64,
    /// Builds that failed for flaky tests alone, this one among them.
    failed_builds: u32,
    /// Whether it has an entry in the quarantine.
    quarantined: bool,
    /// The probability of being flaky that a model gives its source; `null` if none was asked.
    predicted: Option<f64>,
}

impl<'a> TestRow<'a> {
    pub(super) fn new(view: &TestView<'a>) -> Self {
        let score = view.score;
        let (all, proven) = score.map(|it| (it.all, it.proven)).unwrap_or_default();
        let prediction = view.detail.and_then(|detail| detail.prediction.as_ref());
        Self {
            id: view.id,
            owners: view.owners,
            formerly: view.formerly,
            standing: view.standing(),
            new: view.is_new(),
            kind: view.kind(),
            runs: all.runs,
            failures: all.failures,
            proven_runs: proven.runs,
            proven_failures: proven.failures,
            repeats: score.map_or(0, |it| it.repeats),
            unexplained: score.map_or(0, |it| it.unexplained),
            outages: score.map_or(0, |it| it.outages),
            rate: view.telling().map(|it| rounded(it.rate)),
            rated_by_hunt: score.and_then(|it| it.hunted),
            since: score.and_then(|it| it.since.as_ref()),
            last_message: view.last_failure().map(|it| it.message.as_str()),
            flaky_since: score.and_then(|it| it.flaky_since.as_deref()),
            flip_rate: score.map(|it| to_the_millionth(it.flip_rate)),
            entropy: score.map(|it| to_the_millionth(it.entropy)),
            first_seen: score.map(|it| it.first_seen.as_str()),
            last_seen: score.map(|it| it.last_seen.as_str()),
            last_failed: score.and_then(|it| it.last_failed.as_deref()),
            cost_seconds: seconds(view.cost()),
            failed_builds: score.map_or(0, |it| it.failed_builds),
            quarantined: view.detail.is_some_and(|detail| detail.quarantine.is_some()),
            predicted: prediction.map(|it| to_the_millionth(it.probability)),
        }
    }
}

/// The latest hunt, in short.
#[derive(Serialize, JsonSchema)]
struct HuntDocument<'a> {
    /// When it started, as an RFC 3339 time stamp.
    started: &'a str,
    /// How many tests it found to be flaky.
    flaky: usize,
    /// How many tests it looked at; `null` if it is not over.
    tests: Option<usize>,
    /// What it took; `null` if it is not over.
    cost: Option<CostReport>,
    /// Why it ended; `null` if it is not over.
    end: Option<HuntEnd>,
    /// How many flaky tests would be known, on average, after how many executions.
    front: Vec<FrontPointDocument>,
}

/// A point on the way of a hunt.
#[derive(Serialize, JsonSchema)]
struct FrontPointDocument {
    /// Executions of tests.
    executions: u64,
    /// Flaky tests known by then, on average.
    flaky: f64,
}

impl<'a> HuntDocument<'a> {
    fn new(hunt: &'a HuntOverview) -> Self {
        let point = |point: &flakeproof_core::FrontPoint| FrontPointDocument {
            executions: point.executions,
            flaky: to_the_millionth(point.flaky),
        };
        let summary = hunt.summary.as_ref();
        Self {
            started: &hunt.started,
            flaky: hunt.flaky,
            tests: summary.map(|it| it.tests),
            cost: summary.map(|it| CostReport::new(&it.cost)),
            end: summary.map(|it| it.end),
            front: hunt.front.iter().map(point).collect(),
        }
    }
}

/// The version of the document's shape.
const TEST_SCHEMA: u32 = 1;

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
        schema: TEST_SCHEMA,
        tool: ToolReport::new(&overview.version),
        project: &overview.project,
        made: &overview.made,
        test: TestRow::new(&view),
        in_words: view.score.map(words::score),
        timeline: view.marks.iter().map(|mark| MarkDocument::new(mark, runs)).collect(),
        hunted: hunted.map(HuntedTestReport::new),
        cause: detail.and_then(|it| it.cause.as_ref()).map(KnownCauseReport::new),
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
        together: overview
            .clusters
            .iter()
            .find(|cluster| cluster.tests.contains(id))
            .map(ClusterDocument::new),
        reproduce: view.reproduce(),
    })
}

/// All that is known about one test.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof test report")]
pub struct TestDocument<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = TEST_SCHEMA))]
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
    /// What makes it fail, by experiment; `null` if no experiment found that out.
    cause: Option<KnownCauseReport<'a>>,
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
    /// Tests that fail together with it beyond chance, itself among them.
    together: Option<ClusterDocument<'a>>,
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
    /// In how many runs it failed so; reruns in the same run do not count.
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
    use serde_json::Value;

    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::overview()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_test_that_no_run_has_seen_has_the_rate_of_its_hunt_or_none() {
        let bytes = Json.render(&sample::overview()).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let row = |id: &str| {
            let tests = document["tests"].as_array().unwrap();
            tests.iter().find(|row| row["id"] == id).cloned().unwrap()
        };
        let hunted = row(sample::ONLY_HUNTED);
        assert_eq!((&hunted["standing"], &hunted["rate"]["mean"]), (&"flaky".into(), &0.45.into()));
        assert_eq!(hunted["rated_by_hunt"], serde_json::json!({ "runs": 20, "failures": 9 }));
        let predicted = row(sample::ONLY_PREDICTED);
        assert_eq!((&predicted["standing"], &predicted["rate"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn the_whole_document_of_a_test_has_the_published_shape() {
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
