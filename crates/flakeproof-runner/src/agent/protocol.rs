//! The messages between flakeproof and its agents, version 4: one JSON object per line.
//!
//! The page `docs/reference/agent-protocol.md` describes them for those who write an agent.

use flakeproof_core::{CollectionProblem, Dependencies, Lines, Outcome, Phase, State};
use serde::{Deserialize, Serialize};

use crate::process::Usage;

/// The version that both sides must speak.
pub const VERSION: u32 = 4;

/// What flakeproof asks of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum ToAgent {
    /// Collect the suite, or only these tests.
    Collect {
        /// The tests to keep; `None` for all that the command selects.
        only: Option<Vec<Wanted>>,
    },
    /// Announce the order in which tests will run, as indices of the collected suite.
    Order {
        /// The tests.
        tests: Vec<usize>,
        /// Whether something comes after them that is not decided yet.
        open: bool,
        /// What would come after them, which decides what is torn down with the last of them.
        next: Option<usize>,
    },
    /// Run the announced order from here until a test fails.
    Run {
        /// A position in the announced order.
        from: usize,
        /// Counts the attempts at these tests from 1.
        attempt: u32,
        /// Whether to measure what each test uses and covers.
        measure: bool,
    },
    /// Run one test again, out of the order.
    Rerun {
        /// The test.
        test: usize,
        /// The test after it, which decides what is torn down.
        then: Option<usize>,
        /// Counts the attempts at this test from 1.
        attempt: u32,
        /// Whether to measure what it uses and covers.
        measure: bool,
    },
    /// Make a copy of this process that connects under this name.
    Snapshot {
        /// The copy's name.
        name: String,
        /// A folder for the copy's temporary files and output.
        scratch: String,
        /// The number by which tests tell processes apart; `None` for that of the original.
        worker: Option<u32>,
    },
    /// Run these tests one after the other; results name positions of this order.
    RunOrder {
        /// The tests.
        tests: Vec<OrderedTest>,
        /// Whether to describe, at its end, what tests can leave behind, and what that was before.
        looks: bool,
    },
    /// Describe what tests can leave behind.
    Look,
    /// End this environment, and begin another one in the same process.
    Renew,
    /// Tear down and end.
    Bye,
}

/// A test of an order that is run in one go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderedTest {
    /// Its id within its file.
    pub id: String,
    /// The absolute path of its file.
    pub file: String,
    /// Counts the attempts at this test from 1.
    pub attempt: u32,
}

/// A test to collect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// Its id.
    pub id: String,
    /// The file it is in, if that is known.
    pub file: Option<String>,
    /// Its case, where the id alone does not tell it.
    pub case: Option<String>,
}

/// What an agent, or the guard of its process, reports.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromAgent {
    /// First message on a connection: who this is.
    Hello(Hello),
    /// The session cannot be run; the connection ends.
    Refused {
        /// Who this is.
        name: String,
        /// `python`, `xdist` or `debugger`.
        reason: String,
        /// More about it.
        detail: String,
    },
    /// What was collected.
    Collected(Collected),
    /// The announced order can begin.
    Ready,
    /// What earlier tests left set up could not be torn down: no test can run here any more.
    Spoilt {
        /// What the teardown raised.
        reason: String,
    },
    /// A test, or the set-up of its class, begins: what dies now dies of it.
    Begins {
        /// The test, as an index of the collected suite.
        test: usize,
    },
    /// No test runs, and none will before the next request.
    Paused,
    /// One execution ended.
    Result(Box<ResultMessage>),
    /// What tests can leave behind, as it is.
    State {
        /// All of it.
        things: State,
        /// What things that came to be since the beginning were then, where that is known.
        #[serde(default)]
        initial: State,
    },
    /// Another environment can begin in this process.
    Renewed {
        /// Why it would not be as in a new process, if so: then none begins.
        #[serde(default)]
        reason: Option<String>,
    },
    /// The framework ended the session, for example at `--maxfail`.
    Stopped {
        /// Its reason.
        reason: String,
    },
    /// A test, or a signal, ended the session.
    Interrupted {
        /// The test that was running.
        test: usize,
        /// The exception.
        reason: String,
    },
    /// The user's own session ended.
    Ended {
        /// Its exit code.
        exit: i32,
        /// Whether something else than a test made it fail: a coverage threshold, a plugin.
        besides_tests: bool,
    },
    /// The project has the framework repeat tests that fail, and here it does not.
    RetriesOff,
    /// A fault of the agent or of the framework itself.
    Trouble {
        /// All that is known about it.
        text: String,
    },
    /// Guard: the command runs.
    Started {
        /// Its process.
        pid: u32,
    },
    /// Guard: the command cannot be started.
    Unstartable {
        /// What the system said.
        cause: String,
    },
    /// Guard: a process ended.
    Died {
        /// Which.
        pid: u32,
        /// Its exit code, if it ended itself.
        #[serde(default)]
        code: Option<i32>,
        /// The signal, if one ended it.
        #[serde(default)]
        signal: Option<i32>,
        /// What it used, and others below the guard that ended before.
        #[serde(default)]
        used: Option<Usage>,
    },
}

/// Who connects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// The name that flakeproof gave it.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// The protocol's version; copies and guards need not repeat it.
    #[serde(default)]
    pub protocol: Option<u32>,
    /// What proves that it was started by us, where others could connect as well.
    #[serde(default)]
    pub token: String,
    /// The runtime's version.
    #[serde(default)]
    pub runtime: String,
    /// The framework's version.
    #[serde(default)]
    pub framework: String,
    /// Where the runtime looks for packages.
    #[serde(default)]
    pub path: Vec<String>,
}

/// Processes that a runner would share its tests among.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CollectedWorkers {
    /// As the user wrote it.
    pub asked: String,
    /// How many.
    pub count: u32,
    /// Why the tests have to share a process where these are not started.
    #[serde(default)]
    pub obstacle: Option<String>,
}

/// A collected suite.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Collected {
    /// The project's root: the tests' files are relative to it.
    pub root: String,
    /// The tests, in order.
    pub tests: Vec<CollectedTest>,
    /// What could not be collected.
    pub problems: Vec<CollectionProblem>,
    /// Whether tests will run in spite of the problems.
    pub goes_on: bool,
    /// Whether the user only wanted a list.
    pub collect_only: bool,
    /// Threads alive after collection; more than one forbids copies.
    pub threads: u32,
    /// The files, folders and ids that the command line names.
    pub selectors: Vec<String>,
    /// Options without which the runner would not run all named tests in the order of their names.
    pub for_order: Vec<String>,
    /// Processes of its own that the runner was told to start, and was kept from starting.
    #[serde(default)]
    pub workers: Option<CollectedWorkers>,
}

/// A collected test; on the line it is an array, to keep large suites short.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CollectedTest {
    /// Its id.
    pub id: String,
    /// The absolute path of its file.
    pub path: Option<String>,
    /// Its file, relative to the root.
    pub file: Option<String>,
    /// Its line, counted from 1.
    pub line: Option<u32>,
    /// The function and the values it is called with, where the id alone does not tell them.
    #[serde(default)]
    pub case: Option<String>,
}

/// How one execution ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ResultMessage {
    /// The test, as an index of the collected suite.
    pub test: usize,
    /// Its outcome.
    pub outcome: Outcome,
    /// How long it took.
    pub seconds: f64,
    /// A remark of the framework.
    #[serde(default)]
    pub note: Option<String>,
    /// What went wrong.
    #[serde(default)]
    pub failure: Option<FailureMessage>,
    /// What it printed.
    #[serde(default)]
    pub output: String,
    /// What it was called with, where its id only counts.
    #[serde(default)]
    pub case: Option<String>,
    /// What it touched.
    #[serde(default)]
    pub dependencies: Option<Dependencies>,
    /// What it used and covered.
    #[serde(default)]
    pub measured: Option<MeasuredMessage>,
}

/// What one execution used and covered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MeasuredMessage {
    /// Times that a file system had to read.
    pub read_count: u64,
    /// Times that a file system had to write.
    pub write_count: u64,
    /// Seconds spent waiting for disks, where the kernel tells.
    #[serde(default)]
    pub wait_time: Option<f64>,
    /// Voluntary context switches.
    pub context_switches: u64,
    /// The most threads at once.
    pub max_threads: u32,
    /// The most child processes at once, where the system tells.
    #[serde(default)]
    pub max_children: Option<u32>,
    /// The most memory at once, in bytes.
    pub max_memory: u64,
    /// Files that this connection names for the first time; numbered on from the last one, from 0.
    #[serde(default)]
    pub files: Vec<String>,
    /// The lines that ran, by the number of their file.
    #[serde(default)]
    pub lines: Vec<(usize, Lines)>,
    /// Why the lines are not known.
    #[serde(default)]
    pub lines_unknown: Option<String>,
}

/// What went wrong in an execution.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FailureMessage {
    /// Where in the test's life.
    pub phase: Phase,
    /// In one line or more.
    pub message: String,
    /// With traceback.
    pub text: String,
    /// The innermost file.
    #[serde(default)]
    pub file: Option<String>,
    /// The innermost line.
    #[serde(default)]
    pub line: Option<u32>,
}

impl ToAgent {
    /// The message as a line.
    ///
    /// # Errors
    /// Never in practice: the messages are plain data.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}

impl FromAgent {
    /// The message that a line says.
    ///
    /// # Errors
    /// When the line is not a message of this version.
    pub fn from_line(line: &[u8]) -> serde_json::Result<Self> {
        // Python writes a lone surrogate for a byte that is not text; JSON forbids it.
        serde_json::from_slice(line)
            .or_else(|_| serde_json::from_str(&without_lone_surrogates(line)))
    }
}

/// Replace `\ud800` to `\udfff` escapes that are no pair by the replacement character.
fn without_lone_surrogates(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut clean = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => {
                clean.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (None, _) => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        clean.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    clean + rest
}

fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::LeftKind;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_result_may_leave_out_what_did_not_happen() {
        let line = br#"{"say":"result","test":3,"outcome":"passed","seconds":0.25}"#;
        let FromAgent::Result(result) = FromAgent::from_line(line).unwrap() else { panic!() };
        assert_eq!((result.test, result.outcome), (3, Outcome::Passed));
        assert_eq!(result.failure, None);
    }

    #[test]
    fn bytes_that_are_no_text_become_a_replacement_character() {
        let line = br#"{"say":"trouble","text":"a\udc80\\u \ud83d\ude00 \ud83d"}"#;
        let message = FromAgent::from_line(line).unwrap();
        assert_eq!(message, FromAgent::Trouble { text: "a\u{fffd}\\u 😀 \u{fffd}".into() });
    }

    #[test]
    fn a_state_is_things_by_kind_and_name() {
        let line = br#"{"say":"state","things":{"variable":{"TOKEN":"\"abc\""},"thread":{}}}"#;
        let FromAgent::State { things, .. } = FromAgent::from_line(line).unwrap() else { panic!() };
        assert_eq!(things.get(LeftKind::Variable, "TOKEN"), Some("\"abc\""));
        assert_eq!(things.count(), 1);
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = FromAgent::from_line(&line);
        }

        #[test]
        fn no_escape_makes_the_reader_panic(
            text in r#"(\\|\\u|d[89a-f]|[0-9a-f]{1,4}|"|é|\\ud83d){0,20}"#
        ) {
            let _ = FromAgent::from_line(text.as_bytes());
        }
    }
}
