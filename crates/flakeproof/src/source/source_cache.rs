//! What was made of source before: a file that has not changed is not parsed again, and of a project in
//! which no file has changed nothing is read twice.
//!
//! Two packs in `.flakeproof/cache` of the project: `files` has what was parsed of each file, under the
//! digest of its path and text; `projects` has what was read of all tests, under the digest of all files.
//! Everything there can be made again and may be removed at any time.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use flakeproof_syntax::Layout;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::pack::{Digest, Pack};
use crate::settings::ConfigurationFile;

/// Where it is, in the project.
const FOLDER: &str = ".flakeproof/cache";

/// What was made of the source of a project before.
#[derive(Debug)]
pub(crate) struct SourceCache {
    folder: PathBuf,
    maker: Digest,
    files: OnceLock<Pack>,
    projects: OnceLock<Pack>,
}

/// The digest of all that decides what a file is parsed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKey(Digest);

/// The digest of all that decides what is read of the tests of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProjectKey(Digest);

impl FileKey {
    /// The key of a file, by its path in the project and its text.
    pub(crate) fn new(path: &str, text: &str, layout: &Layout) -> Self {
        let mut digest = blake3::Hasher::new();
        for part in [path, text].into_iter().chain(layout.names_above(path)) {
            add(&mut digest, part.as_bytes());
        }
        Self(digest.finalize().into())
    }
}

impl ProjectKey {
    /// The key of a project, by its files and what is asked of each; one that cannot be read has no key.
    pub(crate) fn new<'k>(files: impl Iterator<Item = (Option<&'k FileKey>, [bool; 2])>) -> Self {
        let mut digest = blake3::Hasher::new();
        for (key, uses) in files {
            add(&mut digest, key.map_or(&[], |key| key.0.as_slice()));
            add(&mut digest, &uses.map(u8::from));
        }
        Self(digest.finalize().into())
    }

    /// The key of one thing that was made of the project.
    fn of(&self, what: &str) -> Digest {
        let mut digest = blake3::Hasher::new();
        add(&mut digest, &self.0);
        add(&mut digest, what.as_bytes());
        digest.finalize().into()
    }
}

impl SourceCache {
    /// The cache of the project that a folder belongs to. None where this program does not know which one
    /// it is.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let project = ConfigurationFile::find(None, folder).map(|file| file.project);
        // What is wrong with a configuration is told by those who need it.
        Self::in_project(&project.unwrap_or_else(|_| folder.to_path_buf()))
    }

    /// The cache of a project, in its folder. None where this program does not know which one it is.
    pub(crate) fn in_project(folder: &Path) -> Option<Self> {
        let maker = this_program()?;
        let folder = folder.join(FOLDER);
        Some(Self { folder, maker, files: OnceLock::new(), projects: OnceLock::new() })
    }

    /// What was parsed of a file.
    pub(crate) fn file<T: DeserializeOwned>(&self, key: &FileKey) -> Option<T> {
        postcard::from_bytes(&self.files().get(&key.0)?).ok()
    }

    /// Keep what was parsed of a file.
    pub(crate) fn keep_file<T: Serialize>(&self, key: &FileKey, parsed: &T) {
        keep(self.files(), key.0, parsed);
    }

    /// What was made of a project under this name.
    pub(crate) fn of_project<T: DeserializeOwned>(
        &self,
        key: &ProjectKey,
        what: &str,
    ) -> Option<T> {
        postcard::from_bytes(&self.projects().get(&key.of(what))?).ok()
    }

    /// Keep what was made of a project.
    pub(crate) fn keep_of_project<T: Serialize>(&self, key: &ProjectKey, what: &str, made: &T) {
        keep(self.projects(), key.of(what), made);
    }

    /// Write what is new.
    pub(crate) fn save(&self) {
        let save = |pack: &OnceLock<Pack>| pack.get().into_iter().for_each(Pack::save);
        rayon::join(|| save(&self.files), || save(&self.projects));
        keep_out_of_git(&self.folder);
    }

    fn files(&self) -> &Pack {
        self.files.get_or_init(|| Pack::open(self.folder.join("files"), self.maker))
    }

    fn projects(&self) -> &Pack {
        self.projects.get_or_init(|| Pack::open(self.folder.join("projects"), self.maker))
    }
}

fn keep<T: Serialize>(pack: &Pack, key: Digest, made: &T) {
    if let Ok(bytes) = postcard::to_stdvec(made) {
        pack.put(key, &bytes);
    }
}

/// Which program this is: another version, or another build of the same one, may read the same source
/// otherwise.
fn this_program() -> Option<Digest> {
    let about = std::env::current_exe().ok()?.metadata().ok()?;
    let built = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut digest = blake3::Hasher::new();
    add(&mut digest, env!("CARGO_PKG_VERSION").as_bytes());
    add(&mut digest, &about.len().to_le_bytes());
    add(&mut digest, &built.as_nanos().to_le_bytes());
    Some(digest.finalize().into())
}

/// Add a part with its length, so that no two lists of parts are alike.
fn add(digest: &mut blake3::Hasher, part: &[u8]) {
    digest.update(&(part.len() as u64).to_le_bytes());
    digest.update(part);
}

/// What can be made again is nobody's to commit.
fn keep_out_of_git(folder: &Path) {
    let ignore = folder.join(".gitignore");
    if folder.is_dir() && !ignore.exists() {
        // A cache that git sees is no reason to fail.
        let _ = std::fs::write(ignore, "*\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str, text: &str) -> FileKey {
        FileKey::new(path, text, &Layout::default())
    }

    #[test]
    fn a_file_with_another_path_text_or_module_has_another_key() {
        let one = key("a_test.go", "package a");
        assert_eq!(one, key("a_test.go", "package a"));
        assert_ne!(one, key("b_test.go", "package a"));
        assert_ne!(one, key("a_test.go", "package b"));
        assert_ne!(one, key("a_test.gop", "ackage a"));
        let layout = Layout::of_manifests([("go.mod", "module example.com/a\n")]);
        assert_ne!(one, FileKey::new("a_test.go", "package a", &layout));
    }

    #[test]
    fn what_was_kept_is_there_for_the_next_process_and_nobody_commits_it() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let open = || SourceCache::in_project(folder.path()).expect("this program is known");
        let (file, cache) = (key("a.py", "x = 1"), open());
        let project = ProjectKey::new([(Some(&file), [true, false])].into_iter());
        cache.keep_file(&file, &"parsed");
        cache.keep_of_project(&project, "tests", &vec![1_u32, 2]);
        cache.save();
        let cache = open();
        assert_eq!(cache.file::<String>(&file).as_deref(), Some("parsed"));
        assert_eq!(cache.of_project(&project, "tests"), Some(vec![1_u32, 2]));
        assert_eq!(cache.of_project::<Vec<u32>>(&project, "others"), None);
        assert!(folder.path().join(FOLDER).join(".gitignore").is_file());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_trouble() {
        let cache = SourceCache::in_project(Path::new("/nonexistent")).expect("it is known");
        cache.keep_file(&key("a.py", ""), &1_u8);
        cache.save();
    }
}
