//! What is told of a test that takes its interpreter with it: it crashed, or it hung.

use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{after, select, tick};
use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::super::{frames, locked, touched};
use super::{DEATH, PytestEnvironment};
use crate::process::{Death, Guarded, dump_stacks, kill_group};

/// How long a hanging interpreter may take to write down where it hangs.
const STACKS: Duration = Duration::from_millis(700);

impl PytestEnvironment {
    pub(super) fn crashed(&mut self, test: &TestId, begin: Instant) -> Execution {
        if self.is_unguarded() {
            let message = "the process that watches over it was killed, \
                as by a test that kills its parent"
                .to_owned();
            return self.lost(test, Outcome::Crashed, message.clone(), message, begin);
        }
        let death = self.session.hub.death_of(self.connection.hello.pid, DEATH);
        let message = match death {
            Some(Death::Signal(9)) => "the process was killed by SIGKILL, \
                by the out-of-memory killer or by somebody else"
                .to_owned(),
            Some(death @ Death::Signal(_)) => format!("the process died: {death}"),
            Some(death @ Death::Exit(_)) => format!("the process ended itself: {death}"),
            None => "the process died in an unknown way".to_owned(),
        };
        let text = frames::of_the_test(&self.last_words());
        self.lost(test, Outcome::Crashed, message, text, begin)
    }

    /// Whether nobody is left to tell how this interpreter ended.
    fn is_unguarded(&mut self) -> bool {
        match &mut self.guard {
            Some(guard) => guard.is_gone(),
            None => locked(&self.session.guard).as_mut().is_none_or(Guarded::is_gone),
        }
    }

    pub(super) fn hung(&self, test: &TestId, limit: Duration, begin: Instant) -> Execution {
        let pid = self.connection.hello.pid;
        let stacks = self.stacks(pid);
        let output = captured_so_far(pid);
        kill_group(pid);
        self.session.hub.death_of(pid, DEATH);
        let message = format!("still running after {limit:?}, the time limit for one test");
        let text = format!("{message}\n\n{stacks}");
        let mut execution = self.lost(test, Outcome::TimedOut, message, text, begin);
        execution.output = output;
        execution
    }

    fn lost(
        &self,
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
            dependencies: touched::read(&self.notes),
            measured: None,
        }
    }

    /// What a dead process wrote to stderr at the end: the interpreter's fatal error, if any.
    fn last_words(&self) -> String {
        const LONGEST: usize = 8 * 1024;
        let output = match &self.guard {
            Some(guard) => guard.stderr(),
            None => std::fs::read(self.notes.join("output"))
                .map_or_else(
                    |_| locked(&self.session.guard).as_ref().map(Guarded::stderr),
                    |bytes| Some(String::from_utf8_lossy(&bytes).into_owned()),
                )
                .unwrap_or_default(),
        };
        let start = output.len().saturating_sub(LONGEST);
        let start = (start..output.len()).find(|at| output.is_char_boundary(*at));
        start.map(|at| output[at..].to_owned()).unwrap_or_default()
    }

    /// Where the threads of a hanging interpreter are.
    fn stacks(&self, pid: u32) -> String {
        let file = self.notes.join("stacks");
        let before = length(&file);
        dump_stacks(pid);
        let (ticks, patience) = (tick(Duration::from_millis(20)), after(STACKS));
        let mut seen = before;
        loop {
            select! {
                recv(ticks) -> _ => {
                    let now = length(&file);
                    if now > before && now == seen {
                        break;
                    }
                    seen = now;
                }
                recv(patience) -> _ => break,
            }
        }
        frames::of_the_test(&std::fs::read_to_string(&file).unwrap_or_default())
    }
}

/// What pytest captured of a test that is still running: its standard streams are files then.
fn captured_so_far(pid: u32) -> String {
    [1, 2]
        .into_iter()
        .map(|stream| format!("/proc/{pid}/fd/{stream}"))
        .filter(|path| std::fs::metadata(path).is_ok_and(|stream| stream.is_file()))
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}
