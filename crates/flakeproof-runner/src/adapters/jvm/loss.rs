//! What is told of a test that takes its JVM with it: it crashed, or it hung.

use std::time::{Duration, Instant};

use crossbeam_channel::{after, select, tick};
use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::Session;
use super::launch::Started;
use crate::process::{Death, Guarded, ask_for_threads};

/// How long a process that is gone may take to be heard of.
const DEATH: Duration = Duration::from_secs(5);
/// How long a hanging JVM may take to print where it hangs.
const DUMP: Duration = Duration::from_secs(3);
/// Characters of a crash report or of last words that are kept.
const LONGEST: usize = 16 * 1024;
/// How a thread dump begins.
const HEAD_OF_DUMP: &str = "Full thread dump";

/// How a process died.
pub(super) fn death(session: &Session, pid: u32) -> Option<Death> {
    session.hub.death_of(pid, DEATH)
}

/// The execution of a test with which its JVM died.
pub(super) fn crashed(
    test: &TestId,
    death: Option<Death>,
    begin: Instant,
    started: &mut Started,
) -> Execution {
    let message = match death {
        Some(Death::Signal(9)) => "the JVM was killed by SIGKILL, by the out-of-memory killer or \
            by somebody else"
            .to_owned(),
        Some(death @ Death::Signal(_)) => format!("the JVM died: {death}"),
        Some(death @ Death::Exit(_)) => format!("the JVM ended itself: {death}"),
        None => "the JVM died in an unknown way".to_owned(),
    };
    started.guard.end();
    let text = match crash_report(started) {
        Some(report) => report,
        None => end(&started.guard.stderr()).to_owned(),
    };
    lost(test, Outcome::Crashed, message, text, begin)
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
    lost(test, Outcome::TimedOut, message, text, begin)
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

fn lost(
    test: &TestId,
    outcome: Outcome,
    message: String,
    text: String,
    begin: Instant,
) -> Execution {
    let text = if text.trim().is_empty() { message.clone() } else { text };
    Execution {
        test: test.clone(),
        outcome,
        duration: begin.elapsed(),
        failure: Some(Failure {
            phase: Phase::Call,
            // With the test as its place: two crashes are not one failure by that alone.
            signature: Signature::of(
                &format!("{outcome}: {message}"),
                Some(&Location { file: test.to_string(), line: None }),
            ),
            message,
            text,
            location: None,
        }),
        note: None,
        output: String::new(),
        dependencies: None,
        measured: None,
    }
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
    use super::*;

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
