//! Single threads of other processes that are stopped for a while, by `ptrace`.

use std::process::{Command, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Stop one thread and no other; whether that was possible.
pub(crate) fn hold_thread(thread: i32) -> bool {
    let thread = Pid::from_raw(thread);
    if ptrace::seize(thread, Options::empty()).is_err() {
        return false;
    }
    let is_held =
        ptrace::interrupt(thread).is_ok() && waitpid(thread, Some(WaitPidFlag::__WALL)).is_ok();
    if !is_held {
        let _ = ptrace::detach(thread, None);
    }
    is_held
}

/// Let a thread that is held go on.
pub(crate) fn let_go_of_thread(thread: i32) {
    let _ = ptrace::detach(Pid::from_raw(thread), None);
}

/// Whether we may hold threads of processes that we started.
///
/// # Errors
/// Why not.
pub(crate) fn can_hold_threads() -> Result<(), String> {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
    let held = ptrace::seize(pid, Options::empty()).and_then(|()| {
        ptrace::interrupt(pid)?;
        waitpid(pid, Some(WaitPidFlag::__WALL))?;
        ptrace::detach(pid, None)
    });
    drop(child.stdin.take());
    let _ = child.wait();
    held.map_err(|error| error.desc().to_owned())
}
