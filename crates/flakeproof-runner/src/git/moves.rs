//! Which files two revisions have in which place, and what was in them.

use super::program::ask;
use super::repository::Repository;

/// A file that differs between two revisions, by where it was and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMove {
    /// Relative to the repository; `None` if it is new.
    pub before: Option<String>,
    /// `None` if it is gone.
    pub after: Option<String>,
}

impl FileMove {
    /// Whether git takes it for the same file in another place.
    #[must_use]
    pub fn is_rename(&self) -> bool {
        self.before.is_some() && self.after.is_some() && self.before != self.after
    }
}

impl Repository {
    /// The files that differ between two commits, with git's rename detection; `None` if one of them is not
    /// here, or git cannot tell.
    #[must_use]
    pub fn moves_between(&self, before: &str, after: &str) -> Option<Vec<FileMove>> {
        let before = self.commit(before).ok()??;
        let after = self.commit(after).ok()??;
        let question = [
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "--no-ext-diff",
            "--name-status",
            "--diff-filter=AMDR",
            &before,
            &after,
        ];
        let printed = ask(self.root(), &question).ok()?;
        let text = String::from_utf8(printed).ok()?;
        moves(text.split_terminator('\0'))
    }

    /// The text of a file at a commit; `None` if it has none there.
    #[must_use]
    pub fn text_at(&self, revision: &str, path: &str) -> Option<String> {
        let commit = self.commit(revision).ok()??;
        let object = format!("{commit}:{path}");
        let printed = ask(self.root(), &["cat-file", "blob", &object]).ok()?;
        String::from_utf8(printed).ok()
    }
}

/// What `--name-status -z` prints, word by word.
fn moves<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<Vec<FileMove>> {
    let mut moves = Vec::new();
    while let Some(status) = words.next() {
        let path = words.next()?.to_owned();
        moves.push(match status.as_bytes().first()? {
            b'A' => FileMove { before: None, after: Some(path) },
            b'D' => FileMove { before: Some(path), after: None },
            b'M' => FileMove { before: Some(path.clone()), after: Some(path) },
            b'R' => FileMove { before: Some(path), after: Some(words.next()?.to_owned()) },
            _ => return None,
        });
    }
    Some(moves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::sandbox::Sandbox;

    #[test]
    fn a_file_that_moved_is_known_by_both_places() {
        let text = "one\ntwo\nthree\nfour\n";
        let sandbox = Sandbox::with([("a b.py", text), ("kept.py", "1\n")]);
        let before = sandbox.head();
        sandbox.git(&["rm", "-q", "a b.py"]);
        sandbox.commit([("deep/c.py", text), ("kept.py", "2\n"), ("new.py", "x = 1\n")]);
        let after = sandbox.head();
        let repository = sandbox.repository();
        let mut moves = repository.moves_between(&before, &after).expect("both are here");
        moves.sort_by(|one, other| one.after.cmp(&other.after));
        let moved = |before: Option<&str>, after: Option<&str>| FileMove {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let wanted = [
            moved(Some("a b.py"), Some("deep/c.py")),
            moved(Some("kept.py"), Some("kept.py")),
            moved(None, Some("new.py")),
        ];
        assert_eq!(moves, wanted);
        assert_eq!(repository.text_at(&before, "kept.py").as_deref(), Some("1\n"));
        assert_eq!(repository.text_at(&before, "new.py"), None);
        assert_eq!(repository.moves_between(&before, &"0".repeat(40)), None);
    }
}
