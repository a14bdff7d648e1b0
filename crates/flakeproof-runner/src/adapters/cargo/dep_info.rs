//! The source files of what was built, from the notes that the compiler leaves beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::artifacts::Artifact;
use super::found::{Found, Group};

/// The source files that are compiled into a binary, its libraries and what generates their code.
/// `None` where that is not known for certain.
pub(super) fn sources_of(found: &Found, group: &Group) -> Option<BTreeSet<String>> {
    let own = found.metadata.packages.iter().find(|package| package.name == group.package)?;
    let needed = found.metadata.needed_by(&own.id)?;
    let is_linked = |artifact: &&Artifact| {
        let is_own = artifact.package_id == own.id;
        let is_this = is_own && artifact.target() == group.target;
        // Of other packages, no test is linked in; of its own, integration tests may start
        // programs.
        let is_library = !artifact.is_test() && artifact.executable.is_none();
        let is_started = is_own && artifact.is_program();
        let is_build_script = !artifact.is_test() && artifact.is_build_script();
        needed.contains(artifact.package_id.as_str())
            && (is_library || is_this || is_started || is_build_script)
    };
    sources(found, found.artifacts.iter().filter(is_linked))
}

/// The source files of a program that a test started, and of all that it is made of.
pub(super) fn sources_of_program(
    found: &Found,
    artifacts: &[Artifact],
    program: &str,
) -> Option<BTreeSet<String>> {
    let is_it = |artifact: &&Artifact| artifact.filenames.iter().any(|file| file == program);
    let artifact = artifacts.iter().find(is_it)?;
    let needed = found.metadata.needed_by(&artifact.package_id)?;
    let is_linked = |it: &&Artifact| {
        needed.contains(it.package_id.as_str())
            && (*it == artifact || it.executable.is_none() || it.is_build_script())
    };
    sources(found, artifacts.iter().filter(is_linked))
}

/// The source files of what runs while others are built: their functions run unseen.
pub(super) fn sources_that_build(found: &Found) -> Option<BTreeSet<String>> {
    let builds = |artifact: &&Artifact| artifact.is_build_script() || artifact.is_macro();
    sources(found, found.artifacts.iter().filter(builds))
}

/// The source files of some artifacts of packages that are here.
fn sources<'a>(
    found: &Found,
    artifacts: impl Iterator<Item = &'a Artifact>,
) -> Option<BTreeSet<String>> {
    let local = found.metadata.local();
    let mut files = BTreeSet::new();
    for artifact in artifacts.filter(|it| local.contains(it.package_id.as_str())) {
        let notes =
            notes_of(artifact).iter().find_map(|path| std::fs::read_to_string(path).ok())?;
        let roots = [found.metadata.workspace_root.as_path(), artifact.folder()];
        files.extend(read(&notes).iter().map(|file| absolute(file, &roots)));
        files.insert(artifact.source().to_owned());
    }
    Some(files)
}

/// Where the compiler's notes on an artifact may be.
fn notes_of(artifact: &Artifact) -> Vec<PathBuf> {
    let notes = |file: &String| {
        let path = Path::new(file);
        if artifact.is_build_script() {
            // They have another name than the program, in a folder of its own.
            return notes_in(path.parent()?);
        }
        let stem = path.file_stem()?.to_str()?;
        let is_library = path.extension().is_some() && stem.starts_with("lib");
        let name = if is_library { &stem["lib".len()..] } else { stem };
        Some(path.with_file_name(format!("{name}.d")))
    };
    artifact.filenames.iter().filter_map(notes).filter(|path| path.exists()).collect()
}

/// The notes in a folder that has only one file of them.
fn notes_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| path.extension().is_some_and(|ending| ending == "d"))
}

/// The files in the rules `out: a.rs b\ c.rs`.
fn read(notes: &str) -> BTreeSet<String> {
    let rules = notes.lines().filter(|line| !line.starts_with('#'));
    let files = rules.filter_map(|line| line.split_once(": ").map(|(_, files)| files));
    files.flat_map(words).collect()
}

/// Words that are parted by spaces, of which those in names stand after a backslash.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, words.last_mut()) {
            ('\\', Some(word)) => word.extend(characters.next()),
            (' ', _) => words.push(String::new()),
            (other, Some(word)) => word.push(other),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn absolute(file: &str, roots: &[&Path]) -> String {
    let found = roots.iter().find_map(|root| root.join(file).canonicalize().ok());
    let path = found.unwrap_or_else(|| roots[0].join(file));
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_spaces_and_variables_are_read() {
        let notes = "/t/api-1.d: tests/api.rs src/a\\ b.rs\n\n/t/api-1: tests/api.rs\n\n\
            tests/api.rs:\n# env-dep:HOME=/root\n";
        let files: Vec<String> = read(notes).into_iter().collect();
        assert_eq!(files, ["src/a b.rs", "tests/api.rs"]);
    }
}
