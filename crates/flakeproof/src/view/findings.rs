//! A run, as a person reads it: how far it is, on stderr, and in the end failures, verdicts with
//! their evidence, and numbers.

use std::fmt::Write as _;

use anstyle::Style;
use flakeproof_core::{
    Evidence, Findings, Group, GroupCause, Kind, Outcome, Stage, SuiteCounts, TestFinding, Verdict,
};
use flakeproof_detect::triage::Event;
use flakeproof_report::words;
use flakeproof_runner::Waiting;

use super::known::shortened;
use super::progress::ProgressLine;
use super::terminal::{self, BAD, CHANCE, DIM, Detail, GOOD, OPEN, STRONG};

/// Lines of a failure's text that are shown; the beginning and the end matter most.
const HEAD: usize = 12;
const TAIL: usize = 30;
/// So many of those that fail like another are named; all are in the reports for machines.
const NAMED_ALIKE: usize = 3;

/// Print the findings: to stdout, or to stderr where stdout carries data.
pub(crate) fn findings(findings: &Findings, is_stdout_taken: bool) {
    let text = rendered(findings, Detail::decided());
    // A reader that went away has all it wanted.
    let _ = if is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

fn rendered(findings: &Findings, detail: Detail) -> String {
    let mut text = String::new();
    for verdict in [Verdict::Unrelated, Verdict::NewlyFlaky, Verdict::Unknown, Verdict::Real] {
        for test in with(findings, verdict).filter(|test| stands_behind(test).is_none()) {
            failure(&mut text, test, verdict);
        }
    }
    for verdict in Verdict::ALL.into_iter().rev() {
        section(&mut text, findings, verdict, detail);
    }
    for notice in &findings.notices {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}\n      {}\n", notice.what, notice.next);
    }
    closing(&mut text, findings);
    text
}

fn with(findings: &Findings, verdict: Verdict) -> impl Iterator<Item = &TestFinding> {
    findings.tests.iter().filter(move |test| test.verdict == Some(verdict))
}

/// The test that a failure is told with, where that one was tried for both.
fn stands_behind(test: &TestFinding) -> Option<&str> {
    let alike = test.evidence.iter().find_map(|evidence| match evidence {
        Evidence::AlikeReal { test } => Some(test.as_str()),
        _ => None,
    });
    alike.filter(|_| test.verdict == Some(Verdict::Real))
}

/// The failure itself, for those that a developer has to look at.
fn failure(text: &mut String, test: &TestFinding, verdict: Verdict) {
    let Some(attempt) = test.first_failure() else { return };
    let style = style_of(verdict);
    let _ = writeln!(text, "{style}──── {} {style:#}", test.id.shown());
    if let Some(failure) = &attempt.execution.failure {
        excerpt(text, &failure.text);
    }
    if !attempt.execution.output.trim().is_empty() {
        excerpt(text, &attempt.execution.output);
    }
    text.push('\n');
}

fn excerpt(text: &mut String, long: &str) {
    let lines: Vec<&str> = long.trim_end().lines().collect();
    if lines.len() <= HEAD + TAIL + 1 {
        let _ = writeln!(text, "{}", lines.join("\n"));
        return;
    }
    let left_out = lines.len() - HEAD - TAIL;
    let _ = writeln!(text, "{}", lines[..HEAD].join("\n"));
    let _ = writeln!(text, "{DIM}  … {left_out} lines …{DIM:#}");
    let _ = writeln!(text, "{}", lines[lines.len() - TAIL..].join("\n"));
}

/// All tests with one verdict; an outage is told once.
fn section(text: &mut String, findings: &Findings, verdict: Verdict, detail: Detail) {
    let is_told_as_group = |test: &&TestFinding| {
        test.group
            .and_then(|at| findings.groups.get(at))
            .is_some_and(|group| group.cause != GroupCause::SameFailure)
    };
    let is_told = |test: &&TestFinding| !is_told_as_group(test) && stands_behind(test).is_none();
    for test in with(findings, verdict).filter(is_told) {
        finding(text, findings, test, verdict, detail);
    }
    if verdict == Verdict::Flaky {
        let told = findings.groups.iter().filter(|group| group.cause != GroupCause::SameFailure);
        for group in told {
            self::group(text, findings, group, detail);
        }
    }
}

fn finding(
    text: &mut String,
    findings: &Findings,
    test: &TestFinding,
    verdict: Verdict,
    detail: Detail,
) {
    let style = style_of(verdict);
    let word = heading(verdict);
    let kind = test.kind.map(|kind| format!(" {DIM}({kind}){DIM:#}")).unwrap_or_default();
    let _ = writeln!(text, "{style}{word:<9} {style:#}{STRONG}{}{STRONG:#}{kind}", test.id.shown());
    if let Some(failure) = test.first_failure().and_then(|it| it.execution.failure.as_ref()) {
        let place = failure.location.as_ref().map(|it| format!(" {DIM}{it}{DIM:#}"));
        line(text, &format!("{}{}", shortened(&failure.message), place.unwrap_or_default()));
    }
    evidence(text, test, detail);
    tests_alike(text, findings, test);
    if let Some(quarantined) = &test.quarantine {
        line(text, &words::quarantined(quarantined));
    }
    text.push('\n');
}

/// Those that were not tried, because they fail like this one.
fn tests_alike(text: &mut String, findings: &Findings, test: &TestFinding) {
    let alike: Vec<String> = findings
        .tests
        .iter()
        .filter(|other| stands_behind(other) == Some(test.id.as_str()))
        .map(|other| other.id.shown().to_string())
        .collect();
    if alike.is_empty() {
        return;
    }
    let verb = if alike.len() == 1 { "fails" } else { "fail" };
    line(text, &format!("{} {verb} like this one:", tests(alike.len())));
    for other in alike.iter().take(NAMED_ALIKE) {
        line(text, &format!("  {other}"));
    }
    if alike.len() > NAMED_ALIKE {
        line(text, &format!("  and {} more", alike.len() - NAMED_ALIKE));
    }
}

fn group(text: &mut String, findings: &Findings, group: &Group, detail: Detail) {
    let _ = writeln!(text, "{CHANCE}FLAKY     {CHANCE:#}{STRONG}{}{STRONG:#}", words::group(group));
    let members: Vec<&TestFinding> =
        findings.tests.iter().filter(|test| group.tests.contains(&test.id)).collect();
    for test in &members {
        line(text, &test.id.shown());
    }
    if let Some(first) = members.first() {
        evidence(text, first, detail);
    }
    text.push('\n');
}

/// Why, what to type next.
fn evidence(text: &mut String, test: &TestFinding, detail: Detail) {
    for evidence in &test.evidence {
        line(text, &format!("{DIM}·{DIM:#} {}", said(evidence, detail)));
    }
    if test.kind == Some(Kind::StateDependent) {
        let victim = words::command(&[test.id.to_string()]);
        let next = format!("`flakeproof hunt --victim {victim}` finds the test that pollutes it");
        line(text, &format!("next: {next}"));
    }
    if let Some(command) = &test.reproduce {
        line(text, &format!("reproduce: {STRONG}{command}{STRONG:#}"));
    }
}

/// A fact, with or without what it rules out.
fn said(evidence: &Evidence, detail: Detail) -> String {
    match (evidence, detail) {
        (Evidence::FailedFresh { attempts: 1, .. }, Detail::Short) => {
            "never passed in 1 try, in a fresh environment".to_owned()
        }
        (Evidence::FailedFresh { attempts: tries @ 2.., .. }, Detail::Short) => {
            format!("never passed in {tries} tries, each in a fresh environment")
        }
        _ => words::evidence(evidence),
    }
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "          {words}");
}

/// The verdict in capitals, short enough for a column.
fn heading(verdict: Verdict) -> String {
    match verdict {
        Verdict::NewlyFlaky => "NEW FLAKY".to_owned(),
        Verdict::Flaky | Verdict::Real | Verdict::Unrelated | Verdict::Unknown => {
            verdict.word().to_uppercase()
        }
    }
}

fn style_of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Flaky => CHANCE,
        Verdict::Real => BAD,
        Verdict::NewlyFlaky | Verdict::Unrelated | Verdict::Unknown => OPEN,
    }
}

/// The numbers, and what they come to.
fn closing(text: &mut String, findings: &Findings) {
    let seconds = findings.run.duration.as_secs_f64();
    let _ = writeln!(
        text,
        "{} in {seconds:.1} s {DIM}({}, seed {}){DIM:#}",
        counts(&findings.suite),
        findings.run.runner,
        findings.run.seed
    );
    if findings.suite.failures() == 0 {
        let style = if findings.exit.number() == 0 { GOOD } else { BAD };
        let words = if findings.exit.number() == 0 { "all clear" } else { "not all tests ran" };
        let _ = writeln!(text, "{style}{words}{style:#}");
        return;
    }
    let verdicts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| findings.count(*verdict) > 0)
        .map(|verdict| {
            let style = style_of(verdict);
            format!("{style}{} {verdict}{style:#}", findings.count(verdict))
        })
        .collect();
    let outages = findings.groups.iter().filter(|group| group.cause == GroupCause::Outage).count();
    let outages = match outages {
        0 => String::new(),
        1 => " (one outage among them)".to_owned(),
        count => format!(" ({count} outages among them)"),
    };
    let excused = match findings.tests.iter().filter(|test| test.is_excused()).count() {
        0 => String::new(),
        count => format!("; {count} in quarantine, not held against the build"),
    };
    let _ = writeln!(text, "{}{outages}{excused}", verdicts.join(", "));
}

fn counts(suite: &SuiteCounts) -> String {
    let number = |outcome| match outcome {
        Outcome::Passed => suite.passed,
        Outcome::Failed => suite.failed,
        Outcome::Errored => suite.errored,
        Outcome::Skipped => suite.skipped,
        Outcome::Crashed => suite.crashed,
        Outcome::TimedOut => suite.timed_out,
    };
    let parts: Vec<String> = Outcome::ALL
        .into_iter()
        .filter(|outcome| number(*outcome) > 0)
        .map(|outcome| format!("{} {outcome}", number(outcome)))
        .collect();
    let not_run = suite.tests - suite.run.min(suite.tests);
    let rest = if not_run > 0 { format!(", {not_run} not run") } else { String::new() };
    let tests = if suite.tests == 1 { "1 test" } else { &format!("{} tests", suite.tests) };
    format!("{tests}: {}{rest}", parts.join(", "))
}

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

/// How far a run is.
pub(crate) struct RunProgress {
    line: ProgressLine,
    failed: usize,
    rerun: usize,
}

impl RunProgress {
    /// Show that tests are being collected.
    pub(crate) fn start(waiting: Waiting) -> Self {
        Self { line: ProgressLine::start(waiting), failed: 0, rerun: 0 }
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::Stage(stage, count) => self.enter(*stage, *count),
            Event::Base(count) => {
                let what = format!("running {} on the code before the change", tests(*count));
                self.line.begin(&what, 0);
            }
            Event::Attempt(attempt) => {
                let is_first = attempt.stage == Stage::First;
                let has_failed = attempt.execution.outcome.is_failure();
                self.failed += usize::from(is_first && has_failed);
                self.rerun += usize::from(!is_first);
                self.line.step(usize::from(is_first), self.counts());
            }
        }
    }

    fn enter(&mut self, stage: Stage, count: usize) {
        let tests = tests(count);
        // How often a failing test is rerun depends on what happens: there is no share then.
        let (what, planned) = match stage {
            Stage::First => (format!("running {tests}"), count),
            Stage::Immediate => (format!("rerunning {tests}"), 0),
            Stage::Postponed => {
                (format!("rerunning {tests} at the end, in the same environment"), 0)
            }
            Stage::Fresh => (format!("rerunning {tests} in fresh environments"), 0),
            Stage::Order => (format!("running the suite's order again for {tests}"), 0),
        };
        self.line.begin(&what, planned);
        if stage == Stage::First {
            self.line.has_pace();
        }
    }

    fn counts(&self) -> String {
        match (self.failed, self.rerun) {
            (0, _) => String::new(),
            (failed, 0) => format!("{failed} failed"),
            (failed, 1) => format!("{failed} failed, 1 rerun"),
            (failed, rerun) => format!("{failed} failed, {rerun} reruns"),
        }
    }

    /// Clear it.
    pub(crate) fn end(&mut self) {
        self.line.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failures_rule_out_is_said_on_request() {
        let of = |attempts, detail| {
            said(&Evidence::FailedFresh { attempts, pass_rate_not_ruled_out: 0.35 }, detail)
        };
        let short = of(7, Detail::Short);
        assert_eq!(short, "never passed in 7 tries, each in a fresh environment");
        assert!(of(7, Detail::Full).contains("more than 35 % of the time"));
        assert_eq!(of(0, Detail::Short), "was not run in a fresh environment");
    }
}
