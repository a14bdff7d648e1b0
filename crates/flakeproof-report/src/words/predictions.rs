//! What predictions mean: how probable, why, like what, and what the model's word is worth.

use flakeproof_core::{ModelFacts, Prediction, SimilarTest};

use super::categories::category;
use super::phrases::{counted, percent};

/// How many similar tests a sentence names.
const SIMILAR_NAMED: usize = 2;

/// The sentence for a test that is called flaky.
///
/// It says "may be" at every probability: nothing was run.
#[must_use]
pub fn suspicion(test: &Prediction) -> String {
    let probability = percent(test.probability);
    match &test.category {
        Some(why) => {
            format!(
                "may be flaky with a probability of {probability}, because of {}",
                category(why)
            )
        }
        None => format!("may be flaky with a probability of {probability}"),
    }
}

/// The sentence for the known flaky tests that are nearest to a test; nothing if none is near.
#[must_use]
pub fn nearest_flaky(test: &Prediction) -> Option<String> {
    let nearest: Vec<_> = flaky_neighbours(test).take(SIMILAR_NAMED).map(similar).collect();
    let noun = match nearest.len() {
        0 => return None,
        1 => "test",
        _ => "tests",
    };
    Some(format!("is most like the known flaky {noun} {}", nearest.join(" and ")))
}

/// A known test, the project it belongs to, and how similar it is.
#[must_use]
pub fn similar(known: &SimilarTest) -> String {
    format!("{} of {} (similarity {:.2})", known.id, known.project, known.similarity)
}

/// The sentence for a model: what it learnt from, and how often it was right on what it had not
/// seen.
#[must_use]
pub fn model(model: &ModelFacts) -> String {
    format!(
        "predicted by the model {} ({}, {}), which knows {} ({} flaky) of {}; {}; nothing was \
         run, so this is no proof",
        model.name,
        model.kind,
        model.recipe,
        counted(model.tests, "test"),
        model.flaky,
        counted(model.projects, "project"),
        measured(model),
    )
}

/// The known flaky tests among a test's neighbours, the nearest first.
pub(crate) fn flaky_neighbours(test: &Prediction) -> impl Iterator<Item = &SimilarTest> {
    test.neighbours.iter().filter(|known| known.flaky)
}

fn measured(model: &ModelFacts) -> String {
    let figures: Vec<_> = [("precision", model.precision), ("recall", model.recall)]
        .into_iter()
        .filter_map(|(name, share)| share.map(|share| format!("its {name} is {}", percent(share))))
        .collect();
    let threshold = &model.threshold;
    if figures.is_empty() {
        return format!("how often it is right at the threshold {threshold} was not measured");
    }
    format!("{} on {}, at the threshold {threshold}", figures.join(" and "), held_out(model))
}

fn held_out(model: &ModelFacts) -> String {
    match model.held_out.as_str() {
        "test" => "tests it had not seen".to_owned(),
        "class" => "test classes it had not seen".to_owned(),
        "project" => "projects it had not seen".to_owned(),
        other => format!("data it had not seen (held out by {other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_suspicion_names_probability_and_reason() {
        let mut test = sample::suspects(1).tests.remove(0);
        assert_eq!(suspicion(&test), "may be flaky with a probability of 50 %");
        test.category = Some("io".into());
        assert_eq!(
            suspicion(&test),
            "may be flaky with a probability of 50 %, because of files or streams (io)"
        );
    }

    #[test]
    fn only_flaky_neighbours_are_named_and_at_most_two() {
        let mut test = sample::suspects(1).tests.remove(0);
        assert_eq!(nearest_flaky(&test), None);
        let known = |id: &str, flaky| SimilarTest {
            id: id.into(),
            project: "p".into(),
            similarity: 0.5,
            flaky,
            category: None,
            shared: Vec::new(),
        };
        test.neighbours = vec![known("a", false), known("b", true)];
        let one = "is most like the known flaky test b of p (similarity 0.50)";
        assert_eq!(nearest_flaky(&test).as_deref(), Some(one));
        test.neighbours.extend([known("c", true), known("d", true)]);
        let two = "is most like the known flaky tests b of p (similarity 0.50) and c of p \
                   (similarity 0.50)";
        assert_eq!(nearest_flaky(&test).as_deref(), Some(two));
    }

    #[test]
    fn a_model_says_how_often_it_is_right_or_that_nobody_knows() {
        let mut facts = sample::predictions().model;
        assert_eq!(
            model(&facts),
            "predicted by the model built-in (flast, rarity), which knows 1200 tests (480 flaky) of \
             31 projects; its precision is 71 % and its recall is 58 % on projects \
             it had not seen, at the threshold balanced; nothing was run, so this is no proof"
        );
        facts.recall = None;
        assert!(model(&facts).contains("; its precision is 71 % on projects it had not seen, at"));
        facts.precision = None;
        assert!(
            model(&facts)
                .contains("; how often it is right at the threshold balanced was not measured;")
        );
    }
}
