//! How long a written duration is, in seconds, in the habits of each language.

use super::value::{Value, bare, name_of, number};
use crate::Language;
use crate::flow::{Expression, Operation};

/// What a bare number means as a duration.
fn bare_unit(language: Language) -> f64 {
    match language {
        Language::Python | Language::Ruby => 1.0,
        Language::Go => 1e-9,
        _ => 1e-3,
    }
}

/// What a unit's name means in seconds.
fn unit(name: &str) -> Option<f64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "nanosecond" | "nanoseconds" | "from_nanos" | "ofnanos" => 1e-9,
        "microsecond" | "microseconds" | "from_micros" => 1e-6,
        "millisecond" | "milliseconds" | "millis" | "from_millis" | "ofmillis" => 1e-3,
        "second" | "seconds" | "from_secs" | "ofseconds" | "from_secs_f64" | "from_secs_f32" => 1.0,
        "minute" | "minutes" | "ofminutes" | "from_mins" => 60.0,
        "hour" | "hours" | "ofhours" => 3600.0,
        _ => return None,
    })
}

/// The duration that an expression writes, in seconds; `following` is what is given behind it, where
/// some languages put the unit.
pub(super) fn seconds(value: Value<'_>, following: Option<&Expression>) -> Option<f64> {
    let expression = bare(value.expression);
    if let Some(number) = number(value.file, expression) {
        let named = following.and_then(|it| match bare(it) {
            Expression::Member { name, .. } | Expression::Name(name) => unit(value.text(*name)),
            _ => None,
        });
        return Some(number * named.unwrap_or_else(|| bare_unit(value.file.language)));
    }
    match expression {
        // `100 * time.Millisecond`, `2 * 1000`.
        Expression::Combine { operation: Operation::Arithmetic, operands, .. } => {
            let mut product = 1.0;
            let mut has_unit = false;
            for operand in operands {
                if let Some(number) = number(value.file, operand) {
                    product *= number;
                } else {
                    product *= seconds(Value { expression: operand, ..value }, None)?;
                    has_unit = true;
                }
            }
            Some(if has_unit { product } else { product * bare_unit(value.file.language) })
        }
        Expression::Member { object, name } => {
            let unit = unit(value.text(*name))?;
            Some(number(value.file, object).unwrap_or(1.0) * unit)
        }
        Expression::Name(name) => unit(value.text(*name)),
        Expression::Call { arguments, .. } => {
            let name = name_of(value.file, expression);
            let unit =
                unit(name).or_else(|| matches!(name, "Duration" | "timedelta").then_some(1.0))?;
            let [only] = arguments.as_slice() else { return None };
            Some(number(value.file, only)? * unit)
        }
        Expression::Literal(_) | Expression::Combine { .. } | Expression::Lambda(_) => None,
    }
}
