//! How far a hunt is, on stderr, and what it has found so far.

use std::io::Write;
use std::time::Duration;

use flakeproof_core::Notice;
use flakeproof_core::foreign_text::on_one_line;
use flakeproof_detect::hunt::{HuntEvent, HuntStage};
use flakeproof_report::words;
use indicatif::{ProgressBar, ProgressStyle};

use super::bar;
use super::styles::{CHANCE, DIM, OPEN, STRONG};

/// A bar on a terminal with findings above it; lines elsewhere.
pub(crate) struct HuntProgress {
    bar: ProgressBar,
    is_live: bool,
    executions: u64,
    flaky: usize,
}

impl HuntProgress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        let (bar, is_live) = bar::while_collecting();
        Self { bar, is_live, executions: 0, flaky: 0 }
    }

    /// Say something that the reader should know before the hunt begins.
    pub(crate) fn note(&self, notice: &Notice) {
        self.line(&format!("{OPEN}note{OPEN:#}: {}\n      {}", notice.what, notice.next));
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &HuntEvent) {
        match event {
            HuntEvent::Stage(stage, trials) => self.enter(*stage, *trials),
            HuntEvent::Trial { executions, is_recalled } => {
                self.executions += u64::from(*executions);
                self.bar.inc(1);
                if *is_recalled {
                    // What an earlier session did says nothing about the speed of this one.
                    self.bar.reset_eta();
                }
            }
            HuntEvent::Flaky(test, kind) => {
                self.flaky += 1;
                let word = kind.word();
                let test = test.shown();
                self.line(&format!("{CHANCE}{word:<8}{CHANCE:#}{STRONG}{test}{STRONG:#}"));
            }
            HuntEvent::Influence(tests, test) => {
                let by = words::together(tests);
                let (test, by) = (test.shown(), on_one_line(&by));
                self.line(&format!("        {DIM}{test} depends on{DIM:#} {by}"));
            }
        }
        self.bar.set_message(self.counts());
    }

    fn enter(&mut self, stage: HuntStage, trials: usize) {
        let what = stage.words();
        if !self.is_live {
            let planned = match trials {
                0 => String::new(),
                1 => " (1 trial)".to_owned(),
                _ => format!(" ({trials} trials)"),
            };
            self.line(&format!("{what}{planned}"));
            return;
        }
        // The time that passed is that of the whole hunt, the estimate that of the stage.
        self.bar.set_position(0);
        self.bar.reset_eta();
        let template = match trials {
            0 => "{prefix} {spinner} {pos} trials, {elapsed} {wide_msg}",
            _ => "{prefix} {wide_bar} {pos}/{len} {elapsed}, about {eta} left in this step {msg}",
        };
        self.bar.set_length(trials as u64);
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_prefix(what);
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    fn counts(&self) -> String {
        let flaky = match self.flaky {
            0 => "nothing flaky so far".to_owned(),
            flaky => format!("{flaky} flaky"),
        };
        format!("({} executions, {flaky})", words::grouped(self.executions))
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

impl Drop for HuntProgress {
    fn drop(&mut self) {
        self.end();
    }
}
