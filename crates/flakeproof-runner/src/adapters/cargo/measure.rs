//! What a test depends on: its code, the functions of it that ran, and the files it opens.
//!
//! Its code is what is compiled into its binary: all source files of its package and of the
//! packages that it needs. Whether it reads other files, sources of other packages among them, or
//! starts other programs, only the system knows; where that cannot be asked, nothing is said about
//! such files.
//!
//! Which functions ran is told by the compiler's own source coverage. The workspace is built once
//! more, instrumented, in a folder of its own; the tools that read what an instrumented program
//! writes come with the toolchain (`llvm-tools`). Where anything of that is missing, whole files
//! count, and nothing fails. A function counts as idle only if it is known not to have run: one
//! that the compiler may run while it builds (`const fn`, macros, build scripts) never is, and what
//! no function holds always counts.
//!
//! The same build tells which lines ran, where what a test uses is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{BlindSpot, Covered, Dependencies, FunctionUse, Lines};
use serde::Deserialize;

use super::artifacts::{self, Artifact};
use super::found::{Found, Group, Way};
use super::session::{CargoSession, Variables};
use crate::adapter::{Granularity, Measuring, Probe, Result};
use crate::coverage::{self, CoverageFormat};
use crate::opens::{self, Opens, TestsBegin};
use crate::process::{Death, End};
use crate::system::make_program;

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
    pub(super) fn begin(
        session: &CargoSession,
        probe: Probe,
        group: &Group,
        tests: usize,
    ) -> Result<Self> {
        if probe.features == Measuring::On {
            return Self::of_lines(session, group);
        }
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

    /// Which lines run in a process. Its calls are not followed: that costs time and a process more.
    fn of_lines(session: &CargoSession, group: &Group) -> Result<Self> {
        let folder = session.folder("measure-")?;
        let found = session.found()?;
        let coverage = instrumented(session).and_then(|build| build.run_of(found, group, folder));
        Ok(Self { granularity: Granularity::Off, trace: None, coverage })
    }

    /// The lines that ran in a process that has ended.
    pub(super) fn lines(&self, session: &CargoSession) -> Covered {
        let unknown = |reason: String| Covered::Unknown { reason };
        let (Some(run), Some(build)) = (&self.coverage, instrumented(session)) else {
            return unknown(NO_LINES.to_owned());
        };
        let lines = build.lines(session, run).map(coverage::as_told);
        lines.unwrap_or_else(|| unknown("its process wrote no coverage".to_owned()))
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
    pub(super) fn dependencies(
        &self,
        session: &CargoSession,
        group: &Group,
    ) -> Option<Dependencies> {
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
        session: &CargoSession,
        found: &Found,
        code: &BTreeSet<String>,
    ) -> Option<Functions> {
        let run = self.coverage.as_ref()?;
        let building = artifacts::sources_that_build(found)?;
        let files = code.difference(&building).cloned().collect();
        instrumented(session)?.functions(session, run, &files)
    }
}

/// Why no lines are told.
const NO_LINES: &str = "the toolchain has no llvm-tools (`rustup component add llvm-tools`), or the \
                        tests cannot be built with coverage";

/// The instrumented build, which is made when it is first asked for.
fn instrumented(session: &CargoSession) -> Option<&Instrumented> {
    session.instrumented.get_or_init(|| Instrumented::build(session)).as_ref()
}

/// What a test touches that is not measured while it runs.
pub(super) fn by_crates(
    session: &CargoSession,
    probe: Probe,
    group: &Group,
) -> Option<Dependencies> {
    Measure::without_a_look(probe.dependencies).dependencies(session, group)
}

/// Everything is known: what is not among it was not touched.
fn with_opens(
    session: &CargoSession,
    found: &Found,
    mut code: BTreeSet<String>,
    seen: Opens,
) -> Dependencies {
    let Opens { mut opened, listed, started, tellers, .. } = seen;
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
    Dependencies { opened, listed, blind_spots: tellers, ..of_code(code) }
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

/// Adds the instrumentation to the compiler of the workspace's own packages.
const WRAPPER: &str = "#!/bin/sh\nexec \"$@\" -C instrument-coverage\n";

/// An instrumented build of the tests.
#[derive(Debug)]
pub(super) struct Instrumented {
    pub(super) artifacts: Vec<Artifact>,
    /// The folder of `llvm-profdata` and `llvm-cov`.
    tools: PathBuf,
}

/// One run of an instrumented binary.
#[derive(Debug)]
pub(super) struct CoverageRun {
    pub(super) program: String,
    folder: PathBuf,
}

/// Functions by file.
pub(super) type Functions = BTreeMap<String, Vec<FunctionUse>>;

impl Instrumented {
    /// Build the tests instrumented; `None` where that is not possible.
    pub(super) fn build(session: &CargoSession) -> Option<Self> {
        let found = session.found().ok()?;
        let tools = tools(session)?;
        // Another wrapper does something that would be missed.
        if std::env::var_os("RUSTC_WORKSPACE_WRAPPER").is_some() {
            return None;
        }
        let wrapper = session.folder("coverage-").ok()?.join("wrapper");
        std::fs::write(&wrapper, WRAPPER).ok()?;
        make_program(&wrapper).ok()?;
        let wrapper = wrapper.to_string_lossy().into_owned();
        let variables = Variables::from([("RUSTC_WORKSPACE_WRAPPER".to_owned(), Some(wrapper))]);
        let target = found.metadata.target_directory.join("flakeproof-coverage");
        let artifacts = artifacts::build_in(session, &target, variables).ok()?;
        Some(Self { artifacts, tools })
    }

    /// Prepare to run a binary.
    pub(super) fn run_of(
        &self,
        found: &Found,
        group: &Group,
        folder: PathBuf,
    ) -> Option<CoverageRun> {
        let is_it = |artifact: &&Artifact| {
            artifact.is_test()
                && artifact.target() == group.target
                && found.metadata.name_of(&artifact.package_id) == Some(&group.package)
        };
        let program = self.artifacts.iter().find(is_it)?.executable.clone()?;
        Some(CoverageRun { program, folder })
    }

    /// The functions of some files, and whether they ran in a run that has ended.
    pub(super) fn functions(
        &self,
        session: &CargoSession,
        run: &CoverageRun,
        files: &BTreeSet<String>,
    ) -> Option<Functions> {
        parse(&self.exported(session, run, "text")?, files)
    }

    /// The lines that ran in a run that has ended; `None` where it told nothing.
    fn lines(
        &self,
        session: &CargoSession,
        run: &CoverageRun,
    ) -> Option<std::result::Result<BTreeMap<String, Lines>, coverage::Error>> {
        let exported = self.exported(session, run, "lcov")?;
        let report = run.folder.join("lcov.info");
        std::fs::write(&report, exported).ok()?;
        let root = session.found().ok()?.metadata.workspace_root.clone();
        Some(coverage::lines_that_ran(CoverageFormat::Lcov, &report, &root))
    }

    /// What the tools of the toolchain say about a run that has ended.
    fn exported(&self, session: &CargoSession, run: &CoverageRun, format: &str) -> Option<String> {
        let written = std::fs::read_dir(&run.folder).ok()?;
        let written: Vec<String> = written
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|it| it == "profraw"))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        if written.is_empty() {
            return None;
        }
        let merged = run.folder.join("merged").to_string_lossy().into_owned();
        let mut words = vec!["merge".to_owned(), "-sparse".into(), "-o".into(), merged.clone()];
        words.extend(written);
        self.tool(session, run, "llvm-profdata", words)?;
        let format = format!("--format={format}");
        let words =
            ["export", &format, &run.program, "--instr-profile", &merged, "--skip-expansions"];
        self.tool(session, run, "llvm-cov", words.map(str::to_owned).to_vec())
    }

    fn tool(
        &self,
        session: &CargoSession,
        run: &CoverageRun,
        name: &str,
        words: Vec<String>,
    ) -> Option<String> {
        let mut command = vec![self.tools.join(name).to_string_lossy().into_owned()];
        command.extend(words);
        let instructions = session.instructions(command, &run.folder, Variables::default());
        let ended = session.to_end(&instructions, None).ok()?;
        (ended.how == End::Died(Death::Exit(0))).then_some(ended.stdout)
    }
}

impl CoverageRun {
    /// The variables that make the program write what it ran.
    pub(super) fn variables(&self) -> Variables {
        let file = self.folder.join("%p-%m.profraw").to_string_lossy().into_owned();
        Variables::from([("LLVM_PROFILE_FILE".to_owned(), Some(file))])
    }
}

/// The folder of the toolchain's own tools, if they are installed.
fn tools(session: &CargoSession) -> Option<PathBuf> {
    let mut command = vec!["rustc".to_owned()];
    command.extend(session.command.program.iter().filter(|word| word.starts_with('+')).cloned());
    command.extend(["--print", "target-libdir"].map(str::to_owned));
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let ended = session.to_end(&instructions, None).ok()?;
    let tools = Path::new(ended.stdout.trim()).parent()?.join("bin");
    let has = |name: &str| tools.join(name).is_file();
    (has("llvm-cov") && has("llvm-profdata")).then_some(tools)
}

#[derive(Deserialize)]
struct Export {
    data: Vec<Exported>,
}

#[derive(Deserialize)]
struct Exported {
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    count: u64,
    filenames: Vec<String>,
    /// First line and column, last line and column, how often it ran, and what it belongs to.
    regions: Vec<[u64; 8]>,
}

/// Places in a region.
const LAST_LINE: usize = 2;
const OF_FILE: usize = 5;

/// Functions in what `llvm-cov` exported. A function that is compiled for several types ran if one
/// of them did.
fn parse(exported: &str, files: &BTreeSet<String>) -> Option<Functions> {
    let export: Export = serde_json::from_str(exported).ok()?;
    let mut ran: BTreeMap<(String, u32, u32), bool> = BTreeMap::new();
    for function in export.data.iter().flat_map(|data| &data.functions) {
        let Some(file) = function.filenames.first().filter(|file| files.contains(*file)) else {
            continue;
        };
        // The first region is the signature; what other files hold came by a macro.
        let own = function.regions.iter().filter(|region| region[OF_FILE] == 0);
        let (Some(signature), Some(end)) =
            (function.regions.first(), own.map(|region| region[LAST_LINE]).max())
        else {
            continue;
        };
        let line = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let key = (file.clone(), line(signature[LAST_LINE]), line(end));
        *ran.entry(key).or_default() |= function.count > 0;
    }
    let mut functions = Functions::new();
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for ((file, body, end), ran) in ran {
        let source = sources
            .entry(file.clone())
            .or_insert_with(|| std::fs::read_to_string(&file).unwrap_or_default());
        if ran || !may_run_while_building(source, body) {
            functions.entry(file).or_default().push(FunctionUse { body, end, ran });
        }
    }
    Some(functions)
}

/// Whether the signature that ends in this line is one of a `const fn`; in doubt it is.
fn may_run_while_building(source: &str, end_of_signature: u32) -> bool {
    let lines: Vec<&str> = source.lines().take(end_of_signature as usize).collect();
    let start = lines.iter().rposition(|line| {
        line.split(|it: char| !it.is_alphanumeric() && it != '_').any(|word| word == "fn")
    });
    // A closure or a block has no name of its own, and runs only inside a function.
    start.is_none_or(|at| lines[at].contains("const ") && lines[at].contains("fn "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_several_types_ran_if_one_of_them_did() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.rs");
        let source = "fn generic<T>(t: T) {\n    drop(t);\n}\n\
                      const fn made() -> u32 {\n    3\n}\n\
                      fn idle(\n    a: u32,\n) {\n    drop(a);\n}\n";
        std::fs::write(&file, source).expect("a file");
        let file = file.to_string_lossy().into_owned();
        let function = |count: u32, first: u32, signature: u32, last: u32| {
            format!(
                "{{\"name\":\"f\",\"count\":{count},\"filenames\":[\"{file}\"],\"regions\":\
                 [[{first},1,{signature},9,0,0,0,0],[{last},1,{last},2,0,0,0,0]]}}"
            )
        };
        let exported = format!(
            "{{\"data\":[{{\"functions\":[{},{},{},{}]}}]}}",
            function(0, 1, 1, 3),
            function(2, 1, 1, 3),
            function(0, 4, 4, 6),
            function(0, 7, 9, 11),
        );
        let found = parse(&exported, &BTreeSet::from([file.clone()])).expect("it is read");
        let generic = FunctionUse { body: 1, end: 3, ran: true };
        let idle = FunctionUse { body: 9, end: 11, ran: false };
        assert_eq!(found[&file], [generic, idle], "the compiler may run a constant function");
    }
}
