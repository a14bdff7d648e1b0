//! The data inside the page: JSON that can stand in an HTML element.
//!
//! The tests are written column by column: a column says its name once and not ten thousand times,
//! and sentences that many tests share stand in the page once. A test's runs are a short text, one
//! letter for each run from the first that counts, with the number of equal neighbours in front of
//! it: `97.G2.` is 97 passes, a failure, two passes. Most tests only ever pass, and then hundreds of
//! runs are four characters.
//!
//! What is known about a test besides its runs is there in the words that the page shows.

use std::collections::{BTreeMap, HashMap};

use flakeproof_core::{
    Cause, Cluster, HuntedTest, Overview, PastFinding, PastRun, Prediction, QuarantineEntry,
    Reason, SimilarTest, Standing, Tally, TestId, TestScore,
};
use serde::Serialize;

use super::track::Track;
use crate::failure_groups::FailureGroup;
use crate::json::seconds;
use crate::overview::TestView;
use crate::{Error, words};

/// Runs of a test that never failed on the page; more of the same tell nothing.
const STEADY_MARKS: usize = 100;

/// Runs of any other test on the page.
const OTHER_MARKS: usize = 1_000;

/// What a test can be, by the numbers that the page knows them by.
const STANDINGS: [Option<Standing>; 6] = [
    Some(Standing::Broken),
    Some(Standing::Flaky),
    Some(Standing::Unexplained),
    Some(Standing::Mended),
    Some(Standing::Steady),
    None,
];

/// All that the page's script reads.
#[derive(Serialize)]
struct PageData<'a> {
    project: &'a str,
    made: &'a str,
    /// What each standing means, in the order of their numbers.
    standings: [&'static str; 6],
    runs: RunColumns<'a>,
    /// Runs in which many tests failed together, as indices.
    outages: Vec<u32>,
    tests: TestColumns<'a>,
    /// How many tests fail alike, by the number of their group.
    groups: Vec<usize>,
    /// Tests that fail together: what is said about them, and the rows of the first of them.
    together: Vec<(String, Shown<usize>)>,
    /// By the test's row.
    details: BTreeMap<usize, Detail<'a>>,
}

/// The data as JSON without any character that HTML or JavaScript would read as its own.
pub(super) fn embedded(
    overview: &Overview,
    views: &[TestView<'_>],
    groups: &[FailureGroup<'_, '_>],
) -> Result<String, Error> {
    let detail = |(row, view)| Some((row, Detail::from_view(view)?));
    let data = PageData {
        project: &overview.project,
        made: &overview.made,
        standings: STANDINGS.map(words::standing),
        runs: RunColumns::new(&overview.timeline.runs),
        outages: overview.scores.outages.iter().map(|outage| outage.run).collect(),
        tests: TestColumns::new(views, overview, groups),
        together: together(overview, views),
        groups: groups.iter().map(|group| group.tests.len()).collect(),
        details: views.iter().enumerate().filter_map(detail).collect(),
    };
    Ok(harmless(&serde_json::to_string(&data)?))
}

/// Tests that fail together, by their rows.
fn together(overview: &Overview, views: &[TestView<'_>]) -> Vec<(String, Shown<usize>)> {
    if overview.clusters.is_empty() {
        return Vec::new();
    }
    let rows: HashMap<&TestId, usize> =
        views.iter().enumerate().map(|(row, view)| (view.id, row)).collect();
    let of_cluster = |cluster: &Cluster| {
        let known: Vec<usize> =
            cluster.tests.iter().filter_map(|test| rows.get(test).copied()).collect();
        (words::cluster(cluster), Shown::new(&known, |row| *row))
    };
    overview.clusters.iter().map(of_cluster).collect()
}

/// In JSON these characters only ever stand inside strings, where they can be written otherwise.
fn harmless(json: &str) -> String {
    let mut harmless = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                harmless.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => harmless.push(character),
        }
    }
    harmless
}

/// The tests, column by column.
#[derive(Default, Serialize)]
struct TestColumns<'a> {
    id: Vec<&'a TestId>,
    /// By their numbers in [`STANDINGS`].
    standing: Vec<usize>,
    new: Vec<u8>,
    kind: Vec<Option<&'static str>>,
    mean: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    flip: Vec<Option<f64>>,
    entropy: Vec<Option<f64>>,
    unexplained: Vec<u32>,
    outages: Vec<u32>,
    cost: Vec<f64>,
    builds: Vec<u32>,
    /// Runs, as indices.
    failed: Vec<Option<u32>>,
    first: Vec<Option<u32>>,
    last: Vec<Option<u32>>,
    /// All runs that saw it, however many of them `track` shows.
    seen: Vec<usize>,
    from: Vec<u32>,
    track: Vec<String>,
    /// The group of those that fail alike.
    group: Vec<Option<usize>>,
    /// Those that fail together with it, as an index into `together`.
    cluster: Vec<Option<usize>>,
    /// Words, as indices into `sentences`.
    words: Vec<usize>,
    interval: Vec<Option<usize>>,
    burnt: Vec<usize>,
    since: Vec<Option<usize>>,
    message: Vec<Option<usize>>,
    owners: Vec<Option<usize>>,
    formerly: Vec<Option<usize>>,
    quarantined: Vec<u8>,
    predicted: Vec<Option<f64>>,
    /// Each sentence once.
    sentences: Vec<String>,
}

impl<'a> TestColumns<'a> {
    /// The columns of these tests.
    fn new(views: &[TestView<'a>], overview: &Overview, groups: &[FailureGroup<'_, '_>]) -> Self {
        let mut columns = Self::default();
        let mut sentences = Sentences::default();
        let group_of = group_of(groups);
        let numbered = overview.clusters.iter().enumerate();
        let cluster_of: HashMap<&TestId, usize> = numbered
            .flat_map(|(number, cluster)| cluster.tests.iter().map(move |test| (test, number)))
            .collect();
        for view in views {
            columns.push_facts(view);
            columns.push_numbers(view.telling());
            columns.push_words(view, &mut sentences);
            columns.push_runs(view, &overview.timeline.runs);
            columns.group.push(group_of.get(view.id).copied());
            columns.cluster.push(cluster_of.get(view.id).copied());
        }
        columns.sentences = sentences.all;
        columns
    }

    fn push_words(&mut self, view: &TestView<'a>, sentences: &mut Sentences) {
        let score = view.telling();
        let sentence = view.score.map_or_else(|| words::standing(None).to_owned(), words::score);
        self.words.push(sentences.number(sentence));
        self.interval.push(score.map(|it| sentences.number(words::interval(it.rate))));
        self.burnt.push(sentences.number(words::burnt(view.cost())));
        self.since.push(score.and_then(words::since).map(|since| sentences.number(since)));
        let message = view.last_failure().map(|failure| words::excerpt(failure.message.trim()));
        self.message.push(message.map(|message| sentences.number(message)));
        let owners = (!view.owners.is_empty()).then(|| view.owners.join(" "));
        self.owners.push(owners.map(|owners| sentences.number(owners)));
        let former: Vec<&str> = view.formerly.iter().map(TestId::as_str).collect();
        let formerly = (!former.is_empty()).then(|| former.join(", "));
        self.formerly.push(formerly.map(|formerly| sentences.number(formerly)));
    }

    fn push_facts(&mut self, view: &TestView<'a>) {
        let prediction = view.detail.and_then(|detail| detail.prediction.as_ref());
        let is_held = view.detail.is_some_and(|detail| detail.quarantine.is_some());
        self.id.push(view.id);
        let standing = view.standing();
        self.standing.push(STANDINGS.iter().position(|it| *it == standing).unwrap_or_default());
        self.new.push(u8::from(view.is_new()));
        self.kind.push(view.kind());
        self.quarantined.push(u8::from(is_held));
        self.predicted.push(prediction.map(|prediction| short(prediction.probability)));
    }

    fn push_numbers(&mut self, score: Option<&TestScore>) {
        self.mean.push(score.map(|score| short(score.rate.mean)));
        self.low.push(score.map(|score| short(score.rate.low)));
        self.high.push(score.map(|score| short(score.rate.high)));
        self.flip.push(score.map(|score| short(score.flip_rate)));
        self.entropy.push(score.map(|score| short(score.entropy)));
        self.unexplained.push(score.map_or(0, |score| score.unexplained));
        self.outages.push(score.map_or(0, |score| score.outages));
        self.cost.push(score.map_or(0.0, |score| seconds(score.cost)));
        self.builds.push(score.map_or(0, |score| score.failed_builds));
    }

    fn push_runs(&mut self, view: &TestView<'a>, runs: &[PastRun]) {
        let marks = view.marks;
        let is_steady = view.standing() == Some(Standing::Steady);
        let at_most = if is_steady { STEADY_MARKS } else { OTHER_MARKS };
        let track = Track::new(marks, runs, at_most);
        self.failed.push(marks.iter().rev().find(|mark| mark.has_failed()).map(|mark| mark.run));
        self.first.push(marks.first().map(|mark| mark.run));
        self.last.push(marks.last().map(|mark| mark.run));
        self.seen.push(marks.len());
        self.from.push(track.from);
        self.track.push(track.letters);
    }
}

/// The group of each test that is in one.
fn group_of<'a>(groups: &[FailureGroup<'_, 'a>]) -> HashMap<&'a TestId, usize> {
    let of_group = |(number, group): (usize, &FailureGroup<'_, 'a>)| {
        group.tests.iter().map(|view| (view.id, number)).collect::<Vec<_>>()
    };
    groups.iter().enumerate().flat_map(of_group).collect()
}

/// Sentences, each once.
#[derive(Default)]
struct Sentences {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Sentences {
    fn number(&mut self, sentence: String) -> usize {
        let all = &mut self.all;
        *self.numbers.entry(sentence).or_insert_with_key(|sentence| {
            all.push(sentence.clone());
            all.len() - 1
        })
    }
}

/// The runs, column by column.
#[derive(Default, Serialize)]
struct RunColumns<'a> {
    started: Vec<&'a str>,
    revision: Vec<Option<&'a str>>,
    branch: Vec<Option<&'a str>>,
    job: Vec<Option<&'a str>>,
}

impl<'a> RunColumns<'a> {
    /// The columns of these runs.
    fn new(runs: &'a [PastRun]) -> Self {
        Self {
            started: runs.iter().map(|run| run.started.as_str()).collect(),
            revision: runs.iter().map(|run| run.revision.as_deref()).collect(),
            branch: runs.iter().map(|run| run.branch.as_deref()).collect(),
            job: runs.iter().map(|run| run.job.as_deref()).collect(),
        }
    }
}

/// As many digits as a page shows, and one more to sort by.
fn short(share: f64) -> f64 {
    (share * 1e5).round() / 1e5
}

/// Of anything that there may be thousands of, so much is on the page and the rest is counted.
const AT_MOST: usize = 25;

/// What is known about a test besides its runs.
#[derive(Default, Serialize)]
struct Detail<'a> {
    location: Option<String>,
    repeats: Option<String>,
    unexplained: Option<String>,
    hunted: Option<Hunted<'a>>,
    cause: Option<Caused<'a>>,
    findings: Shown<Finding<'a>>,
    failures: Shown<(String, u32, &'a str)>,
    features: Vec<(&'a str, f64)>,
    prediction: Option<Predicted<'a>>,
    quarantine: Option<&'a QuarantineEntry>,
    reproduce: Option<&'a str>,
}

/// What a hunt says.
#[derive(Serialize)]
struct Hunted<'a> {
    kind: Option<&'static str>,
    fared: String,
    polluters: Shown<&'a [TestId]>,
    setters: Shown<&'a [TestId]>,
    cleaners: Shown<&'a TestId>,
    left: Shown<String>,
    calls: Shown<String>,
    failure: Option<String>,
}

/// What makes it fail, by experiment.
#[derive(Serialize)]
struct Caused<'a> {
    answer: &'static str,
    says: String,
    /// Lever, value, how often it failed with it and without, each as failures and runs.
    levers: Vec<(&'static str, &'a str, [u32; 2], [u32; 2])>,
    command: Option<&'a str>,
}

/// The first of many, and how many more there are.
#[derive(Serialize)]
struct Shown<T> {
    items: Vec<T>,
    more: usize,
}

impl<T> Shown<T> {
    fn new<'a, Item>(all: &'a [Item], shown: impl FnMut(&'a Item) -> T) -> Self {
        let items = all.iter().take(AT_MOST).map(shown).collect();
        Self { items, more: all.len().saturating_sub(AT_MOST) }
    }
}

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Self { items: Vec::new(), more: 0 }
    }
}

/// What a run said about a failure.
#[derive(Serialize)]
struct Finding<'a> {
    started: &'a str,
    verdict: &'static str,
    kind: Option<&'static str>,
    evidence: Vec<String>,
}

/// What a model says about the test's source.
#[derive(Serialize)]
struct Predicted<'a> {
    says: String,
    advice: Option<&'static str>,
    reasons: Vec<(&'a str, f64)>,
    neighbours: Vec<(String, bool, &'a [String])>,
    paths: Vec<(f64, Vec<Step<'a>>)>,
}

/// A place that a value comes by.
#[derive(Serialize)]
struct Step<'a> {
    at: String,
    code: &'a str,
    then: Option<&'a str>,
}

impl<'a> Detail<'a> {
    /// What is known; `None` if that is nothing.
    pub(super) fn from_view(view: &TestView<'a>) -> Option<Self> {
        let unexplained = view.score.and_then(words::unexplained);
        let repeats = view.score.and_then(words::repeats);
        let Some(detail) = view.detail else {
            let is_any = unexplained.is_some() || repeats.is_some();
            return is_any.then(|| Self { unexplained, repeats, ..Self::default() });
        };
        let weighed = |reason: &'a Reason| (reason.what.as_str(), reason.weight);
        Some(Self {
            location: view.location().map(|location| location.to_string()),
            repeats,
            unexplained,
            hunted: detail.hunted.as_ref().map(Hunted::new),
            cause: detail.cause.as_ref().map(Caused::new),
            findings: Shown::new(&detail.findings, Finding::new),
            failures: Shown::new(&detail.failures, |failure| {
                (words::excerpt(&failure.message), failure.times, failure.last.as_str())
            }),
            features: detail.features.iter().map(weighed).collect(),
            prediction: detail.prediction.as_ref().map(Predicted::new),
            quarantine: detail.quarantine.as_ref(),
            reproduce: view.reproduce(),
        })
    }
}

impl<'a> Hunted<'a> {
    fn new(test: &'a HuntedTest) -> Self {
        Self {
            kind: test.kind.map(words::flaky_kind),
            fared: words::fared(test),
            polluters: Shown::new(&test.polluters, Vec::as_slice),
            setters: Shown::new(&test.setters, Vec::as_slice),
            cleaners: Shown::new(&test.cleaners, |test| test),
            left: Shown::new(&test.left_behind, |left| words::excerpt(&left.to_string())),
            calls: Shown::new(test.implementation.as_ref().map_or(&[], |it| &it.calls), |call| {
                words::excerpt(call)
            }),
            failure: test.failure.as_ref().map(|failure| words::excerpt(&failure.message)),
        }
    }
}

impl<'a> Caused<'a> {
    fn new(cause: &'a Cause) -> Self {
        let proven = cause.levers.iter().filter(|it| it.answer.is_some());
        let tally = |it: Tally| [it.failures, it.runs];
        Self {
            answer: cause.answer.word(),
            says: words::cause(cause),
            levers: proven
                .map(|it| (it.name.word(), it.value.as_str(), tally(it.with), tally(it.plain)))
                .collect(),
            command: cause.command.as_deref(),
        }
    }
}

impl<'a> Finding<'a> {
    fn new(finding: &'a PastFinding) -> Self {
        Self {
            started: &finding.started,
            verdict: words::verdict(finding.verdict),
            kind: finding.kind.map(words::kind),
            evidence: finding.evidence.iter().map(words::evidence).collect(),
        }
    }
}

impl<'a> Predicted<'a> {
    fn new(prediction: &'a Prediction) -> Self {
        let likely = words::percent(prediction.probability);
        // What is known beats what is guessed: such a test is never told to look fine.
        let says = match (&prediction.known, prediction.flaky) {
            (Some(known), _) => {
                format!(
                    "is on record as {known}; its source alone gives it a probability of {likely}"
                )
            }
            (None, true) => words::suspicion(prediction),
            (None, false) => {
                format!("is probably not flaky: the model gives it a probability of {likely}")
            }
        };
        let similar =
            |known: &'a SimilarTest| (words::similar(known), known.flaky, known.shared.as_slice());
        let path = |path: &'a flakeproof_core::DataPath| {
            let step = |step: &'a flakeproof_core::DataStep| Step {
                at: format!("{}:{}", step.file, step.line),
                code: &step.code,
                then: step.operation.as_deref(),
            };
            (path.attention, path.steps.iter().map(step).collect())
        };
        Self {
            says,
            advice: prediction.flaky.then(|| words::advice(prediction.category.as_deref())),
            reasons: prediction
                .reasons
                .iter()
                .map(|reason| (reason.what.as_str(), reason.weight))
                .collect(),
            neighbours: prediction.neighbours.iter().map(similar).collect(),
            paths: prediction.paths.iter().map(path).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_embedded_reads_back_and_has_nothing_that_html_reads(text in ".*") {
            let json = serde_json::to_string(&text).unwrap();
            let embedded = harmless(&json);
            let is_read = |c| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
            prop_assert!(!embedded.contains(is_read));
            prop_assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), text);
        }
    }

    #[test]
    fn an_element_cannot_be_ended_from_inside() {
        assert_eq!(harmless("</script>&\u{2028}"), r"\u003c/script\u003e\u0026\u2028");
    }

    #[test]
    fn of_thousands_the_first_are_shown_and_the_rest_is_counted() {
        let all: Vec<u32> = (0..1_000).collect();
        let shown = Shown::new(&all, |number| *number);
        assert_eq!((shown.items.len(), shown.more), (AT_MOST, 1_000 - AT_MOST));
        assert_eq!(Shown::new(&all[..3], |number| *number).more, 0);
    }
}
