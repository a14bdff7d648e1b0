//! Building the tests, and what cargo says that it built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::found::{Found, Group, Target};
use super::session::{self, CargoSession, Variables};
use crate::adapter::{Error, Result};
use crate::lock::locked;
use crate::process::{Death, End};

/// Something that cargo built.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Artifact {
    pub(super) package_id: String,
    manifest_path: PathBuf,
    target: ArtifactTarget,
    profile: ArtifactProfile,
    /// The files that came of it.
    pub(super) filenames: Vec<String>,
    /// The program, if it is one.
    pub(super) executable: Option<String>,
    /// The features with which it was built.
    #[serde(default)]
    pub(super) features: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ArtifactTarget {
    name: String,
    kind: Vec<String>,
    src_path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct ArtifactProfile {
    test: bool,
}

/// A line of cargo's.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(Box<Artifact>),
    BuildFinished {
        success: bool,
    },
    #[serde(other)]
    Other,
}

impl Artifact {
    pub(super) fn target(&self) -> Target {
        let kind = self.target.kind.first().map_or("lib", String::as_str);
        Target::parse(kind, &self.target.name)
    }

    /// The file from which it was built, of all others.
    pub(super) fn source(&self) -> &str {
        &self.target.src_path
    }

    /// The folder of its package.
    pub(super) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// Whether it is a program that generates code while others are built.
    pub(super) fn is_build_script(&self) -> bool {
        self.target.kind.iter().any(|kind| kind == "custom-build")
    }

    /// Whether the compiler runs it.
    pub(super) fn is_macro(&self) -> bool {
        self.target.kind.iter().any(|kind| kind == "proc-macro")
    }

    /// Whether it holds tests, and is no program that tests only use.
    pub(super) fn is_test(&self) -> bool {
        self.profile.test && self.executable.is_some()
    }

    /// Whether it is a program that a test may start.
    pub(super) fn is_program(&self) -> bool {
        !self.profile.test && self.executable.is_some()
    }
}

/// Build the tests once more, in another folder and with other variables; give everything that they are made of.
pub(super) fn build_in(
    session: &CargoSession,
    folder: &Path,
    variables: Variables,
) -> Result<Vec<Artifact>> {
    let mut options = session.command.building_without("--target-dir");
    options.extend(["--target-dir".to_owned(), folder.to_string_lossy().into_owned()]);
    let mut command = session.command.cargo(&["test", "--no-run", TELLING]);
    command.extend(options);
    let instructions = session.instructions(command, &session.settings.folder, variables);
    let ended = session.to_end(&instructions, None)?;
    locked(&session.printed).push_str(&ended.stderr);
    if ended.how != End::Died(Death::Exit(0)) {
        return Err(session::not_built(&session.settings.command, &ended.stderr));
    }
    Ok(parse_artifacts(&ended.stdout))
}

/// The option of cargo's that makes it tell what it builds.
pub(super) const TELLING: &str = "--message-format=json-render-diagnostics";

/// What cargo built; lines that are no messages of this kind are passed over.
pub(super) fn parse_artifacts(lines: &str) -> Vec<Artifact> {
    let message = |line| match serde_json::from_str(line).ok()? {
        Message::CompilerArtifact(artifact) => Some(*artifact),
        Message::BuildFinished { .. } | Message::Other => None,
    };
    lines.lines().filter_map(message).collect()
}

/// What was printed until all was built, and after it; `None` where it was not built.
pub(super) fn split_at_end_of_build(printed: &str) -> Option<(&str, &str)> {
    let is_end = |line: &str| {
        matches!(serde_json::from_str(line), Ok(Message::BuildFinished { success: true }))
    };
    let mut at = 0;
    for line in printed.split_inclusive('\n') {
        at += line.len();
        if is_message(line) && is_end(line) {
            return Some(printed.split_at(at));
        }
    }
    None
}

/// What is for people of what cargo printed.
pub(super) fn for_people(printed: &str) -> String {
    printed.split_inclusive('\n').filter(|line| !is_message(line)).collect()
}

fn is_message(line: &str) -> bool {
    line.starts_with(r#"{"reason":"#)
}

/// The workspace.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    pub(super) workspace_root: PathBuf,
    pub(super) target_directory: PathBuf,
    pub(super) packages: Vec<Package>,
    /// Who depends on whom; nobody knows where cargo could not tell.
    resolve: Option<Resolve>,
}

/// A package.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    /// Where it comes from; nothing for one that is here.
    source: Option<String>,
    targets: Vec<PackageTarget>,
}

#[derive(Debug, Clone, Deserialize)]
struct PackageTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Metadata {
    /// Ask cargo.
    pub(super) fn read(session: &CargoSession) -> Result<Self> {
        let mut command = session.command.cargo(&["metadata", "--format-version", "1"]);
        command.extend(session.command.for_metadata());
        let instructions =
            session.instructions(command, &session.settings.folder, BTreeMap::default());
        let ended = session.to_end(&instructions, None)?;
        if ended.how != End::Died(Death::Exit(0)) {
            return Err(session::no_project(&ended.stderr));
        }
        serde_json::from_str(&ended.stdout)
            .map_err(|error| Error::Agent(format!("what cargo says of the workspace: {error}")))
    }

    /// The name of a package.
    pub(super) fn name_of(&self, id: &str) -> Option<&str> {
        let package = self.packages.iter().find(|package| package.id == id)?;
        Some(&package.name)
    }

    /// The package whose library has this name as a crate.
    pub(super) fn package_of_library(&self, library: &str) -> Option<&Package> {
        let is_it = |target: &PackageTarget| {
            let is_program = ["bin", "test", "example", "bench", "custom-build"];
            target.name.replace('-', "_") == library
                && !target.kind.iter().any(|kind| is_program.contains(&kind.as_str()))
        };
        let mut local = self.packages.iter().filter(|package| package.is_local());
        local.find(|package| package.targets.iter().any(is_it))
    }

    /// A package and all that it needs, directly or not, for whatever purpose. `None` where cargo
    /// does not tell.
    pub(super) fn needed_by(&self, id: &str) -> Option<BTreeSet<&str>> {
        let nodes = &self.resolve.as_ref()?.nodes;
        let known: BTreeMap<&str, &Node> = nodes.iter().map(|node| (&*node.id, node)).collect();
        let mut needed = BTreeSet::new();
        let mut left = vec![*known.get_key_value(id)?.0];
        while let Some(id) = left.pop() {
            if needed.insert(id) {
                left.extend(known.get(id)?.dependencies.iter().map(String::as_str));
            }
        }
        Some(needed)
    }

    /// The packages whose source is here, and not in a registry.
    pub(super) fn local(&self) -> BTreeSet<&str> {
        let local = self.packages.iter().filter(|package| package.is_local());
        local.map(|package| package.id.as_str()).collect()
    }
}

impl Package {
    fn is_local(&self) -> bool {
        self.source.is_none()
    }
}

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
        files.extend(sources_in(&notes).iter().map(|file| absolute(file, &roots)));
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
fn sources_in(notes: &str) -> BTreeSet<String> {
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
    fn lines_that_are_no_artifacts_are_passed_over() {
        let lines = "warning: hello\n{\"reason\":\"build-finished\",\"success\":true}\n\
            {\"reason\":\"compiler-artifact\",\"package_id\":\"p\",\
             \"manifest_path\":\"/p/Cargo.toml\",\"target\":{\"kind\":[\"test\"],\
             \"name\":\"api\",\"src_path\":\"/p/tests/api.rs\"},\"profile\":{\"test\":true},\
             \"filenames\":[\"/t/api-1\"],\"executable\":\"/t/api-1\",\"fresh\":true}\n{torn";
        let [artifact] = &parse_artifacts(lines)[..] else { panic!() };
        assert!(artifact.is_test() && !artifact.is_program());
        assert_eq!(artifact.target(), Target::Integration("api".into()));
    }

    #[test]
    fn files_with_spaces_and_variables_are_read() {
        let notes = "/t/api-1.d: tests/api.rs src/a\\ b.rs\n\n/t/api-1: tests/api.rs\n\n\
            tests/api.rs:\n# env-dep:HOME=/root\n";
        let files: Vec<String> = sources_in(notes).into_iter().collect();
        assert_eq!(files, ["src/a b.rs", "tests/api.rs"]);
    }
}
