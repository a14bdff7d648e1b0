//! Time: the clock, today's date, how long something took, and dates that mean another moment
//! elsewhere.

use super::comparison::{Comparison, Relation};
use super::elapsed::elapsed_bound;
use super::rule::{Finding, Rule};
use super::scene::{Deed, Part, Scene};
use super::value::{
    Value, arguments_of, bare, is_any, is_constant, name_of, path, receiver_of, start_of,
};
use super::zone::local_time;
use crate::Language;
use crate::flow::{Expression, Operation};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let mut of_clock = Vec::new();
    for comparison in scene.comparisons() {
        elapsed_bound(scene, comparison, &mut of_clock);
        if comparison.relation != Relation::Equal {
            continue;
        }
        today_expected(scene, comparison, &mut of_clock);
        clock_compared(scene, comparison, &mut of_clock);
        local_time(scene, comparison, found);
    }
    // A search through the whole file, which few tests need.
    let own = scene.file.text_of(scene.function.span);
    let is_frozen = || is_clock_replaced(scene) || own.contains("patch(");
    if !of_clock.is_empty() && !is_frozen() {
        found.extend(of_clock);
    }
}

/// Whether the file of a test replaces the clock.
pub(super) fn is_clock_replaced(scene: &Scene<'_>) -> bool {
    let words = [
        "freeze_time",
        "freezegun",
        "time_machine",
        "useFakeTimers",
        "setSystemTime",
        "mockdate",
        "MockDate",
        "fakeTimers",
        "Clock.fixed",
        "FakeClock",
        "fakeclock",
        "MockClock",
        "TestClock",
        "time::pause",
        "start_paused",
        "timekeeper",
        "advanceTimersBy",
        "mock.timers",
        "clockwork",
        "synctest",
    ];
    words.into_iter().any(|word| scene.file_says(word))
}

/// Whether a call reads the clock.
pub(super) fn reads_clock(value: Value<'_>) -> bool {
    let call = bare(value.expression);
    let Expression::Call { creates, .. } = call else { return false };
    let path = path(value.file, call);
    let given = arguments_of(call).len();
    match value.file.language {
        Language::Python => is_any(
            &path,
            &[
                "time.time",
                "time.time_ns",
                "datetime.now",
                "datetime.utcnow",
                "time.monotonic",
                "time.perf_counter",
                "timezone.now",
                "time.monotonic_ns",
                "time.perf_counter_ns",
            ],
        ),
        Language::Java | Language::Kotlin => {
            given == 0
                && (is_any(
                    &path,
                    &[
                        "System.currentTimeMillis",
                        "System.nanoTime",
                        "Instant.now",
                        "LocalDateTime.now",
                        "ZonedDateTime.now",
                        "OffsetDateTime.now",
                        "LocalTime.now",
                    ],
                ) || (*creates && is_any(&path, &["java.util.Date"])))
        }
        Language::JavaScript | Language::TypeScript => {
            is_any(&path, &["Date.now", "performance.now"])
                || (*creates && path == "Date" && given == 0)
        }
        Language::Go => path == "time.Now",
        Language::Rust => is_any(
            &path,
            &["SystemTime.now", "Utc.now", "Local.now", "Instant.now", "OffsetDateTime.now_utc"],
        ),
        Language::CSharp | Language::Ruby => false,
    }
}

/// The reading of the clock that a value is, by names, arithmetic and the value's own methods.
pub(super) fn reading<'p>(
    scene: &Scene<'p>,
    value: Value<'p>,
    through_calls: bool,
) -> Option<Value<'p>> {
    let mut found = None;
    scene.walk(value, &mut |piece| {
        if found.is_some() {
            return false;
        }
        if reads_clock(piece) {
            found = Some(piece);
            return false;
        }
        match bare(piece.expression) {
            call @ Expression::Call { arguments, receiver, .. } => {
                through_calls
                    || (arguments.is_empty()
                        && receiver.is_some()
                        && is_time_method(name_of(piece.file, call)))
            }
            Expression::Combine { operation, .. } => *operation != Operation::Gather,
            Expression::Name(_) | Expression::Member { .. } => true,
            Expression::Literal(_) | Expression::Lambda(_) => false,
        }
    });
    found
}

/// Methods that give a moment in another form.
fn is_time_method(name: &str) -> bool {
    matches!(
        name,
        "getTime"
            | "timestamp"
            | "isoformat"
            | "toISOString"
            | "valueOf"
            | "Unix"
            | "UnixNano"
            | "UnixMilli"
            | "toEpochMilli"
            | "date"
            | "toString"
            | "getFullYear"
            | "getYear"
            | "Year"
            | "year"
            | "getTimeInMillis"
            | "toLocalDate"
            | "unwrap"
    )
}

fn clock_compared<'p>(scene: &Scene<'p>, comparison: Comparison<'p>, found: &mut Vec<Finding>) {
    let Comparison { left, right, line, at, .. } = comparison;
    let sides = (reading(scene, left, false), reading(scene, right, false));
    let is_twice = match sides {
        (Some(one), Some(other)) => {
            one.expression.span() != other.expression.span()
                && !is_handed_on(scene, one, at)
                && !is_handed_on(scene, other, at)
        }
        _ => false,
    };
    let is_fixed = match sides {
        (Some(one), None) => is_constant(right.expression) && !is_handed_on(scene, one, at),
        (None, Some(one)) => is_constant(left.expression) && !is_handed_on(scene, one, at),
        _ => false,
    };
    let is_late = match sides {
        (Some(one), None) => is_read_late(one, left, right, at),
        (None, Some(one)) => is_read_late(one, right, left, at),
        _ => false,
    };
    if is_twice || is_fixed || is_late {
        let message = if is_twice {
            "the clock is read twice and both readings must be equal"
        } else if is_fixed {
            "a reading of the clock must equal a fixed value"
        } else {
            "the clock is read here and must give what the code read before"
        };
        found.push(Finding { line, rule: Rule::ClockCompared, message: message.to_owned() });
    }
}

/// Whether the clock is read in the assertion itself, beside what the code under test gives.
fn is_read_late(reading: Value<'_>, side: Value<'_>, other: Value<'_>, at: usize) -> bool {
    let is_here = reading.at == at;
    let is_whole = bare(side.expression).span() == bare(reading.expression).span();
    is_here
        && is_whole
        && matches!(bare(other.expression), Expression::Call { .. } | Expression::Member { .. })
}

/// Whether a reading got a name that is given to some call before an assertion: what the code gives
/// back may then be that very reading.
fn is_handed_on<'p>(scene: &Scene<'p>, reading: Value<'p>, before: usize) -> bool {
    let spans = reading.expression.span();
    let is_name = scene.steps.iter().find_map(|step| match step.deed {
        Deed::Bind { targets, value: Some(value), .. } => {
            let (start, end) = (start_of(value), value.span().end);
            let is_value = bare(value).span() == spans
                || (std::ptr::eq(step.file, reading.file)
                    && start <= spans.start
                    && spans.end <= end + 80
                    && step.span().line == spans.line);
            let name = targets.first().map(|target| step.file.text_of(bare(target).span()));
            name.filter(|_| is_value)
        }
        _ => None,
    });
    let Some(name) = is_name else { return false };
    let uses = scene.steps.iter().take(before).filter(|step| step.part != Part::After);
    for step in uses {
        if let Deed::Call { call, .. } = step.deed {
            let mentions = |it: &Expression| mentions(step.file, it, name, 0);
            if arguments_of(call).iter().any(mentions) {
                return true;
            }
        }
    }
    false
}

/// Whether a name stands somewhere in an expression.
fn mentions(file: &crate::flow::Unit, expression: &Expression, name: &str, depth: u32) -> bool {
    if depth > 20 {
        return true;
    }
    let inner = |it: &Expression| mentions(file, it, name, depth + 1);
    match expression {
        Expression::Name(span) => file.text_of(*span) == name,
        Expression::Literal(_) => false,
        Expression::Member { object, name: member } => {
            file.text_of(*member) == name || inner(object)
        }
        Expression::Call { receiver, arguments, .. } => {
            receiver.as_deref().is_some_and(inner) || arguments.iter().any(inner)
        }
        Expression::Combine { operands, .. } => operands.iter().any(inner),
        Expression::Lambda(_) => false,
    }
}

fn today_expected<'p>(scene: &Scene<'p>, comparison: Comparison<'p>, found: &mut Vec<Finding>) {
    for (side, other) in comparison.sides() {
        let Some(today) = today(scene, side) else { continue };
        let in_other = {
            let mut hit = false;
            scene.walk(other, &mut |piece| {
                hit |= piece.expression.span() == today.expression.span();
                !hit
            });
            hit
        };
        if in_other
            || self::today(scene, other).is_some()
            || is_handed_on(scene, today, comparison.at)
        {
            continue;
        }
        found.push(Finding {
            line: comparison.line,
            rule: Rule::TodayExpected,
            message: "what is expected is made of today's date, which changes at midnight"
                .to_owned(),
        });
        return;
    }
}

/// Where a value asks for today.
fn today<'p>(scene: &Scene<'p>, value: Value<'p>) -> Option<Value<'p>> {
    let mut found = None;
    scene.walk(value, &mut |piece| {
        if found.is_none() && asks_for_today(piece) {
            found = Some(piece);
        }
        let is_inside = match bare(piece.expression) {
            call @ Expression::Call { receiver, .. } => {
                receiver.is_some() && is_date_method(name_of(piece.file, call))
            }
            Expression::Name(_) | Expression::Member { .. } | Expression::Combine { .. } => true,
            Expression::Literal(_) | Expression::Lambda(_) => false,
        };
        found.is_none() && is_inside
    });
    found
}

fn is_date_method(name: &str) -> bool {
    matches!(
        name,
        "strftime"
            | "isoformat"
            | "format"
            | "toString"
            | "plusDays"
            | "minusDays"
            | "AddDate"
            | "Format"
            | "String"
            | "toDateString"
            | "replace"
            | "slice"
            | "substr"
            | "split"
    )
}

fn asks_for_today(value: Value<'_>) -> bool {
    let expression = bare(value.expression);
    let path = path(value.file, expression);
    match value.file.language {
        Language::Python => is_any(
            &path,
            &[
                "date.today",
                "datetime.today",
                "now().date",
                "utcnow().date",
                "datetime.now.year",
                "datetime.now.month",
                "datetime.now.day",
                "date.today.year",
            ],
        ),
        Language::Java | Language::Kotlin => {
            arguments_of(expression).is_empty()
                && is_any(&path, &["LocalDate.now", "Year.now", "YearMonth.now"])
        }
        Language::JavaScript | Language::TypeScript => {
            let of_now = receiver_of(expression).is_some_and(|it| {
                matches!(bare(it), Expression::Call { creates: true, arguments, .. } if arguments.is_empty())
                    && name_of(value.file, bare(it)) == "Date"
            });
            of_now
                && matches!(
                    name_of(value.file, expression),
                    "getFullYear"
                        | "getMonth"
                        | "getDate"
                        | "getDay"
                        | "toDateString"
                        | "toLocaleDateString"
                        | "getUTCFullYear"
                )
        }
        Language::Go => is_any(
            &path,
            &[
                "time.Now().Year",
                "time.Now().Month",
                "time.Now().Day",
                "time.Now().YearDay",
                "time.Now().Weekday",
            ],
        ),
        Language::Rust => is_any(
            &path,
            &[
                "Local.now().date_naive",
                "Utc.now().date_naive",
                "Utc.now().year",
                "Local.now().year",
                "Local.today",
                "Utc.today",
            ],
        ),
        Language::CSharp | Language::Ruby => false,
    }
}
