//! What a model loses when a part of what it reads is taken away.
//!
//! PEELER's Table III takes parts of the contextual paths away; CANNIER's third research question
//! drops features, the least important first, where importance is the information gain or the mean
//! absolute SHAP value of a feature.

use flakeproof_learn::forest::Shap;
use flakeproof_learn::network::{Bag, PathCorpus, PathStep};

use crate::real;

/// The same tests without what happens inside the test: only edges into the code under test and
/// the nodes they join keep their words, all other nodes and edges are empty.
#[must_use]
pub fn without_inner(paths: &PathCorpus) -> PathCorpus {
    paths.with_steps(|before, step| {
        let is_reached = before.is_some_and(|before| before.body.is_some());
        let calls = step.body.is_some();
        PathStep {
            node: if calls || is_reached { step.node } else { Bag::EMPTY },
            operation: step.operation.filter(|_| calls),
            body: step.body,
        }
    })
}

/// The same tests without the code under test: an edge is its operation only.
#[must_use]
pub fn without_code(paths: &PathCorpus) -> PathCorpus {
    paths.with_steps(|_, step| PathStep { body: None, ..step })
}

/// A feature and how much it matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedFeature {
    /// The number of the feature.
    pub feature: usize,
    /// How much it matters.
    pub importance: f64,
}

/// What a model is worth with some features left.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedFeature<S> {
    /// The feature that was dropped last; `None` where all are still there.
    pub feature: Option<usize>,
    /// The features that are left, ascending.
    pub left: Vec<usize>,
    /// What the model is worth.
    pub score: S,
}

/// How many parts a feature is cut into when its information gain is taken.
const PARTS: usize = 10;

/// The information gain of a feature about a label, in bits.
///
/// The numbers are cut into at most ten parts with about equally many rows (equal numbers are never
/// parted); missing numbers are a part of their own. The gain is the entropy of the label less its
/// mean entropy in the parts.
#[must_use]
pub fn information_gain(feature: &[f32], positive: &[bool]) -> f64 {
    let mut rows: Vec<(f32, bool)> =
        feature.iter().copied().zip(positive.iter().copied()).collect();
    let all = rows.len();
    if all == 0 {
        return 0.0;
    }
    rows.sort_by(|a, b| a.0.is_nan().cmp(&b.0.is_nan()).then(a.0.total_cmp(&b.0)));
    let present = rows.iter().filter(|(value, _)| !value.is_nan()).count();
    let (known, missing) = rows.split_at(present);
    let mut parts: Vec<&[(f32, bool)]> = vec![missing];
    let (mut start, mut end) = (0, 0);
    for equal in known.chunk_by(|a, b| a.0 == b.0) {
        end += equal.len();
        if (end - start) * PARTS >= present {
            parts.push(&known[start..end]);
            start = end;
        }
    }
    parts.push(&known[start..]);
    let inside: f64 = parts.iter().map(|part| real(part.len()) * entropy(part)).sum();
    (entropy(&rows) - inside / real(all)).max(0.0)
}

fn entropy(rows: &[(f32, bool)]) -> f64 {
    let positive = rows.iter().filter(|(_, positive)| *positive).count();
    let bits = |count: usize| {
        let share = real(count) / real(rows.len().max(1));
        if share > 0.0 { -share * share.log2() } else { 0.0 }
    };
    bits(positive) + bits(rows.len() - positive)
}

/// Features by their mean absolute SHAP value, the most important first.
#[must_use]
pub fn ranked_by_shap(shap: &Shap) -> Vec<RankedFeature> {
    let mut sums = vec![0.0; shap.features];
    for row in shap.values.chunks(shap.features.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.abs());
    }
    let rows = real(shap.rows().max(1));
    ranked(sums.into_iter().map(|sum| sum / rows))
}

/// Features by some measure of importance, the most important first; of equal ones the earlier.
#[must_use]
pub fn ranked(importances: impl IntoIterator<Item = f64>) -> Vec<RankedFeature> {
    let importances = importances.into_iter().enumerate();
    let mut all: Vec<RankedFeature> =
        importances.map(|(feature, importance)| RankedFeature { feature, importance }).collect();
    all.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    all
}

/// The curve of research question 3: score a model with all features, then drop the least important
/// one and score again, until one is left. The scorer is given the features that are left.
///
/// # Errors
/// When the scorer fails.
pub fn drop_features<S, E>(
    ranked: &[RankedFeature],
    mut scorer: impl FnMut(&[usize]) -> Result<S, E>,
) -> Result<Vec<DroppedFeature<S>>, E> {
    (0..ranked.len())
        .map(|dropped| {
            let (kept, gone) = ranked.split_at(ranked.len() - dropped);
            let mut left: Vec<usize> = kept.iter().map(|ranked| ranked.feature).collect();
            left.sort_unstable();
            let score = scorer(&left)?;
            Ok(DroppedFeature { feature: gone.first().map(|ranked| ranked.feature), left, score })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes; the edge from the second to the third calls into the code under test.
    fn corpus() -> (PathCorpus, Vec<PathStep>) {
        let mut corpus = PathCorpus::default();
        let mut step = |node: &str, operation: &str, body: Option<&str>| PathStep {
            node: corpus.bag([node]),
            operation: Some(corpus.bag([operation])),
            body: body.map(|body| corpus.bag([body])),
        };
        let mut path =
            vec![step("a", "new", None), step("b", "call", Some("body")), step("c", "is", None)];
        path.push(PathStep::last(corpus.bag(["d"])));
        corpus.push_test([path.clone()]);
        (corpus, path)
    }

    #[test]
    fn without_the_inside_only_the_call_and_its_two_nodes_remain() {
        let (corpus, path) = corpus();
        let kept = without_inner(&corpus);
        let empty = PathStep::last(Bag::EMPTY);
        let expected = [empty, path[1], PathStep::last(path[2].node), empty];
        assert_eq!(kept.path(0, 0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_the_code_under_test_everything_but_bodies_remains() {
        let (corpus, path) = corpus();
        let kept = without_code(&corpus);
        let expected: Vec<PathStep> =
            path.iter().map(|step| PathStep { body: None, ..*step }).collect();
        assert_eq!(kept.path(0, 0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_feature_that_decides_gains_all_there_is() {
        let positive: Vec<bool> = (0..100).map(|row| row >= 50).collect();
        let decides: Vec<f32> = positive.iter().map(|label| f32::from(u8::from(*label))).collect();
        assert!((information_gain(&decides, &positive) - 1.0).abs() < 1e-12);
        assert!(information_gain(&[3.0; 100], &positive).abs() < 1e-12);
        let missing_decides: Vec<f32> =
            positive.iter().map(|label| if *label { f32::NAN } else { 1.0 }).collect();
        assert!((information_gain(&missing_decides, &positive) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_least_important_feature_goes_first() {
        let ranks = ranked([0.2, 0.9, 0.5]);
        let curve = drop_features(&ranks, |left| Ok::<usize, ()>(left.len())).expect("no failure");
        let gone: Vec<Option<usize>> = curve.iter().map(|step| step.feature).collect();
        assert_eq!(gone, [None, Some(0), Some(2)]);
        assert_eq!(curve[1].left, [1, 2]);
        assert_eq!(curve[2].score, 1);
    }

    #[test]
    fn features_are_ranked_by_how_far_they_move_answers() {
        let shap = Shap { base: 0.5, features: 2, values: vec![0.1, -0.3, -0.1, 0.2] };
        let order: Vec<usize> = ranked_by_shap(&shap).iter().map(|ranked| ranked.feature).collect();
        assert_eq!(order, [1, 0]);
    }
}
