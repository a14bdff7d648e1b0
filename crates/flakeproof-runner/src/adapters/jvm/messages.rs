//! From the worker's messages to executions, and what is told of a test that takes its JVM with it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{after, select, tick};
use flakeproof_core::{Execution, Failure, Location, Outcome, Signature, TestId, headline};

use super::JvmSession;
use super::launch::Started;
use super::project::Project;
use crate::adapters::lost::{describe_death, lost_with_process};
use crate::agent::protocol::{FailureMessage, ResultMessage};
use crate::process::{Death, Guarded, ask_for_threads};

/// The execution that a message reports.
pub(super) fn execution(
    test: &TestId,
    message: ResultMessage,
    project: &Project,
    root: &Path,
) -> Execution {
    let module = project.place(test).map_or(0, |place| place.module);
    Execution {
        failure: message.failure.map(|failure| self::failure(failure, project, module, root)),
        note: message.note,
        output: message.output,
        ..Execution::new(
            test.clone(),
            message.outcome,
            Duration::try_from_secs_f64(message.seconds).unwrap_or_default(),
        )
    }
}

fn failure(message: FailureMessage, project: &Project, module: usize, root: &Path) -> Failure {
    let innermost = frames(&message.text).find_map(|frame| {
        let file = project.source_of_class(module, frame.class, root)?;
        Some(Location { file, line: frame.line })
    });
    let named = message.file.map(|named| Location {
        file: project.source(module, &named, root).unwrap_or(named),
        line: message.line,
    });
    let location = innermost.or(named);
    Failure {
        phase: message.phase,
        signature: Signature::compute(&message.message, location.as_ref()),
        message: headline(&message.message),
        text: message.text,
        location,
    }
}

/// A place in a stack trace.
#[derive(Debug, PartialEq, Eq)]
struct Frame<'a> {
    class: &'a str,
    line: Option<u32>,
}

/// The frames of the exception itself, innermost first; those of its causes come after it.
fn frames(trace: &str) -> impl Iterator<Item = Frame<'_>> {
    let own = trace.lines().take_while(|line| !line.starts_with("Caused by: "));
    own.filter_map(|line| {
        let (call, place) = line.strip_prefix("\tat ")?.split_once('(')?;
        // A loader or a module may stand before the class: `app//com.acme.Foo.bar`.
        let call = call.rsplit('/').next().unwrap_or(call);
        let (class, _) = call.rsplit_once('.')?;
        let line = place.trim_end_matches(')').rsplit_once(':').and_then(|(_, it)| it.parse().ok());
        Some(Frame { class, line })
    })
}

/// The case of each numbered invocation, as it was first seen.
///
/// `Set.of`, and sets of enums or of objects without a hash of their own, come in another order in each
/// JVM. Where they are the arguments of a test, its third invocation is another case each time, and a pass
/// of it says nothing of the failure before.
#[derive(Debug, Default)]
pub(super) struct Cases(Mutex<HashMap<TestId, String>>);

impl Cases {
    /// Whether this case belongs to another invocation of the same method. What nobody had before may
    /// be new in each JVM (an address, the time), and says nothing.
    pub(super) fn is_of_another(&self, test: &TestId, case: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = known.entry(test.clone()).or_insert_with(|| case.to_owned());
        first != case
            && known.iter().any(|(other, of_other)| {
                other != test && of_other == case && method(other) == method(test)
            })
    }
}

/// An id without its number.
fn method(test: &TestId) -> &str {
    let text = test.as_str();
    text.rsplit_once('[').map_or(text, |(method, _)| method)
}

/// How long a process that is gone may take to be heard of.
const DEATH: Duration = Duration::from_secs(5);
/// How long a hanging JVM may take to print where it hangs.
const DUMP: Duration = Duration::from_secs(3);
/// Characters of a crash report or of last words that are kept.
const LONGEST: usize = 16 * 1024;
/// How a thread dump begins.
const HEAD_OF_DUMP: &str = "Full thread dump";

/// How a process died.
pub(super) fn death(session: &JvmSession, pid: u32) -> Option<Death> {
    session.hub.death_of(pid, DEATH)
}

/// The execution of a test with which its JVM died.
pub(super) fn crashed(
    test: &TestId,
    death: Option<Death>,
    begin: Instant,
    started: &mut Started,
) -> Execution {
    let message = describe_death("the JVM", death);
    started.guard.end();
    let text = match crash_report(started) {
        Some(report) => report,
        None => end(&started.guard.stderr()).to_owned(),
    };
    lost_with_process(test, Outcome::Crashed, begin.elapsed(), message, text)
}

/// What a JVM wrote about its own crash: the beginning, which tells what happened and where.
pub(super) fn crash_report(started: &Started) -> Option<String> {
    let report = std::fs::read(started.scratch.path().join("crash.log")).ok()?;
    Some(beginning(&String::from_utf8_lossy(&report)).to_owned())
}

/// The execution of a test that did not end in time.
pub(super) fn hung(test: &TestId, limit: Duration, begin: Instant, stacks: &str) -> Execution {
    let mut message = format!("still running after {limit:?}, the time limit for one test");
    if stacks.contains("Java-level deadlock") {
        message.push_str("; its threads are in a deadlock");
    }
    let text = format!("{message}\n\n{stacks}");
    lost_with_process(test, Outcome::TimedOut, begin.elapsed(), message, text)
}

/// Where the threads of a JVM are.
pub(super) fn thread_dump(pid: u32, guard: &Guarded) -> String {
    let before = guard.stdout().matches(HEAD_OF_DUMP).count();
    ask_for_threads(pid);
    let (ticks, patience) = (tick(Duration::from_millis(50)), after(DUMP));
    let mut seen = String::new();
    loop {
        select! {
            recv(ticks) -> _ => {
                let now = guard.stdout();
                // It ends with the heap; without that, it has ended when nothing more comes.
                let is_there = now.matches(HEAD_OF_DUMP).count() > before;
                if is_there && now == seen {
                    break;
                }
                seen = now;
            }
            recv(patience) -> _ => break,
        }
    }
    match seen.rfind(HEAD_OF_DUMP) {
        Some(at) => without_heap(&seen[at..]),
        None => String::new(),
    }
}

/// A dump without what it says about memory.
fn without_heap(dump: &str) -> String {
    let end = dump.find("\nHeap\n").unwrap_or(dump.len());
    dump[..end].trim_end().to_owned()
}

fn beginning(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

fn end(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or_default()..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_are_read_with_and_without_modules_and_lines() {
        let trace = "java.net.BindException: in use\n\
            \tat java.base/sun.nio.ch.Net.bind(Native Method)\n\
            \tat app//com.acme.Till.open(Till.java:10)\n\
            \tat com.acme.TillTest.sells(TillTest.java:7)\n\
            Caused by: java.io.IOException\n\
            \tat com.acme.Other.call(Other.java:3)\n";
        let found: Vec<_> = frames(trace).map(|frame| (frame.class, frame.line)).collect();
        let expected =
            [("sun.nio.ch.Net", None), ("com.acme.Till", Some(10)), ("com.acme.TillTest", Some(7))];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_a_trace(text in "(\tat [a-z./()0-9:]{0,20}\n|.*\n){0,5}") {
            frames(&text).count();
        }
    }

    fn id(text: &str) -> TestId {
        TestId::from(text)
    }

    #[test]
    fn an_invocation_that_changed_places_is_of_another() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(!cases.is_of_another(&id("T#t[2]"), "blue"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(cases.is_of_another(&id("T#t[1]"), "blue"));
    }

    #[test]
    fn a_case_that_is_new_each_time_is_the_tests_own() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "Shop@1a2b"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "Shop@3c4d"));
    }

    #[test]
    fn another_method_may_have_the_same_case() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(!cases.is_of_another(&id("T#u[1]"), "blue"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "blue"));
    }

    #[test]
    fn a_deadlock_is_named() {
        let stacks = "Full thread dump\n\nFound one Java-level deadlock:\n";
        let test = TestId::from("a.ATest#hangs");
        let execution = hung(&test, Duration::from_secs(3), Instant::now(), stacks);
        let failure = execution.failure.expect("a failure");
        assert!(failure.message.contains("deadlock"), "{}", failure.message);
        assert!(failure.text.contains("Found one"), "{}", failure.text);
    }

    #[test]
    fn the_heap_is_no_part_of_where_threads_are() {
        assert_eq!(
            without_heap("Full thread dump\n\"main\"\n\nHeap\n young"),
            "Full thread dump\n\"main\""
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(LONGEST);
        assert!(beginning(&long).len() <= LONGEST);
        assert!(end(&long).len() <= LONGEST);
    }
}
