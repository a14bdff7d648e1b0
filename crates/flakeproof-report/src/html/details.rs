//! What is known about a test besides its runs, in the words that the page shows.

use flakeproof_core::{
    HuntedTest, PastFinding, Prediction, QuarantineEntry, Reason, SimilarTest, TestId,
};
use serde::Serialize;

use crate::overview::TestView;
use crate::words;

/// Of anything that there may be thousands of, so much is on the page and the rest is counted.
const AT_MOST: usize = 25;

/// What is known about a test besides its runs.
#[derive(Default, Serialize)]
pub(super) struct Detail<'a> {
    location: Option<String>,
    unexplained: Option<String>,
    hunted: Option<Hunted<'a>>,
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
    failure: Option<String>,
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
        let Some(detail) = view.detail else {
            return unexplained.map(|it| Self { unexplained: Some(it), ..Self::default() });
        };
        let weighed = |reason: &'a Reason| (reason.what.as_str(), reason.weight);
        Some(Self {
            location: view.location().map(|location| location.to_string()),
            unexplained,
            hunted: detail.hunted.as_ref().map(Hunted::new),
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
            failure: test.failure.as_ref().map(|failure| words::excerpt(&failure.message)),
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
        let says = if prediction.flaky {
            words::suspicion(prediction)
        } else {
            format!("is probably not flaky: the model gives it a probability of {likely}")
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
    use super::*;

    #[test]
    fn of_thousands_the_first_are_shown_and_the_rest_is_counted() {
        let all: Vec<u32> = (0..1_000).collect();
        let shown = Shown::new(&all, |number| *number);
        assert_eq!((shown.items.len(), shown.more), (AT_MOST, 1_000 - AT_MOST));
        assert_eq!(Shown::new(&all[..3], |number| *number).more, 0);
    }
}
