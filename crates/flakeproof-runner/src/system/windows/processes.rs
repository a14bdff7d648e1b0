//! Processes: who ends how, and who starts as what.

use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command};

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, OpenProcess, PROCESS_TERMINATE, TerminateProcess,
};

use super::super::Left;
use crate::process::Death;

/// Processes have the names of their files here.
pub(crate) fn under_own_name(command: &mut Command) -> &mut Command {
    command
}

/// The command that runs a line as people type it.
pub(crate) fn shell_line(line: String) -> Vec<String> {
    vec!["cmd.exe".to_owned(), "/d".to_owned(), "/c".to_owned(), line]
}

/// Give a command a group of its own, which a Ctrl-C at the console does not reach.
pub(crate) fn under_own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Tell how a child ends. Nobody becomes our child later: whoever is left behind is in our job.
pub(crate) fn wait_for_all(mut child: Child, told: &mut dyn FnMut(u32, Death)) {
    let pid = child.id();
    if let Ok(status) = child.wait() {
        told(pid, Death::Exit(status.code().unwrap_or(1)));
    }
}

/// Kill a process. It may have ended meanwhile, which is all that is wanted.
#[expect(unsafe_code, reason = "killing others has no safe interface in the crates that we have")]
pub(crate) fn kill(pid: u32) {
    // SAFETY: it takes numbers only.
    let process = unsafe { OpenProcess(PROCESS_TERMINATE, 0, pid) };
    if !process.is_null() {
        // SAFETY: the handle was opened above, and is closed once.
        unsafe {
            TerminateProcess(process, 1);
            CloseHandle(process);
        }
    }
}

/// Kill a process; who is below it dies with the job of its guard.
pub(crate) fn kill_group(pid: u32) {
    kill(pid);
}

/// Processes are not stopped here: no lever that needs it is offered.
pub(crate) fn stop(_: u32) {}

/// Let a process that was stopped go on.
pub(crate) fn go_on(_: u32) {}

/// The system does not say it without a look at every process.
pub(crate) fn name_of(_: u32) -> String {
    String::new()
}

/// Which processes belong to tests is not told here: no lever that needs it is offered.
pub(crate) fn below_guards() -> Vec<u32> {
    Vec::new()
}

/// The dead leave no trace here.
pub(crate) fn bury(_: u32) -> Left {
    Left::Nothing
}
