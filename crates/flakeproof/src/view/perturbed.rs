//! What was said of tests in another form that does the same, and by how much that is worse.

use std::fmt::Write as _;

use flakeproof_learn::evaluate::Confusion;
use flakeproof_syntax::perturbation::Form;
use serde_json::{Value, json};

use super::learning::{scores, share};
use super::terminal::{DIM, count};

/// What came out for other forms of tests.
pub(crate) struct PerturbedScores {
    pub(crate) form: Form,
    /// How many tests have another text in that form.
    pub(crate) changed: usize,
    pub(crate) confusion: Confusion,
    pub(crate) average_precision: Option<f64>,
}

/// By how much a figure is lower.
fn drop(original: Option<f64>, perturbed: Option<f64>) -> Option<f64> {
    Some(original? - perturbed?)
}

impl PerturbedScores {
    /// The figures, and how much lower each is than that of the tests as they are.
    pub(super) fn json(&self, original: &Confusion, average_precision: Option<f64>) -> Value {
        let it = &self.confusion;
        let mut value = scores(it);
        value["what"] = json!(self.what());
        value["seed"] = json!(self.form.seed);
        value["changed"] = json!(self.changed);
        value["average_precision"] = json!(self.average_precision);
        value["drop"] = json!({
            "precision": drop(original.precision(), it.precision()),
            "recall": drop(original.recall(), it.recall()),
            "f1": original.f1() - it.f1(),
            "mcc": original.mcc() - it.mcc(),
            "average_precision": drop(average_precision, self.average_precision),
        });
        value
    }

    fn what(&self) -> Vec<&'static str> {
        self.form.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// Two lines for people.
    pub(super) fn add_to(
        &self,
        text: &mut String,
        original: &Confusion,
        average_precision: Option<f64>,
    ) {
        let signed = |it: Option<f64>| it.map_or("–".to_owned(), |it| format!("{it:+.3}"));
        let is_lower = drop(self.average_precision, average_precision);
        let _ = writeln!(
            text,
            "  perturbed       {} ({}), F1 {}",
            share(self.average_precision),
            signed(is_lower),
            signed(Some(self.confusion.f1() - original.f1()))
        );
        let _ = writeln!(
            text,
            "{DIM}  {} with other {}{DIM:#}",
            count(self.changed, "test"),
            self.what().join(", ")
        );
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Seed;
    use flakeproof_syntax::perturbation::Perturbation;

    use super::*;

    #[test]
    fn the_drop_is_what_the_figures_lose() {
        let confusion = |found, missed| Confusion {
            true_positives: found,
            false_positives: 1,
            false_negatives: missed,
            true_negatives: 5,
        };
        let perturbed = PerturbedScores {
            form: Form { kinds: vec![Perturbation::Names, Perturbation::DeadCode], seed: Seed(1) },
            changed: 9,
            confusion: confusion(1, 3),
            average_precision: Some(0.25),
        };
        let json = perturbed.json(&confusion(3, 1), Some(0.75));
        assert_eq!((&json["drop"]["recall"], &json["changed"]), (&json!(0.5), &json!(9)));
        assert_eq!(json["what"], json!(["names", "dead-code"]));
        let mut text = String::new();
        perturbed.add_to(&mut text, &confusion(3, 1), Some(0.75));
        assert!(text.contains("0.250 (-0.500)"), "{text}");
    }
}
