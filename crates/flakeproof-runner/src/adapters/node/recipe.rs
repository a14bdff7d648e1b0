//! How the user's command starts its runner in the end, whatever stands in front of it.
//!
//! The command is started once with a file of ours that every process of Node loads first. The one
//! that is the runner writes down its program, arguments, folder and variables, and ends before it
//! does anything. Workers are started from that record, without the launcher.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::RunnerKind;
use super::kind_of;
use crate::adapter::{Error, Result};
use crate::folders::{AgentFile, unpack};

/// How long a launcher may take to start its runner.
const LIMIT: Duration = Duration::from_secs(120);

macro_rules! agent_files {
    ($($name:literal),* $(,)?) => {
        &[$(AgentFile {
            path: $name,
            content: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/node/", $name)),
        }),*]
    };
}

/// The files of the workers.
const FILES: &[AgentFile] = agent_files![
    "capture.cjs",
    "jest.cjs",
    "jest-runner.cjs",
    "jest-test-runner.cjs",
    "line.cjs",
    "mocha.cjs",
    "node-test.cjs",
    "node-test-file.cjs",
    "node-test-loader.mjs",
    "order.cjs",
    "picture.cjs",
    "prefork.cjs",
    "vitest.mjs",
    "vitest-runner.mjs",
];

/// How a runner is started.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LaunchRecipe {
    runner: String,
    pub(super) node: String,
    /// Options of Node itself.
    pub(super) options: Vec<String>,
    pub(super) script: String,
    /// What the runner's own command line has.
    pub(super) words: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) variables: BTreeMap<String, String>,
    /// Where our files are.
    #[serde(skip)]
    pub(super) agents: PathBuf,
}

impl LaunchRecipe {
    /// Start the user's command up to the point where its runner would begin.
    pub(super) fn capture(
        kind: RunnerKind,
        scratch: &Path,
        run: impl FnOnce(BTreeMap<String, Option<String>>, Duration) -> Result<String>,
    ) -> Result<Self> {
        let agents = unpack(FILES, scratch)?;
        let record = scratch.join("launch.json");
        let own = serde_json::to_string(&agents.join("capture.cjs")).unwrap_or_default();
        let before = std::env::var("NODE_OPTIONS").unwrap_or_default();
        let variables = BTreeMap::from([
            (
                "NODE_OPTIONS".to_owned(),
                Some(format!("{before} --require {own}").trim().to_owned()),
            ),
            ("FLAKEPROOF_CAPTURE".to_owned(), Some(record.to_string_lossy().into_owned())),
        ]);
        let output = run(variables, LIMIT)?;
        let unclear = |why: String| Error::NotPossible {
            what: "an environment for several tests".to_owned(),
            why,
        };
        let text = std::fs::read(&record).map_err(|_| {
            unclear(format!("the command does not start its runner in Node\n{output}"))
        })?;
        let recipe: Self =
            serde_json::from_slice(&text).map_err(|error| unclear(error.to_string()))?;
        if kind_of(&recipe.runner) != Some(kind) {
            return Err(unclear(format!("the command starts {}", recipe.runner)));
        }
        Ok(Self { agents, ..recipe })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_workers_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/node");
        let there: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("the agents are there")
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            // The others are of runners that only their command line drives.
            .filter(|name| !name.contains("reporter") && name != "coverage-at-end.cjs")
            .filter(|name| name.ends_with("js"))
            .collect();
        let embedded: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        assert_eq!(embedded, there);
    }
}
