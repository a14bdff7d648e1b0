//! Processes: who is below whom, who is dead, and who starts as what.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait, waitpgid};

use super::super::Left;
use crate::process::Death;

/// Give a command a name of ours in the table of processes.
pub(crate) fn under_own_name(command: &mut Command) -> &mut Command {
    command.arg0("flakeproof")
}

/// The command that runs a line as people type it.
pub(crate) fn shell_line(line: String) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), line]
}

/// Give a command a group of its own, which a Ctrl-C at the terminal does not reach.
pub(crate) fn under_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Become the parent of processes below us whose own parent ends, where the system can do it.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Tell how each process that is or becomes our child ends, until there is none left.
pub(crate) fn wait_for_all(child: Child, told: &mut dyn FnMut(u32, Death)) {
    // It is one of them.
    drop(child);
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => told(number(pid), death(status)),
            Err(Errno::INTR) | Ok(None) => {}
            Err(_) => return,
        }
    }
}

fn death(status: WaitStatus) -> Death {
    match (status.exit_status(), status.terminating_signal()) {
        (None, Some(signal)) => Death::Signal(signal),
        // Who neither exits nor is killed has not done what it was asked for.
        (code, _) => Death::Exit(code.unwrap_or(-1)),
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

fn of_number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Kill a process. It may have ended meanwhile, which is all that is wanted.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = of_number(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// What a process is called; nothing where the system does not say.
pub(crate) fn name_of(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_owned()
}

/// Every living process below this one.
///
/// Where orphans are adopted (see [`adopt_orphans`]) this also finds processes that left their group or
/// session on purpose.
pub(crate) fn below_us() -> Vec<u32> {
    descendants(number(getpid()), &living_with_parents())
}

/// Every living process below a child of ours, and no child itself.
pub(crate) fn below_guards() -> Vec<u32> {
    let parents = living_with_parents();
    let own = number(getpid());
    let guards = parents.iter().filter(|(_, parent)| *parent == own).map(|(pid, _)| *pid);
    guards.flat_map(|guard| descendants(guard, &parents)).collect()
}

fn descendants(root: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let mut family = vec![root];
    let mut next = 0;
    while next < family.len() {
        let parent = family[next];
        next += 1;
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
    }
    family.split_off(1)
}

/// Every living process with its parent; empty where the system does not say.
#[cfg(target_os = "linux")]
fn living_with_parents() -> Vec<(u32, u32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (state, parent) = state_and_parent(&stat)?;
            (state != "Z").then_some((pid, parent))
        })
        .collect()
}

/// State and parent from `pid (name) S parent …`; the name may contain anything.
#[cfg(target_os = "linux")]
fn state_and_parent(stat: &str) -> Option<(&str, u32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?, fields.next()?.parse().ok()?))
}

/// Every living process with its parent, as `ps` tells it, which is not listed itself.
#[cfg(not(target_os = "linux"))]
fn living_with_parents() -> Vec<(u32, u32)> {
    let listed = crate::process::answer_of("/bin/ps", &["-axo", "pid=,ppid=,stat=,comm="]);
    let process = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (pid, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let (state, program) = (fields.next()?, fields.next()?);
        (!state.starts_with('Z') && program != "/bin/ps").then_some((pid, parent))
    };
    listed.unwrap_or_default().lines().filter_map(process).collect()
}

/// Ask for the dead of a group, so that they leave the table of processes.
pub(crate) fn bury(group: u32) -> Left {
    let Some(group) = of_number(group) else { return Left::Nothing };
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return Left::Living,
            // No child of ours is in the group any more.
            Err(_) => return Left::Nothing,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse() {
        assert_eq!(state_and_parent("12 (a) b (c)) S 7 12 12"), Some(("S", 7)));
        assert_eq!(state_and_parent("nonsense"), None);
    }

    #[test]
    fn the_dead_of_a_group_leave_the_table_of_processes() {
        let mut child = under_own_group(Command::new("sleep").arg("1000")).spawn().unwrap();
        assert!(bury(child.id()) == Left::Living, "it sleeps");
        super::super::kill_group(child.id());
        // A killed process takes a moment to die.
        while bury(child.id()) == Left::Living {
            std::thread::yield_now();
        }
        assert!(!std::path::Path::new(&format!("/proc/{}", child.id())).exists());
        child.wait().expect_err("is buried already");
    }
}
