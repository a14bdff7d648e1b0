//! The terminal itself: colours by meaning, text on its way out, bars for long work, and what any
//! command may have to say.
//!
//! Of text for people nothing that a test wrote moves the cursor, changes the direction of a line,
//! or is a command for a CI service that reads the log.

use std::cell::RefCell;
use std::io::{IsTerminal, Result, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Color, Effects, Style};
use flakeproof_core::TestId;
use flakeproof_core::foreign_text::{in_lines, on_one_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::problem::Problem;

/// How much is said about what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What happened.
    Short,
    /// Also what the numbers rule out, and with which confidence.
    Full,
}

/// Whether everything is said, for the whole program, as colour is.
static IS_FULL: AtomicBool = AtomicBool::new(false);

impl Detail {
    /// What the user asks for.
    pub(crate) fn asked_for(is_verbose: bool) -> Self {
        if is_verbose { Self::Full } else { Self::Short }
    }

    /// Decide for the whole program.
    pub(crate) fn apply(self) {
        IS_FULL.store(self == Self::Full, Ordering::Relaxed);
    }

    /// What was decided.
    pub(super) fn decided() -> Self {
        Self::asked_for(IS_FULL.load(Ordering::Relaxed))
    }
}

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}

/// Something failed for real.
pub(crate) const BAD: Style = colour(AnsiColor::Red).effects(Effects::BOLD);
/// Something failed by chance.
pub(crate) const CHANCE: Style = colour(AnsiColor::Yellow).effects(Effects::BOLD);
/// Something is not known.
pub(crate) const OPEN: Style = colour(AnsiColor::Magenta).effects(Effects::BOLD);
/// All is well.
pub(crate) const GOOD: Style = colour(AnsiColor::Green).effects(Effects::BOLD);
/// What a reader may skip.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
/// What a reader should find.
pub(crate) const STRONG: Style = Style::new().effects(Effects::BOLD);

/// Say what went wrong and what to do.
pub(crate) fn problem(problem: &Problem) {
    let mut err = anstream::stderr().lock();
    if !problem.details.trim().is_empty() {
        let _ = writeln!(err, "{}\n", in_lines(problem.details.trim_end()));
    }
    let is_error = problem.exit.number() != 0;
    let (style, word) = if is_error { (BAD, "error") } else { (STRONG, "note") };
    let _ = writeln!(err, "{style}{word}{style:#}: {}", in_lines(&problem.what));
    let _ = writeln!(err, "{STRONG}next{STRONG:#}:  {}", in_lines(&problem.next));
}

/// Say that the interrupt was heard, and which test was running.
pub(crate) fn interrupted(waiting: Option<&(TestId, Duration)>) {
    let mut err = anstream::stderr().lock();
    if let Some((test, time)) = waiting.filter(|(_, time)| time.as_secs() > 0) {
        let _ = write!(err, "\n{} had been running for {:.1} s", test.shown(), time.as_secs_f64());
    }
    let text = "interrupted: ending the tests and keeping what was found (again: stop at once)";
    let _ = writeln!(err, "\n{DIM}{text}{DIM:#}");
}

/// Say which processes of the tests are still there, although they were killed.
pub(crate) fn left_running(processes: &[String]) {
    let mut err = anstream::stderr().lock();
    let processes = processes.join(", ");
    let _ = writeln!(err, "{DIM}these processes could not be killed: {processes}{DIM:#}");
}

/// Show a command that somebody else wrote, and ask whether to run it. `None` where nobody can
/// be asked.
pub(crate) fn may_run(command: &str, whose: &str) -> Option<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    let mut err = anstream::stderr().lock();
    let command = on_one_line(command);
    let _ = writeln!(err, "{whose} runs this command here:\n\n  {STRONG}{command}{STRONG:#}\n");
    let _ = write!(err, "run it? [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    Some(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Pass on what another program printed.
pub(crate) fn verbatim(text: &str) {
    data(text.as_bytes());
}

/// Write data to stdout.
pub(crate) fn data(bytes: &[u8]) {
    if is_kept(&String::from_utf8_lossy(bytes)) {
        return;
    }
    let mut out = std::io::stdout().lock();
    // A reader that went away has all it wanted.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Print to stdout.
pub(crate) fn out(text: &str) -> Result<()> {
    if is_kept(&in_lines(text)) {
        return Ok(());
    }
    anstream::stdout().lock().write_all(in_lines(text).as_bytes())
}

/// Print to stderr.
pub(crate) fn err(text: &str) -> Result<()> {
    if is_kept(&in_lines(text)) {
        return Ok(());
    }
    anstream::stderr().lock().write_all(in_lines(text).as_bytes())
}

thread_local! {
    /// What this thread would print, while somebody wants it as text.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What `print` prints on this thread, as text without colours and in place of printing it: the same words,
/// for somebody who has no terminal.
#[cfg(feature = "mcp")]
pub(crate) fn as_text<T>(print: impl FnOnce() -> T) -> (T, String) {
    let before = KEPT.replace(Some(String::new()));
    let done = print();
    let text = KEPT.replace(before).unwrap_or_default();
    (done, anstream::adapter::strip_str(&text).to_string())
}

/// Whether somebody wants this as text; then it is kept.
fn is_kept(text: &str) -> bool {
    KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| kept.push_str(text)).is_some())
}

/// A bar that says that tests are being collected, and whether anybody sees it: elsewhere than on a
/// terminal it is hidden.
pub(crate) fn bar_while_collecting() -> (ProgressBar, bool) {
    let is_live = std::io::stderr().is_terminal();
    let bar = ProgressBar::new_spinner();
    if is_live {
        bar.set_message("collecting tests");
        bar.enable_steady_tick(Duration::from_millis(200));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    (bar, is_live)
}

/// How far a long calculation is: a bar on a terminal, nothing elsewhere.
pub(crate) struct Steps(ProgressBar);

impl Steps {
    /// Begin this many steps.
    pub(crate) fn start(steps: usize, what: &'static str) -> Self {
        let bar = ProgressBar::new(steps as u64);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        if steps < 2 || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self(bar)
    }

    /// One step is done.
    pub(crate) fn step(&mut self) {
        self.0.inc(1);
    }

    /// All is done.
    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

#[cfg(all(test, feature = "mcp"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_as_text_is_not_printed_and_has_no_colours() {
        let (done, text) = as_text(|| {
            let _ = out(&format!("{BAD}red{BAD:#}\n"));
            data(b"data\n");
            7
        });
        assert_eq!((done, text.as_str()), (7, "red\ndata\n"));
        assert!(!is_kept("afterwards it is printed again"));
    }
}
