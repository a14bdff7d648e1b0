//! A commit on a new branch, made beside the work tree: neither it nor the index is touched.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::ask;
use super::repository::Repository;

/// Why a branch cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// There is one of this name, or the name is none.
    #[error("{reason}")]
    Name {
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not as it was committed.
    #[error("{file} is not as it was committed")]
    Differs {
        /// The file, relative to the root.
        file: String,
    },
    /// git does not do it.
    #[error("{reason}")]
    GitFailed {
        /// What git said.
        reason: String,
    },
    /// The system does not do it.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Repository {
    /// Whether a branch of this name can be made.
    ///
    /// # Errors
    /// When there is one, or git takes no such name.
    pub fn can_make_branch(&self, name: &str) -> Result<(), BranchError> {
        let refuse = |reason: &str| Err(BranchError::Name { reason: reason.to_owned() });
        if ask(self.root(), &["check-ref-format", "--branch", name]).is_err() {
            return refuse("git takes no such name");
        }
        let reference = format!("refs/heads/{name}");
        match ask(self.root(), &["rev-parse", "--verify", "-q", &reference]) {
            Ok(_) => refuse("there is one of this name"),
            Err(_) => Ok(()),
        }
    }

    /// Commit other contents of files on top of HEAD, on a new branch. Each file comes with what is there
    /// now, which must be what HEAD has.
    ///
    /// # Errors
    /// When a file differs from HEAD, the branch cannot be made, or nobody is known to git as the author.
    pub fn commit_to_branch(
        &self,
        name: &str,
        files: &[(&str, &[u8], &[u8])],
        message: &str,
    ) -> Result<(), BranchError> {
        self.can_make_branch(name)?;
        let folder = tempfile::tempdir()?;
        let index = folder.path().join("index");
        self.write(&["read-tree", "HEAD"], &index, b"")?;
        for (file, before, after) in files {
            let differs = || BranchError::Differs { file: (*file).to_owned() };
            let listed = ask(self.root(), &["ls-tree", "-z", "HEAD", "--", file])
                .map_err(|why| BranchError::GitFailed { reason: why.reason() })?;
            let listed = String::from_utf8_lossy(&listed).into_owned();
            let mut words = listed.split([' ', '\t']);
            let (mode, committed) = (words.next().unwrap_or_default(), words.nth(1));
            let hash = ["hash-object", "--stdin", "--path", file];
            let now = self.write(&hash, &index, before)?;
            if committed != Some(now.as_str()) {
                return Err(differs());
            }
            let hash = ["hash-object", "-w", "--stdin", "--path", file];
            let blob = self.write(&hash, &index, after)?;
            let entry = format!("{mode},{blob},{file}");
            self.write(&["update-index", "--cacheinfo", &entry], &index, b"")?;
        }
        let tree = self.write(&["write-tree"], &index, b"")?;
        let commit = ["commit-tree", &tree, "-p", "HEAD", "-F", "-"];
        let commit = self.write(&commit, &index, message.as_bytes())?;
        let reference = format!("refs/heads/{name}");
        // The empty old value: only if there is none.
        self.write(&["update-ref", &reference, &commit, ""], &index, b"")?;
        Ok(())
    }

    /// Run git with an index of its own; what it prints, without the line end.
    fn write(&self, arguments: &[&str], index: &Path, input: &[u8]) -> Result<String, BranchError> {
        let mut child = Command::new("git")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"])
            .args(arguments.iter().map(OsStr::new))
            .current_dir(self.root())
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env("GIT_INDEX_FILE", index)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input)?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(BranchError::GitFailed { reason });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    #[test]
    fn a_commit_on_a_branch_leaves_the_work_tree_alone() {
        let sandbox = Sandbox::with([("a.py", "1\n"), ("b.py", "1\n")]);
        sandbox.git(&["config", "user.name", "Ada"]);
        sandbox.git(&["config", "user.email", "ada@example.org"]);
        sandbox.write("b.py", "edited\n");
        let repository = sandbox.repository();
        repository.commit_to_branch("mend", &[("a.py", b"1\n", b"2\n")], "Mend it\n").unwrap();
        assert_eq!(sandbox.git(&["show", "mend:a.py"]), "2\n");
        assert_eq!(sandbox.git(&["show", "mend:b.py"]), "1\n");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), " M b.py\n");
        let again = repository.commit_to_branch("mend", &[], "").unwrap_err();
        assert!(again.to_string().contains("one of this name"), "{again}");
        let edited =
            repository.commit_to_branch("other", &[("b.py", b"edited\n", b"2\n")], "").unwrap_err();
        assert!(matches!(edited, BranchError::Differs { .. }), "{edited}");
    }
}
