//! How far a proof is, on stderr, and how long it will take.

use std::io::Write;
use std::time::{Duration, Instant};

use flakeproof_core::{FormerRate, Isolation, TestId};
use flakeproof_detect::verify::{Claim, VerifyEvent};
use flakeproof_report::words;
use indicatif::{ProgressBar, ProgressStyle};

use super::bar;
use super::fix;
use super::styles::DIM;

/// A bar on a terminal, with what is planned above it; lines elsewhere.
pub(crate) struct VerifyProgress {
    bar: ProgressBar,
    needed: u32,
    begin: Instant,
}

impl VerifyProgress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        Self { bar: bar::while_collecting().0, needed: 0, begin: Instant::now() }
    }

    /// Say what is about to happen, and why so often.
    pub(crate) fn plan(&mut self, test: &TestId, claim: &Claim, was: FormerRate, confidence: f64) {
        self.line(fix::planned(test, claim, was, confidence).trim_end());
        (self.needed, self.begin) = (claim.runs.needed(), Instant::now());
        if claim.isolation == Isolation::Fork {
            self.line(&format!("{DIM}and then in new processes{DIM:#}"));
        }
        let template = "{wide_bar} {pos}/{len} clean runs, {elapsed}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_length(u64::from(self.needed));
        self.bar.reset();
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: VerifyEvent) {
        match event {
            VerifyEvent::Ran(tally) => {
                if tally.runs == 1 && tally.failures == 0 {
                    let each = self.begin.elapsed().as_secs_f64();
                    let all = words::lasted(each * f64::from(self.needed));
                    self.line(&format!("{DIM}about {all}: {each:.2} s for each run{DIM:#}"));
                }
                self.bar.set_position(u64::from(tally.runs));
            }
            VerifyEvent::Confirming(processes) => {
                let noun = if processes == 1 { "process" } else { "processes" };
                self.line(&format!("{DIM}confirmation in {processes} new {noun}{DIM:#}"));
            }
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

impl Drop for VerifyProgress {
    fn drop(&mut self) {
        self.end();
    }
}
