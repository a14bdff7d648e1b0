//! How far a long calculation is, on stderr.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on a terminal, nothing elsewhere.
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
