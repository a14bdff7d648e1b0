//! Which tests a change touches.

use std::path::{Component, Path, PathBuf};

use flakeproof_core::{Base, ChangeStatus, ChangedFile};
use flakeproof_runner::git::Repository;

use super::source_tests::SourceTest;
use crate::problem::Problem;

/// What changed since a branch left a revision.
#[derive(Debug)]
pub(crate) struct ChangedTests {
    files: Vec<ChangedFile>,
    /// The folder that the files of tests are relative to, below the root of the repository.
    below: PathBuf,
}

impl ChangedTests {
    /// Ask git what changed since the branch left a revision. Files of tests are relative to the
    /// folder.
    pub(crate) fn since(base: &str, folder: &Path) -> Result<Self, Problem> {
        let advice = "name a revision of this repository: `main`, `HEAD~3`, a hash";
        let repository = Repository::containing(folder)
            .map_err(|why| Problem::usage(format!("`--diff {base}` needs git: {why}"), advice))?;
        let parted = repository.parting_from(base);
        let named = Base::Named { revision: parted.unwrap_or_else(|| base.to_owned()) };
        let change = repository
            .change_since(named, None)
            .map_err(|why| Problem::usage(format!("`--diff {base}`: {why}"), advice))?;
        let below = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let below = below.strip_prefix(repository.root()).unwrap_or(Path::new("")).to_path_buf();
        Ok(Self { files: change.files, below })
    }

    /// Whether the test was added or changed.
    pub(crate) fn holds(&self, test: &SourceTest) -> bool {
        self.at(&test.file).any(|file| touches(file, test))
    }

    /// Whether anything in this file was added or changed.
    pub(crate) fn holds_file(&self, file: &str) -> bool {
        self.at(file).any(|file| file.status != ChangeStatus::Deleted)
    }

    fn at(&self, file: &str) -> impl Iterator<Item = &ChangedFile> {
        let path = without_detours(&self.below.join(file));
        self.files.iter().filter(move |file| Path::new(&file.path) == path)
    }
}

/// The same path without `..`, as git writes it.
fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

fn touches(file: &ChangedFile, test: &SourceTest) -> bool {
    match (file.status, &file.lines) {
        (ChangeStatus::Added | ChangeStatus::Special, _) | (ChangeStatus::Modified, None) => true,
        (ChangeStatus::Deleted, _) => false,
        (ChangeStatus::Modified, Some(lines)) => lines.iter().any(|range| {
            // A deletion lies between two lines, and counts if both belong to the test.
            let (first, last) = match range.count {
                0 => (range.first + 1, range.first),
                count => (range.first, range.first + count - 1),
            };
            first <= test.last_line && last >= test.first_line
        }),
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::LineRange;
    use flakeproof_syntax::Language;

    use super::*;

    fn test(first_line: u32, last_line: u32) -> SourceTest {
        SourceTest {
            id: "a::b".into(),
            file: "a.py".into(),
            first_line,
            last_line,
            language: Language::Python,
            class: String::new(),
            source: String::new(),
            features: None,
        }
    }

    fn modified(first: u32, count: u32) -> ChangedFile {
        ChangedFile {
            path: "a.py".into(),
            status: ChangeStatus::Modified,
            lines: Some(vec![LineRange { first, count }]),
        }
    }

    #[test]
    fn a_test_is_touched_when_one_of_its_lines_is() {
        assert!(touches(&modified(10, 1), &test(5, 10)));
        assert!(touches(&modified(1, 5), &test(5, 10)));
        assert!(!touches(&modified(11, 3), &test(5, 10)));
        assert!(!touches(&modified(1, 4), &test(5, 10)));
    }

    #[test]
    fn a_deletion_inside_a_test_touches_it_and_one_beside_it_does_not() {
        assert!(touches(&modified(7, 0), &test(5, 10)));
        assert!(!touches(&modified(4, 0), &test(5, 10)));
        assert!(!touches(&modified(10, 0), &test(5, 10)));
    }
}
