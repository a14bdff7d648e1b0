//! The machine: its locale, and how it rounds.

use super::comparison::{Comparison, Relation};
use super::rule::{Finding, Rule};
use super::scene::{Deed, Scene};
use super::value::{
    Value, arguments_of, bare, is_any, literal_text, name_of, path, quoted, receiver_of,
};
use crate::Language;
use crate::flow::{Expression, Operation};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for comparison in scene.comparisons() {
        if comparison.relation == Relation::Equal {
            default_locale(scene, comparison, found);
            float_equality(scene, comparison, found);
        }
    }
}

fn default_locale<'p>(scene: &Scene<'p>, comparison: Comparison<'p>, found: &mut Vec<Finding>) {
    for (side, other) in comparison.sides() {
        if quoted(other.file, other.expression).is_none() {
            continue;
        }
        let mut hit = false;
        scene.walk(side, &mut |piece| {
            hit |= is_localised(piece);
            let name = name_of(piece.file, bare(piece.expression));
            !hit && (name.is_empty() || name == "format")
        });
        if hit {
            if scene.file_says("Locale.setDefault") || scene.file_says("setlocale") {
                return;
            }
            found.push(Finding {
                line: comparison.line,
                rule: Rule::DefaultLocale,
                message: "this text depends on the locale of the machine".to_owned(),
            });
            return;
        }
    }
}

fn is_localised(value: Value<'_>) -> bool {
    let call = bare(value.expression);
    let Expression::Call { arguments, .. } = call else { return false };
    let path = path(value.file, call);
    let name = name_of(value.file, call);
    match value.file.language {
        Language::JavaScript | Language::TypeScript => {
            arguments.is_empty()
                && receiver_of(call).is_some()
                && (matches!(name, "toLocaleString" | "toLocaleDateString" | "toLocaleTimeString")
                    || is_any(&path, &["Intl.NumberFormat", "Intl.DateTimeFormat"]))
        }
        Language::Java | Language::Kotlin => {
            arguments.is_empty()
                && is_any(
                    &path,
                    &[
                        "NumberFormat.getInstance",
                        "NumberFormat.getCurrencyInstance",
                        "NumberFormat.getPercentInstance",
                        "DateFormat.getDateInstance",
                        "DateFormat.getInstance",
                        "NumberFormat.getNumberInstance",
                    ],
                )
        }
        _ => false,
    }
}

fn float_equality<'p>(scene: &Scene<'p>, comparison: Comparison<'p>, found: &mut Vec<Finding>) {
    let has_tolerance = scene.steps.get(comparison.at).is_some_and(|step| match step.deed {
        Deed::Assert { operands, words, .. } => {
            operands.len() > 2
                && words.len() == 1
                && step.file.text_of(words[0]).starts_with("assert")
        }
        Deed::Bind { .. } | Deed::Call { .. } => false,
    });
    for (side, other) in comparison.sides() {
        let is_fraction = literal_text(other.file, other.expression).is_some_and(|text| {
            let fraction = text
                .split_once('.')
                .map(|(_, it)| it.trim_end_matches(|c: char| !c.is_ascii_digit()));
            text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
                && fraction.is_some_and(|it| !it.trim_matches('0').is_empty() && it != "5")
        });
        let computes = matches!(
            bare(side.expression),
            Expression::Combine { operation: Operation::Arithmetic, .. }
        ) || arguments_of(bare(side.expression)).iter().any(|it| {
            matches!(bare(it), Expression::Combine { operation: Operation::Arithmetic, .. })
        });
        if is_fraction && computes && !has_tolerance {
            found.push(Finding {
                line: comparison.line,
                rule: Rule::FloatEquality,
                message: "computed numbers are compared exactly".to_owned(),
            });
            return;
        }
    }
}
