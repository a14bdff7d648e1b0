//! Where a report was written, and the gist of it.

use std::io::Write as _;
use std::path::Path;

use flakeproof_core::{Overview, Standing};

use super::predictions::count;
use super::styles::{DIM, STRONG};

/// Say that a report was written.
pub(crate) fn report_written(overview: &Overview, path: &Path) {
    let flaky = overview.scores.standing(Standing::Flaky).count();
    let broken = overview.scores.standing(Standing::Broken).count();
    let tests = count(overview.scores.tests.len(), "test");
    let runs = count(overview.timeline.runs.len(), "run");
    let mut err = anstream::stderr().lock();
    let _ = writeln!(
        err,
        "{STRONG}{}{STRONG:#} {DIM}{tests} in {runs}: {flaky} flaky, {broken} broken{DIM:#}",
        path.display()
    );
}
