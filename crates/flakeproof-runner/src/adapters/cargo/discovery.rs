//! Finding the tests: build them, see how cargo starts them, and ask each binary for its list.

use flakeproof_core::{Suite, SuiteTest};

use super::artifacts::{self, Artifact};
use super::capture::{self, Captured};
use super::command::Runner;
use super::documentation;
use super::found::{self, Found, Group, Way};
use super::listing;
use super::metadata::Metadata;
use super::nextest;
use super::session::{Session, Variables};
use super::source_place;
use super::trouble;
use crate::adapter::{Blame, Error, Result};

/// Find the tests.
pub(super) fn discover(session: &Session) -> Result<Suite> {
    refuse_what_runs_nothing(session)?;
    let metadata = Metadata::read(session)?;
    let of_nextest = match session.command.runner {
        Runner::Test => None,
        Runner::Nextest => Some(nextest::list(session)?),
    };
    // Documentation is compiled when it is run.
    let artifacts = match session.command.has("--doc") {
        true => Vec::new(),
        false => artifacts::build(session)?,
    };
    let Captured { binaries, printed } = capture::capture(session)?;
    let is_test = |artifact: &&Artifact| artifact.is_test();
    if binaries.is_empty() && artifacts.iter().any(|artifact| is_test(&artifact)) {
        return Err(trouble::own_runner());
    }
    let mut groups = Vec::new();
    for binary in binaries {
        let is_it = |artifact: &&Artifact| artifact.executable.as_deref() == Some(&*binary.path);
        if let Some(artifact) = artifacts.iter().find(is_it) {
            groups.push(listing::group_of(session, &metadata, artifact, binary)?);
        }
    }
    match &of_nextest {
        None => groups.extend(listing::documentation(&metadata, &printed)),
        Some(list) => nextest::keep_selected(&mut groups, list),
    }
    let has_targets = !groups.is_empty();
    groups.retain(|group: &Group| !group.tests.is_empty());
    if groups.is_empty() {
        return Err(trouble::no_tests(&session.settings.command, has_targets));
    }
    let places = found::places(&groups);
    let toolchain = toolchain(session)?;
    let found = Found { places, groups, metadata, artifacts, toolchain };
    let suite = suite(&found);
    // A second discovery would build again; callers keep the suite.
    let _ = session.found.set(found);
    Ok(suite)
}

/// Commands that print something, or only build.
fn refuse_what_runs_nothing(session: &Session) -> Result<()> {
    let command = &session.command;
    let prints = ["--help", "-h", "--version", "-V", "--no-run"].iter().any(|it| command.has(it));
    if !prints && !command.harness.prints_only {
        return Ok(());
    }
    Err(Error::Explained {
        blame: Blame::Usage,
        what: format!("`{}` runs no tests", session.settings.command.join(" ")),
        next: "leave out the option that only prints or builds something".to_owned(),
        details: String::new(),
    })
}

fn toolchain(session: &Session) -> Result<String> {
    let command = session.command.cargo(&["--version"]);
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let ended = session.to_end(&instructions, None)?;
    Ok(ended.stdout.trim().to_owned())
}

fn suite(found: &Found) -> Suite {
    let root = &found.metadata.workspace_root;
    let mut places = source_place::Finder::new(root);
    let mut tests = Vec::new();
    for group in &found.groups {
        let source = match &group.way {
            Way::Harness(binary) | Way::OwnHarness(binary) | Way::Whole(binary) => {
                let is_it = |it: &&Artifact| it.executable.as_deref() == Some(&*binary.path);
                found.artifacts.iter().find(is_it).map(Artifact::source)
            }
            Way::Documentation => None,
        };
        for test in &group.tests {
            let location = match source {
                Some(source) => Some(places.find(source, &test.name)),
                None => documentation::location(&test.name),
            };
            tests.push(SuiteTest { id: group.id(test), location });
        }
    }
    Suite { tests, problems: Vec::new() }
}
