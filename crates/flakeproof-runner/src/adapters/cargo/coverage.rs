//! Which functions a test ran, by the compiler's own source coverage.
//!
//! The workspace is built once more, instrumented, in a folder of its own; the tools that read what
//! an instrumented program writes come with the toolchain (`llvm-tools`). Where anything of that is
//! missing, whole files count, and nothing fails.
//!
//! A function counts as idle only if it is known not to have run: one that the compiler may run
//! while it builds (`const fn`, macros, build scripts) never is, and what no function holds always
//! counts.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flakeproof_core::FunctionUse;
use serde::Deserialize;

use super::artifacts::{self, Artifact};
use super::found::{Found, Group};
use super::session::{Session, Variables};
use crate::process::{Death, End};

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
    pub(super) fn build(session: &Session) -> Option<Self> {
        let found = session.found().ok()?;
        let tools = tools(session)?;
        // Another wrapper does something that would be missed.
        if std::env::var_os("RUSTC_WORKSPACE_WRAPPER").is_some() {
            return None;
        }
        let wrapper = session.folder("coverage-").ok()?.join("wrapper");
        std::fs::write(&wrapper, WRAPPER).ok()?;
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).ok()?;
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
        session: &Session,
        run: &CoverageRun,
        files: &BTreeSet<String>,
    ) -> Option<Functions> {
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
        let words = ["export", &run.program, "--instr-profile", &merged, "--skip-expansions"];
        let words = words.map(str::to_owned).to_vec();
        let exported = self.tool(session, run, "llvm-cov", words)?;
        parse(&exported, files)
    }

    fn tool(
        &self,
        session: &Session,
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
fn tools(session: &Session) -> Option<PathBuf> {
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
