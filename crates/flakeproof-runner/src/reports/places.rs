//! Files as reports name them, relative to the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Finds the files that reports name in the project they belong to.
#[derive(Debug, Default)]
pub struct Places {
    folders: Vec<PathBuf>,
    /// What was found already: reports name few files and many tests.
    known: HashMap<String, String>,
}

/// So many files are remembered.
const MOST_KNOWN: usize = 100_000;

impl Places {
    /// Files of the project in the first of these folders; the others are names that it had where
    /// the tests ran.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, known: HashMap::new() }
    }

    /// The path relative to the project, with slashes; as it is where it lies outside.
    pub fn relative(&mut self, file: &str) -> String {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let found = self.find(file);
        if self.known.len() < MOST_KNOWN {
            self.known.insert(file.to_owned(), found.clone());
        }
        found
    }

    fn find(&self, file: &str) -> String {
        let plain = file.replace('\\', "/");
        let plain = plain.strip_prefix("file://").unwrap_or(&plain);
        let path = Path::new(plain);
        if !path.is_absolute() {
            return plain.trim_start_matches("./").to_owned();
        }
        let inside = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let inside = inside.map(Path::to_path_buf).or_else(|| self.by_its_end(path));
        inside.map_or_else(|| plain.to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// A path of another machine: the longest end of it that is a file of the project.
    fn by_its_end(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folders.first()?;
        let parts: Vec<_> = path.components().collect();
        let ends = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        ends.into_iter().find(|end| folder.join(end).is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_other_machines_are_found_by_their_end() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.test.js"), "").unwrap();
        let workspace = PathBuf::from("/builds/ours");
        let mut places = Places::new(vec![folder.path().to_path_buf(), workspace]);
        assert_eq!(places.relative("/builds/acme/src/a.test.js"), "src/a.test.js");
        assert_eq!(places.relative("/builds/ours/b.js"), "b.js");
        assert_eq!(places.relative("./c.js"), "c.js");
        assert_eq!(places.relative("/elsewhere/d.js"), "/elsewhere/d.js");
    }
}
