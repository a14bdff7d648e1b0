//! Real repositories in temporary folders, for tests.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::repository::Repository;

/// A repository that knows nothing of the machine it is on. Its default branch is `main`.
#[derive(Debug)]
pub(super) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// A repository without a commit.
    pub(super) fn empty() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        sandbox.git(&["init", "-q", "."]);
        sandbox
    }

    /// A repository with one commit of these files.
    pub(super) fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let sandbox = Self::empty();
        sandbox.commit(files);
        sandbox
    }

    /// A clone of this one.
    pub(super) fn cloned(&self, how: &[&str]) -> Self {
        let clone = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let origin = format!("file://{}", self.path("").display());
        clone.git(&[&["clone", "-q"], how, &[&origin, "."]].concat());
        clone
    }

    /// Commit these files and everything else that differs.
    pub(super) fn commit<const N: usize>(&self, files: [(&str, &str); N]) {
        files.iter().for_each(|(name, content)| self.write(name, content));
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
    }

    /// Make another repository a submodule of this one, and commit that.
    pub(super) fn add_submodule(&self, inner: &Self, name: &str) {
        let inner = inner.path("");
        self.git(&["submodule", "--quiet", "add", inner.to_str().expect("UTF-8"), name]);
        self.commit([]);
    }

    pub(super) fn repository(&self) -> Repository {
        Repository::containing(self.folder.path()).expect("a repository")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a written file");
    }

    /// Write a file with a name that may not be text.
    pub(super) fn write_bytes_named(&self, name: &[u8]) -> std::io::Result<()> {
        std::fs::write(self.folder.path().join(OsStr::from_bytes(name)), "content")
    }

    pub(super) fn remove(&self, name: &str) {
        let path = self.path(name);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.expect("something to remove");
    }

    /// Make a file executable.
    pub(super) fn make_program(&self, name: &str) {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), mode).expect("another mode");
    }

    /// Make a file look as if it had been written at another time.
    pub(super) fn touch(&self, name: &str) {
        let file = std::fs::File::options().append(true).open(self.path(name)).expect("a file");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_modified(time).expect("another time");
    }

    /// The bytes of the index.
    pub(super) fn index(&self) -> Vec<u8> {
        std::fs::read(self.path(".git/index")).expect("an index")
    }

    /// Run git; gives what it printed.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().expect("git runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// git in this repository, with its surroundings fixed.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([
            ("LC_ALL", "C"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
            ("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z"),
        ]);
        let settings = ["init.defaultBranch=main", "protocol.file.allow=always"];
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        command
    }
}
