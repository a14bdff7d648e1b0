//! What the tests of a subject note about themselves, and whether their processes live.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for something that is bound to happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// One line that a test wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// The test's name, or what else it notes.
    pub(super) what: String,
    /// The process that wrote it.
    pub(super) pid: u32,
}

/// The file of notes.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
}

impl Notes {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("notes") }
    }

    /// Everything noted since the last [`forget`](Self::forget), in order.
    pub(super) fn all(&self) -> Vec<Note> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().filter_map(note).collect()
    }

    /// Only what was noted, not by whom.
    pub(super) fn words(&self) -> Vec<String> {
        self.all().into_iter().map(|note| note.what).collect()
    }

    /// Which tests noted themselves, in order.
    pub(super) fn tests(&self) -> Vec<String> {
        let is_of_class = |word: &String| word.ends_with("class");
        self.words().into_iter().filter(|word| !is_of_class(word)).collect()
    }

    /// The process of the last test that noted this.
    pub(super) fn process_of(&self, what: &str) -> u32 {
        let all = self.all();
        let found = all.iter().rev().find(|note| note.what == what);
        found.unwrap_or_else(|| panic!("`{what}` is not noted: {all:?}")).pid
    }

    /// Wait until so many tests have noted this.
    pub(super) fn wait_for(&self, what: &str, times: usize) {
        let count = || self.words().iter().filter(|it| *it == what).count();
        assert!(wait_until(|| count() >= times), "`{what}` was noted {} times", count());
    }

    /// Start anew.
    pub(super) fn forget(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn note(line: &str) -> Option<Note> {
    let (what, pid) = line.rsplit_once(' ')?;
    Some(Note { what: what.to_owned(), pid: pid.parse().ok()? })
}

/// Wait until a process is gone.
pub(super) fn wait_for_end_of(process: u32) {
    assert!(wait_until(|| !is_alive(process)), "process {process} outlives what started it");
}

/// Whether a process runs; a dead one that nobody has asked about yet does not.
pub(super) fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(Some('Z' | 'X')))
}

fn wait_until(holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > deadline {
            return false;
        }
        // There is no event to wait on: these processes are not our children.
        std::thread::sleep(BETWEEN_LOOKS);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_written_note_is_no_note() {
        assert_eq!(note("passes 12"), Some(Note { what: "passes".into(), pid: 12 }));
        assert_eq!(
            note("variables:1,a b,3 12").map(|it| it.what),
            Some("variables:1,a b,3".into())
        );
        assert_eq!(note("passes"), None);
    }

    #[test]
    fn this_process_is_alive() {
        assert!(is_alive(std::process::id()));
    }
}
