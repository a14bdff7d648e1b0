//! Waiting: for a fixed time, not long enough, or not at all.

use super::duration::seconds;
use super::rule::{Finding, Rule};
use super::scene::{Deed, Scene, Step, Use};
use super::time::is_clock_replaced;
use super::value::{
    Value, arguments_of, bare, follows_word, is_any, name_of, number, path, receiver_of, start_of,
};
use crate::Language;
use crate::flow::{Expression, Statement};

/// A deadline below this many seconds is missed by a busy machine.
const SHORT: f64 = 1.0;

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    sleep_before_assert(scene, found);
    short_timeout(scene, found);
    short_limit(scene, found);
    if matches!(scene.file.language, Language::JavaScript | Language::TypeScript) {
        unawaited_promise(scene, found);
        assertion_in_callback(scene, found);
    }
}

fn sleep_before_assert(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    // Virtual time, or a sleep that was replaced.
    let is_virtual = || {
        own.contains("runTest")
            || (own.contains("patch") && own.contains("sleep"))
            || is_clock_replaced(scene)
    };
    for (at, step, call, used) in scene.own_calls() {
        // A sleep that somebody keeps, or chooses among others, is no pause of the test.
        if used == Use::Value {
            continue;
        }
        let is_own = step.frame == 0 && !step.in_loop && !step.in_handler && !step.in_raises;
        let Some(length) = sleep(scene.value(at, call), used).filter(|_| is_own) else { continue };
        if length == Some(0.0) || !asserts_more_than_time(scene, at) {
            continue;
        }
        // A search through the whole file, which few tests need.
        if is_virtual() {
            return;
        }
        let length = length.map_or(String::new(), |length| format!("{length} s "));
        found.push(Finding {
            line: call.span().line,
            rule: Rule::SleepBeforeAssert,
            message: format!("the test sleeps {length}and hopes that this is long enough"),
        });
        return;
    }
}

/// Whether something other than the time taken is asserted after a step.
fn asserts_more_than_time(scene: &Scene<'_>, at: usize) -> bool {
    scene.assertions().any(|(place, step)| {
        let Deed::Assert { words, operands, .. } = step.deed else { return false };
        let is_time = |it: &Expression| {
            let start = start_of(it) as usize;
            let end = operands.last().map_or(start, |last| last.span().end as usize).max(start);
            let text = step.file.text.get(start..end).unwrap_or_default().to_ascii_lowercase();
            ["elapsed", "duration", "since(", "time()", "now()", "took"]
                .iter()
                .any(|it| text.contains(it))
        };
        place > at && step.frame == 0 && !words.is_empty() && !operands.iter().any(is_time)
    })
}

/// How long a call sleeps; `Some(None)` where that is not written there.
fn sleep(value: Value<'_>, used: Use) -> Option<Option<f64>> {
    let call = bare(value.expression);
    let path = path(value.file, call);
    let name = name_of(value.file, call);
    let arguments = arguments_of(call);
    let first = arguments.first().map(|it| Value { expression: it, ..value });
    let length = || first.and_then(|it| seconds(it, None));
    let sleeps = match value.file.language {
        Language::Python => is_any(
            &path,
            &[
                "time.sleep",
                "asyncio.sleep",
                "anyio.sleep",
                "trio.sleep",
                "gevent.sleep",
                "gen.sleep",
            ],
        ),
        Language::Java | Language::Kotlin => {
            is_any(&path, &["Thread.sleep", "SystemClock.sleep"])
                || path.contains("TimeUnit.") && name == "sleep"
                || (value.file.language == Language::Kotlin
                    && name == "delay"
                    && arguments.len() == 1)
        }
        Language::JavaScript | Language::TypeScript => {
            let is_named = matches!(
                name,
                "sleep" | "delay" | "wait" | "setTimeout" | "timeout" | "pause" | "waitForTimeout"
            );
            if used == Use::Awaited && name == "Promise" {
                return promise_timer(value, call).map(Some);
            }
            let given = arguments.iter().find_map(|it| number(value.file, it));
            if used == Use::Awaited && is_named && given.is_some() {
                return Some(given.map(|it| it / 1e3));
            }
            false
        }
        Language::Go => path == "time.Sleep",
        Language::Rust => {
            is_any(&path, &["thread.sleep", "time.sleep", "task.sleep", "tokio.time.sleep"])
        }
        Language::CSharp | Language::Ruby => false,
    };
    sleeps.then(length)
}

/// How long `new Promise((resolve) => setTimeout(resolve, 100))` takes.
fn promise_timer(value: Value<'_>, call: &Expression) -> Option<f64> {
    let [Expression::Lambda(function)] = arguments_of(call) else { return None };
    let [Statement::Evaluate(inner) | Statement::Return(Some(inner))] = function.body.as_slice()
    else {
        return None;
    };
    let inner = bare(inner);
    let length = arguments_of(inner).get(1).and_then(|it| number(value.file, it))?;
    (name_of(value.file, inner) == "setTimeout").then_some(length / 1e3)
}

fn short_timeout(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    let expects =
        ["TimeoutException", "TimeoutError", "Timeout)", "DeadlineExceeded", "is_err", "Elapsed"];
    if expects.iter().any(|word| own.contains(word)) || is_clock_replaced(scene) {
        return;
    }
    for (at, step, call, _) in scene.own_calls() {
        let is_own = step.frame == 0 && !step.in_raises && !step.in_handler && !step.in_loop;
        if !is_own {
            continue;
        }
        let limit = time_limit(scene, at, step, call);
        if let Some(limit) = limit.filter(|limit| *limit > 0.0 && *limit < SHORT) {
            found.push(short(call.span().line, limit));
            return;
        }
    }
    for (_, step) in scene.assertions() {
        let Deed::Assert { words, operands, line } = step.deed else { continue };
        let words: Vec<&str> = words.iter().map(|word| step.file.text_of(*word)).collect();
        let is_wait = words.iter().any(|word| {
            matches!(
                *word,
                "Eventually"
                    | "Eventuallyf"
                    | "EventuallyWithT"
                    | "assertTimeout"
                    | "assertTimeoutPreemptively"
            )
        });
        if !is_wait {
            continue;
        }
        let limit = operands
            .iter()
            .find_map(|it| seconds(Value { expression: it, file: step.file, at: 0 }, None));
        if let Some(limit) = limit.filter(|limit| *limit > 0.0 && *limit < SHORT) {
            found.push(short(line, limit));
            return;
        }
    }
}

fn short(line: u32, limit: f64) -> Finding {
    Finding {
        line,
        rule: Rule::ShortTimeout,
        message: format!("the test gives up after {limit} s, which a busy machine may need"),
    }
}

/// How long a call waits for what the test needs, in seconds.
fn time_limit(scene: &Scene<'_>, at: usize, step: &Step<'_>, call: &Expression) -> Option<f64> {
    let file = step.file;
    let path = path(file, call);
    let name = name_of(file, call);
    let arguments = arguments_of(call);
    let length = |place: usize| {
        let it = arguments.get(place)?;
        seconds(Value { expression: it, file, at }, arguments.get(place + 1))
    };
    match file.language {
        Language::Java | Language::Kotlin => match name {
            "atMost" => length(0),
            "await" | "awaitTermination" if arguments.len() == 2 => {
                length(0).filter(|_| is_required(scene, at, call))
            }
            "get" if arguments.len() == 2 && path.to_lowercase().contains("future") => length(0),
            _ => None,
        },
        Language::Python => {
            let keyword =
                arguments.iter().position(|it| follows_text(file, start_of(it), "timeout="));
            match name {
                "wait_for" if is_any(&path, &["asyncio.wait_for"]) => length(keyword.unwrap_or(1)),
                "result" => keyword.and_then(length),
                "wait" => {
                    let place = keyword.or((arguments.len() == 1).then_some(0))?;
                    length(place).filter(|_| is_required(scene, at, call))
                }
                _ => None,
            }
        }
        Language::JavaScript | Language::TypeScript => match name {
            "timeout" if path == "this.timeout" => length(0),
            "setTimeout" if matches!(path.as_str(), "jest.setTimeout") => length(0),
            _ => None,
        },
        Language::Go => {
            let fails = scene.steps.get(at + 1).is_some_and(|next| {
                next.in_branch && matches!(next.deed, Deed::Assert { words, .. }
                    if words.iter().any(|word| matches!(file.text_of(*word), "Fatal" | "Fatalf" | "Error" | "Errorf" | "FailNow")))
            });
            if path == "time.After" && fails { length(0) } else { None }
        }
        Language::Rust => {
            let waits = matches!(name, "unwrap" | "expect")
                .then(|| receiver_of(call))
                .flatten()
                .map(bare)?;
            let waits_name = name_of(file, waits);
            let is_wait = waits_name == "recv_timeout"
                || (waits_name == "timeout" && super::value::path(file, waits).contains("time"));
            let first = arguments_of(waits).first().filter(|_| is_wait)?;
            seconds(Value { expression: first, file, at }, None)
        }
        Language::CSharp | Language::Ruby => None,
    }
}

/// Whether an assertion asks that a call gives true.
fn is_required(scene: &Scene<'_>, at: usize, call: &Expression) -> bool {
    scene.steps.iter().skip(at).take(3).any(|step| {
        let Deed::Assert { words, operands, .. } = step.deed else { return false };
        let is_it = operands.first().is_some_and(|it| std::ptr::eq(bare(it), call));
        let is_true = words.iter().all(|word| {
            matches!(step.file.text_of(*word), "assertTrue" | "assert" | "assertThat" | "isTrue")
        });
        is_it && is_true && operands.len() <= 2
    })
}

/// The limit that a mark sets for the whole test.
fn short_limit(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    if !matches!(scene.file.language, Language::Java | Language::Kotlin) {
        return;
    }
    let marks = scene.function.marks.iter();
    for mark in marks {
        let text: String = scene.file.text_of(*mark).split_whitespace().collect();
        let digits = |after: &str| {
            let rest = text.split_once(after)?.1;
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
            rest.get(..end)?.replace('_', "").parse::<f64>().ok()
        };
        let limit = if text.contains("@Timeout(") {
            let value = digits("value=").or_else(|| digits("@Timeout("));
            value.filter(|_| text.contains("MILLISECONDS")).map(|it| it / 1e3)
        } else if text.contains("Test(") {
            digits("timeout=").or_else(|| digits("timeOut=")).map(|it| it / 1e3)
        } else {
            None
        };
        if let Some(limit) = limit.filter(|limit| *limit > 0.0 && *limit < SHORT) {
            found.push(short(mark.line, limit));
        }
    }
}

fn follows_text(file: &crate::flow::Unit, start: u32, text: &str) -> bool {
    file.text.get(..start as usize).unwrap_or_default().trim_end().ends_with(text)
}

fn unawaited_promise(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for (_, step) in scene.assertions() {
        let Deed::Assert { words, line, .. } = step.deed else { continue };
        let is_promise = words.iter().any(|word| {
            matches!(
                step.file.text_of(*word),
                "resolves" | "rejects" | "eventually" | "rejectedWith" | "fulfilled"
            )
        });
        // `assert.rejects(…)` gives a promise too.
        let Some(first) = words.first().filter(|_| is_promise) else { continue };
        let before = step.file.text.get(..first.start as usize).unwrap_or_default().trim_end();
        let before = before.strip_suffix("assert.").map_or(before, str::trim_end);
        let is_used = ["=>", "(", "[", ",", "=", "?", ":", "&&", "||", "."]
            .iter()
            .any(|it| before.ends_with(it))
            || ["await", "return", "yield", "void"].iter().any(|word| {
                follows_word(step.file, u32::try_from(before.len()).unwrap_or(0), word)
            });
        if !is_used {
            found.push(Finding {
                line,
                rule: Rule::UnawaitedPromise,
                message: "nobody waits for this promise: the test ends before it is checked"
                    .to_owned(),
            });
        }
    }
}

fn assertion_in_callback(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    if !scene.function.parameters.is_empty() || own.contains("Promise") || is_clock_replaced(scene)
    {
        return;
    }
    for (_, step, call, used) in scene.own_calls() {
        let name = name_of(step.file, call);
        let is_later = matches!(name, "setTimeout" | "then" | "setImmediate" | "nextTick");
        if step.frame != 0 || used != Use::Dropped || !is_later || step.in_raises {
            continue;
        }
        let span = arguments_of(call).iter().find_map(|it| match it {
            Expression::Lambda(function) => Some(function.span),
            _ => None,
        });
        let Some(span) = span else { continue };
        let inside = scene.assertions().find(|(_, it)| {
            let start = it.span().start;
            it.frame != 0 && (span.start..span.end).contains(&start)
        });
        if let Some((_, assertion)) = inside {
            found.push(Finding {
                line: assertion.span().line,
                rule: Rule::AssertionInCallback,
                message: format!("`{name}` runs this assertion later, and nobody waits for it"),
            });
        }
    }
}
