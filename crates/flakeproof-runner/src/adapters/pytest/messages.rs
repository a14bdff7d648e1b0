//! From the agent's messages to executions and errors, and the notes of an interpreter that is gone.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{BlindSpot, Dependencies, Execution, Failure, Location, Signature, TestId};

use crate::adapter::{Error, Result};
use crate::agent::MeasuredFiles;
use crate::agent::protocol::{FailureMessage, FromAgent, ResultMessage};
use crate::opens::links_on_the_way;

/// The error in a message that is no answer to what was asked.
pub(super) fn unexpected(message: FromAgent) -> Error {
    match message {
        FromAgent::Spoilt { reason } => Error::EnvironmentLost {
            cause: format!("what earlier tests had set up could not be torn down: {reason}"),
        },
        FromAgent::Trouble { text } => Error::Agent(text),
        other => Error::Agent(format!("an unexpected message: {other:?}")),
    }
}

/// The execution that a message reports; places below the root are written relative to it.
pub(super) fn execution(
    test: &TestId,
    message: ResultMessage,
    root: &str,
    files: &mut MeasuredFiles,
) -> Result<Execution> {
    let duration = Duration::try_from_secs_f64(message.seconds).unwrap_or_default();
    let measured = message.measured.map(|measured| files.read(measured, duration)).transpose()?;
    Ok(Execution {
        test: test.clone(),
        outcome: message.outcome,
        duration,
        failure: message.failure.map(|failure| self::failure(failure, root)),
        note: message.note,
        output: message.output,
        dependencies: message.dependencies,
        measured: measured.map(Box::new),
    })
}

/// The failure that a message reports.
fn failure(message: FailureMessage, root: &str) -> Failure {
    let location = message.file.map(|file| {
        let relative = Path::new(&file).strip_prefix(root).ok().and_then(Path::to_str);
        Location { file: relative.unwrap_or(&file).to_owned(), line: message.line }
    });
    Failure {
        phase: message.phase,
        signature: Signature::compute(&message.message, location.as_ref()),
        message: message.message.lines().next().unwrap_or_default().to_owned(),
        text: message.text,
        location,
    }
}

/// Parts of a frame's path that belong to the machinery between the interpreter and the test.
const MACHINERY: [&str; 5] =
    ["/_pytest/", "/pluggy/", "/flakeproof_agent/", "<frozen runpy>", "/pytest/__main__.py"];

/// The dump without the frames of pytest and of the agent, which are the same for every test.
pub(super) fn without_machinery(dump: &str) -> String {
    let is_machinery = |line: &str| {
        line.trim_start().starts_with("File ") && MACHINERY.iter().any(|part| line.contains(part))
    };
    let lines: Vec<&str> = dump.lines().filter(|line| !is_machinery(line)).collect();
    lines.join("\n")
}

/// Read the notes that the agent's probe wrote as it went; `None` if it wrote none.
pub(super) fn read_touched(folder: &Path) -> Option<Dependencies> {
    let notes = std::fs::read(folder.join("touched")).ok()?;
    Some(parse_touched(&String::from_utf8_lossy(&notes), |path| {
        let real = std::fs::canonicalize(path).ok();
        real.map_or_else(|| path.to_owned(), |real| real.to_string_lossy().into_owned())
    }))
}

/// The dependencies in `kind value` lines; the last line may be torn by the process's end.
fn parse_touched(notes: &str, real_path: impl Fn(&str) -> String) -> Dependencies {
    let mut found = Dependencies::default();
    let complete = notes.rfind('\n').map_or("", |end| &notes[..end]);
    let mut programs = BTreeSet::new();
    let mut servers = BTreeSet::new();
    let mut libraries = BTreeSet::new();
    for (kind, value) in complete.lines().filter_map(|line| line.split_once(' ')) {
        match kind {
            "code" => drop(found.code.insert(real_path(value))),
            "opened" => {
                found.opened.extend(links_on_the_way(value));
                found.opened.insert(real_path(value));
            }
            "listed" => drop(found.listed.insert(real_path(value))),
            "variable" => drop(found.variables.insert(value.to_owned())),
            "server" => drop(servers.insert(value.to_owned())),
            "native" => drop(libraries.insert(value.to_owned())),
            // A kind that is not known here cannot be followed either.
            _ => drop(programs.insert(value.to_owned())),
        }
    }
    let processes = programs.into_iter().map(|program| BlindSpot::Process { program });
    let servers = servers.into_iter().map(|address| BlindSpot::Server { address });
    let native = libraries.into_iter().map(|library| BlindSpot::NativeCode { library });
    found.blind_spots = processes.chain(servers).chain(native).collect();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_frames_of_pytest_and_of_the_agent_go() {
        let dump = "Fatal Python error: Segmentation fault\n\n\
                    Current thread 0x1 (most recent call first):\n  \
                    File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n  \
                    File \"/p/tests/test_a.py\", line 3 in test_crash\n  \
                    File \"/v/site-packages/_pytest/python.py\", line 159 in pytest_pyfunc_call\n  \
                    File \"/v/site-packages/pluggy/_manager.py\", line 183 in _hookexec\n\n\
                    Extension modules: a, b";
        let left = without_machinery(dump);
        assert!(left.contains("string_at") && left.contains("test_crash"));
        assert!(left.contains("Extension modules"));
        assert!(!left.contains("_hookexec") && !left.contains("pytest_pyfunc_call"));
    }

    #[test]
    fn a_torn_last_line_is_left_out() {
        let found =
            parse_touched("code /a.py\nopened /b c.txt\nprogram node\ncode /tor", str::to_owned);
        assert_eq!(found.code, BTreeSet::from(["/a.py".to_owned()]));
        assert_eq!(found.opened, BTreeSet::from(["/b c.txt".to_owned()]));
        assert_eq!(found.blind_spots, [BlindSpot::Process { program: "node".into() }]);
    }
}
