//! What every report of an [`Overview`] needs to know about it: each test with all that is known
//! about it, from whatever source, and the whole in a handful of numbers.
//!
//! Standings and rates are those of [`flakeproof_core::Scores`], which count runs and hunts; nothing is
//! reckoned anew here. Where neither has seen a test, nothing is claimed.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{
    FlakyKind, Kind, Location, Mark, Overview, PastFailure, Standing, TestDetail, TestId, TestScore,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::words;

/// One test with all that is known about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestView<'a> {
    /// The test.
    pub(crate) id: &'a TestId,
    /// What the history says; `None` if no run has seen it.
    pub(crate) score: Option<&'a TestScore>,
    /// How it fared in every run.
    pub(crate) marks: &'a [Mark],
    /// What else is known.
    pub(crate) detail: Option<&'a TestDetail>,
    /// Who owns it.
    pub(crate) owners: &'a [String],
    /// What it was called before.
    pub(crate) formerly: &'a [TestId],
}

impl<'a> TestView<'a> {
    /// What the history says, if it ran to an end in any run; skips and outages say nothing.
    pub(crate) fn telling(&self) -> Option<&'a TestScore> {
        self.score.filter(|score| score.all.runs > 0)
    }

    /// What the history and the latest hunt come to; `None` if it ran to an end in neither.
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.telling().map(|score| score.standing)
    }

    /// Whether it is flaky.
    fn is_flaky(&self) -> bool {
        self.standing() == Some(Standing::Flaky)
    }

    /// Whether it appeared lately.
    pub(crate) fn is_new(&self) -> bool {
        self.score.is_some_and(|score| score.is_new)
    }

    /// How it is flaky as a stable word: by a hunt, else by the latest run that could tell.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        let by_run = || {
            let findings = self.detail.map_or(&[][..], |detail| &detail.findings);
            findings.iter().find_map(|finding| finding.kind).map(Kind::word)
        };
        self.hunted_kind().map(FlakyKind::word).or_else(by_run)
    }

    /// How often it fails, in a few words.
    pub(crate) fn rate_in_words(&self) -> String {
        self.telling().map_or_else(|| "rate not measured".to_owned(), words::rate)
    }

    /// How it failed last; `None` if nothing was kept of it.
    pub(crate) fn last_failure(&self) -> Option<&'a PastFailure> {
        self.detail?.failures.first()
    }

    /// What of CI it burnt.
    pub(crate) fn cost(&self) -> Duration {
        self.score.map_or(Duration::ZERO, |score| score.cost)
    }

    /// Where it stands in the project, if anybody looked or its id says so.
    pub(crate) fn location(&self) -> Option<Location> {
        let hunted = || self.detail?.hunted.as_ref()?.location.clone();
        let predicted = || {
            let prediction = self.detail?.prediction.as_ref()?;
            Some(Location { file: prediction.file.clone(), line: Some(prediction.line) })
        };
        hunted().or_else(predicted).or_else(|| self.named_location())
    }

    /// The file that an id such as `tests/test_a.py::test_x` starts with.
    fn named_location(&self) -> Option<Location> {
        const ENDINGS: [&str; 9] =
            [".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".rb", ".php"];
        let (file, _) = self.id.as_str().split_once("::")?;
        let is_file = ENDINGS.iter().any(|ending| file.ends_with(ending));
        is_file.then(|| Location { file: file.to_owned(), line: None })
    }

    /// A command that shows its failure again.
    pub(crate) fn reproduce(&self) -> Option<&'a str> {
        let detail = self.detail?;
        let hunted = || detail.hunted.as_ref()?.reproduction.as_ref();
        let command = || hunted().map(|reproduction| reproduction.command.as_str());
        detail.reproduce.as_deref().or_else(command)
    }

    fn hunted_kind(&self) -> Option<FlakyKind> {
        self.detail?.hunted.as_ref()?.kind
    }

    /// Whether there is anything to say about a test that no run has seen.
    fn is_worth_a_row(&self) -> bool {
        let detail = self.detail;
        let is_suspect = detail.and_then(|it| it.prediction.as_ref()).is_some_and(|it| it.flaky);
        let is_held = detail.is_some_and(|it| it.quarantine.is_some());
        let is_caused = detail.is_some_and(|it| it.cause.is_some());
        self.score.is_some() || self.hunted_kind().is_some() || is_suspect || is_held || is_caused
    }
}

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
    /// Those that were broken or flaky, and pass since.
    pub(crate) mended: usize,
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
    /// Groups of flaky tests that fail together beyond chance.
    pub(crate) clusters: usize,
    /// Time of CI burnt by flaky failures.
    pub(crate) cost_seconds: f64,
    /// When the first run started; `null` if there is none.
    pub(crate) from: Option<String>,
    /// When the latest run started.
    pub(crate) until: Option<String>,
}

impl Totals {
    /// Count an overview's tests.
    pub(crate) fn new(overview: &Overview, views: &[TestView<'_>]) -> Self {
        let count = |is: &dyn Fn(&TestView<'_>) -> bool| views.iter().filter(|it| is(it)).count();
        let standing = |standing| count(&|view| view.standing() == Some(standing));
        let cost: Duration = views.iter().map(TestView::cost).sum();
        let runs = &overview.timeline.runs;
        Self {
            tests: views.len(),
            flaky: standing(Standing::Flaky),
            broken: standing(Standing::Broken),
            unexplained: standing(Standing::Unexplained),
            mended: standing(Standing::Mended),
            steady: standing(Standing::Steady),
            new: count(&|view| view.is_new()),
            new_flaky: count(&|view| view.is_new() && view.is_flaky()),
            quarantined: count(&|view| view.detail.is_some_and(|it| it.quarantine.is_some())),
            runs: runs.len(),
            executions: overview.scores.executions,
            outages: overview.scores.outages.len(),
            clusters: overview.clusters.len(),
            cost_seconds: crate::json::seconds(cost),
            from: runs.first().map(|run| run.started.clone()),
            until: runs.last().map(|run| run.started.clone()),
        }
    }

    /// Time of CI burnt by flaky failures.
    pub(crate) fn cost(&self) -> Duration {
        Duration::try_from_secs_f64(self.cost_seconds).unwrap_or_default()
    }
}

/// Every test that runs have seen, or of which something else is to be said, by id.
pub(crate) fn views(overview: &Overview) -> Vec<TestView<'_>> {
    let mut by_id: BTreeMap<&TestId, TestView<'_>> = BTreeMap::new();
    for score in &overview.scores.tests {
        by_id.entry(&score.test).or_insert_with(|| nothing(&score.test)).score = Some(score);
    }
    for (id, detail) in &overview.details {
        by_id.entry(id).or_insert_with(|| nothing(id)).detail = Some(detail);
    }
    for test in &overview.timeline.tests {
        if let Some(view) = by_id.get_mut(&test.test) {
            view.marks = &test.marks;
        }
    }
    for (id, view) in &mut by_id {
        view.owners = overview.owners.get(*id).map_or(&[], Vec::as_slice);
        view.formerly = overview.formerly.get(*id).map_or(&[], Vec::as_slice);
    }
    by_id.into_values().filter(TestView::is_worth_a_row).collect()
}

/// One test, whether or not it has a row; `None` if nothing at all is known about it.
pub(crate) fn find<'a>(overview: &'a Overview, id: &TestId) -> Option<TestView<'a>> {
    let score = overview.scores.tests.iter().find(|score| score.test == *id);
    let detail = overview.details.get_key_value(id);
    let id = score.map(|score| &score.test).or_else(|| detail.map(|(id, _)| id))?;
    let marks = overview.timeline.tests.iter().find(|test| test.test == *id);
    Some(TestView {
        id,
        score,
        marks: marks.map_or(&[], |test| &test.marks),
        detail: detail.map(|(_, detail)| detail),
        owners: overview.owners.get(id).map_or(&[], Vec::as_slice),
        formerly: overview.formerly.get(id).map_or(&[], Vec::as_slice),
    })
}

/// The flaky tests, those that cost most first; of those that cost the same, those that fail most.
pub(crate) fn worst<'v, 'a>(views: &'v [TestView<'a>]) -> Vec<&'v TestView<'a>> {
    let mut flaky: Vec<_> = views.iter().filter(|view| view.is_flaky()).collect();
    let failures = |view: &TestView<'_>| view.score.map_or(0, |score| score.proven.failures);
    flaky.sort_by(|one, other| {
        let dearer = other.cost().cmp(&one.cost());
        dearer.then(failures(other).cmp(&failures(one))).then(one.id.cmp(other.id))
    });
    flaky
}

fn nothing(id: &TestId) -> TestView<'_> {
    TestView { id, score: None, marks: &[], detail: None, owners: &[], formerly: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn standing(overview: &Overview, id: &str) -> Option<Standing> {
        find(overview, &id.into()).and_then(|view| view.standing())
    }

    #[test]
    fn a_test_that_was_only_skipped_is_not_called_steady() {
        assert_eq!(standing(&sample::overview(), "tests/test_api.py::test_windows_only"), None);
    }

    #[test]
    fn what_a_model_alone_suspects_has_a_row_but_no_standing() {
        let overview = sample::overview();
        let views = views(&overview);
        let suspect = views.iter().find(|view| view.id.as_str() == sample::ONLY_PREDICTED);
        assert_eq!(suspect.map(TestView::standing), Some(None));
        let mut overview = sample::overview();
        let detail = overview.details.get_mut(sample::ONLY_PREDICTED).unwrap();
        detail.prediction.as_mut().unwrap().flaky = false;
        assert_eq!(super::views(&overview).len(), views.len() - 1);
    }

    #[test]
    fn the_worst_cost_most() {
        let overview = sample::overview();
        let views = views(&overview);
        let costs: Vec<Duration> = worst(&views).iter().map(|view| view.cost()).collect();
        assert!(costs.is_sorted_by(|one, other| one >= other) && costs.len() == 4);
    }

    #[test]
    fn a_location_is_read_from_an_id_that_starts_with_a_file() {
        let overview = sample::overview();
        let location = |id: &str| find(&overview, &id.into()).and_then(|view| view.location());
        let file = location("tests/test_checkout.py::test_receipt").map(|it| it.to_string());
        assert_eq!(file.as_deref(), Some("tests/test_checkout.py"));
        assert_eq!(location(sample::WORST).and_then(|it| it.line), Some(42));
    }
}
