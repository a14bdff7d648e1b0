//! A command that is run to its end: a list of tests, one test, a build.

use std::time::{Duration, Instant};

use crossbeam_channel::{after, never, select};
use rustix::process::Signal;

use super::{Death, Guarded, Instructions, kill_group};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection, Hub};
use crate::cancel::Cancel;
use crate::{Error, Result};

/// How long a guard may take to report.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: End,
    /// The end of what it printed to stdout.
    pub(crate) stdout: String,
    /// The end of what it printed to stderr.
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) duration: Duration,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its process is gone.
    Died(Death),
    /// It was still running at its limit, and was killed.
    TimedOut,
}

/// Run a command under guard and wait for its end; all that it started is killed then.
///
/// `before_kill` is called with the process that reached its limit: it may be asked where it hangs.
///
/// # Errors
/// When it does not start, or when the user interrupts.
pub(crate) fn run_to_end(
    hub: &Hub,
    instructions: &Instructions,
    limit: Option<Duration>,
    cancel: &Cancel,
    before_kill: impl FnOnce(u32),
) -> Result<Ended> {
    let begin = Instant::now();
    let arrival = hub.expect(&instructions.guard_name);
    let mut guarded = Guarded::start(instructions)?;
    let Ok(Arrival::Connected(guard)) = arrival.recv_timeout(REPORT_PATIENCE) else {
        return Err(guard_is_gone());
    };
    let pid = started(&guard, instructions)?;
    let how = wait_for(&guard, pid, limit, cancel)?;
    if how == End::TimedOut {
        before_kill(pid);
    }
    let duration = begin.elapsed();
    guarded.end();
    Ok(Ended { how, stdout: guarded.stdout(), stderr: guarded.stderr(), duration })
}

fn started(guard: &Connection, instructions: &Instructions) -> Result<u32> {
    match guard.messages.recv_timeout(REPORT_PATIENCE) {
        Ok(FromAgent::Started { pid }) => Ok(pid),
        Ok(FromAgent::Unstartable { cause }) => {
            Err(Error::CannotStart { command: instructions.command.join(" "), cause })
        }
        _ => Err(guard_is_gone()),
    }
}

fn wait_for(guard: &Connection, pid: u32, limit: Option<Duration>, cancel: &Cancel) -> Result<End> {
    let deadline = limit.map_or_else(never, after);
    loop {
        select! {
            recv(guard.messages) -> message => match message {
                Ok(FromAgent::Died { pid: dead, code, signal }) if dead == pid => {
                    let death = signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal);
                    return Ok(End::Died(death));
                }
                Ok(_) => {}
                // Nobody knows the guard but its own command: one that kills its parent.
                Err(_) => return Ok(End::Died(killed_with_its_guard(pid))),
            },
            recv(cancel.signal()) -> _ => return Err(Error::Cancelled),
            recv(deadline) -> _ => return Ok(End::TimedOut),
        }
    }
}

/// End a command whose guard is gone: what kills its parent would kill us next.
pub(crate) fn killed_with_its_guard(pid: u32) -> Death {
    kill_group(pid);
    Death::Signal(Signal::KILL.as_raw())
}

/// Our own trouble, not the command's.
fn guard_is_gone() -> Error {
    Error::EnvironmentLost { cause: "its guard process was killed".into() }
}
