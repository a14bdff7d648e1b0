//! A command under guard, and the end of all that descends from it.
//!
//! The guard is a process between flakeproof and the user's command. It adopts orphans of the
//! command (Linux: child subreaper), tells flakeproof over the agents' socket how each of its
//! processes died, and when its standard input closes, because flakeproof ended or was killed, it
//! kills everything below itself. It does nothing else, so that there is little that could kill it.
//!
//! What a guard killed before it ended is adopted by us (see [`adopt_orphans`]) and stays a zombie
//! until someone asks for it. A long hunt would fill the table of processes with them, so they are
//! buried.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::to_end::Tail;
use crate::levers::{InForce, Intervention};
use crate::system::{
    self, Left, LocalStream, bury, signal_name, under_own_group, under_own_name,
    used_by_ended_children, with_held_calls,
};
use crate::{Error, Result};

/// What to run under guard.
#[derive(Debug, Clone)]
pub(crate) struct Instructions {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Where it runs.
    pub(crate) folder: PathBuf,
    /// Variables set on top of our own; `None` removes one.
    pub(crate) variables: BTreeMap<String, Option<String>>,
    /// The agents' socket, to which the guard reports.
    pub(crate) socket: PathBuf,
    /// The name under which the guard reports.
    pub(crate) guard_name: String,
    /// Whether what it prints is also shown to the user as it comes.
    pub(crate) is_shown: bool,
    /// Bytes of each of its two streams that are kept, from the end.
    pub(crate) kept: usize,
    /// What is changed about it on purpose.
    pub(crate) in_force: InForce,
}

/// A running command that cannot outlive us.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Child,
    /// Open as long as the command may live.
    lifeline: Option<ChildStdin>,
    stdout: Tail,
    /// `None` where both streams are one.
    stderr: Option<Tail>,
}

impl Guarded {
    /// Start a command. Whether it really started is what the guard reports.
    pub(crate) fn start(instructions: &Instructions) -> Result<Self> {
        let shown = instructions.is_shown;
        let copy = |stream: Box<dyn Write + Send>| shown.then_some(stream);
        let (out, err) = (copy(Box::new(std::io::stdout())), copy(Box::new(std::io::stderr())));
        Self::start_with(instructions, out, err)
    }

    /// Start a command, and give what it says on stderr to a listener as it comes.
    pub(crate) fn start_heard(
        instructions: &Instructions,
        heard: Box<dyn Write + Send>,
    ) -> Result<Self> {
        Self::start_with(instructions, None, Some(heard))
    }

    fn start_with(
        instructions: &Instructions,
        out: Option<Box<dyn Write + Send>>,
        err: Option<Box<dyn Write + Send>>,
    ) -> Result<Self> {
        let mut command = guard_command(GUARD, instructions)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = command.spawn().map_err(Error::io("start the guard process"))?;
        let (stdout, stderr) = (guard.stdout.take(), guard.stderr.take());
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(Error::Agent("the guard has no output".into()));
        };
        let kept = instructions.kept;
        Ok(Self {
            lifeline: guard.stdin.take(),
            guard,
            stdout: Tail::follow(stdout, kept, out),
            stderr: Some(Tail::follow(stderr, kept, err)),
        })
    }

    /// Start a command whose two streams are one, in the order in which it writes, and give every
    /// piece of it to a watcher as it comes.
    pub(crate) fn start_watched(
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        Self::start_as(GUARD, instructions, watcher)
    }

    /// The same, but hold the command back until it is [let loose](Self::let_loose): a guard takes its time to start.
    pub(crate) fn hold_watched(
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        Self::start_as(HOLDING_GUARD, instructions, watcher)
    }

    /// Start the command that was held back.
    pub(crate) fn let_loose(&mut self) {
        if let Some(lifeline) = &mut self.lifeline {
            // A guard that is gone reports nothing, and that is noticed.
            let _ = lifeline.write_all(FIRST_WORD);
        }
    }

    fn start_as(
        kind: &str,
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        let doing = || Error::io("make a pipe");
        let (reader, writer) = std::io::pipe().map_err(doing())?;
        let mut command = guard_command(kind, instructions)?;
        command.stdout(writer.try_clone().map_err(doing())?).stderr(writer);
        let mut guard = command.spawn().map_err(Error::io("start the guard process"))?;
        // Its ends of the pipe go with it: the stream would never end while we hold one.
        drop(command);
        Ok(Self {
            lifeline: guard.stdin.take(),
            guard,
            stdout: Tail::follow(reader, instructions.kept, Some(watcher)),
            stderr: None,
        })
    }

    /// Whether the guard itself is gone: nobody tells any more how its processes end.
    pub(crate) fn is_gone(&mut self) -> bool {
        !matches!(self.guard.try_wait(), Ok(None))
    }

    /// The end of what the command printed so far, stdout first.
    pub(crate) fn output(&self) -> String {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        if stdout.is_empty() || stderr.is_empty() {
            return stdout + &stderr;
        }
        format!("{}\n{stderr}", stdout.trim_end())
    }

    /// The end of what the command printed to stdout so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// The end of what the command printed to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.as_ref().map(Tail::text).unwrap_or_default()
    }

    /// Kill what is left of the command, and give all that it printed.
    pub(crate) fn end(&mut self) -> String {
        self.let_go();
        self.stdout.finish();
        self.stderr.iter().for_each(Tail::finish);
        self.output()
    }

    /// Tell the guard that this is the end, and wait until it has killed what is left.
    fn let_go(&mut self) {
        if let Some(mut lifeline) = self.lifeline.take() {
            // A guard that is gone needs no goodbye.
            let _ = lifeline.write_all(LAST_WORD);
        }
        let _ = self.guard.wait();
        reap(self.guard.id());
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// The guard's own command; where it prints to is not decided yet.
fn guard_command(kind: &str, instructions: &Instructions) -> Result<Command> {
    let mut command = Command::new(own_program()?);
    under_own_name(&mut command)
        .arg(kind)
        .arg(&instructions.socket)
        .arg(&instructions.guard_name)
        .arg(in_words(&instructions.in_force.now())?)
        .args(&instructions.command)
        .current_dir(&instructions.folder)
        .stdin(Stdio::piped());
    // A Ctrl-C at the terminal reaches flakeproof only, which then decides.
    under_own_group(&mut command);
    for (name, value) in &instructions.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Ok(command)
}

/// An intervention as an argument of a guard.
fn in_words(intervention: &Intervention) -> Result<String> {
    serde_json::to_string(intervention).map_err(|error| Error::Agent(error.to_string()))
}

/// This very program, also when its file was replaced since it started.
pub(super) fn own_program() -> Result<PathBuf> {
    let image = PathBuf::from("/proc/self/exe");
    if image.exists() {
        return Ok(image);
    }
    std::env::current_exe().map_err(Error::io("find flakeproof's own program"))
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// It ended itself.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Death {
    /// The exit code, if it ended itself.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            Self::Signal(_) => None,
        }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "signal {number}, {name}"),
                None => write!(f, "signal {number}"),
            },
        }
    }
}

/// Become the parent of processes below us whose own parent ends, where the system can do it.
pub fn adopt_orphans() {
    system::adopt_orphans();
}

/// Hear what this program needs to hear, whatever its parent blocks or ignores: Ctrl-C, and the end of
/// children. Call it first in `main`.
pub fn hear_own_signals() {
    system::hear_own_signals();
}

/// Kill every process below this one. The last act of a program that ends.
///
/// Gives those who could not be killed within ten seconds, as `number name`.
pub fn kill_everything_below() -> Vec<String> {
    kill_all()
}

/// The first argument that makes this program a guard.
pub(super) const GUARD: &str = "__guard";

/// The same for a guard that waits for a word before it starts its command.
const HOLDING_GUARD: &str = "__guard-held";

/// The first argument that makes this program take on an intervention, and nothing else.
const TRY: &str = "__try";

/// What a guard waits for that holds its command back; one byte, so that nothing after it is read with it.
const FIRST_WORD: &[u8; 1] = b"!";

/// What flakeproof writes to a guard before it lets go of it in order.
pub(super) const LAST_WORD: &[u8] = b"bye\n";

/// Turn this process into a guard if it was started as one; never returns then.
///
/// Call it first in `main`, before anything else is set up.
pub fn become_guard_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    let is_held = first.as_ref().is_some_and(|first| first == HOLDING_GUARD);
    match first {
        Some(first) if first == GUARD || first == HOLDING_GUARD => {}
        Some(first) if first == TRY => std::process::exit(take_on_only(arguments.next().as_ref())),
        _ => return,
    }
    let (Some(socket), Some(name), Some(words)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        std::process::exit(70);
    };
    let Some(intervention) = understood(&words) else { std::process::exit(70) };
    let command: Vec<OsString> = arguments.collect();
    if is_held && std::io::stdin().read_exact(&mut [0; FIRST_WORD.len()]).is_err() {
        std::process::exit(0);
    }
    let ended = guard(&socket, &name.to_string_lossy(), &intervention, &command);
    std::process::exit(ended.map_or(70, |()| 0));
}

fn understood(words: &OsString) -> Option<Intervention> {
    serde_json::from_str(words.to_str()?).ok()
}

/// Take an intervention on, and say why not if that is not allowed.
fn take_on_only(words: Option<&OsString>) -> i32 {
    let Some(intervention) = words.and_then(understood) else { return 70 };
    match intervention.take_on() {
        Ok(()) => 0,
        Err(error) => {
            let _ = write!(std::io::stderr(), "{error}");
            1
        }
    }
}

/// Whether processes may be changed like this here, found out by one that is.
///
/// # Errors
/// Why not.
pub(crate) fn try_out(intervention: &Intervention) -> std::result::Result<(), String> {
    let words = in_words(intervention).map_err(|error| error.to_string())?;
    let program = own_program().map_err(|error| error.to_string())?;
    let tried = under_own_name(&mut Command::new(program))
        .arg(TRY)
        .arg(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match tried.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&tried.stderr).trim().to_owned()),
    }
}

/// What a small program of the system prints; `None` if it is missing or fails.
pub(crate) fn answer_of(program: &str, arguments: &[&str]) -> Option<String> {
    let ran = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).into_owned())
}

fn guard(
    socket: &OsString,
    name: &str,
    intervention: &Intervention,
    command: &[OsString],
) -> std::io::Result<()> {
    system::hear_own_signals();
    system::let_children_hear_every_signal();
    system::adopt_orphans();
    let mut link = LocalStream::connect(socket)?;
    let mut say = move |message: serde_json::Value| {
        // Without flakeproof there is nobody to tell; the closing input ends the guard.
        let _ = link.write_all(format!("{message}\n").as_bytes());
    };
    say(json!({ "say": "hello", "name": name, "pid": std::process::id() }));
    let of_socket = PathBuf::from(socket);
    // Some of it is refused to a process with a second thread.
    let taken_on = intervention.take_on().and_then(|()| {
        intervention.variables_in(of_socket.parent().unwrap_or(Path::new("/")), name)
    });
    let end = std::thread::spawn(move || kill_everything_when_input_closes(&of_socket));
    let command = intervention.around(command);
    let [program, arguments @ ..] = command.as_slice() else { return Ok(()) };
    let child = taken_on.and_then(|variables| {
        let mut child = Command::new(program);
        for (name, value) in &variables {
            match value {
                Some(value) => child.env(name, value),
                None => child.env_remove(name),
            };
        }
        under_own_group(&mut child).args(arguments).stdin(Stdio::null());
        match intervention {
            Intervention::HeldCalls(held) => with_held_calls(held, move || child.spawn()),
            _ => child.spawn(),
        }
    });
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            say(json!({ "say": "unstartable", "cause": error.to_string() }));
            return Ok(());
        }
    };
    say(json!({ "say": "started", "pid": child.id() }));
    system::wait_for_all(child, &mut |pid, death| say(death_notice(pid, death)));
    // Nobody is left to guard, but there may be temporary files to remove.
    let _ = end.join();
    Ok(())
}

/// Wait for the end of flakeproof, and clean up after it.
///
/// A last word on the input says that it ends in order. Without it, it was killed, and nobody
/// else is left to remove its temporary files.
fn kill_everything_when_input_closes(socket: &Path) {
    let mut last_word = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut last_word);
    let left = kill_all();
    if !left.is_empty() {
        // The end of the command's output, for whoever reads it.
        let _ = writeln!(std::io::stderr(), "flakeproof could not kill: {}", left.join(", "));
    }
    if let (true, Some(folder)) = (last_word.is_empty(), socket.parent()) {
        let _ = std::fs::remove_dir_all(folder);
    }
    std::process::exit(0);
}

fn death_notice(pid: u32, death: Death) -> serde_json::Value {
    let used = used_by_ended_children();
    match death {
        Death::Exit(code) => json!({ "say": "died", "pid": pid, "code": code, "used": used }),
        Death::Signal(it) => json!({ "say": "died", "pid": pid, "signal": it, "used": used }),
    }
}

/// How long processes may take to be gone after they were killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two looks at who is left, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(200));

/// Kill every process below this one, until nobody is left. Gives those who stay all the same,
/// as `number name`: in an uninterruptible sleep, or of another user.
pub(super) fn kill_all() -> Vec<String> {
    kill_until(Instant::now() + PATIENCE, &system::below_us)
}

/// Kill who is found, again and again: a process may be forking at this moment.
fn kill_until(deadline: Instant, find: &dyn Fn() -> Vec<u32>) -> Vec<String> {
    let (mut pause, longest) = PAUSES;
    loop {
        let found = find();
        if found.is_empty() {
            return Vec::new();
        }
        found.iter().copied().for_each(system::kill);
        if Instant::now() >= deadline {
            return found.into_iter().map(described).collect();
        }
        std::thread::sleep(pause);
        pause = longest.min(pause * 2);
    }
}

fn described(pid: u32) -> String {
    format!("{pid} {}", system::name_of(pid)).trim_end().to_owned()
}

/// Groups in which something had not died yet when it was last asked for.
static WAITING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Bury the dead of a group whose guard has ended, and those of earlier groups that took longer.
pub(super) fn reap(guard: u32) {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.push(guard);
    waiting.retain(|group| bury(*group) == Left::Living);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_be_killed_is_named_and_not_waited_for_for_ever() {
        // A number that no system gives to a process stands for one that does not die.
        let found = kill_until(Instant::now(), &|| vec![u32::MAX]);
        assert_eq!(found, [u32::MAX.to_string()]);
    }

    #[test]
    fn nobody_is_left_when_nobody_is_found() {
        let looks = std::cell::Cell::new(0);
        let find = || {
            looks.set(looks.get() + 1);
            if looks.get() < 4 { vec![u32::MAX] } else { Vec::new() }
        };
        assert!(kill_until(Instant::now() + PATIENCE, &find).is_empty());
    }
}
