//! What runs beside a test: threads and tasks that nobody waits for, and the garbage collector.

use super::rule::{Finding, Rule};
use super::scene::{Scene, Use};
use super::value::{
    arguments_of, bare, follows_word, is_any, name_of, path, receiver_of, start_of,
};
use crate::Language;
use crate::flow::Expression;

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    unjoined_thread(scene, found);
    garbage_collected(scene, found);
}

/// Words of code that waits for others, or that speaks with them over a connection, which waits too.
const WAITS: &[&str] = &[
    "join",
    "wait",
    "Wait",
    "latch",
    "Latch",
    "barrier",
    "Barrier",
    "semaphore",
    "Semaphore",
    "acquire",
    "take(",
    "poll",
    "recv",
    "<-",
    "select",
    "Eventually",
    "until",
    "gather",
    "sleep",
    "Sleep",
    "get()",
    ".get(",
    "result(",
    "invokeAll",
    "awaitTermination",
    "shutdown",
    "close",
    "Queue",
    "queue",
    "Serv",
    "serv",
    "listen",
    "Listen",
    "connect",
    "Dial",
    "Lock",
    "lock",
    "channel",
    "chan ",
    "countDown",
    "yield",
    "timeout",
    "Timeout",
    "pipe",
    "Pipe",
    "signal",
    "notify",
    "Condition",
    "run_until",
    ".read(",
    "assertSoon",
    "retry",
    "interrupt",
    "cancel",
    "Cancel",
    "abort",
    "drain",
    "flush",
    "advance",
    "park",
];

fn unjoined_thread(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    if WAITS.iter().any(|word| own.contains(word)) {
        return;
    }
    for (at, step, call, used) in scene.own_calls() {
        let name = name_of(step.file, call);
        let path = path(step.file, call);
        let starts = match step.file.language {
            Language::Python => {
                let is_thread = || {
                    receiver_of(call)
                        .is_some_and(|it| made_by(scene, at, it, &["Thread", "Process"]))
                };
                (name == "start" && is_thread())
                    || (used == Use::Dropped
                        && is_any(
                            &path,
                            &["asyncio.create_task", "asyncio.ensure_future", "loop.create_task"],
                        ))
            }
            Language::Java | Language::Kotlin => {
                (name == "start"
                    && receiver_of(call).is_some_and(|it| made_by(scene, at, it, &["Thread"])))
                    || (used == Use::Dropped
                        && is_any(
                            &path,
                            &["CompletableFuture.runAsync", "CompletableFuture.supplyAsync"],
                        ))
                    || (step.file.language == Language::Kotlin
                        && used == Use::Dropped
                        && is_any(&path, &["GlobalScope.launch", "thread"]))
            }
            Language::Go => follows_word(step.file, start_of(call), "go"),
            Language::Rust => {
                used == Use::Dropped
                    && is_any(&path, &["thread.spawn", "tokio.spawn", "task.spawn"])
            }
            Language::JavaScript | Language::TypeScript | Language::CSharp | Language::Ruby => {
                false
            }
        };
        if starts && step.frame == 0 && scene.asserts_after(at) {
            found.push(unjoined(call.span().line));
            return;
        }
    }
    if scene.file.language == Language::Go && own.contains("go func") {
        let goroutine = scene.steps.iter().position(|step| step.handed_to == "go");
        let asserts = goroutine
            .is_some_and(|at| scene.assertions().any(|(place, it)| place > at && it.frame == 0));
        if let Some(at) = goroutine.filter(|_| asserts) {
            found.push(unjoined(scene.steps[at].span().line));
        }
    }
}

fn unjoined(line: u32) -> Finding {
    Finding {
        line,
        rule: Rule::UnjoinedThread,
        message: "nobody waits for what is started here before the test asserts".to_owned(),
    }
}

/// Whether a value was created as one of these.
fn made_by<'p>(scene: &Scene<'p>, at: usize, value: &'p Expression, kinds: &[&str]) -> bool {
    let mut maker = bare(value);
    if let Expression::Name(span) = maker {
        let value = scene.value(at, maker);
        match scene.given(value.text(*span), value) {
            Some(given) => maker = bare(given.value.expression),
            None => return false,
        }
    }
    matches!(maker, Expression::Call { .. }) && kinds.contains(&name_of(scene.file, maker))
}

fn garbage_collected(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    let about = ["Reference", "Weak", "weak", "inaliz", "Cleanup", "Cleaner", "leak", "Leak"];
    if !about.iter().any(|word| own.contains(word)) {
        return;
    }
    // Who collects in a loop asks again.
    let asks_again = scene
        .own_calls()
        .any(|(_, step, call, _)| step.in_loop && matches!(name_of(step.file, call), "gc" | "GC"));
    if asks_again {
        return;
    }
    for (at, step, call, _) in scene.own_calls() {
        let path = path(step.file, call);
        let collects = match step.file.language {
            Language::Java | Language::Kotlin => {
                is_any(&path, &["System.gc"]) || (path.ends_with(".gc") && path.contains("untime"))
            }
            Language::JavaScript | Language::TypeScript => {
                is_any(&path, &["global.gc", "globalThis.gc", "Bun.gc"])
            }
            Language::Go => path == "runtime.GC",
            Language::Python | Language::Rust | Language::CSharp | Language::Ruby => false,
        };
        if collects && !step.in_loop && arguments_of(call).len() <= 1 && scene.asserts_after(at) {
            found.push(Finding {
                line: call.span().line,
                rule: Rule::GarbageCollected,
                message: "asking for a collection does not mean that it has happened".to_owned(),
            });
            return;
        }
    }
}
