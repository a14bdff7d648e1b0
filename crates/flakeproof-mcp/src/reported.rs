//! What the report of an experiment comes to, in short.

use flakeproof_core::{Evidence, FlakyKind, HuntedTest, TestId, Verdict};
use flakeproof_report::words;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::UntrustedText;
use crate::answer::{
    CauseAnswer, ExperimentEnd, HuntAnswer, Patch, ProposeAnswer, RunAnswer, RunFailure, Tried,
    VerifyAnswer,
};
use crate::experiment::Ended;
use crate::known::hunted;
use crate::project::Trouble;

/// Tests in an answer.
const MOST: usize = 20;

/// The exit code of an experiment that was stopped, by its client or at the end of its budget.
const INTERRUPTED: i32 = 130;

/// The report of a run.
pub(crate) fn run(ended: &Ended) -> Result<RunAnswer, Trouble> {
    let report: RunReport = read(ended)?;
    let mut failures: Vec<RunTest> =
        report.tests.into_iter().filter(|test| test.verdict.is_some()).collect();
    failures.sort_by_key(|test| Verdict::ALL.iter().position(|it| Some(*it) == test.verdict));
    let total = failures.len();
    Ok(RunAnswer {
        tests: report.suite.tests,
        passed: report.suite.passed,
        failures: failures.into_iter().take(MOST).map(run_failure).collect(),
        total,
        ended: end(ended, &report.notices),
    })
}

fn run_failure(test: RunTest) -> RunFailure {
    let message = test.attempts.iter().find_map(|attempt| attempt.message.as_deref());
    RunFailure {
        test: UntrustedText::id(&test.id),
        verdict: test.verdict,
        evidence: test
            .evidence
            .iter()
            .map(|it| UntrustedText::line(&words::evidence(it)))
            .collect(),
        message: message.map(UntrustedText::line),
        reproduce: test.reproduce.map(UntrustedText::whole),
    }
}

/// The report of a hunt.
pub(crate) fn hunt(ended: &Ended) -> Result<HuntAnswer, Trouble> {
    let report: HuntReport = read(ended)?;
    let tests = report.tests.len();
    let flaky: Vec<HuntedRow> = report.tests.into_iter().filter(|it| it.kind.is_some()).collect();
    let total = flaky.len();
    Ok(HuntAnswer {
        tests,
        flaky: flaky.into_iter().take(MOST).map(HuntedRow::into_answer).collect(),
        total,
        executions: report.cost.executions,
        ended: end(ended, &report.notices),
    })
}

/// The report of a search for a cause.
pub(crate) fn cause(ended: &Ended) -> Result<CauseAnswer, Trouble> {
    let report: CauseReport = read(ended)?;
    let lever = report.levers.iter().find(|lever| lever.answer == Some(report.answer));
    Ok(CauseAnswer {
        test: UntrustedText::id(&report.test),
        answer: report.answer,
        sentence: report.sentence,
        lever: lever.map(|lever| lever.name.clone()),
        value: lever.map(|lever| lever.value.clone()),
        command: report.command.map(UntrustedText::whole),
        failure: report.failure.map(|it| UntrustedText::line(&it.message)),
        ended: end(ended, &report.notices),
    })
}

/// The report of a proof.
pub(crate) fn verify(ended: &Ended) -> Result<VerifyAnswer, Trouble> {
    let report: VerifyReport = read(ended)?;
    Ok(VerifyAnswer {
        test: UntrustedText::id(&report.test),
        verdict: report.verdict,
        runs: report.runs.runs,
        failures: report.runs.failures,
        needed: report.needed,
        failure: report.failure.map(|it| UntrustedText::line(&it.message)),
        ended: end(ended, &report.notices),
    })
}

/// The report of a search for a patch.
pub(crate) fn propose(ended: &Ended) -> Result<ProposeAnswer, Trouble> {
    let report: FixReport = read(ended)?;
    Ok(ProposeAnswer {
        test: UntrustedText::id(&report.test),
        patches: report.patches,
        tried: report.tried,
        advice: report.advice,
        ended: end(ended, &report.notices),
    })
}

/// The report, or what the experiment said instead of writing one.
fn read<T: DeserializeOwned>(ended: &Ended) -> Result<T, Trouble> {
    let Some(report) = &ended.report else { return Err(without_report(ended)) };
    T::deserialize(report).map_err(|error| {
        Trouble::new(
            format!("the report of the experiment cannot be read: {error}"),
            "report this as a bug; what was found is in the history, which `explain_test` reads",
        )
    })
}

/// What an experiment said that wrote no report. The last two lines of its trouble say what happened and
/// what to do next; above them is what the runner itself said.
fn without_report(ended: &Ended) -> Trouble {
    let said = ended.trouble.trim();
    let (before, next) = said.rsplit_once("\nnext:").unwrap_or((said, ""));
    let (details, what) = match before.rfind("error: ") {
        Some(at) => (&before[..at], &before[at + "error: ".len()..]),
        None => ("", before),
    };
    let what = match what.trim() {
        "" => format!("the experiment ended with exit code {}", ended.exit_code),
        what => what.to_owned(),
    };
    let next = match next.trim() {
        _ if ended.exit_code == INTERRUPTED => {
            "ask for more time with `budget_seconds`, or for fewer tests with `select`"
        }
        "" => "run the same command in a terminal to see more",
        next => next,
    };
    Trouble { what, details: details.trim().to_owned(), next: next.to_owned() }
}

fn end(ended: &Ended, notices: &[Told]) -> ExperimentEnd {
    let notices = notices.iter().take(MOST);
    ExperimentEnd {
        exit_code: ended.exit_code,
        meaning: meaning(ended.exit_code).to_owned(),
        notices: notices.map(|it| format!("{}; {}", it.what, it.next)).collect(),
    }
}

/// What an exit code of the program means.
fn meaning(exit_code: i32) -> &'static str {
    match exit_code {
        0 => "clean",
        1 => "there are failures or findings",
        2 => "a mistake in what was asked or in the configuration",
        3 => "only flaky failures, and the project's policy is that they fail",
        4 => "no test was selected",
        5 => "inconclusive: the budget is spent, or not everything ran",
        6 => "the tool or the test runner broke",
        INTERRUPTED => "stopped early; this is the best result so far",
        _ => "ended by a signal",
    }
}

#[derive(Deserialize)]
struct RunReport {
    suite: SuiteRow,
    tests: Vec<RunTest>,
    #[serde(default)]
    notices: Vec<Told>,
}

#[derive(Deserialize)]
struct SuiteRow {
    tests: usize,
    passed: usize,
}

#[derive(Deserialize)]
struct RunTest {
    id: TestId,
    verdict: Option<Verdict>,
    #[serde(default)]
    evidence: Vec<Evidence>,
    #[serde(default)]
    attempts: Vec<AttemptRow>,
    reproduce: Option<String>,
}

#[derive(Deserialize)]
struct AttemptRow {
    message: Option<String>,
}

#[derive(Deserialize)]
struct Told {
    what: String,
    next: String,
}

#[derive(Deserialize)]
struct HuntReport {
    tests: Vec<HuntedRow>,
    cost: CostRow,
    #[serde(default)]
    notices: Vec<Told>,
}

#[derive(Deserialize)]
struct CostRow {
    executions: u64,
}

/// A test in the report of a hunt, which has the message and the command where the history has more.
#[derive(Deserialize)]
struct HuntedRow {
    kind: Option<FlakyKind>,
    failure: Option<String>,
    reproduce: Option<String>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

impl HuntedRow {
    fn into_answer(self) -> crate::answer::Hunted {
        let mut rest = self.rest;
        let id = rest.get("id").and_then(Value::as_str).unwrap_or_default();
        let mut test = HuntedTest::new(id.into(), None);
        rest.insert("kind".to_owned(), serde_json::json!(self.kind));
        for absent in ["failure", "reproduction"] {
            rest.insert(absent.to_owned(), Value::Null);
        }
        if let Ok(whole) = HuntedTest::deserialize(Value::Object(rest)) {
            test = whole;
        }
        crate::answer::Hunted {
            failure: self.failure.as_deref().map(UntrustedText::line),
            reproduce: self.reproduce.map(UntrustedText::whole),
            ..hunted(&test)
        }
    }
}

#[derive(Deserialize)]
struct CauseReport {
    test: TestId,
    answer: flakeproof_core::CauseAnswer,
    sentence: String,
    #[serde(default)]
    levers: Vec<LeverRow>,
    command: Option<String>,
    failure: Option<FailureRow>,
    #[serde(default)]
    notices: Vec<Told>,
}

#[derive(Deserialize)]
struct LeverRow {
    name: String,
    value: String,
    answer: Option<flakeproof_core::CauseAnswer>,
}

#[derive(Deserialize)]
struct FailureRow {
    message: String,
}

#[derive(Deserialize)]
struct VerifyReport {
    test: TestId,
    verdict: Option<String>,
    runs: RunsRow,
    needed: u64,
    failure: Option<FailureRow>,
    #[serde(default)]
    notices: Vec<Told>,
}

#[derive(Deserialize)]
struct RunsRow {
    runs: u64,
    failures: u64,
}

#[derive(Deserialize)]
struct FixReport {
    test: TestId,
    #[serde(default)]
    patches: Vec<Patch>,
    #[serde(default)]
    tried: Vec<Tried>,
    #[serde(default)]
    advice: Vec<String>,
    #[serde(default)]
    notices: Vec<Told>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ended(report: Option<Value>, trouble: &str) -> Ended {
        Ended { exit_code: 1, report, text: String::new(), trouble: trouble.to_owned() }
    }

    #[test]
    fn an_experiment_without_a_report_says_what_happened_and_what_to_do() {
        let said = "a traceback\n\nerror: `pytest x` selects no test\nnext:  check the paths\n";
        let trouble = run(&ended(None, said)).expect_err("there is no report");
        assert_eq!(trouble.what, "`pytest x` selects no test");
        assert_eq!(trouble.next, "check the paths");
        assert_eq!(trouble.details, "a traceback");
        assert!(run(&ended(None, "")).expect_err("none").what.contains("exit code 1"));
        let stopped = Ended { exit_code: INTERRUPTED, ..ended(None, said) };
        assert!(run(&stopped).expect_err("none").next.contains("budget_seconds"));
    }

    #[test]
    fn a_proposal_is_read_as_it_is_published() {
        let report = json!({
            "schema": 1, "test": "t.py::a",
            "patches": [{ "file": "t.py", "diff": "-a\n+b\n", "idea": "restore it", "hides": "zones", "proven": true, "proof": {} }],
            "tried": [{ "idea": "clean it", "why_not": "it still fails" }]
        });
        let answer = propose(&ended(Some(report), "")).expect("it is read");
        assert!(answer.patches[0].proven);
        assert_eq!(answer.patches[0].hides.as_deref(), Some("zones"));
        assert_eq!(answer.tried[0].why_not, "it still fails");
    }

    #[test]
    fn the_worst_failures_of_a_run_come_first_and_passes_are_left_out() {
        let test = |id: &str, verdict: Value| json!({ "id": id, "verdict": verdict, "evidence": [], "attempts": [], "reproduce": null });
        let report = json!({
            "suite": { "tests": 3, "passed": 1 }, "notices": [],
            "tests": [test("a", Value::Null), test("b", json!("flaky")), test("c", json!("real"))]
        });
        let answer = run(&ended(Some(report), "")).expect("it is read");
        let ids: Vec<&str> = answer.failures.iter().map(|it| it.test.as_str()).collect();
        assert_eq!((ids, answer.total), (vec!["c", "b"], 2));
    }
}
