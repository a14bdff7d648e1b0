//! How far reports are read, on stderr, what was read from them, what is wrong with them, and the
//! rules by which ids are rewritten.

use std::fmt::Write as _;
use std::io::IsTerminal;

use flakeproof_core::IdRule;
use flakeproof_runner::reports::{Counts, Format, Severity};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::terminal::{self, BAD, CHANCE, DIM, GOOD, STRONG};
use crate::commands::ingest::{Ingested, IngestedRun};

/// So many issues and rewritten ids are shown to people.
const MOST_SHOWN: usize = 10;

/// Print for people what was read; warnings go to stderr.
pub(crate) fn ingested(ingested: &Ingested) {
    let mut warnings = String::new();
    for run in &ingested.runs {
        warn(&mut warnings, run);
    }
    if !ingested.is_certain && ingested.runs.iter().any(|run| !run.is_known) {
        let next = "name it with `--revision`, or run this where CI did";
        let what = "nobody says which revision ran, so these reports prove nothing about the code";
        let _ = writeln!(warnings, "{CHANCE}note{CHANCE:#}: {what}; {next}");
    }
    let _ = terminal::err(&warnings);
    let _ = terminal::out(&text(ingested));
}

/// Print for programs what was read.
pub(crate) fn ingested_json(ingested: &Ingested) {
    let runs: Vec<Value> = ingested.runs.iter().map(run_as_json).collect();
    let value = json!({
        "schema": 1,
        "dry_run": ingested.is_dry,
        "interrupted": ingested.is_interrupted,
        "passed_over": ingested.passed_over,
        "runs": runs,
    });
    super::verbatim(&format!("{value:#}\n"));
}

/// Print the rules by which ids are rewritten.
pub(crate) fn id_rules(rules: &[IdRule], is_json: bool) {
    if is_json {
        let rule = |rule: &IdRule| {
            json!({
                "name": rule.name,
                "pattern": rule.pattern,
                "condition": rule.condition,
                "example": rule.example,
                "becomes": rule.becomes,
            })
        };
        let rules: Vec<Value> = rules.iter().map(rule).collect();
        return super::verbatim(&format!("{:#}\n", json!({ "schema": 1, "rules": rules })));
    }
    let mut text = String::from(
        "What follows the name of a test (parameters, subtests) is rewritten by these rules, in this \
         order.\nIds of one file that would become the same stay as they are.\n",
    );
    for rule in rules {
        let IdRule { name, pattern, condition, example, becomes, .. } = rule;
        let _ = writeln!(text, "\n{STRONG}{name}{STRONG:#}  {example}  →  {becomes}");
        if !condition.is_empty() {
            let _ = writeln!(text, "      {condition}");
        }
        let _ = writeln!(text, "      {DIM}{pattern}{DIM:#}");
    }
    let _ = terminal::out(&text);
}

fn text(ingested: &Ingested) -> String {
    let mut text = String::new();
    for run in &ingested.runs {
        line(&mut text, run, ingested.is_dry);
    }
    if ingested.passed_over > 0 {
        let files = count(ingested.passed_over as u64, "file");
        let _ = writeln!(text, "{DIM}{files} in the folders hold no tests{DIM:#}");
    }
    if ingested.is_interrupted {
        let _ =
            writeln!(text, "interrupted: what was half read is not in the history; read it again");
    } else if ingested.is_dry {
        let _ = writeln!(text, "nothing was kept: this was a dry run");
    } else if ingested.runs.iter().any(|run| run.tests.all() > 0) {
        let next = "`flakeproof list` names flaky tests, `flakeproof report` draws them";
        let _ = writeln!(text, "{STRONG}next{STRONG:#}: {next}");
    } else if ingested.runs.iter().any(|run| !run.is_known) {
        let next = "`flakeproof validate FILE` says what is wrong with a report";
        let _ = writeln!(text, "nothing was kept\n{STRONG}next{STRONG:#}: {next}");
    }
    text
}

fn line(text: &mut String, run: &IngestedRun, is_dry: bool) {
    let files = count(run.files as u64, "file");
    let whose = whose(run);
    if run.is_known {
        let _ = writeln!(text, "{files} already in the history: {whose}; nothing was added");
        return;
    }
    let tests = run.tests;
    let _ = write!(text, "read {files}: {STRONG}{}{STRONG:#}", count(tests.all(), "test"));
    let parts = [
        (tests.failed, BAD, "failed"),
        (tests.mixed, CHANCE, "passed when rerun"),
        (tests.skipped, DIM, "skipped"),
    ];
    for (number, style, word) in parts {
        if number > 0 {
            let _ = write!(text, ", {style}{} {word}{style:#}", grouped(number));
        }
    }
    if tests.failed + tests.mixed == 0 && tests.all() > 0 {
        let _ = write!(text, ", {GOOD}none failed{GOOD:#}");
    }
    let _ = writeln!(text, "; {whose}");
    if is_dry {
        for (raw, id) in run.remarks.rewritten.iter().take(MOST_SHOWN) {
            let _ = writeln!(text, "  {DIM}{raw}{DIM:#}\n    → {id}");
        }
    }
    if run.remarks.rewritten_count > 0 {
        let rewritten = count(run.remarks.rewritten_count, "id");
        let next = "`--dry-run` shows them, `--rules` says how, `--raw-ids` keeps them";
        let _ =
            writeln!(text, "{DIM}{rewritten} without what varies from run to run ({next}){DIM:#}");
    }
}

/// Which run it is, for people.
fn whose(run: &IngestedRun) -> String {
    let record = &run.record;
    let mut text = format!("run {}", record.id);
    if let Some(revision) = &record.tree.revision {
        let short = revision.get(..10).unwrap_or(revision);
        let _ = write!(text, " of revision {short}");
    }
    if let Some(branch) = &record.tree.branch {
        let _ = write!(text, " on {branch}");
    }
    if let Some(job) = record.origin.job() {
        let _ = write!(text, " (job {job})");
    }
    let _ = write!(text, ", {}", record.started);
    text
}

fn warn(text: &mut String, run: &IngestedRun) {
    let remarks = &run.remarks;
    for (file, issue) in remarks.issues.iter().take(MOST_SHOWN) {
        let (style, word) = match issue.severity {
            Severity::Serious => (BAD, "warning"),
            Severity::Note => (CHANCE, "note"),
        };
        let what = issue.what.lines().next().unwrap_or_default();
        let _ = writeln!(text, "{style}{word}{style:#}: {file}: {what}");
    }
    if remarks.issues.len() > MOST_SHOWN {
        let more = count((remarks.issues.len() - MOST_SHOWN) as u64, "more issue");
        let _ = writeln!(text, "{DIM}{more}: `flakeproof validate` shows them{DIM:#}");
    }
    if remarks.has_serious_issue() {
        let what = "tests may be missing from this run: see `flakeproof validate`";
        let _ = writeln!(text, "{BAD}warning{BAD:#}: {what}");
    }
    if remarks.parts > 0 {
        let parts = count(remarks.parts, "report");
        let what =
            "of tests that were there already count as parts of them, which fail if any does";
        let next = "if the files are attempts at the same tests, say so with `--attempts`";
        let _ = writeln!(text, "{CHANCE}note{CHANCE:#}: {parts} {what}; {next}");
    }
    if remarks.kept_apart > 0 {
        let kept = count(remarks.kept_apart, "test");
        let what = "with ids that differ only in what the rules leave out keep them";
        let _ = writeln!(text, "{CHANCE}note{CHANCE:#}: {kept} {what}");
    }
}

fn run_as_json(run: &IngestedRun) -> Value {
    let (record, tests, remarks) = (&run.record, run.tests, &run.remarks);
    let issue = |(file, issue): &(String, flakeproof_runner::reports::ReportIssue)| {
        json!({
            "file": file,
            "severity": issue.severity.word(),
            "position": issue.position,
            "what": issue.what,
        })
    };
    let rewritten = |(raw, id): &(String, String)| json!({ "raw": raw, "id": id });
    json!({
        "id": record.id,
        "known": run.is_known,
        "started": record.started,
        "revision": record.tree.revision,
        "branch": record.tree.branch,
        "job": record.origin.job(),
        "certain": record.tree.is_complete,
        "files": run.files,
        "bytes": run.bytes,
        "tests": tests.all(),
        "passed": tests.passed,
        "failed": tests.failed,
        "passed_when_rerun": tests.mixed,
        "skipped": tests.skipped,
        "parts": remarks.parts,
        "kept_apart": remarks.kept_apart,
        "rewritten_count": remarks.rewritten_count,
        "rewritten": remarks.rewritten.iter().map(rewritten).collect::<Vec<_>>(),
        "issues": remarks.issues.iter().map(issue).collect::<Vec<_>>(),
    })
}

/// A number with its noun, thousands apart.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A bar on a terminal for much input, nothing elsewhere.
pub(crate) struct IngestProgress(ProgressBar);

/// Less is read before a bar could be seen.
const WORTH_A_BAR: u64 = 20 * 1024 * 1024;

impl IngestProgress {
    /// Begin to read so many bytes.
    pub(crate) fn start(bytes: u64) -> Self {
        let bar = ProgressBar::new(bytes);
        if bytes < WORTH_A_BAR || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = "reading {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Self(bar)
    }

    /// So many bytes were read.
    pub(crate) fn read(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// All is read.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// A report that was looked at.
#[derive(Debug)]
pub(crate) struct ValidatedReport {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) counts: Counts,
    pub(crate) problems: Vec<ReportProblem>,
}

/// Something that is wrong with a report.
#[derive(Debug)]
pub(crate) struct ReportProblem {
    pub(crate) severity: Severity,
    pub(crate) place: Option<Position>,
    pub(crate) what: String,
}

/// Where in a report.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0, and its line if it is known.
    Byte(u64, u64),
}

/// Print for people what is wrong.
pub(crate) fn validated(reports: &[ValidatedReport]) {
    let text: String = reports.iter().map(shown).collect();
    let _ = terminal::out(&text);
}

/// Print for programs what is wrong.
pub(crate) fn validated_json(reports: &[ValidatedReport]) {
    let reports: Vec<Value> = reports.iter().map(as_json).collect();
    super::verbatim(&format!("{:#}\n", json!({ "schema": 1, "reports": reports })));
}

fn shown(report: &ValidatedReport) -> String {
    let mut text = String::new();
    let tests = count(report.counts.tests, "test");
    let failed = match report.counts.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let format = named(report.format);
    let _ = write!(text, "{STRONG}{}{STRONG:#}: {format}, {tests}{failed}: ", report.name);
    if report.problems.is_empty() {
        let _ = writeln!(text, "{GOOD}nothing is wrong{GOOD:#}");
        return text;
    }
    let _ = writeln!(text, "{}", count(report.problems.len() as u64, "problem"));
    for problem in &report.problems {
        let (style, word) = match problem.severity {
            Severity::Serious => (BAD, "serious"),
            Severity::Note => (CHANCE, "note"),
        };
        let place = match problem.place {
            Some(Position::Line(line)) => format!("line {line}: "),
            Some(Position::Byte(byte, 0)) => format!("byte {byte}: "),
            Some(Position::Byte(byte, line)) => format!("line {line}, byte {byte}: "),
            None => String::new(),
        };
        let what = problem.what.trim_end().replace('\n', "\n      ");
        let _ = writeln!(text, "  {style}{word}{style:#} {DIM}{place}{DIM:#}{what}");
    }
    text
}

fn as_json(report: &ValidatedReport) -> Value {
    let problem = |problem: &ReportProblem| {
        let (line, byte) = match problem.place {
            Some(Position::Line(line)) => (Some(line), None),
            Some(Position::Byte(byte, line)) => (Some(line).filter(|it| *it > 0), Some(byte)),
            None => (None, None),
        };
        json!({
            "severity": problem.severity.word(),
            "line": line,
            "byte": byte,
            "what": problem.what,
        })
    };
    json!({
        "file": report.name,
        "format": report.format,
        "tests": report.counts.tests,
        "failed": report.counts.failed,
        "skipped": report.counts.skipped,
        "problems": report.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn named(format: Format) -> &'static str {
    match format {
        Format::Junit => "XML",
        Format::Tap => "TAP",
        Format::GoJson => "events of `go test -json`",
        Format::Ctrf | Format::JestJson | Format::RspecJson => "JSON",
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Origin, RunRecord, Seed, Surroundings, TreeState};

    use super::*;
    use crate::commands::ingest::{Remarks, TestCounts};

    fn run(is_known: bool) -> IngestedRun {
        let tree = TreeState {
            revision: Some("83e14cb0a1b2c3d4e5f60718293a4b5c6d7e8f90".into()),
            branch: Some("main".into()),
            is_complete: true,
            ..TreeState::default()
        };
        IngestedRun {
            record: RunRecord {
                id: "reports-0123456789abcdef".into(),
                started: "2026-11-15T10:15:00.000Z".into(),
                command: Vec::new(),
                folder: String::new(),
                seed: Seed(0),
                tree,
                surroundings: Surroundings::default(),
                version: "0.1.0".into(),
                origin: Origin::Reports { job: Some("test-linux".into()) },
            },
            is_known,
            files: 12,
            bytes: 1,
            tests: TestCounts { passed: 4_206, failed: 3, mixed: 1, skipped: 0 },
            remarks: Remarks::default(),
        }
    }

    fn shown(ingested: &Ingested) -> String {
        anstream::adapter::strip_str(&text(ingested)).to_string()
    }

    #[test]
    fn a_run_is_one_line_and_the_next_step() {
        let ingested = Ingested { runs: vec![run(false)], ..Ingested::default() };
        assert_eq!(
            shown(&ingested).lines().next(),
            Some(
                "read 12 files: 4,210 tests, 3 failed, 1 passed when rerun; run \
                 reports-0123456789abcdef of revision 83e14cb0a1 on main (job test-linux), \
                 2026-11-15T10:15:00.000Z"
            )
        );
        assert!(shown(&ingested).contains("next: `flakeproof list`"));
    }

    #[test]
    fn a_run_that_is_known_says_so() {
        let ingested = Ingested { runs: vec![run(true)], ..Ingested::default() };
        assert!(shown(&ingested).contains("nothing was added"));
    }
}
