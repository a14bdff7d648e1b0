//! The tests that were found, the binaries that hold them, and their ids.
//!
//! An id is the binary's name and the name that Rust's own harness gives the test, joined by `::`:
//!
//! | test | id |
//! |---|---|
//! | unit test of the library of package `web` | `web::url::tests::parses` |
//! | `tests/api.rs` | `web/tests/api::works` |
//! | unit test of the program `serve` | `web/bin/serve::tests::starts` |
//! | example, benchmark | `web/examples/demo::runs`, `web/benches/speed::sums` |
//! | documentation | `web/doc::src/lib.rs - add (line 3)` |
//! | a target with a harness of its own that lists no tests | `web/tests/ui` |
//!
//! What stands before the first `::` is so the binary, and before the last one the module.

use std::collections::HashMap;
use std::path::PathBuf;

use flakeproof_core::TestId;

use super::artifacts::{Artifact, Metadata};
use super::session::Variables;

/// What discovery told.
#[derive(Debug)]
pub(super) struct Found {
    /// Binaries and documentation, in the order in which cargo runs them.
    pub(super) groups: Vec<Group>,
    pub(super) places: HashMap<TestId, Place>,
    pub(super) metadata: Metadata,
    /// What was built.
    pub(super) artifacts: Vec<Artifact>,
    /// Version of the compiler and of cargo.
    pub(super) toolchain: String,
}

/// Where a test is: its group, and its place in the harness's own order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: usize,
    pub(super) index: usize,
}

/// Tests that have their origin in common.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) package: String,
    pub(super) target: Target,
    pub(super) way: Way,
    pub(super) tests: Vec<Listed>,
}

/// A test of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// The harness's own name; empty for a binary that is one test.
    pub(super) name: String,
    /// Whether the harness will not run it.
    pub(super) is_ignored: bool,
}

/// How tests of a group are run.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// By Rust's own harness, which runs several in one process, in its own order.
    Harness(Binary),
    /// By a harness of the project's own that knows `--list` and `--exact`; a process each.
    OwnHarness(Binary),
    /// By running the binary: it is one test.
    Whole(Binary),
    /// By rustdoc; a process each.
    Documentation,
}

/// A program with tests, as cargo would start it.
#[derive(Debug, Clone)]
pub(super) struct Binary {
    pub(super) path: String,
    pub(super) folder: PathBuf,
    pub(super) variables: Variables,
}

/// What cargo calls a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Library,
    Program(String),
    Integration(String),
    Example(String),
    Benchmark(String),
    Documentation,
}

impl Target {
    /// The target of an artifact.
    pub(super) fn of(kind: &str, name: &str) -> Self {
        let name = name.to_owned();
        match kind {
            "bin" => Self::Program(name),
            "test" => Self::Integration(name),
            "example" => Self::Example(name),
            "bench" => Self::Benchmark(name),
            _ => Self::Library,
        }
    }

    /// The options of cargo that choose this target.
    pub(super) fn options(&self) -> Vec<String> {
        let named = |option: &str, name: &str| vec![option.to_owned(), name.to_owned()];
        match self {
            Self::Library => vec!["--lib".to_owned()],
            Self::Documentation => vec!["--doc".to_owned()],
            Self::Program(name) => named("--bin", name),
            Self::Integration(name) => named("--test", name),
            Self::Example(name) => named("--example", name),
            Self::Benchmark(name) => named("--bench", name),
        }
    }
}

impl Group {
    /// The id of a test of this group.
    pub(super) fn id(&self, test: &Listed) -> TestId {
        let package = &self.package;
        let binary = match &self.target {
            Target::Library => package.clone(),
            Target::Program(name) => format!("{package}/bin/{name}"),
            Target::Integration(name) => format!("{package}/tests/{name}"),
            Target::Example(name) => format!("{package}/examples/{name}"),
            Target::Benchmark(name) => format!("{package}/benches/{name}"),
            Target::Documentation => format!("{package}/doc"),
        };
        match test.name.is_empty() {
            true => binary.into(),
            false => format!("{binary}::{}", test.name).into(),
        }
    }

    /// Whether its tests share a process, in the harness's own order.
    pub(super) fn is_shared(&self) -> bool {
        match self.way {
            Way::Harness(_) => true,
            Way::OwnHarness(_) | Way::Whole(_) | Way::Documentation => false,
        }
    }
}

/// The place of every test.
pub(super) fn places(groups: &[Group]) -> HashMap<TestId, Place> {
    let of_group = |(group, it): (usize, &Group)| {
        let of_test = |(index, test)| (it.id(test), Place { group, index });
        it.tests.iter().enumerate().map(of_test).collect::<Vec<_>>()
    };
    groups.iter().enumerate().flat_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(target: Target, name: &str) -> String {
        let group =
            Group { package: "web".into(), target, way: Way::Documentation, tests: Vec::new() };
        group.id(&Listed { name: name.into(), is_ignored: false }).to_string()
    }

    #[test]
    fn a_module_and_an_integration_test_of_one_name_have_two_ids() {
        assert_eq!(id(Target::Library, "api::works"), "web::api::works");
        assert_eq!(id(Target::Integration("api".into()), "works"), "web/tests/api::works");
        assert_eq!(id(Target::Integration("ui".into()), ""), "web/tests/ui");
    }
}
