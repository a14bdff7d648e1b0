//! What a test depends on.
//!
//! Its code is what is compiled into its binary: all source files of its package and of the
//! packages that it needs. Whether it reads other files, sources of other packages among them, or
//! starts other programs, only the system knows; where that cannot be asked, nothing is said about
//! such files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use flakeproof_core::{BlindSpot, Dependencies};

use super::artifacts;
use super::coverage::{CoverageRun, Functions, Instrumented};
use super::found::{Found, Group, Way};
use super::session::{Session, Variables};
use crate::adapter::{Granularity, Probe, Result};
use crate::opens::{self, Opens, TestsBegin};

/// How a process is measured.
#[derive(Debug)]
pub(super) struct Measure {
    granularity: Granularity,
    /// Where the system writes down what is opened.
    trace: Option<PathBuf>,
    /// The run of an instrumented binary.
    coverage: Option<CoverageRun>,
}

impl Measure {
    /// Prepare to measure a process that runs so many tests of a group.
    pub(super) fn of(session: &Session, probe: Probe, group: &Group, tests: usize) -> Result<Self> {
        let granularity = probe.dependencies;
        // What several tests touch cannot be told apart.
        if granularity == Granularity::Off || tests > 1 {
            return Ok(Self::without_a_look(granularity));
        }
        let folder = session.folder("measure-")?;
        let try_it = |command| {
            session.to_end(&session.instructions(command, &folder, Variables::default()), None)
        };
        let is_seen = *session.can_see_opens.get_or_init(|| opens::can_be_seen(&folder, try_it));
        let trace = is_seen.then(|| folder.join("trace"));
        let coverage = match granularity {
            Granularity::Off | Granularity::File => None,
            Granularity::Function => {
                let found = session.found()?;
                instrumented(session).and_then(|build| build.run_of(found, group, folder))
            }
        };
        Ok(Self { granularity, trace, coverage })
    }

    fn without_a_look(granularity: Granularity) -> Self {
        Self { granularity, trace: None, coverage: None }
    }

    /// The words before the command.
    pub(super) fn words_before(&self) -> Vec<String> {
        self.trace.as_deref().map(opens::words).unwrap_or_default()
    }

    /// The program to run instead of the usual one.
    pub(super) fn program(&self) -> Option<&str> {
        self.coverage.as_ref().map(|run| run.program.as_str())
    }

    /// Variables on top of the usual ones.
    pub(super) fn variables(&self) -> Variables {
        self.coverage.as_ref().map(CoverageRun::variables).unwrap_or_default()
    }

    /// What was touched by a process that has ended.
    pub(super) fn dependencies(&self, session: &Session, group: &Group) -> Option<Dependencies> {
        if self.granularity == Granularity::Off {
            return None;
        }
        let found = session.found().ok()?;
        let folder = match &group.way {
            Way::Harness(binary) => &binary.folder,
            Way::OwnHarness(_) | Way::Whole(_) | Way::Documentation => &session.settings.folder,
        };
        let code = artifacts::sources_of(found, group)?;
        let functions = self.functions(session, found, &code).unwrap_or_default();
        let seen = self.trace.as_ref();
        let seen = seen.and_then(|trace| opens::read(trace, folder, &TestsBegin::AtOnce, None));
        let touched = match seen {
            Some(seen) => with_opens(session, found, code, seen),
            None => without_opens(code),
        };
        Some(Dependencies { functions, ..touched })
    }

    /// The functions of the code, except in files that also run while others are built.
    fn functions(
        &self,
        session: &Session,
        found: &Found,
        code: &BTreeSet<String>,
    ) -> Option<Functions> {
        let run = self.coverage.as_ref()?;
        let building = artifacts::sources_that_build(found)?;
        let files = code.difference(&building).cloned().collect();
        instrumented(session)?.functions(session, run, &files)
    }
}

/// The instrumented build, which is made when it is first asked for.
fn instrumented(session: &Session) -> Option<&Instrumented> {
    session.instrumented.get_or_init(|| Instrumented::build(session)).as_ref()
}

/// What a test touches that is not measured while it runs.
pub(super) fn by_crates(session: &Session, probe: Probe, group: &Group) -> Option<Dependencies> {
    Measure::without_a_look(probe.dependencies).dependencies(session, group)
}

/// Everything is known: what is not among it was not touched.
fn with_opens(
    session: &Session,
    found: &Found,
    mut code: BTreeSet<String>,
    seen: Opens,
) -> Dependencies {
    let Opens { mut opened, listed, started, teller, .. } = seen;
    let instrumented = session.instrumented.get().and_then(Option::as_ref);
    let builds = [Some(&found.artifacts), instrumented.map(|build| &build.artifacts)];
    for artifacts in builds.into_iter().flatten() {
        for program in &started {
            let sources = artifacts::sources_of_program(found, artifacts, program);
            code.extend(sources.unwrap_or_default());
        }
        // What was built changes with its sources, which count.
        for artifact in artifacts {
            for file in artifact.filenames.iter().chain(&artifact.executable) {
                opened.remove(file);
            }
        }
    }
    let blind_spots = teller.into_iter().map(|program| BlindSpot::Process { program }).collect();
    Dependencies { opened, listed, blind_spots, ..of_code(code) }
}

/// Only what is compiled in is known to matter, and about no other file can anything be said.
fn without_opens(code: BTreeSet<String>) -> Dependencies {
    let within = Some(code.clone());
    Dependencies { within, blind_spots: vec![BlindSpot::Opens], ..of_code(code) }
}

fn of_code(code: BTreeSet<String>) -> Dependencies {
    Dependencies {
        code,
        variables: BTreeSet::from(["*".to_owned()]),
        followed: BTreeSet::from([".rs".to_owned()]),
        ..Dependencies::default()
    }
}
