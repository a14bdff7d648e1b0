//! Building the tests, and what cargo says that it built.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::found::Target;
use super::session::{Session, Variables, locked};
use super::trouble;
use crate::adapter::Result;
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
    CompilerArtifact(Artifact),
    #[serde(other)]
    Other,
}

impl Artifact {
    pub(super) fn target(&self) -> Target {
        let kind = self.target.kind.first().map_or("lib", String::as_str);
        Target::of(kind, &self.target.name)
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

/// Build the tests; give everything that they are made of.
pub(super) fn build(session: &Session) -> Result<Vec<Artifact>> {
    run_build(session, session.command.building(), Variables::default())
}

/// Build the tests once more, in another folder and with other variables.
pub(super) fn build_in(
    session: &Session,
    folder: &Path,
    variables: Variables,
) -> Result<Vec<Artifact>> {
    let mut options = session.command.building_without("--target-dir");
    options.extend(["--target-dir".to_owned(), folder.to_string_lossy().into_owned()]);
    run_build(session, options, variables)
}

fn run_build(
    session: &Session,
    options: Vec<String>,
    variables: Variables,
) -> Result<Vec<Artifact>> {
    let mut command = session.command.cargo(&["test", "--no-run"]);
    command.push("--message-format=json-render-diagnostics".to_owned());
    command.extend(options);
    let instructions = session.instructions(command, &session.settings.folder, variables);
    let ended = session.to_end(&instructions, None)?;
    locked(&session.printed).push_str(&ended.stderr);
    if ended.how != End::Died(Death::Exit(0)) {
        return Err(trouble::not_built(&session.settings.command, &ended.stderr));
    }
    Ok(parse(&ended.stdout))
}

/// What cargo built; lines that are no messages of this kind are passed over.
fn parse(lines: &str) -> Vec<Artifact> {
    let message = |line| match serde_json::from_str(line).ok()? {
        Message::CompilerArtifact(artifact) => Some(artifact),
        Message::Other => None,
    };
    lines.lines().filter_map(message).collect()
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
        let [artifact] = &parse(lines)[..] else { panic!() };
        assert!(artifact.is_test() && !artifact.is_program());
        assert_eq!(artifact.target(), Target::Integration("api".into()));
    }
}
