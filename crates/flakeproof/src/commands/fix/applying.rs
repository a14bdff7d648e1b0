//! Writing a proven patch: to the user's files, all or none, or to a branch beside them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use flakeproof_fix::{PatchedFile, Proposal};
use flakeproof_runner::git::{BranchError, Repository};

use crate::problem::Problem;

/// What to do about a file that is not as it was.
const AGAIN: &str = "run `flakeproof fix` again; nothing was written";

/// Write a patch to the files of the project: all of them, or none.
pub(super) fn to_files(proposal: &Proposal, root: &Path) -> Result<(), Problem> {
    let mut ready: Vec<(tempfile::NamedTempFile, PathBuf)> = Vec::new();
    for file in &proposal.files {
        let path = root.join(&file.path);
        let path = path.canonicalize().unwrap_or(path);
        is_as_before(file, &path)?;
        ready.push((beside(file, &path).map_err(|error| cannot_write(&path, &error))?, path));
    }
    for (new, path) in ready {
        new.persist(&path).map_err(|error| cannot_write(&path, &error.error))?;
    }
    Ok(())
}

/// A new file beside another, with its rights and what is to be in it.
fn beside(file: &PatchedFile, path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let rights = std::fs::metadata(path)?.permissions();
    // Taking its place needs only rights on the folder; a file that must not be written stays.
    if rights.readonly() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    std::fs::OpenOptions::new().append(true).open(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(file.after.as_bytes())?;
    new.as_file().set_permissions(rights)?;
    Ok(new)
}

fn is_as_before(file: &PatchedFile, path: &Path) -> Result<(), Problem> {
    match std::fs::read(path) {
        Ok(now) if now == file.before.as_bytes() => Ok(()),
        Ok(_) => Err(Problem::usage(
            format!("{} was changed while the patch was proven", file.path),
            AGAIN,
        )),
        Err(error) => Err(Problem::usage(format!("{} cannot be read: {error}", file.path), AGAIN)),
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::usage(
        format!("{} cannot be written: {error}", path.display()),
        "make it writable, or apply the diff yourself: it is proven",
    )
}

/// Commit a patch to a new branch; the work tree stays as it is.
pub(super) fn to_branch(
    proposal: &Proposal,
    name: &str,
    root: &Path,
    test: &str,
) -> Result<(), Problem> {
    let repository = Repository::containing(root).map_err(|why| {
        Problem::usage(
            format!("there is no branch to make: {why}"),
            "use `--apply`, which writes your files",
        )
    })?;
    for file in &proposal.files {
        is_as_before(file, &root.join(&file.path))?;
    }
    let files: Vec<(&str, &[u8], &[u8])> = proposal
        .files
        .iter()
        .map(|it| (it.path.as_str(), it.before.as_bytes(), it.after.as_bytes()))
        .collect();
    let subject = test.rsplit("::").next().unwrap_or(test);
    let idea = &proposal.idea;
    let message = format!("Mend the flaky test {subject}\n\n{idea}\n\nTest: {test}\n");
    repository.commit_to_branch(name, &files, &message).map_err(|why| match why {
        BranchError::Differs { file } => Problem::usage(
            format!("{file} has changes that are not committed"),
            "commit them first, or use `--apply`; nothing was written",
        ),
        why => Problem::usage(
            format!("the branch `{name}` cannot be made: {why}"),
            "give another name, or use `--apply`; your files are as they were",
        ),
    })
}

/// Complain before anything runs about a place that cannot be written.
pub(super) fn can_be_done(branch: Option<&str>, root: &Path) -> Result<(), Problem> {
    let Some(name) = branch else { return Ok(()) };
    let repository = Repository::containing(root).map_err(|why| {
        let next = "use `--apply`, which writes your files";
        Problem::usage(format!("there is no branch to make: {why}"), next)
    })?;
    match repository.can_make_branch(name) {
        Ok(()) => Ok(()),
        Err(why) => Err(Problem::usage(
            format!("the branch `{name}` cannot be made: {why}"),
            "give another name",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(names: &[&str]) -> Proposal {
        let file = |name: &&str| PatchedFile {
            path: (*name).to_owned(),
            before: "a\r\n".to_owned(),
            after: "a\r\nb".to_owned(),
        };
        Proposal { idea: String::new(), files: names.iter().map(file).collect() }
    }

    #[test]
    fn all_files_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("one"), "a\r\n").unwrap();
        std::fs::write(path("two"), "other\n").unwrap();
        let refused = to_files(&proposal(&["one", "two"]), folder.path()).unwrap_err();
        assert!(refused.what.contains("two was changed"), "{refused:?}");
        assert_eq!(std::fs::read(path("one")).unwrap(), b"a\r\n");
        to_files(&proposal(&["one"]), folder.path()).unwrap();
        assert_eq!(std::fs::read(path("one")).unwrap(), b"a\r\nb");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
