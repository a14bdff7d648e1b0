//! How far the run is, on stderr.

use std::time::Duration;

use flakeproof_core::Stage;
use flakeproof_detect::triage::Event;
use indicatif::{ProgressBar, ProgressStyle};

use super::bar;

/// A bar on a terminal; one line per stage elsewhere.
pub(crate) struct Progress {
    bar: ProgressBar,
    is_live: bool,
    failed: usize,
    rerun: usize,
}

const FIRST_RUN: &str = "{prefix} {wide_bar} {pos}/{len} {elapsed}, about {eta} left {msg}";
/// How often a failing test is rerun depends on what happens: there is no estimate then.
const RERUNS: &str = "{prefix} {spinner} {elapsed} {wide_msg}";

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

impl Progress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        let (bar, is_live) = bar::while_collecting();
        Self { bar, is_live, failed: 0, rerun: 0 }
    }

    /// Take in what happened.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::Stage(stage, count) => self.enter(*stage, *count),
            Event::Base(count) => {
                let what = format!("running {} on the code before the change", tests(*count));
                self.begin(&what, RERUNS, *count);
            }
            Event::Attempt(attempt) => {
                let outcome = attempt.execution.outcome;
                match attempt.stage {
                    Stage::First => {
                        self.failed += usize::from(outcome.is_failure());
                        self.bar.inc(1);
                    }
                    Stage::Immediate | Stage::Postponed | Stage::Fresh | Stage::Order => {
                        self.rerun += 1;
                    }
                }
                self.bar.set_message(self.counts());
            }
        }
    }

    fn enter(&mut self, stage: Stage, count: usize) {
        let tests = tests(count);
        let (what, template) = match stage {
            Stage::First => (format!("running {tests}"), FIRST_RUN),
            Stage::Immediate => (format!("rerunning {tests}"), RERUNS),
            Stage::Postponed => {
                (format!("rerunning {tests} at the end, in the same environment"), RERUNS)
            }
            Stage::Fresh => (format!("rerunning {tests} in fresh environments"), RERUNS),
            Stage::Order => (format!("running the suite's order again for {tests}"), RERUNS),
        };
        self.begin(&what, template, count);
    }

    fn begin(&mut self, what: &str, template: &str, count: usize) {
        if !self.is_live {
            let _ = std::io::Write::write_all(
                &mut std::io::stderr().lock(),
                format!("{what}\n").as_bytes(),
            );
            return;
        }
        self.bar.disable_steady_tick();
        self.bar.reset();
        self.bar.set_length(count as u64);
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_prefix(what.to_owned());
        self.bar.set_message(self.counts());
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    fn counts(&self) -> String {
        match (self.failed, self.rerun) {
            (0, _) => String::new(),
            (failed, 0) => format!("{failed} failed"),
            (failed, 1) => format!("{failed} failed, 1 rerun"),
            (failed, rerun) => format!("{failed} failed, {rerun} reruns"),
        }
    }

    /// Clear the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
