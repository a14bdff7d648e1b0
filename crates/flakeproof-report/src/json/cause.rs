//! What makes a test fail, as one JSON document.
//!
//! Its schema is published as `docs/reference/cause-report.schema.json`.

use flakeproof_core::{
    Cause, CauseAnswer, CauseEnd, CauseFindings, LeverName, NotTried, Tally, TestId, TriedLever,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, RunFactsReport, ToolReport};
use crate::{Error, Renderer, words};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<CauseFindings> for Json {
    fn render(&self, findings: &CauseFindings) -> Result<Vec<u8>, Error> {
        document::bytes(&CauseReport::new(findings))
    }
}

/// The JSON schema of what [`Json`] makes of a cause, indented, with a newline at its end.
#[must_use]
pub fn cause_schema() -> String {
    document::schema_of::<CauseReport<'_>>()
}

/// What makes a test fail.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof cause report")]
struct CauseReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// What was run, when and how.
    run: RunFactsReport<'a>,
    /// The test, by its id.
    test: &'a TestId,
    /// The strongest thing that can be said.
    answer: CauseAnswer,
    /// The same in a sentence, for people.
    sentence: String,
    /// The runs in which nothing was changed.
    plain: RunsReport,
    /// Every value of every lever that was tried, those that matter first.
    levers: Vec<LeverReport<'a>>,
    /// Levers that were not tried, and why.
    not_tried: &'a [NotTried],
    /// What makes it flaky, in the words of the data sets that predictors learn from; `null` if no lever
    /// matters.
    category: Option<&'a str>,
    /// A command that makes it fail; `null` where there is none that a person would type.
    command: Option<&'a str>,
    /// How it fails: the message, and the whole text.
    failure: Option<FailureReport<'a>>,
    /// Tests run, those before it and beside it included.
    executions: u64,
    /// Why it ended.
    end: CauseEnd,
    /// What the reader should know.
    notices: Vec<NoticeReport<'a>>,
    /// The number the process ends with.
    exit_code: u8,
}

/// What is known to make a test fail, in short.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KnownCause")]
pub(super) struct KnownCauseReport<'a> {
    /// The test, by its id.
    test: &'a TestId,
    /// What is proven.
    answer: CauseAnswer,
    /// The lever; `null` if none is named.
    lever: Option<LeverReport<'a>>,
    /// The same in a sentence, for people.
    sentence: String,
    /// What makes it flaky, in the words of the data sets that predictors learn from.
    category: Option<&'a str>,
    /// A command that makes it fail; `null` where there is none that a person would type.
    command: Option<&'a str>,
}

impl<'a> KnownCauseReport<'a> {
    pub(super) fn new(cause: &'a Cause) -> Self {
        Self {
            test: &cause.test,
            answer: cause.answer,
            lever: cause.lever().map(lever),
            sentence: words::cause(cause),
            category: cause.category.as_deref(),
            command: cause.command.as_deref(),
        }
    }
}

/// One value of one lever.
#[derive(Serialize, JsonSchema)]
struct LeverReport<'a> {
    /// The lever.
    name: LeverName,
    /// What it was set to.
    value: &'a str,
    /// What is proven about it; `null` where nothing is.
    answer: Option<CauseAnswer>,
    /// The runs beside those with it.
    plain: RunsReport,
    /// The runs with it.
    with: RunsReport,
    /// What the runs beside it had; `null` if nothing.
    beside: Option<&'a str>,
    /// Why it proves nothing although something happened.
    remark: Option<&'a str>,
}

/// Runs of a test.
#[derive(Serialize, JsonSchema)]
struct RunsReport {
    /// Those that failed.
    failed: u32,
    /// All of them.
    runs: u32,
}

impl RunsReport {
    fn new(tally: Tally) -> Self {
        Self { failed: tally.failures, runs: tally.runs }
    }
}

/// A failure.
#[derive(Serialize, JsonSchema)]
struct FailureReport<'a> {
    /// It in one line.
    message: &'a str,
    /// The whole text, traceback included.
    text: &'a str,
}

impl<'a> CauseReport<'a> {
    fn new(findings: &'a CauseFindings) -> Self {
        let cause = &findings.cause;
        let failure = cause.failure.as_ref();
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&findings.run.version),
            run: RunFactsReport::new(&findings.run),
            test: &cause.test,
            answer: cause.answer,
            sentence: words::cause(cause),
            plain: RunsReport::new(cause.plain),
            levers: cause.levers.iter().map(lever).collect(),
            not_tried: &cause.not_tried,
            category: cause.category.as_deref(),
            command: cause.command.as_deref(),
            failure: failure.map(|it| FailureReport { message: &it.message, text: &it.text }),
            executions: findings.executions,
            end: findings.end,
            notices: findings.notices.iter().map(NoticeReport::new).collect(),
            exit_code: findings.exit.number(),
        }
    }
}

fn lever(tried: &TriedLever) -> LeverReport<'_> {
    LeverReport {
        name: tried.name,
        value: &tried.value,
        answer: tried.answer,
        plain: RunsReport::new(tried.plain),
        with: RunsReport::new(tried.with),
        beside: tried.beside.as_deref(),
        remark: tried.remark.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_document_has_what_the_issue_of_its_readers_asks_for() {
        let bytes = Json.render(&sample::cause()).expect("it renders");
        let document: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        assert_eq!(document["schema"], 1);
        assert_eq!(document["answer"], "caused by");
        let lever = &document["levers"][0];
        assert_eq!(
            (lever["name"].as_str(), lever["with"]["failed"].as_u64()),
            (Some("zone"), Some(9))
        );
        assert_eq!(lever["plain"], serde_json::json!({ "failed": 0, "runs": 9 }));
        assert_eq!(document["not_tried"][0]["name"], "clock");
        assert_eq!(document["category"], "time");
    }
}
