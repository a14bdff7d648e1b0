//! How far reports are read, on stderr.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

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
