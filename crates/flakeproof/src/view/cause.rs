//! What makes a test fail, as a person reads it: how far the experiment is, on stderr, and what it came
//! to.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use flakeproof_core::statistics::failure_rate;
use flakeproof_core::{Cause, CauseAnswer, CauseFindings, Tally, TriedLever};
use flakeproof_detect::cause::{CauseEvent, Question};
use flakeproof_report::words;
use indicatif::{ProgressBar, ProgressStyle};

use super::known::typeable;
use super::terminal::{self, BAD, CHANCE, DIM, Detail, GOOD, OPEN, STRONG};

/// Lines of a failure's text that are shown, its last ones.
const LINES: usize = 12;

/// Print the answer: to stdout, or to stderr where stdout carries data.
pub(crate) fn cause(findings: &CauseFindings, is_stdout_taken: bool) {
    let text = rendered(findings, Detail::decided());
    // A reader that went away has all it wanted.
    let _ = if is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

fn rendered(findings: &CauseFindings, detail: Detail) -> String {
    let cause = &findings.cause;
    let mut text = format!("\n{STRONG}{}{STRONG:#}\n", cause.test.shown());
    answer(&mut text, cause);
    if let Some(failure) = cause.failure.as_ref().filter(|_| cause.answer.is_cause()) {
        let lines: Vec<&str> = failure.text.trim_end().lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let _ = writeln!(text, "    {DIM}{line}{DIM:#}");
        }
    }
    table(&mut text, cause, detail);
    for not_tried in &cause.not_tried {
        let (name, why) = (not_tried.name, &not_tried.why);
        let _ = writeln!(text, "  {DIM}not tried: {name}, because {why}{DIM:#}");
    }
    if let Some(command) = &cause.command {
        let command = typeable(command, &cause.test);
        let _ = writeln!(text, "make it fail: {STRONG}{command}{STRONG:#}");
    }
    for notice in &findings.notices {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}\n      {}", notice.what, notice.next);
    }
    let executions = words::grouped(findings.executions);
    let time = words::lasted(findings.run.duration.as_secs_f64());
    let (runner, seed) = (&findings.run.runner, findings.run.seed);
    let _ = writeln!(text, "{executions} executions in {time} {DIM}({runner}, seed {seed}){DIM:#}");
    text
}

/// What makes a test fail, as `explain` says it.
pub(crate) fn known_cause(cause: &Cause, started: &str) {
    let mut text = String::new();
    answer(&mut text, cause);
    if let Some(command) = &cause.command {
        let command = typeable(command, &cause.test);
        let _ = writeln!(text, "make it fail: {STRONG}{command}{STRONG:#}");
    }
    let day = started.split('T').next().unwrap_or_default();
    let _ = writeln!(
        text,
        "{DIM}found by `flakeproof cause` on {day}; below, what its code alone lets guess{DIM:#}\n"
    );
    let _ = terminal::out(&text);
}

fn answer(text: &mut String, cause: &Cause) {
    let (style, word) = match (cause.answer, cause.lever()) {
        (CauseAnswer::CausedBy | CauseAnswer::RaisedBy, Some(lever)) => {
            (CHANCE, format!("{} {}", cause.answer, lever.name))
        }
        (CauseAnswer::StabilisedBy, Some(lever)) => (GOOD, format!("stabilised by {}", lever.name)),
        _ if cause.always_fails() => (BAD, "always fails".to_owned()),
        (CauseAnswer::NotReproduced, _) => (OPEN, "not reproduced".to_owned()),
        _ => (OPEN, "no cause found".to_owned()),
    };
    let _ = writeln!(text, "{style}{word}{style:#}: {}", words::cause(cause));
}

/// The levers with their rates: those that show something, and with more detail all of them.
fn table(text: &mut String, cause: &Cause, detail: Detail) {
    // Where a test fails by itself, it fails under most levers, too.
    let shows = |it: &&TriedLever| {
        let fails_only_with_it = it.with.failures > 0 && cause.plain.failures == 0;
        it.answer.is_some() || it.remark.is_some() || fails_only_with_it
    };
    let shown: Vec<&TriedLever> =
        cause.levers.iter().filter(|it| detail == Detail::Full || shows(it)).collect();
    let width = shown.iter().map(|it| label(it).chars().count()).max().unwrap_or_default();
    for lever in &shown {
        let label = label(lever);
        let pad = " ".repeat(width - label.chars().count());
        let proven = lever.answer.map(|it| format!("  {STRONG}{it}{STRONG:#}")).unwrap_or_default();
        let beside =
            lever.beside.as_ref().map(|it| format!(" (with {it} instead)")).unwrap_or_default();
        let remark =
            lever.remark.as_ref().map(|it| format!("  {DIM}{it}{DIM:#}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {label}{pad}  fails {}, without {}{beside}{proven}{remark}",
            rate(lever.with),
            rate(lever.plain),
        );
    }
    let is_silent = |it: &&TriedLever| !shown.iter().any(|other| other.name == it.name);
    let mut names: Vec<&str> =
        cause.levers.iter().filter(is_silent).map(|it| it.name.word()).collect();
    names.dedup();
    if !names.is_empty() {
        let _ = writeln!(text, "  {DIM}nothing seen under: {}{DIM:#}", names.join(", "));
    }
}

fn label(lever: &TriedLever) -> String {
    format!("{}: {}", lever.name, lever.value)
}

fn rate(tally: Tally) -> String {
    let interval = failure_rate(tally);
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    format!(
        "{} of {} ({}–{} %)",
        tally.failures,
        tally.runs,
        percent(interval.low),
        percent(interval.high)
    )
}

/// How far an experiment is.
pub(crate) struct CauseProgressBar {
    bar: ProgressBar,
    runs: u64,
}

impl CauseProgressBar {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        Self { bar: terminal::bar_while_collecting().0, runs: 0 }
    }

    /// Say what is about to happen.
    pub(crate) fn plan(&mut self, question: &Question) {
        let settings: usize = question.tries.iter().map(|it| it.settings.len()).sum();
        let levers = question.tries.len();
        let budget = question.budget.map_or_else(
            || "no limit".to_owned(),
            |budget| format!("at most {}", words::lasted(budget.as_secs_f64())),
        );
        self.line(&format!(
            "{STRONG}{}{STRONG:#} under {settings} values of {levers} levers, {budget}",
            question.test.shown()
        ));
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {pos} runs, {elapsed} · {wide_msg}")
        {
            self.bar.set_style(style);
        }
        self.bar.reset();
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &CauseEvent) {
        match event {
            CauseEvent::Ran { plain, open: (open, all) } => {
                self.runs += 1;
                self.bar.set_position(self.runs);
                let plain = words::failed(*plain);
                self.bar.set_message(format!("plain {plain} · {open} of {all} values still open"));
            }
            CauseEvent::Looking(lever, value) => {
                self.bar.set_message(format!("a closer look at {lever}: {value}"));
            }
            CauseEvent::Proving(lever, value) => {
                self.line(&format!(
                    "{DIM}{lever}: {value} may be it; in turns with its opposite{DIM:#}"
                ));
            }
            CauseEvent::Learned(_) => {}
        }
    }

    /// A line that stays, above the bar.
    fn line(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        });
    }

    /// Clear the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for CauseProgressBar {
    fn drop(&mut self) {
        self.end();
    }
}
