//! The packages of the workspace, as `cargo metadata` tells them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;

use super::session::Session;
use super::trouble;
use crate::adapter::{Error, Result};
use crate::process::{Death, End};

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
    pub(super) fn read(session: &Session) -> Result<Self> {
        let mut command = session.command.cargo(&["metadata", "--format-version", "1"]);
        command.extend(session.command.for_metadata());
        let instructions =
            session.instructions(command, &session.settings.folder, BTreeMap::default());
        let ended = session.to_end(&instructions, None)?;
        if ended.how != End::Died(Death::Exit(0)) {
            return Err(trouble::no_project(&ended.stderr));
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
