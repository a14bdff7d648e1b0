//! From the agent's messages to executions and errors, and the notes of an interpreter that is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{
    BlindSpot, Covered, Dependencies, Execution, Failure, Lines, Location, Measured, Signature,
    TestId,
};

use crate::adapter::{Error, Result};
use crate::agent::protocol::{FailureMessage, FromAgent, MeasuredMessage, ResultMessage};

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

/// The files that one interpreter has named, by their number.
#[derive(Debug, Default)]
pub(super) struct MeasuredFiles(Vec<String>);

impl MeasuredFiles {
    /// The measurement that a message means.
    pub(super) fn read(
        &mut self,
        message: MeasuredMessage,
        run_time: Duration,
    ) -> Result<Measured> {
        self.0.extend(message.files);
        let covered = match message.lines_unknown {
            Some(reason) => Covered::Unknown { reason },
            None => Covered::Lines(self.named(message.lines)?),
        };
        Ok(Measured {
            read_count: message.read_count,
            write_count: message.write_count,
            run_time,
            wait_time: message.wait_time.and_then(|time| Duration::try_from_secs_f64(time).ok()),
            context_switches: message.context_switches,
            max_threads: message.max_threads,
            max_children: message.max_children,
            max_memory: message.max_memory,
            covered,
        })
    }

    fn named(&self, lines: Vec<(usize, Lines)>) -> Result<BTreeMap<String, Lines>> {
        let mut named: BTreeMap<String, Lines> = BTreeMap::new();
        for (number, lines) in lines {
            let Some(file) = self.0.get(number) else {
                return Err(Error::Agent(format!("file {number} was covered but never named")));
            };
            // A file can be imported under two names, which are one file to the reader.
            let known = named.entry(file.clone()).or_default();
            *known = known.ranges().chain(lines.ranges()).flatten().collect();
        }
        Ok(named)
    }
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
            "opened" => drop(found.opened.insert(real_path(value))),
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

    fn message(fields: &str) -> MeasuredMessage {
        let text = format!(
            r#"{{"read_count":0,"write_count":8,"context_switches":2,"max_threads":1,
                "max_memory":4096,{fields}}}"#
        );
        serde_json::from_str(&text).expect("a message")
    }

    #[test]
    fn a_file_is_named_once_and_meant_ever_after() {
        let mut files = MeasuredFiles::default();
        let first = message(r#""files":["/a.py","/b.py"],"lines":[[0,[1,3]],[1,[7,7]]]"#);
        files.read(first, Duration::ZERO).unwrap();
        let second = message(r#""files":["/c.py"],"lines":[[2,[5,5]],[0,[2,2]]]"#);
        let read = files.read(second, Duration::from_secs(1)).unwrap();
        let lines = |line| Lines::from_iter([line]);
        let expected = [("/a.py".to_owned(), lines(2)), ("/c.py".to_owned(), lines(5))];
        assert_eq!(read.covered, Covered::Lines(BTreeMap::from(expected)));
        assert_eq!((read.run_time, read.wait_time), (Duration::from_secs(1), None));
    }

    #[test]
    fn a_number_without_a_name_is_a_fault_of_the_agent() {
        let unnamed = message(r#""lines":[[0,[1,3]]]"#);
        let read = MeasuredFiles::default().read(unnamed, Duration::ZERO);
        assert!(matches!(read, Err(Error::Agent(_))), "{read:?}");
    }

    #[test]
    fn lines_that_could_not_be_followed_say_why() {
        let blind = message(r#""lines_unknown":"a debugger is there","wait_time":0.25"#);
        let read = MeasuredFiles::default().read(blind, Duration::ZERO).unwrap();
        assert_eq!(read.covered, Covered::Unknown { reason: "a debugger is there".into() });
        assert_eq!(read.wait_time, Some(Duration::from_millis(250)));
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
