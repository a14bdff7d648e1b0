//! An overview in a handful of numbers.

use std::time::Duration;

use flakeproof_core::{Overview, Standing};
use schemars::JsonSchema;
use serde::Serialize;

use super::TestView;

/// An overview in a handful of numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Totals {
    /// Tests that something is known about.
    pub(crate) tests: usize,
    /// Those that passed and failed on the same code.
    pub(crate) flaky: usize,
    /// Those that fail in every run since some time.
    pub(crate) broken: usize,
    /// Those that failed, and nobody knows whether that was the code.
    pub(crate) unexplained: usize,
    /// Those that never failed, outages left out.
    pub(crate) steady: usize,
    /// Those that appeared lately.
    pub(crate) new: usize,
    /// Those that appeared lately and are flaky.
    pub(crate) new_flaky: usize,
    /// Those with an entry in the quarantine.
    pub(crate) quarantined: usize,
    /// Runs in the history.
    pub(crate) runs: usize,
    /// Executions in all runs, reruns left out.
    pub(crate) executions: u64,
    /// Runs in which many tests failed together.
    pub(crate) outages: usize,
    /// Time of CI burnt by flaky failures.
    pub(crate) cost_seconds: f64,
    /// When the first run started; `null` if there is none.
    pub(crate) from: Option<String>,
    /// When the latest run started.
    pub(crate) until: Option<String>,
}

impl Totals {
    /// Count an overview's tests.
    pub(crate) fn of(overview: &Overview, views: &[TestView<'_>]) -> Self {
        let count = |is: &dyn Fn(&TestView<'_>) -> bool| views.iter().filter(|it| is(it)).count();
        let standing = |standing| count(&|view| view.standing() == Some(standing));
        let cost: Duration = views.iter().map(TestView::cost).sum();
        let runs = &overview.timeline.runs;
        Self {
            tests: views.len(),
            flaky: standing(Standing::Flaky),
            broken: standing(Standing::Broken),
            unexplained: standing(Standing::Unexplained),
            steady: standing(Standing::Steady),
            new: count(&|view| view.is_new()),
            new_flaky: count(&|view| view.is_new() && view.is_flaky()),
            quarantined: count(&|view| view.detail.is_some_and(|it| it.quarantine.is_some())),
            runs: runs.len(),
            executions: overview.scores.executions,
            outages: overview.scores.outages.len(),
            cost_seconds: crate::json::seconds(cost),
            from: runs.first().map(|run| run.started.clone()),
            until: runs.last().map(|run| run.started.clone()),
        }
    }
}
