//! Digests of files as they are in the work tree now, before any filter of git's.
//!
//! A digest also tells a file from a program, a link or a repository. Equal digests mean equal
//! content, except for [`UNKNOWN`], which is equal to nothing, itself included.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flakeproof_core::TreeState;

use super::path::RepositoryPath;
use super::repository::Repository;

/// The digest of a file that is not there.
pub(super) const ABSENT: &str = "";
/// The digest of what cannot be read, named or listed.
pub(super) const UNKNOWN: &str = "unknown";

const HEX_DIGITS: usize = 16;

/// Whether two digests say that the content is the same.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one == other && one != UNKNOWN
}

/// The digest of a file now.
pub(super) fn digest_of(root: &Path, path: &RepositoryPath) -> String {
    if !path.is_text() {
        return UNKNOWN.to_owned();
    }
    let place = path.beneath(root);
    match place.symlink_metadata() {
        Ok(metadata) => digest_of_present(&place, &metadata).unwrap_or_else(|| UNKNOWN.to_owned()),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => ABSENT.to_owned(),
            _ => UNKNOWN.to_owned(),
        },
    }
}

fn digest_of_present(place: &Path, metadata: &Metadata) -> Option<String> {
    if metadata.is_symlink() {
        let target = std::fs::read_link(place).ok()?;
        return Some(digest("link", |hasher| {
            hasher.update(target.as_os_str().as_bytes());
        }));
    }
    if metadata.is_dir() {
        return digest_of_repository(place);
    }
    if !metadata.is_file() {
        // To open a pipe or a device could block or do something.
        return None;
    }
    let mut content = File::open(place).ok()?;
    let is_program = metadata.permissions().mode() & 0o100 != 0;
    let mut is_read = true;
    let digest = digest(if is_program { "program" } else { "file" }, |hasher| {
        is_read = std::io::copy(&mut content, hasher).is_ok();
    });
    is_read.then_some(digest)
}

/// A submodule or a nested repository: its revision, and its own edits.
fn digest_of_repository(place: &Path) -> Option<String> {
    let repository = Repository::containing(place).ok()?;
    // A folder without a repository of its own belongs to the one around it.
    if repository.root() != place.canonicalize().ok()? {
        return None;
    }
    let TreeState { revision, branch: _, edited, is_complete } = repository.tree_state();
    if !is_complete || edited.values().any(|digest| digest == UNKNOWN) {
        return None;
    }
    Some(digest("repository", |hasher| {
        hasher.update(revision.unwrap_or_default().as_bytes());
        for text in edited.iter().flat_map(|(path, digest)| [path, digest]) {
            hasher.update(b"\0").update(text.as_bytes());
        }
    }))
}

fn digest(kind: &str, content: impl FnOnce(&mut blake3::Hasher)) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes()).update(b"\0");
    content(&mut hasher);
    hasher.finalize().to_hex().chars().take(HEX_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_in(folder: &Path, name: &str) -> String {
        digest_of(folder, &RepositoryPath::from(name))
    }

    #[test]
    fn a_file_a_program_and_a_link_with_the_same_text_differ() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        std::fs::write(folder.path().join("program"), "text").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path().join("program"), mode).unwrap();
        std::os::unix::fs::symlink("text", folder.path().join("link")).unwrap();
        let digests = ["file", "program", "link"].map(|name| digest_in(folder.path(), name));
        assert!(digests.iter().all(|digest| digest.len() == HEX_DIGITS), "{digests:?}");
        assert_ne!(digests[0], digests[1]);
        assert_ne!(digests[0], digests[2]);
        assert_ne!(digests[1], digests[2]);
    }

    #[test]
    fn what_is_not_there_is_absent_also_below_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        assert_eq!(digest_in(folder.path(), "nothing"), ABSENT);
        assert_eq!(digest_in(folder.path(), "file/below"), ABSENT);
    }

    #[test]
    fn the_unknown_is_not_even_the_same_as_itself() {
        assert!(!is_same(UNKNOWN, UNKNOWN));
        assert!(is_same(ABSENT, ABSENT));
    }

    #[test]
    fn a_name_that_is_not_utf8_has_an_unknown_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = RepositoryPath::new(b"caf\xe9");
        assert_eq!(digest_of(folder.path(), &path), UNKNOWN);
    }
}
