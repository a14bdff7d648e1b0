//! The rows of the page's table, column by column.
//!
//! A column says its name once and not ten thousand times, and sentences that many tests share
//! stand in the page once.

use std::collections::HashMap;

use flakeproof_core::{PastRun, Standing, TestId, TestScore};
use serde::Serialize;

use super::track::Track;
use crate::json::seconds;
use crate::overview::TestView;
use crate::words;

/// Runs of a test that never failed on the page; more of the same tell nothing.
const STEADY_MARKS: usize = 100;

/// Runs of any other test on the page.
const OTHER_MARKS: usize = 1_000;

/// What a test can be, by the numbers that the page knows them by.
pub(super) const STANDINGS: [Option<Standing>; 6] = [
    Some(Standing::Flaky),
    Some(Standing::Broken),
    Some(Standing::Unexplained),
    Some(Standing::Mended),
    Some(Standing::Steady),
    None,
];

/// The tests, column by column.
#[derive(Default, Serialize)]
pub(super) struct TestColumns<'a> {
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
    /// Sentences, as indices into `sentences`.
    words: Vec<usize>,
    quarantined: Vec<u8>,
    predicted: Vec<Option<f64>>,
    /// Each sentence once.
    sentences: Vec<String>,
}

impl<'a> TestColumns<'a> {
    /// The columns of these tests.
    pub(super) fn of(views: &[TestView<'a>], runs: &[PastRun]) -> Self {
        let mut columns = Self::default();
        let mut known = HashMap::new();
        for view in views {
            columns.push_facts(view);
            columns.push_numbers(view.telling());
            columns.push_runs(view, runs);
            let sentence =
                view.score.map_or_else(|| words::standing(None).to_owned(), words::score);
            let sentences = &mut columns.sentences;
            let at = *known.entry(sentence).or_insert_with_key(|sentence: &String| {
                sentences.push(sentence.clone());
                sentences.len() - 1
            });
            columns.words.push(at);
        }
        columns
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
        let track = Track::of(marks, runs, at_most);
        self.failed.push(marks.iter().rev().find(|mark| mark.has_failed()).map(|mark| mark.run));
        self.first.push(marks.first().map(|mark| mark.run));
        self.last.push(marks.last().map(|mark| mark.run));
        self.seen.push(marks.len());
        self.from.push(track.from);
        self.track.push(track.letters);
    }
}

/// The runs, column by column.
#[derive(Default, Serialize)]
pub(super) struct RunColumns<'a> {
    started: Vec<&'a str>,
    revision: Vec<Option<&'a str>>,
    branch: Vec<Option<&'a str>>,
    job: Vec<Option<&'a str>>,
}

impl<'a> RunColumns<'a> {
    /// The columns of these runs.
    pub(super) fn of(runs: &'a [PastRun]) -> Self {
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
