//! Processes that lost their guard and became our children, buried.
//!
//! A guard kills what is left of its command and ends; what it killed is adopted by us (see
//! [`super::adopt_orphans`]) and stays a zombie until someone asks for it. A long hunt would fill the
//! table of processes with them.

use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, WaitOptions, waitpgid};

/// Groups in which something had not died yet when it was last asked for.
static WAITING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Bury the dead of a group whose guard has ended, and those of earlier groups that took longer.
pub(super) fn reap(guard: u32) {
    let group = i32::try_from(guard).ok().and_then(Pid::from_raw);
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.extend(group);
    waiting.retain(|group| bury(*group) == Left::Living);
}

#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Living,
}

fn bury(group: Pid) -> Left {
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return Left::Living,
            // No child of ours is in the group any more.
            Err(_) => return Left::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::process::{Signal, kill_process_group};

    use super::*;

    #[test]
    fn the_dead_of_a_group_leave_the_table_of_processes() {
        let mut child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let group = Pid::from_child(&child);
        assert!(bury(group) == Left::Living, "it sleeps");
        kill_process_group(group, Signal::KILL).unwrap();
        // A killed process takes a moment to die.
        while bury(group) == Left::Living {
            std::thread::yield_now();
        }
        assert!(!std::path::Path::new(&format!("/proc/{}", child.id())).exists());
        child.wait().expect_err("is buried already");
    }
}
