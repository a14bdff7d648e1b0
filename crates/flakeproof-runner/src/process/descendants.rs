//! Who descends from this process.
//!
//! Processes that lost their guard and became our children, buried.
//!
//! A guard kills what is left of its command and ends; what it killed is adopted by us (see
//! [`super::adopt_orphans`]) and stays a zombie until someone asks for it. A long hunt would fill the
//! table of processes with them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpgid};

/// How long processes may take to be gone after they were killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two looks at who is left, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(200));

/// Kill every process below this one, until nobody is left. Gives those who stay all the same,
/// as `number name`: in an uninterruptible sleep, or of another user.
///
/// Where orphans are adopted (see [`super::adopt_orphans`]) this also reaches processes that left
/// their group or session on purpose.
pub(super) fn kill_all() -> Vec<String> {
    let root = getpid().as_raw_nonzero().get();
    kill_until(Instant::now() + PATIENCE, &|| below(root))
}

/// Kill who is found, again and again: a process may be forking at this moment.
fn kill_until(deadline: Instant, find: &dyn Fn() -> Vec<i32>) -> Vec<String> {
    let (mut pause, longest) = PAUSES;
    loop {
        let found = find();
        if found.is_empty() {
            return Vec::new();
        }
        for pid in &found {
            if let Some(pid) = Pid::from_raw(*pid) {
                // It may have ended meanwhile, which is all that is wanted.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if Instant::now() >= deadline {
            return found.into_iter().map(described).collect();
        }
        std::thread::sleep(pause);
        pause = longest.min(pause * 2);
    }
}

fn described(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("{pid} {}", name.trim()).trim_end().to_owned()
}

fn below(root: i32) -> Vec<i32> {
    let parents = living_with_parents();
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
fn living_with_parents() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (state, parent) = state_and_parent(&stat)?;
            (state != "Z").then_some((pid, parent))
        })
        .collect()
}

/// State and parent from `pid (name) S parent …`; the name may contain anything.
fn state_and_parent(stat: &str) -> Option<(&str, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    Some((fields.next()?, fields.next()?.parse().ok()?))
}

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
    fn who_cannot_be_killed_is_named_and_not_waited_for_for_ever() {
        // A number that no system gives to a process stands for one that does not die.
        let found = kill_until(Instant::now(), &|| vec![i32::MAX]);
        assert_eq!(found, [i32::MAX.to_string()]);
    }

    #[test]
    fn nobody_is_left_when_nobody_is_found() {
        let looks = std::cell::Cell::new(0);
        let find = || {
            looks.set(looks.get() + 1);
            if looks.get() < 4 { vec![i32::MAX] } else { Vec::new() }
        };
        assert!(kill_until(Instant::now() + PATIENCE, &find).is_empty());
    }

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse() {
        assert_eq!(state_and_parent("12 (a) b (c)) S 7 12 12"), Some(("S", 7)));
        assert_eq!(state_and_parent("nonsense"), None);
    }

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
