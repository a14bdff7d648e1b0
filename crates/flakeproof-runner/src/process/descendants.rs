//! Who descends from this process.

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Kill every process below this one, at once. Returns how many were found.
///
/// Where orphans are adopted (see [`super::adopt_orphans`]) this also reaches processes that left
/// their group or session on purpose.
pub(super) fn kill_all() -> usize {
    let found = below(getpid().as_raw_nonzero().get());
    for pid in &found {
        if let Some(pid) = Pid::from_raw(*pid) {
            // It may have ended meanwhile, which is all that is wanted.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    found.len()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_parentheses_does_not_confuse() {
        assert_eq!(state_and_parent("12 (a) b (c)) S 7 12 12"), Some(("S", 7)));
        assert_eq!(state_and_parent("nonsense"), None);
    }
}
