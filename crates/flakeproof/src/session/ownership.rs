//! Who owns which test: the project's `CODEOWNERS`, asked for the file in which a test is written.
//!
//! Ids of many runners begin with their file. For those that name a class, a package or a module, the
//! project's source is searched, and only if there is somebody to be named.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::{CODEOWNERS_PLACES, Forge, Owners, Suite, SuiteTest, TestId};
use flakeproof_runner::git::Repository;

use crate::source::source_tests;

/// The owners of a project's files.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    owners: Owners,
    /// Where commands are given, relative to the repository.
    below: PathBuf,
    root: PathBuf,
    folder: PathBuf,
}

/// Where a test is written, and who owns that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Owned {
    /// Relative to the folder in which commands are given.
    pub(crate) file: Option<String>,
    pub(crate) owners: Vec<String>,
}

impl Ownership {
    /// Read the `CODEOWNERS` of the project that a folder is in. Where there is none, nobody owns
    /// anything.
    pub(crate) fn read(folder: &Path) -> Self {
        let root = match Repository::containing(folder) {
            Ok(repository) => repository.root().to_path_buf(),
            Err(_) => folder.to_path_buf(),
        };
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let below = whole(folder).strip_prefix(whole(&root)).unwrap_or(Path::new("")).to_path_buf();
        let is_gitlab = root.join(".gitlab-ci.yml").is_file() && !root.join(".github").is_dir();
        let file = CODEOWNERS_PLACES
            .iter()
            .find_map(|place| Some((place, std::fs::read_to_string(root.join(place)).ok()?)));
        let owners = file.map(|(place, text)| match is_gitlab || place.starts_with(".gitlab") {
            true => Owners::parse(&text, Forge::Gitlab),
            false => Owners::parse(&text, Forge::Github),
        });
        let owners = owners.unwrap_or_default();
        Self { owners, below, root, folder: folder.to_path_buf() }
    }

    /// Whether nobody owns anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Everybody who is named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.owners.names()
    }

    /// Where these tests are written, and who owns that; of each, a file that is known already may be
    /// given. Tests of which nothing can be said are left out.
    pub(crate) fn of<'t>(
        &self,
        tests: impl Iterator<Item = (&'t TestId, Option<String>)>,
    ) -> BTreeMap<TestId, Owned> {
        let mut owned = BTreeMap::new();
        let mut sought = Vec::new();
        let mut files = HashMap::new();
        for (test, known) in tests {
            let Some(file) = known.or_else(|| self.file_in_id(test, &mut files)) else {
                sought.push(test);
                continue;
            };
            owned.insert(test.clone(), self.of_file(file));
        }
        if !self.is_empty() && !sought.is_empty() {
            for (test, file) in self.search(&sought) {
                owned.insert(test, self.of_file(file));
            }
        }
        owned
    }

    fn of_file(&self, file: String) -> Owned {
        let from_root = self.below.join(&file);
        // A history may be that of the whole repository, looked at in a folder of it.
        let is_below = !self.folder.join(&file).exists() && self.root.join(&file).exists();
        let path = if is_below { PathBuf::from(&file) } else { from_root };
        let path = path.to_string_lossy().replace('\\', "/");
        Owned { owners: self.owners.of(&path), file: Some(file) }
    }

    /// The file that an id begins with, such as `tests/test_a.py::test_x` or `cart.test.js > adds`.
    fn file_in_id<'t>(
        &self,
        test: &'t TestId,
        files: &mut HashMap<&'t str, bool>,
    ) -> Option<String> {
        let id = test.as_str();
        let ends = ["::", " > ", "#", " "].iter().filter_map(|mark| id.find(mark));
        let starts: BTreeSet<usize> = ends.collect();
        let starts = starts.into_iter().map(|end| &id[..end]);
        let is_there =
            |start: &str| self.folder.join(start).is_file() || self.root.join(start).is_file();
        let mut is_file = |start: &'t str| {
            !start.is_empty() && *files.entry(start).or_insert_with(|| is_there(start))
        };
        starts.into_iter().find(|start| is_file(start)).map(str::to_owned)
    }

    /// Find tests in the project's source.
    fn search(&self, tests: &[&TestId]) -> BTreeMap<TestId, String> {
        let Ok(found) = source_tests::read(&[PathBuf::from(".")], &self.folder) else {
            return BTreeMap::new();
        };
        let test = |id: &&TestId| SuiteTest { id: (*id).clone(), location: None };
        let suite = Suite { tests: tests.iter().map(test).collect(), problems: Vec::new() };
        let places = source_tests::places_of(&suite, &found.tests);
        let file = |at: Option<usize>| Some(found.tests.get(at?)?.file.clone());
        let tests = tests.iter().zip(places);
        tests.filter_map(|(test, at)| Some(((*test).clone(), file(at)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    fn owners(folder: &Path, id: &str) -> Vec<String> {
        let test = TestId::from(id);
        let owned = Ownership::read(folder).of(std::iter::once((&test, None)));
        owned.get(&test).map(|it| it.owners.clone()).unwrap_or_default()
    }

    #[test]
    fn a_test_is_owned_as_the_file_that_its_id_names_or_its_class_is_in() {
        let project = project(&[
            (".github/CODEOWNERS", "*.py @python\n/src/test/ @jvm\n/pkg/ @go\n"),
            ("CODEOWNERS", "* @nobody-reads-this\n"),
            ("tests/test_a.py", "def test_x():\n    pass\n"),
            (
                "src/test/java/com/acme/CartTest.java",
                "package com.acme;\nimport org.junit.Test;\npublic class CartTest {\n  @Test\n  \
                 public void adds() {}\n}\n",
            ),
        ]);
        let folder = project.path();
        assert_eq!(owners(folder, "tests/test_a.py::test_x[1 > 2]"), ["@python"]);
        assert_eq!(owners(folder, "com.acme.CartTest#adds"), ["@jvm"]);
        assert_eq!(owners(folder, "com.acme.Elsewhere#adds"), [""; 0]);
    }

    #[test]
    fn where_nobody_is_named_nothing_is_searched() {
        let project = project(&[("tests/test_a.py", "def test_x():\n    pass\n")]);
        assert!(Ownership::read(project.path()).is_empty());
        assert_eq!(owners(project.path(), "tests/test_a.py::test_x"), [""; 0]);
    }
}
