//! From the worker's messages to executions.

use std::path::Path;
use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Signature, TestId};

use super::project::Project;
use crate::agent::protocol::{FailureMessage, ResultMessage};

/// The execution that a message reports.
pub(super) fn execution(
    test: &TestId,
    message: ResultMessage,
    project: &Project,
    root: &Path,
) -> Execution {
    let module = project.place(test).map_or(0, |place| place.module);
    Execution {
        test: test.clone(),
        outcome: message.outcome,
        duration: Duration::try_from_secs_f64(message.seconds).unwrap_or_default(),
        failure: message.failure.map(|failure| self::failure(failure, project, module, root)),
        note: message.note,
        output: message.output,
        dependencies: None,
        measured: None,
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
        signature: Signature::of(&message.message, location.as_ref()),
        message: message.message.lines().next().unwrap_or_default().to_owned(),
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
}
