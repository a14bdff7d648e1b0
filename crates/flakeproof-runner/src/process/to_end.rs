//! A command that is run to its end, a list of tests, one test or a build, and the end of what it
//! printed.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, bounded, never, select};
use rustix::process::Signal;

use super::usage::{Peak, Usage, Watch};
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
    /// What it used, where it ended by itself and the system tells.
    pub(crate) used: Option<Usage>,
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
    run(hub, instructions, limit, cancel, |_| (), before_kill).map(|(ended, ())| ended)
}

/// The same, with a look at what it has at once while it runs.
///
/// # Errors
/// When it does not start, or when the user interrupts.
pub(crate) fn run_watched(
    hub: &Hub,
    instructions: &Instructions,
    limit: Option<Duration>,
    cancel: &Cancel,
) -> Result<(Ended, Peak)> {
    let (ended, watch) = run(hub, instructions, limit, cancel, Watch::begin, |_| {})?;
    Ok((ended, watch.end()))
}

fn run<T>(
    hub: &Hub,
    instructions: &Instructions,
    limit: Option<Duration>,
    cancel: &Cancel,
    at_start: impl FnOnce(u32) -> T,
    before_kill: impl FnOnce(u32),
) -> Result<(Ended, T)> {
    let begin = Instant::now();
    let arrival = hub.expect(&instructions.guard_name);
    let mut guarded = Guarded::start(instructions)?;
    let Ok(Arrival::Connected(guard)) = arrival.recv_timeout(REPORT_PATIENCE) else {
        return Err(guard_is_gone());
    };
    let pid = started(&guard, instructions)?;
    let watched = at_start(pid);
    let (how, used) = wait_for(&guard, pid, limit, cancel)?;
    if how == End::TimedOut {
        before_kill(pid);
    }
    let duration = begin.elapsed();
    guarded.end();
    let (stdout, stderr) = (guarded.stdout(), guarded.stderr());
    Ok((Ended { how, stdout, stderr, duration, used }, watched))
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

fn wait_for(
    guard: &Connection,
    pid: u32,
    limit: Option<Duration>,
    cancel: &Cancel,
) -> Result<(End, Option<Usage>)> {
    let deadline = limit.map_or_else(never, after);
    loop {
        select! {
            recv(guard.messages) -> message => match message {
                Ok(FromAgent::Died { pid: dead, code, signal, used }) if dead == pid => {
                    let death = signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal);
                    return Ok((End::Died(death), used));
                }
                Ok(_) => {}
                // Nobody knows the guard but its own command: one that kills its parent.
                Err(_) => return Ok((End::Died(killed_with_its_guard(pid)), None)),
            },
            recv(cancel.signal()) -> _ => return Err(Error::Cancelled),
            recv(deadline) -> _ => return Ok((End::TimedOut, None)),
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

/// Bytes that are kept as a rule. What a process prints beyond that is read and dropped, so that it
/// never blocks on us and never fills our memory.
pub(crate) const USUAL_CAP: usize = 256 * 1024;

/// How long to wait for the end of a stream whose writers should be gone. Somebody who escaped
/// may hold it open for ever.
const END_OF_STREAM: Duration = Duration::from_secs(2);

/// Reads a stream to its end in the background and keeps the last part.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Disconnects at the end of the stream.
    end: Receiver<()>,
}

impl Tail {
    /// Follow a stream and keep its last `cap` bytes; every piece is also written to `copy`.
    pub(super) fn follow(
        mut stream: impl Read + Send + 'static,
        cap: usize,
        mut copy: Option<Box<dyn Write + Send>>,
    ) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        let (at_end, end) = bounded(0);
        std::thread::spawn(move || {
            let _at_end = at_end;
            let mut piece = [0; 8192];
            while let Ok(size @ 1..) = stream.read(&mut piece) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..size]);
                let surplus = kept.len().saturating_sub(cap);
                kept.drain(..surplus);
                drop(kept);
                if let Some(copy) = &mut copy {
                    let _ = copy.write_all(&piece[..size]).and_then(|()| copy.flush());
                }
            }
        });
        Self { kept, end }
    }

    /// What was kept so far.
    pub(super) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Wait for the end of the stream: all that was printed is in [`text`](Self::text) then.
    pub(super) fn finish(&self) {
        let _ = self.end.recv_timeout(END_OF_STREAM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let mut long = vec![b'a'; 100];
        long.extend(b"the end");
        let tail = Tail::follow(std::io::Cursor::new(long), 100, None);
        tail.finish();
        assert_eq!(tail.text().len(), 100);
        assert!(tail.text().ends_with("the end"));
    }
}
