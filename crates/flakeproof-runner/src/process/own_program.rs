//! Our own program as a child: an experiment that somebody else waits for, and may give up.
//!
//! It runs under a guard like any command, so that nothing of it outlives us. Who wants it to end asks as
//! Ctrl-C would, so that it keeps what it found and cleans up; after a grace time it is killed.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{after, never, select};
use tempfile::TempDir;

use super::guarded::own_program;
use super::to_end::{guard_is_gone, started};
use super::{Death, Guarded, Instructions, interrupt, killed_with_its_guard};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection, Hub};
use crate::cancel::Cancel;
use crate::levers::InForce;
use crate::system::KILLED;
use crate::{Error, Result};

/// How long it may take to end in order.
const GRACE: Duration = Duration::from_secs(10);

/// Bytes of each of its two streams that are kept, from the end.
const KEPT: usize = 1024 * 1024;

/// How long its guard may take to report.
const REPORT_PATIENCE: Duration = Duration::from_secs(30);

/// How our own program ended.
#[derive(Debug)]
pub struct OwnProgramEnd {
    /// How its process ended.
    pub death: Death,
    /// What it printed to stdout.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
}

/// This very program, ready to be run with other arguments.
#[derive(Debug)]
pub struct OwnProgram {
    hub: Hub,
    runs: AtomicU64,
    /// Where its guards report; gone at the end.
    _place: TempDir,
}

impl OwnProgram {
    /// Listen for the guards.
    ///
    /// # Errors
    /// When there is no place for that.
    pub fn prepare() -> Result<Self> {
        let place = tempfile::Builder::new().prefix("flakeproof-").tempdir();
        let place = place.map_err(Error::io("make a temporary folder"))?;
        Ok(Self { hub: Hub::start(place.path())?, runs: AtomicU64::new(0), _place: place })
    }

    /// Run it with these variables and wait for its end. What others must not see, a password, is a variable:
    /// the arguments of a process are for everybody. After the limit, or when cancelled, it is interrupted, and killed if that is
    /// not enough; all that it started is gone then. What it prints to stderr is also written to `heard` as it
    /// comes.
    ///
    /// # Errors
    /// When it does not start.
    pub fn run(
        &self,
        arguments: &[String],
        variables: BTreeMap<String, Option<String>>,
        folder: &Path,
        limit: Option<Duration>,
        cancel: &Cancel,
        heard: Box<dyn Write + Send>,
    ) -> Result<OwnProgramEnd> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let instructions = Instructions {
            command: [&[own_path()?], arguments].concat(),
            folder: folder.to_path_buf(),
            variables,
            socket: self.hub.socket().to_path_buf(),
            guard_name: format!("own-program-{run}"),
            is_shown: false,
            kept: KEPT,
            in_force: InForce::default(),
        };
        let arrival = self.hub.expect(&instructions.guard_name);
        let mut guarded = Guarded::start_heard(&instructions, heard)?;
        let Ok(Arrival::Connected(guard)) = arrival.recv_timeout(REPORT_PATIENCE) else {
            return Err(guard_is_gone());
        };
        let pid = started(&guard, &instructions)?;
        let death = wait_for(&guard, pid, limit, cancel);
        guarded.end();
        Ok(OwnProgramEnd { death, stdout: guarded.stdout(), stderr: guarded.stderr() })
    }
}

/// Where this program is, under its own name if its file is still there.
fn own_path() -> Result<String> {
    let named = std::env::current_exe().ok().filter(|path| path.is_file());
    let path = named.map_or_else(own_program, Ok)?;
    Ok(path.to_string_lossy().into_owned())
}

fn wait_for(guard: &Connection, pid: u32, limit: Option<Duration>, cancel: &Cancel) -> Death {
    let killed = Death::Signal(KILLED);
    let mut deadline = limit.map_or_else(never, after);
    let (mut given_up, mut is_asked) = (cancel.signal().clone(), false);
    loop {
        select! {
            recv(guard.messages) -> message => match message {
                Ok(FromAgent::Died { pid: dead, code, signal, .. }) if dead == pid => {
                    return signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal);
                }
                Ok(_) => {}
                Err(_) => return killed_with_its_guard(pid),
            },
            recv(given_up) -> _ => {
                // Its channel would be ready for ever.
                given_up = never();
                if !is_asked {
                    interrupt(pid);
                    (deadline, is_asked) = (after(GRACE), true);
                }
            }
            recv(deadline) -> _ => {
                if is_asked {
                    return killed;
                }
                interrupt(pid);
                (deadline, is_asked) = (after(GRACE), true);
            }
        }
    }
}
