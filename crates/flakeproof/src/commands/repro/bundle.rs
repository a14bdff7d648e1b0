//! All that another machine needs to replay a failure, as one JSON file.

use std::path::Path;

use flakeproof_core::{
    Failure, FlakyKind, LeverValue, Notice, Seed, Shuffle, Surroundings, Tally, TestId, TreeState,
};
use serde::{Deserialize, Serialize};

use super::Case;
use crate::problem::Problem;
use crate::view::Replays;

/// The version of the file's shape.
const SCHEMA: u32 = 1;

/// Variables named when they differ; the rest is counted.
const NAMED: usize = 5;

/// All that another machine needs to replay a failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Bundle {
    schema: u32,
    /// The version of flakeproof.
    version: String,
    test: TestId,
    kind: Option<FlakyKind>,
    /// The tests, the failing one last.
    order: Vec<TestId>,
    /// What decides the orders that the language leaves open, if not the runtime.
    #[serde(default)]
    shuffle: Option<Shuffle>,
    /// The lever that makes it fail, if one is known.
    #[serde(default)]
    lever: Option<LeverValue>,
    /// The user's own command.
    command: Vec<String>,
    /// A command that shows the failure without flakeproof.
    reproduce: Option<String>,
    seed: Seed,
    revision: Option<String>,
    /// Files that differ from the revision.
    edited: Vec<String>,
    /// The runtime and framework.
    runtime: Vec<String>,
    /// A digest of the installed packages.
    packages: String,
    /// The names of the environment variables; their values stay where they are.
    variables: Vec<String>,
    /// The failure as it was first seen.
    failure: Option<Failure>,
    /// How the replays went that were made with the bundle.
    replayed: Tally,
}

/// What every version of the file has.
#[derive(Deserialize)]
struct AnyBundle {
    schema: u32,
}

impl Bundle {
    /// The bundle of a failure on this machine.
    pub(super) fn new(case: &Case, around: &Surroundings, tree: &TreeState) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            test: case.test.clone(),
            kind: case.kind,
            order: case.order.clone(),
            shuffle: case.shuffle.clone(),
            lever: case.lever.clone(),
            command: case.command.clone(),
            reproduce: case.shell_command.clone(),
            seed: case.seed,
            revision: tree.revision.clone(),
            edited: tree.edited.keys().cloned().collect(),
            runtime: around.runtime.clone(),
            packages: around.packages.clone(),
            variables: around.variables.keys().cloned().collect(),
            failure: case.failure.clone(),
            replayed: Tally::default(),
        }
    }

    /// The bundle with how its replays went.
    pub(super) fn with(mut self, replays: &Replays) -> Self {
        self.replayed = replays.tally();
        self.failure = self.failure.or_else(|| replays.first_failure().cloned());
        self
    }

    /// Read a bundle.
    pub(super) fn read(path: &Path) -> Result<Self, Problem> {
        let wrong = |cause: &dyn std::fmt::Display| {
            Problem::usage(
                format!("the bundle {} cannot be read: {cause}", path.display()),
                "give a file that `flakeproof repro TEST --bundle FILE` wrote",
            )
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let AnyBundle { schema } = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        if schema != SCHEMA {
            let what = format!("its schema is {schema}, and this program knows {SCHEMA}");
            return Err(wrong(&what));
        }
        let bundle: Self = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        if bundle.order.is_empty() || bundle.command.is_empty() {
            return Err(wrong(&"it names no tests or no command"));
        }
        Ok(bundle)
    }

    /// The file's bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Problem> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|error| {
            Problem::broken(format!("the bundle cannot be made: {error}"), "please report this")
        })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The failure that it holds.
    pub(super) fn case(&self) -> Case {
        Case {
            test: self.test.clone(),
            kind: self.kind,
            order: self.order.clone(),
            shuffle: self.shuffle.clone(),
            lever: self.lever.clone(),
            command: self.command.clone(),
            shell_command: self.reproduce.clone(),
            seed: self.seed,
            failure: self.failure.clone(),
            revision: self.revision.clone(),
        }
    }

    /// What is not here as it was where the bundle was made.
    pub(super) fn differences(&self, here: &Self) -> Vec<Notice> {
        let mut differences = Vec::new();
        let mut differs = |what: String, next: &str| {
            differences.push(Notice { what, next: next.to_owned() });
        };
        if self.runtime != here.runtime {
            let (there, here) = (self.runtime.join(", "), here.runtime.join(", "));
            differs(format!("it failed on {there}, and this is {here}"), "use the same versions");
        }
        if self.packages != here.packages {
            let what = "the installed packages are not those with which it failed".to_owned();
            differs(what, "install the versions that the project locks");
        }
        if self.revision != here.revision || self.edited != here.edited {
            let name = |bundle: &Self| {
                let revision = bundle.revision.as_deref().unwrap_or("code that git does not know");
                match bundle.edited.len() {
                    0 => revision.to_owned(),
                    edits => format!("{revision} with {edits} edited files"),
                }
            };
            differs(
                format!("it failed on {}, and this is {}", name(self), name(here)),
                "check out that revision",
            );
        }
        let missing: Vec<&str> = self
            .variables
            .iter()
            .filter(|it| !here.variables.contains(it))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            let named = missing.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = match missing.len().checked_sub(NAMED) {
                None | Some(0) => String::new(),
                Some(more) => format!(" and {more} more"),
            };
            let what =
                format!("environment variables were set there and are not here: {named}{more}");
            differs(what, "set them if the tests read them");
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::LeverName;

    use super::*;

    fn case() -> Case {
        Case {
            test: "b".into(),
            kind: Some(FlakyKind::Victim),
            order: vec!["a".into(), "b".into()],
            shuffle: None,
            lever: Some(LeverValue { name: LeverName::Zone, value: "Asia/Kolkata".into() }),
            command: vec!["pytest".into()],
            shell_command: Some("pytest a b".into()),
            seed: Seed(u64::MAX),
            failure: None,
            revision: None,
        }
    }

    fn around(python: &str, variables: &[&str]) -> Surroundings {
        Surroundings {
            runtime: vec![python.into()],
            packages: "digest".into(),
            variables: variables.iter().map(|name| ((*name).to_owned(), "x".into())).collect(),
            machine: None,
        }
    }

    #[test]
    fn a_bundle_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle.json");
        let tree = TreeState { revision: Some("abc".into()), ..TreeState::default() };
        let written = Bundle::new(&case(), &around("Python 3.12", &["TOKEN"]), &tree);
        std::fs::write(&path, written.bytes().unwrap()).unwrap();
        let read = Bundle::read(&path).unwrap();
        assert_eq!(read.bytes().unwrap(), written.bytes().unwrap());
        assert!(!String::from_utf8(written.bytes().unwrap()).unwrap().contains("\"x\""));
    }

    #[test]
    fn what_is_no_bundle_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle.json");
        for text in ["", "{}", "[1]", r#"{"schema": 2}"#, r#"{"schema": 1, "test": 3}"#] {
            std::fs::write(&path, text).unwrap();
            let problem = Bundle::read(&path).unwrap_err();
            assert!(problem.what.contains("bundle.json cannot be read"), "{problem:?}");
        }
        assert!(Bundle::read(&folder.path().join("missing")).is_err());
    }

    #[test]
    fn what_differs_is_named() {
        let tree =
            |revision: &str| TreeState { revision: Some(revision.into()), ..TreeState::default() };
        let there = Bundle::new(&case(), &around("Python 3.12", &["A", "TOKEN"]), &tree("abc"));
        assert_eq!(there.differences(&there), []);
        let here = Bundle::new(&case(), &around("Python 3.13", &["A"]), &tree("def"));
        let texts: Vec<String> = there.differences(&here).into_iter().map(|it| it.what).collect();
        assert_eq!(
            texts,
            [
                "it failed on Python 3.12, and this is Python 3.13",
                "it failed on abc, and this is def",
                "environment variables were set there and are not here: TOKEN",
            ]
        );
    }
}
