//! Dates that mean another moment, or another hour, on a machine elsewhere.

use super::comparison::Comparison;
use super::rule::{Finding, Rule};
use super::scene::{Part, Scene};
use super::value::{
    Value, arguments_of, bare, is_any, is_constant, name_of, number, path, receiver_of,
};
use crate::Language;
use crate::flow::Expression;

pub(super) fn local_time<'p>(
    scene: &Scene<'p>,
    comparison: Comparison<'p>,
    found: &mut Vec<Finding>,
) {
    let own = scene.file.text_of(scene.function.span);
    let names_zone = ["imeZone", "TZ", "timezone", "tzset", "tzinfo", "ZoneId", "UTC", "utc"];
    let hooks = scene.steps.iter().filter(|step| step.part == Part::Before);
    let mut lines = hooks.map(|step| line_of(step.file, step.span().start));
    if names_zone.iter().any(|word| own.contains(word))
        || lines.any(|line| names_zone.iter().any(|word| line.contains(word)))
    {
        return;
    }
    for (side, other) in comparison.sides() {
        if !is_constant(other.expression) {
            continue;
        }
        let mut hit = false;
        scene.walk(side, &mut |piece| {
            hit |= is_local(piece);
            !hit
        });
        if hit {
            if scene.file_says("setDefault(") || scene.file_says("process.env.TZ") {
                return;
            }
            found.push(Finding {
                line: comparison.line,
                rule: Rule::LocalTime,
                message: "this depends on the time zone of the machine".to_owned(),
            });
            return;
        }
    }
}

fn line_of(file: &crate::flow::Unit, start: u32) -> &str {
    let start = (start as usize).min(file.text.len());
    let Some((before, after)) = file.text.split_at_checked(start) else { return "" };
    let from = before.rfind('\n').map_or(0, |at| at + 1);
    let to = after.find('\n').map_or(file.text.len(), |at| start + at);
    file.text.get(from..to).unwrap_or_default()
}

/// Whether a call gives a date or an hour as the machine's zone has it.
fn is_local(value: Value<'_>) -> bool {
    let expression = bare(value.expression);
    let Expression::Call { arguments, creates, .. } = expression else { return false };
    let path = path(value.file, expression);
    let name = name_of(value.file, expression);
    let of = receiver_of(expression).map(bare);
    match value.file.language {
        Language::Python => {
            arguments.len() == 1
                && is_any(
                    &path,
                    &[
                        "datetime.fromtimestamp",
                        "time.localtime",
                        "date.fromtimestamp",
                        "time.ctime",
                    ],
                )
        }
        Language::Java | Language::Kotlin => {
            name == "format"
                && of.is_some_and(|it| {
                    name_of(value.file, it) == "SimpleDateFormat" && arguments_of(it).len() == 1
                })
        }
        Language::JavaScript | Language::TypeScript => {
            let numbers = |it: &Expression| {
                arguments_of(it).len() >= 3
                    && arguments_of(it).iter().all(|it| number(value.file, it).is_some())
            };
            let made_locally =
                of.is_some_and(|it| name_of(value.file, it) == "Date" && numbers(it));
            let made_of_moment = of.is_some_and(|it| {
                name_of(value.file, it) == "Date"
                    && matches!(arguments_of(it), [only] if number(value.file, only).is_some())
            });
            !creates
                && ((made_locally
                    && matches!(
                        name,
                        "toISOString" | "getTime" | "toJSON" | "valueOf" | "getUTCHours"
                    ))
                    || (made_of_moment
                        && matches!(
                            name,
                            "getHours" | "toString" | "toLocaleTimeString" | "getDate"
                        )))
        }
        Language::Go => {
            matches!(name, "Format" | "Hour" | "String")
                && of.is_some_and(|it| super::value::path(value.file, it) == "time.Unix")
        }
        Language::Rust => is_any(&path, &["Local.timestamp_opt", "Local.timestamp"]),
        Language::CSharp | Language::Ruby => false,
    }
}
