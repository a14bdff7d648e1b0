//! A command that is run to its end, a list of tests, one test or a build, and the end of what it
//! printed.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, bounded, never, select};

use super::usage::{Peak, Usage, Watch};
use super::{Death, Guarded, Instructions, kill_group};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection, Hub};
use crate::cancel::Cancel;
use crate::lock::locked;
use crate::system::{KILLED, OwnedStream, Wait, is_ready, read};
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

pub(super) fn started(guard: &Connection, instructions: &Instructions) -> Result<u32> {
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
    Death::Signal(KILLED)
}

/// Our own trouble, not the command's.
pub(super) fn guard_is_gone() -> Error {
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
    followed: Arc<Mutex<Followed>>,
    /// Disconnects at the end of the stream.
    end: Receiver<()>,
}

impl Tail {
    /// Follow a stream and keep its last `cap` bytes; every piece is also written to `copy`.
    pub(super) fn follow(
        stream: impl Into<OwnedStream>,
        cap: usize,
        copy: Option<Box<dyn Write + Send>>,
    ) -> Self {
        let stream = Arc::new(stream.into());
        let followed = Followed { stream: Arc::clone(&stream), kept: VecDeque::new(), cap, copy };
        let followed = Arc::new(Mutex::new(followed));
        let shared = Arc::clone(&followed);
        let (at_end, end) = bounded(0);
        std::thread::spawn(move || {
            let _at_end = at_end;
            // Waited for outside the lock: who asks for the text meanwhile must get it.
            while is_ready(&stream, Wait::AsLongAsItTakes) {
                if locked(&shared).read_what_is_there() == Reached::End {
                    return;
                }
            }
        });
        Self { followed, end }
    }

    /// What is kept of all that was printed so far.
    ///
    /// What a process wrote before it died is in here as soon as its death is known, whether the
    /// thread that follows the stream had its turn or not.
    pub(super) fn text(&self) -> String {
        let mut followed = locked(&self.followed);
        followed.read_what_is_there();
        let (front, back) = followed.kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Wait for the end of the stream: all that was printed is in [`text`](Self::text) then.
    pub(super) fn finish(&self) {
        let _ = self.end.recv_timeout(END_OF_STREAM);
    }
}

/// How far a stream was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// To its end: nobody can write to it any more.
    End,
    /// Somebody may write more.
    Now,
}

/// A stream, and what is kept of it.
struct Followed {
    stream: Arc<OwnedStream>,
    kept: VecDeque<u8>,
    cap: usize,
    copy: Option<Box<dyn Write + Send>>,
}

impl Followed {
    /// Take what was written so far, and wait for nothing.
    fn read_what_is_there(&mut self) -> Reached {
        // One who writes without end must not keep us here; the rest comes with the next call.
        let mut left = self.cap.max(PIECE);
        while left > 0 && is_ready(&self.stream, Wait::Not) {
            let mut piece = [0; PIECE];
            let Ok(size @ 1..) = read(&self.stream, &mut piece) else {
                // Who is given a copy learns of the end by being dropped.
                self.copy = None;
                return Reached::End;
            };
            left = left.saturating_sub(size);
            self.kept.extend(&piece[..size]);
            let surplus = self.kept.len().saturating_sub(self.cap);
            self.kept.drain(..surplus);
            if let Some(copy) = &mut self.copy {
                let _ = copy.write_all(&piece[..size]).and_then(|()| copy.flush());
            }
        }
        Reached::Now
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

/// Bytes that are read from a stream at a time.
const PIECE: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
        let tail = Tail::follow(reader, 100, None);
        writer.write_all(&[b'a'; 9000]).expect("it is read as it comes");
        writer.write_all(b"the end").expect("it is read as it comes");
        drop(writer);
        tail.finish();
        assert_eq!(tail.text().len(), 100);
        assert!(tail.text().ends_with("the end"));
    }

    #[test]
    fn a_copy_is_dropped_at_the_end_of_the_stream() {
        struct Copy(
            #[expect(dead_code, reason = "its end is what counts")] crossbeam_channel::Sender<()>,
        );
        impl Write for Copy {
            fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
                Ok(piece.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
        let (sender, dropped) = bounded(0);
        let tail = Tail::follow(reader, 100, Some(Box::new(Copy(sender))));
        writer.write_all(b"the end").expect("it is read as it comes");
        drop(writer);
        assert!(dropped.recv().is_err(), "nothing is sent");
        assert_eq!(tail.text(), "the end");
    }

    #[test]
    fn what_was_written_is_there_while_others_could_still_write() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
        let tail = Tail::follow(reader, 100, None);
        for turn in 0..1000 {
            let words = format!("last words {turn}");
            writer.write_all(words.as_bytes()).expect("it is read as it comes");
            assert!(tail.text().ends_with(&words), "{}", tail.text());
        }
    }
}
