//! How long something took, and how short a bound on that is.

use super::comparison::{Comparison, Relation};
use super::duration::seconds;
use super::rule::{Finding, Rule};
use super::scene::Scene;
use super::time::reading;
use super::value::{Value, bare, is_any, name_of, number, path, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation};

/// Bounds below this many seconds are missed by a busy machine.
const TIGHT: f64 = 1.0;

pub(super) fn elapsed_bound<'p>(
    scene: &Scene<'p>,
    comparison: Comparison<'p>,
    found: &mut Vec<Finding>,
) {
    let (taken, bound) = match comparison.relation {
        Relation::Below => (comparison.left, comparison.right),
        Relation::Above => (comparison.right, comparison.left),
        Relation::Equal | Relation::Unequal | Relation::Contains => return,
    };
    let Some(unit) = elapsed_unit(scene, taken) else { return };
    let bound = match number(bound.file, bound.expression) {
        Some(number) => Some(number * unit),
        None => seconds(bound, None),
    };
    if let Some(bound) = bound.filter(|bound| *bound > 0.0 && *bound < TIGHT) {
        found.push(Finding {
            line: comparison.line,
            rule: Rule::ElapsedBound,
            message: format!("this must take less than {bound} s, which a busy machine misses"),
        });
    }
}

/// What a bare number means beside a measured time; nothing where a value is none.
fn elapsed_unit<'p>(scene: &Scene<'p>, value: Value<'p>) -> Option<f64> {
    let mut unit = None;
    scene.walk(value, &mut |piece| {
        if unit.is_some() {
            return false;
        }
        let expression = bare(piece.expression);
        let path = path(piece.file, expression);
        match expression {
            Expression::Combine { operation: Operation::Arithmetic, word, operands }
                if piece.text(*word) == "-" =>
            {
                let first = operands.first().map(|it| piece.of(it));
                let clock = first.and_then(|it| reading(scene, it, false));
                let last = operands.last().map(|it| piece.of(it));
                let start = last.and_then(|it| reading(scene, it, true));
                if let (Some(clock), Some(_)) = (clock, start) {
                    unit = Some(clock_unit(clock));
                }
                false
            }
            Expression::Combine { operation, .. } => {
                matches!(operation, Operation::Pass)
            }
            Expression::Call { arguments, .. } => {
                let name = name_of(piece.file, expression);
                if is_any(&path, &["time.Since"])
                    || (name == "elapsed"
                        && piece.file.language == Language::Rust
                        && arguments.is_empty())
                {
                    unit = Some(if piece.file.language == Language::Go { 1e-9 } else { 1e-3 });
                    return false;
                }
                // `TimeUnit.NANOSECONDS.toMillis(…)`, `elapsed.as_millis()`, `d.Milliseconds()`.
                let given = match name {
                    "toMillis" | "as_millis" | "Milliseconds" => Some(1e-3),
                    "toSeconds" | "as_secs" | "as_secs_f64" | "as_secs_f32" | "Seconds"
                    | "total_seconds" => Some(1.0),
                    _ => None,
                };
                if let Some(given) = given {
                    let inner = receiver_of(expression).into_iter().chain(arguments);
                    let is_elapsed =
                        inner.into_iter().any(|it| elapsed_unit(scene, piece.of(it)).is_some());
                    unit = is_elapsed.then_some(given);
                    return false;
                }
                matches!(name, "abs" | "float" | "round" | "int" | "Duration")
            }
            Expression::Name(_) => true,
            Expression::Member { .. } | Expression::Literal(_) | Expression::Lambda(_) => false,
        }
    });
    unit
}

/// What a bare number means beside what a clock gives.
fn clock_unit(clock: Value<'_>) -> f64 {
    let name = name_of(clock.file, bare(clock.expression));
    match clock.file.language {
        _ if name.contains("nano") || name.ends_with("_ns") => 1e-9,
        Language::Python => 1.0,
        _ => 1e-3,
    }
}
