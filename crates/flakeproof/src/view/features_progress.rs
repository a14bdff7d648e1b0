//! How far a measurement is, on stderr.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::bar;

/// A bar on a terminal; one line per run elsewhere.
pub(crate) struct FeaturesProgress {
    bar: ProgressBar,
    is_live: bool,
}

impl FeaturesProgress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        let (bar, is_live) = bar::while_collecting();
        Self { bar, is_live }
    }

    /// A run of this many tests begins.
    pub(crate) fn enter(&mut self, what: &str, tests: usize) {
        let tests_text = if tests == 1 { "1 test".to_owned() } else { format!("{tests} tests") };
        let what = format!("{what} {tests_text}");
        if !self.is_live {
            let _ = writeln!(std::io::stderr().lock(), "{what}");
            return;
        }
        self.bar.reset();
        self.bar.set_length(tests as u64);
        let template = "{prefix} {wide_bar} {pos}/{len} {elapsed}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_prefix(what);
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    /// One test is done.
    pub(crate) fn step(&mut self) {
        self.bar.inc(1);
    }

    /// Clear the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for FeaturesProgress {
    fn drop(&mut self) {
        self.end();
    }
}
