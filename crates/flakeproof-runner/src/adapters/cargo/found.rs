//! The tests that were found, their ids, and the binaries that hold them, as cargo starts them.
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
//!
//! cargo sets a dozen variables for a binary, adds folders of libraries, and follows configuration
//! files. Instead of guessing all that, cargo itself runs the tests with a small script as the
//! *runner* that starts them, and the script only writes down what it was given. Documentation,
//! which cargo does not start itself, is listed on the way.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::TestId;

use super::artifacts::{
    Artifact, Metadata, TELLING, for_people, parse_artifacts, split_at_end_of_build,
};
use super::process::Process;
use super::session::{self, CargoSession, Variables};
use crate::adapter::{Error, Result};
use crate::lock::locked;
use crate::process::{Death, End};
use crate::system::{make_program, text_of};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// By Rust's own harness, which runs several in one process, in its own order or shuffled.
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
    pub(super) fn parse(kind: &str, name: &str) -> Self {
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

    /// Whether its tests share a process.
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

/// Writes down program, folder and variables, and what the program lists; if it is of Rust's own
/// harness, also the tests that the harness will not run. (What is no such binary could run all its
/// tests a second time.) What rustdoc compiles from documentation is gone soon: it is run, and with
/// `--list` it does nothing but list.
const SCRIPT: &str = r#"#!/bin/sh
notes=$1
limit=$2
shift 2
case $1 in
*/rust_out | */rustdoctest*) exec "$@" ;;
esac
# Where it is missing, nothing is stopped.
command -v timeout > /dev/null || timeout() { shift 3; "$@"; }
# Each program that is started takes as long as some tests do: the shell counts and writes by itself.
count() { [ -e "$1" ] && count=$# || count=0; }
count "$notes"/*.program
note=$notes/$((1000000 + count))
if printed=$(timeout -s KILL "$limit" "$@" 2> /dev/null); then
    printf '%s\n' "$printed" > "$note.printed"
fi
case $printed in
*' benchmark' | *' benchmarks')
    timeout -s KILL "$limit" "$1" --ignored --list > "$note.ignored" 2> /dev/null ;;
esac
set -e
pwd > "$note.folder"
env -0 > "$note.variables"
printf '%s' "$1" > "$note.program"
"#;

/// How long a binary may take to list its tests.
pub(super) const LISTING: Duration = Duration::from_secs(120);

/// Variables that the script's shell sets itself.
const OF_THE_SHELL: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];

/// What cargo would start.
#[derive(Debug)]
pub(super) struct Captured {
    pub(super) binaries: Vec<Asked>,
    /// What was built for them.
    pub(super) artifacts: Vec<Artifact>,
    /// All that was printed; the list of what is tested in documentation is in it.
    pub(super) printed: String,
}

/// A program, and what it answered when it was asked for its tests.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) binary: Binary,
    /// What it printed, if it ended well.
    pub(super) printed: Option<String>,
    /// The list of those that the harness will not run.
    pub(super) ignored: String,
}

/// Let cargo build and start everything that the user's command selects, and see how it does it.
pub(super) fn capture(session: &CargoSession) -> Result<Captured> {
    let folder = session.folder("capture-")?;
    let notes = folder.join("notes");
    std::fs::create_dir(&notes).map_err(Error::io("make a temporary folder"))?;
    let script = write_script(&folder)?;
    let mut command = session.command.cargo(&["test", "--color", "never", "--no-fail-fast"]);
    command.extend(["--config".to_owned(), runner(&script, &notes)]);
    command.extend(["--config".to_owned(), "term.quiet=false".to_owned()]);
    // Documentation is compiled when it is run.
    let builds = !session.command.has("--doc");
    command.extend(builds.then(|| TELLING.to_owned()));
    command.extend(session.command.building());
    command.push("--".to_owned());
    command.extend(session.command.harness.selecting(&session.command.all_filters()));
    command.push("--list".to_owned());
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let (how, printed, _) = Process::run_merged(session, &instructions, None)?;
    if printed.contains("several matching instances of `target.'cfg(..)'.runner`") {
        return Err(session::own_runner());
    }
    let (building, printed) = match split_at_end_of_build(&printed) {
        Some(parts) => parts,
        None if builds => {
            return Err(session::not_built(&session.settings.command, &for_people(&printed)));
        }
        None => ("", &*printed),
    };
    locked(&session.printed).push_str(&for_people(building));
    if how != End::Died(Death::Exit(0)) {
        return Err(session::not_listed(&session.settings.command, printed));
    }
    let mut programs = entries(&notes)?;
    programs.retain(|it| it.extension().is_some_and(|it| it == "program"));
    programs.sort_unstable();
    let binaries = programs.iter().map(|program| read(program)).collect::<Result<_>>()?;
    Ok(Captured { binaries, artifacts: parse_artifacts(building), printed: printed.to_owned() })
}

/// The setting that makes cargo start everything by the script, unless the project has a runner.
fn runner(script: &Path, notes: &Path) -> String {
    let quoted = |path: &Path| serde_json::Value::from(&*path.to_string_lossy()).to_string();
    format!(
        "target.\"cfg(all())\".runner=[{}, {}, \"{}\"]",
        quoted(script),
        quoted(notes),
        LISTING.as_secs()
    )
}

fn write_script(folder: &Path) -> Result<PathBuf> {
    let script = folder.join("capture");
    let doing = || Error::io("write a script");
    std::fs::write(&script, SCRIPT).map_err(doing())?;
    make_program(&script).map_err(doing())?;
    Ok(script)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || Error::io("read what cargo starts");
    let entries = std::fs::read_dir(folder).map_err(doing())?;
    entries.map(|entry| entry.map(|it| it.path()).map_err(doing())).collect()
}

fn read(program: &Path) -> Result<Asked> {
    let file = |kind: &str| {
        std::fs::read(program.with_extension(kind))
            .map_err(Error::io("read how cargo starts a test"))
    };
    let text = |name: &str| file(name).map(|it| String::from_utf8_lossy(&it).into_owned());
    let binary = Binary {
        path: text("program")?,
        folder: PathBuf::from(text("folder")?.trim_end_matches('\n')),
        variables: differences(&file("variables")?),
    };
    // A file that is not there was not written, because there was nothing to write.
    Ok(Asked {
        binary,
        printed: text("printed").ok(),
        ignored: text("ignored").unwrap_or_default(),
    })
}

/// The variables that differ from our own.
fn differences(listed: &[u8]) -> Variables {
    let mut theirs: std::collections::BTreeMap<OsString, OsString> = listed
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            Some((text_of(&entry[..at]), text_of(&entry[at + 1..])))
        })
        .collect();
    theirs.retain(|name, _| !OF_THE_SHELL.iter().any(|it| name == it));
    let gone = std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| !theirs.contains_key(name) && !OF_THE_SHELL.iter().any(|it| name == it));
    let gone: Vec<String> = gone.filter_map(|name| name.into_string().ok()).collect();
    // What is no text is the same as ours: cargo sets nothing of that kind.
    let set = theirs.into_iter().filter_map(|(name, value)| {
        let is_ours = std::env::var_os(&name).as_ref() == Some(&value);
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (!is_ours).then_some((name, Some(value)))
    });
    set.chain(gone.into_iter().map(|name| (name, None))).collect()
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
