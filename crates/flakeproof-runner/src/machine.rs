//! Which machine this is, for those who compare the times of files with a time on record.
//!
//! When a file changed says something only on the machine, and within the container, where the earlier
//! run took place. A history travels: it is shared by a team, or restored from a cache on a new machine
//! that has the files of an image. Host names and machine ids travel with images too, so a file in the
//! user's cache bears witness: its inode and the time of its last change are the system's, and no
//! copy has both.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::folders::cache_folder;
use crate::process::answer_of;
use crate::shell::digest;
use crate::system::{identity, witness_of};

/// A text that two runs have in common only if they saw the same files change; `None` where no run can
/// leave anything behind that tells.
#[must_use]
pub fn machine() -> Option<String> {
    let witness = witness_in(&cache_folder()?.join("flakeproof"))?;
    Some(digest(format!("{witness} {}", of_the_system()).as_bytes()))
}

/// What the witness in a folder says; it is made if it is not there.
fn witness_in(folder: &Path) -> Option<String> {
    let path = folder.join("machine");
    if !path.exists() {
        std::fs::create_dir_all(folder).ok()?;
        // Written beside and linked, so that nobody reads half of it; who comes second takes the first.
        let mut new = tempfile::NamedTempFile::new_in(folder).ok()?;
        new.write_all(unlike_any_other().as_bytes()).ok()?;
        let _ = new.persist_noclobber(&path);
    }
    let content = std::fs::read_to_string(&path).ok()?;
    let own = path.symlink_metadata().ok()?;
    Some(format!("{content} {}", witness_of(&own)?))
}

/// What no other machine writes at this moment.
fn unlike_any_other() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let boot = kernel("random/boot_id", "sysctl", &["-n", "kern.bootsessionuuid"]);
    format!("{boot} {} {}", std::process::id(), since_epoch.as_nanos())
}

/// What the system says of itself: another container may share the user's cache.
fn of_the_system() -> String {
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let root = Path::new("/").metadata().ok();
    let inode = root.as_ref().map(|root| identity(root).1);
    let made = root.and_then(|root| root.created().ok()?.duration_since(UNIX_EPOCH).ok());
    let host = kernel("hostname", "uname", &["-n"]);
    format!("{} {inode:?} {made:?} {host}", id.trim())
}

/// What the kernel says where it has files for that, else what a program says for it.
fn kernel(file: &str, program: &str, arguments: &[&str]) -> String {
    let text = std::fs::read_to_string(Path::new("/proc/sys/kernel").join(file)).ok();
    let text = text.or_else(|| answer_of(program, arguments)).unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_on_one_machine_have_it_in_common() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let first = witness_in(&folder.path().join("new"));
        assert!(first.is_some());
        assert_eq!(witness_in(&folder.path().join("new")), first);
    }

    #[test]
    fn a_copy_of_the_witness_is_another_machine() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        let first = witness_in(&here);
        std::fs::create_dir(&there).expect("a folder can be made");
        std::fs::copy(here.join("machine"), there.join("machine")).expect("it can be copied");
        assert_ne!(witness_in(&there), first);
    }

    #[test]
    fn a_folder_that_cannot_be_made_tells_nothing() {
        let file = tempfile::NamedTempFile::new().expect("a file can be made");
        assert_eq!(witness_in(file.path()), None);
    }
}
