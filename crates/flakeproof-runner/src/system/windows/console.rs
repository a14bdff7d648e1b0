//! What the console tells its programs, which is all that Windows has of signals.

use std::io::{Error, Result};
use std::sync::{Mutex, PoisonError};

use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// What a process that is killed is told, for those who know it from Unix.
pub(crate) const KILLED: i32 = 9;

type Told = Box<dyn FnMut() + Send>;

static TOLD: Mutex<Option<Told>> = Mutex::new(None);

/// Call this on every Ctrl-C, and whenever somebody asks the program to end, until it ends.
///
/// # Errors
/// When the system lets nobody listen.
#[expect(unsafe_code, reason = "the console has no safe interface in the crates that we have")]
pub fn on_interrupt(told: impl FnMut() + Send + 'static) -> Result<()> {
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(told));
    // SAFETY: the handler is a function that lives as long as the program.
    match unsafe { SetConsoleCtrlHandler(Some(handle), 1) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Called by the system on a thread of its own, whatever the event is.
#[expect(unsafe_code, reason = "the system calls it, and asks for no more than a function")]
unsafe extern "system" fn handle(_: u32) -> BOOL {
    if let Some(told) = TOLD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        told();
    }
    1
}

/// Nothing is inherited here that keeps a program from hearing.
pub(crate) fn hear_own_signals() {}

/// Let every process that this one starts hear all signals: they do.
pub(crate) fn let_children_hear_every_signal() {}

/// Ask a process to stop as Ctrl-C would. It has a group of its own, which only hears Ctrl-Break.
#[expect(unsafe_code, reason = "the console has no safe interface in the crates that we have")]
pub(crate) fn interrupt(pid: u32) {
    // SAFETY: it takes numbers only. A process that is gone already needs no event.
    unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, pid) };
}

/// Agents are not asked here where their threads are.
pub(crate) fn dump_stacks(_: u32) {}

/// Ask a JVM to print where its threads are, which it does at Ctrl-Break.
pub(crate) fn ask_for_threads(pid: u32) {
    interrupt(pid);
}

/// What people call a signal.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    (number == KILLED).then_some("killed")
}
