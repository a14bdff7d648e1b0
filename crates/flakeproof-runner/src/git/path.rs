//! Paths as git prints them: bytes, relative to the repository.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder in which flakeproof keeps its own files, which are never part of a change.
const OWN_FOLDER: &[u8] = b".flakeproof";

/// A path relative to the root of a repository, exactly as git has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepositoryPath(Vec<u8>);

impl RepositoryPath {
    /// A path as git printed it. A nested repository is printed as a folder, with a slash at the
    /// end that is no part of its name.
    pub(super) fn new(printed: &[u8]) -> Self {
        Self(printed.strip_suffix(b"/").unwrap_or(printed).to_vec())
    }

    /// Where the file is.
    pub(super) fn beneath(&self, root: &Path) -> PathBuf {
        root.join(OsStr::from_bytes(&self.0))
    }

    /// The path as text. Different paths can have the same text unless [`is_text`](Self::is_text).
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Whether the text is this path and no other. A path that is not UTF-8 has the replacement
    /// character in its text, so one that really has that character is not told from it.
    pub(super) fn is_text(&self) -> bool {
        std::str::from_utf8(&self.0).is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }

    /// Whether this is one of flakeproof's own files.
    pub(super) fn is_own(&self) -> bool {
        self.0.split(|byte| *byte == b'/').any(|part| part == OWN_FOLDER)
    }
}

impl From<&str> for RepositoryPath {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flakeproofs_folder_is_its_own_at_any_depth_and_by_whole_name_only() {
        assert!(RepositoryPath::from(".flakeproof/history.db").is_own());
        assert!(RepositoryPath::from("services/api/.flakeproof/x/y").is_own());
        assert!(!RepositoryPath::from(".flakeproof.toml").is_own());
        assert!(!RepositoryPath::from("flakeproof/a.py").is_own());
    }

    #[test]
    fn a_path_that_is_not_utf8_says_so() {
        let path = RepositoryPath::new(b"caf\xe9.py");
        assert!(!path.is_text());
        assert_eq!(path.text(), "caf\u{fffd}.py");
        assert!(!RepositoryPath::from(path.text().as_str()).is_text());
    }
}
