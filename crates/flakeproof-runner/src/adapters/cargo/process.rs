//! A process whose output is watched while it runs.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, at, never, select};

use super::session::Session;
use super::watch::Heard;
use crate::adapter::{Error, Result};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection};
use crate::process::{Death, End, Guarded, Instructions, killed_with_its_guard};

/// How long a guard may take to report.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// A process under guard.
#[derive(Debug)]
pub(super) struct Process {
    guarded: Guarded,
    guard: Connection,
    pub(super) pid: u32,
}

/// What happens to a process next.
#[derive(Debug)]
pub(super) enum Next {
    Heard(Heard),
    /// It is gone; all that it printed was heard, or will be without waiting.
    Died(Death),
    /// The time is over.
    TimeIsOver,
}

impl Process {
    /// Start a process and give what it prints to a watcher.
    pub(super) fn start(
        session: &Session,
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        let arrival = session.hub.expect(&instructions.guard_name);
        let guarded = Guarded::start_watched(instructions, watcher)?;
        let Ok(Arrival::Connected(guard)) = arrival.recv_timeout(REPORT_PATIENCE) else {
            return Err(guard_is_gone());
        };
        match guard.messages.recv_timeout(REPORT_PATIENCE) {
            Ok(FromAgent::Started { pid }) => Ok(Self { guarded, guard, pid }),
            Ok(FromAgent::Unstartable { cause }) => {
                let command = instructions.command.first().cloned().unwrap_or_default();
                Err(Error::CannotStart { command, cause })
            }
            _ => Err(guard_is_gone()),
        }
    }

    /// Run a process to its end; give how it ended, both streams as one, and how long it took.
    pub(super) fn run_merged(
        session: &Session,
        instructions: &Instructions,
        limit: Option<Duration>,
    ) -> Result<(End, String, Duration)> {
        let begun = Instant::now();
        let mut process = Self::start(session, instructions, Box::new(std::io::sink()))?;
        let deadline = limit.map(|limit| begun + limit);
        let how = match process.next(session, &never(), deadline)? {
            Next::Died(death) => End::Died(death),
            Next::TimeIsOver | Next::Heard(_) => End::TimedOut,
        };
        let duration = begun.elapsed();
        Ok((how, process.end(), duration))
    }

    /// Wait for what happens next.
    pub(super) fn next(
        &mut self,
        session: &Session,
        heard: &Receiver<Heard>,
        deadline: Option<Instant>,
    ) -> Result<Next> {
        let time_is_over = deadline.map_or_else(never, at);
        loop {
            select! {
                recv(heard) -> heard => match heard {
                    Ok(heard) => return Ok(Next::Heard(heard)),
                    // Closed its output, and goes on.
                    Err(_) => return self.wait_for_death(session, deadline),
                },
                recv(self.guard.messages) -> message => {
                    if let Some(death) = self.death_in(message.ok().as_ref())? {
                        return Ok(Next::Died(death));
                    }
                },
                recv(session.settings.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(time_is_over) -> _ => return Ok(Next::TimeIsOver),
            }
        }
    }

    fn wait_for_death(&mut self, session: &Session, deadline: Option<Instant>) -> Result<Next> {
        let time_is_over = deadline.map_or_else(never, at);
        loop {
            select! {
                recv(self.guard.messages) -> message => {
                    if let Some(death) = self.death_in(message.ok().as_ref())? {
                        return Ok(Next::Died(death));
                    }
                },
                recv(session.settings.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(time_is_over) -> _ => return Ok(Next::TimeIsOver),
            }
        }
    }

    fn death_in(&self, message: Option<&FromAgent>) -> Result<Option<Death>> {
        match message {
            Some(&FromAgent::Died { pid, code, signal }) if pid == self.pid => {
                Ok(Some(signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal)))
            }
            Some(_) => Ok(None),
            // A test that kills its parent.
            None => Ok(Some(killed_with_its_guard(self.pid))),
        }
    }

    /// Kill what is left, and give the end of what was printed; the watcher has heard all of it.
    pub(super) fn end(&mut self) -> String {
        self.guarded.end()
    }
}

/// Our own trouble, not the test's.
fn guard_is_gone() -> Error {
    Error::EnvironmentLost { cause: "its guard process was killed".into() }
}

/// One line for each thread: its name, which for a test is the test's, and what it waits for.
pub(super) fn describe_threads(pid: u32) -> String {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return String::new();
    };
    let mut lines: Vec<String> =
        threads.filter_map(|thread| Some(line(&thread.ok()?.path()))).collect();
    lines.sort_unstable();
    match lines.is_empty() {
        true => String::new(),
        false => format!("Its threads:\n{}\n", lines.join("\n")),
    }
}

fn line(thread: &Path) -> String {
    let read = |name: &str| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
    let state = read("status");
    let state = state.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("").trim();
    let name = read("comm");
    match read("wchan").as_str() {
        "" | "0" => format!("  {}: {state}", name.trim()),
        waits => format!("  {}: {state}, in {waits}", name.trim()),
    }
}
