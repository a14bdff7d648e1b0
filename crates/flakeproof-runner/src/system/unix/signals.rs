//! Signals: those that our processes are born with, those that we hear, and those that we send.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{FORBIDDEN, SIGCHLD, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;

/// What a process that is killed is told.
pub(crate) const KILLED: i32 = Signal::KILL.as_raw();

/// Call this on every Ctrl-C, and whenever somebody asks the program to end, until it ends.
///
/// # Errors
/// When the system lets nobody listen.
pub fn on_interrupt(mut told: impl FnMut() + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || signals.forever().for_each(|_| told()));
    Ok(())
}

/// Hear what this program needs to hear, whatever its parent blocks or ignores: Ctrl-C, and the end of
/// children. Call it first in `main`.
pub(crate) fn hear_own_signals() {
    // Only a system that is out of memory refuses.
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
    hear(ignored().into_iter().filter(|it| *it == SIGCHLD));
}

/// Let every process that this one starts hear all signals, whatever its own parent ignores.
///
/// A shell starts background jobs with Ctrl-C ignored, and `nohup` ignores the end of the terminal: a
/// test process that inherits this never hears our interrupt. For a guard only: a program that talks to
/// a terminal would be asked for ever to stop writing to one that is not its own.
pub(crate) fn let_children_hear_every_signal() {
    hear(ignored().into_iter());
}

/// Handle signals by doing nothing: who is started from here has the default, and does not ignore them.
fn hear(signals: impl Iterator<Item = i32>) {
    for signal in signals.filter(|it| !FORBIDDEN.contains(it)) {
        // What cannot be handled stays as it is: some numbers belong to the C library.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// The signals that this process ignores. Broken pipes are ignored by every Rust program, and heard by
/// those it starts.
fn ignored() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default();
    (1..=64).filter(|signal| set >> (signal - 1) & 1 == 1 && *signal != SIGPIPE).collect()
}

/// Kill a process and its group.
pub(crate) fn kill_group(pid: u32) {
    send(pid, Signal::KILL, kill_process_group);
    send(pid, Signal::KILL, kill_process);
}

/// Ask a process to stop as Ctrl-C would.
pub(crate) fn interrupt(pid: u32) {
    send(pid, Signal::INT, kill_process);
}

/// Have a process wait until it may go on.
pub(crate) fn stop(pid: u32) {
    send(pid, Signal::STOP, kill_process);
}

/// Let a process that was stopped go on.
pub(crate) fn go_on(pid: u32) {
    send(pid, Signal::CONT, kill_process);
}

/// Ask an agent to write down where its threads are.
pub(crate) fn dump_stacks(pid: u32) {
    #[cfg(target_os = "linux")]
    send(pid, Signal::POWER, kill_process);
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
}

/// Ask a JVM to print where its threads are.
pub(crate) fn ask_for_threads(pid: u32) {
    send(pid, Signal::QUIT, kill_process);
}

fn send(pid: u32, signal: Signal, how: fn(Pid, Signal) -> rustix::io::Result<()>) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // A process that is gone already needs no signal.
        let _ = how(pid, signal);
    }
}

/// What people call a signal.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    let known = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::HUP, "SIGHUP"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    known.into_iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| name)
}
