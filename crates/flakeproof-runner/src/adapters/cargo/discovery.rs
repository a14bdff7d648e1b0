//! Finding the tests: build them, see how cargo starts them, and ask each binary for its list;
//! where nextest runs them, also ask it which of them it selects.
//!
//! The harness knows no places. The modules in a test's name lead to a file as they lead the
//! compiler, and there the function of its name is looked for. A place is for people to read: where
//! a module lies elsewhere (`#[path]`) or a macro made the test, the file is the last that was
//! found, without a line.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{Location, Suite, SuiteTest};
use serde::Deserialize;

use super::apart;
use super::artifacts::{Artifact, Metadata};
use super::command::{Ignored, Runner};
use super::found::{self, Asked, Binary, Captured, Found, Group, LISTING, Listed, Target, Way};
use super::session::{self, CargoSession, Variables};
use crate::adapter::{Blame, Error, Result};
use crate::process::{Death, End};

/// Find the tests.
pub(super) fn discover(session: &CargoSession) -> Result<Suite> {
    refuse_what_runs_nothing(session)?;
    // A call of cargo takes as long as many a test.
    let (metadata, toolchain, captured) = std::thread::scope(|scope| {
        let toolchain = scope.spawn(|| toolchain(session));
        let metadata = scope.spawn(|| Metadata::read(session));
        let captured = found::capture(session);
        (metadata.join(), toolchain.join(), captured)
    });
    let (metadata, toolchain) = (unwound(metadata)?, unwound(toolchain)?);
    let Captured { binaries, artifacts, printed } = captured?;
    let of_nextest = match session.command.runner {
        Runner::Test => None,
        Runner::Nextest => Some(list_of_nextest(session)?),
    };
    let is_test = |artifact: &&Artifact| artifact.is_test();
    if binaries.is_empty() && artifacts.iter().any(|artifact| is_test(&artifact)) {
        return Err(session::own_runner());
    }
    let mut groups = groups_of(session, &metadata, &artifacts, binaries);
    match &of_nextest {
        None => groups.extend(documentation(&metadata, &printed)),
        Some(list) => keep_selected(&mut groups, list),
    }
    let has_targets = !groups.is_empty();
    groups.retain(|group: &Group| !group.tests.is_empty());
    if groups.is_empty() {
        return Err(session::no_tests(&session.settings.command, has_targets));
    }
    let places = found::places(&groups);
    let found = Found { places, groups, metadata, artifacts, toolchain };
    let suite = suite(&found);
    // A second discovery would build again; callers keep the suite.
    let _ = session.found.set(found);
    Ok(suite)
}

/// Commands that print something, or only build.
fn refuse_what_runs_nothing(session: &CargoSession) -> Result<()> {
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

fn toolchain(session: &CargoSession) -> Result<String> {
    let command = session.command.cargo(&["--version"]);
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let ended = session.to_end(&instructions, None)?;
    Ok(ended.stdout.trim().to_owned())
}

fn suite(found: &Found) -> Suite {
    let root = &found.metadata.workspace_root;
    let mut places = Finder::new(root);
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
                None => apart::place_in_documentation(&test.name),
            };
            tests.push(SuiteTest { id: group.id(test), location });
        }
    }
    Suite { tests, problems: Vec::new() }
}

/// The groups of all binaries that were built here.
fn groups_of(
    session: &CargoSession,
    metadata: &Metadata,
    artifacts: &[Artifact],
    binaries: Vec<Asked>,
) -> Vec<Group> {
    let group = |asked: Asked| {
        let is_it = |it: &&Artifact| it.executable.as_deref() == Some(&*asked.binary.path);
        Some(group_of(session, metadata, artifacts.iter().find(is_it)?, asked))
    };
    binaries.into_iter().filter_map(group).collect()
}

/// What a thread came to; if it panicked, so does this one.
fn unwound<T>(ended: std::thread::Result<T>) -> T {
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The group of a binary: what it lists decides how its tests are run.
fn group_of(
    session: &CargoSession,
    metadata: &Metadata,
    artifact: &Artifact,
    asked: Asked,
) -> Group {
    let Asked { binary, printed, ignored } = asked;
    let skips_ignored = session.command.harness.ignored == Ignored::Skipped;
    let package = metadata.name_of(&artifact.package_id).unwrap_or("unknown").to_owned();
    let target = artifact.target();
    let (way, tests) = match printed.map_or(List::None, |it| parse_list(&it)) {
        List::Harness(selected) => {
            let ignored: HashSet<String> = names(&ignored).into_iter().collect();
            let is_ignored = |name: &str| skips_ignored && ignored.contains(name);
            let listed = |name: String| Listed { is_ignored: is_ignored(&name), name };
            (Way::Harness(binary), selected.into_iter().map(listed).collect())
        }
        List::Own(names) => {
            let listed = |name| Listed { name, is_ignored: false };
            (Way::OwnHarness(binary), names.into_iter().map(listed).collect())
        }
        List::None => {
            let whole = Listed { name: String::new(), is_ignored: false };
            (Way::Whole(binary), vec![whole])
        }
    };
    Group { package, target, way, tests }
}

/// The tests of a binary that the user's command selects, without benchmarks.
pub(super) fn listed_tests(session: &CargoSession, binary: &Binary) -> Result<Vec<String>> {
    let mut command = vec![binary.path.clone()];
    command.extend(session.command.harness.selecting(&session.command.all_filters()));
    command.push("--list".to_owned());
    let instructions = session.instructions(command, &binary.folder, binary.variables.clone());
    let listed = session.to_end(&instructions, Some(LISTING))?.stdout;
    let tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(tests.map(str::to_owned).collect())
}

/// What a binary answers to `--list`.
#[derive(Debug, PartialEq, Eq)]
enum List {
    /// The list of Rust's own harness, which counts at its end.
    Harness(Vec<String>),
    /// A list like it.
    Own(Vec<String>),
    /// Something else.
    None,
}

fn parse_list(printed: &str) -> List {
    let names = names(printed);
    let counts = printed.lines().rev().find(|line| !line.is_empty());
    match counts.and_then(counted) {
        Some(count) if count == names.len() => List::Harness(names),
        _ if names.is_empty() => List::None,
        _ => List::Own(names),
    }
}

/// The names in lines like `module::name: test`.
fn names(printed: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.strip_suffix(": test").or_else(|| line.strip_suffix(": benchmark"))?;
        Some(name.to_owned())
    };
    printed.lines().filter_map(name).collect()
}

/// How many tests and benchmarks `3 tests, 1 benchmark` counts.
fn counted(line: &str) -> Option<usize> {
    let (tests, benchmarks) = line.split_once(", ")?;
    let number = |part: &str, word: &str| {
        let number = part.strip_suffix('s').unwrap_or(part).strip_suffix(word)?;
        number.trim_end().parse::<usize>().ok()
    };
    Some(number(tests, "test")? + number(benchmarks, "benchmark")?)
}

/// The tests in documentation, from what cargo printed while everything was listed: after the name
/// of each library, one or two lists.
pub(super) fn documentation(metadata: &Metadata, printed: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in printed.lines() {
        if let Some(library) = line.trim_start().strip_prefix("Doc-tests ") {
            let package = metadata.package_of_library(library.trim());
            groups.push(Group {
                package: package.map_or(library.trim(), |package| &package.name).to_owned(),
                target: Target::Documentation,
                way: Way::Documentation,
                tests: Vec::new(),
            });
        } else if let Some(group) = groups.last_mut() {
            let listed = |name| Listed { name, is_ignored: false };
            group.tests.extend(names(line).into_iter().map(listed));
        }
    }
    groups.retain(|group| !group.tests.is_empty());
    groups
}

/// Finds the places of tests below a root.
pub(super) struct Finder<'a> {
    root: &'a Path,
    /// The files that were read.
    read: HashMap<PathBuf, String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, read: HashMap::new() }
    }

    /// The place of a test in a target whose first file is known.
    pub(super) fn find(&mut self, source: &str, name: &str) -> Location {
        let mut modules: Vec<&str> = name.split("::").collect();
        let function = modules.pop().unwrap_or_default();
        let file = file_of(Path::new(source), &modules);
        let text = self
            .read
            .entry(file.clone())
            .or_insert_with(|| std::fs::read_to_string(&file).unwrap_or_default());
        let line = line_of(text, function);
        let relative = file.strip_prefix(self.root).unwrap_or(&file);
        Location { file: relative.to_string_lossy().into_owned(), line }
    }
}

/// The file of the innermost module that has one.
fn file_of(source: &Path, modules: &[&str]) -> PathBuf {
    let mut file = source.to_path_buf();
    let mut folder = source.parent().map(Path::to_path_buf).unwrap_or_default();
    for module in modules {
        let beside = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
        folder = folder.join(module);
        if let Some(found) = beside.into_iter().find(|path| path.is_file()) {
            file = found;
        }
    }
    file
}

/// The line of a function, if there is just one of its name.
fn line_of(text: &str, function: &str) -> Option<u32> {
    let is_it = |line: &str| {
        let after = line.split_once("fn ").and_then(|(_, rest)| rest.strip_prefix(function));
        after.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| is_it(line)).map(|(at, _)| at);
    let first = lines.next()?;
    lines.next().is_none().then_some(first)
}

/// What nextest lists.
#[derive(Deserialize)]
struct NextestList {
    #[serde(rename = "rust-suites")]
    suites: BTreeMap<String, ListedSuite>,
}

#[derive(Deserialize)]
struct ListedSuite {
    #[serde(rename = "binary-path")]
    path: String,
    testcases: HashMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "filter-match")]
    matched: Match,
}

#[derive(Deserialize)]
struct Match {
    status: String,
}

/// Ask nextest what it would run: it has filters and a configuration of its own.
fn list_of_nextest(session: &CargoSession) -> Result<NextestList> {
    let mut command = session.command.cargo(&["nextest", "list", "--message-format", "json"]);
    command.extend(session.command.for_nextest());
    command.extend(session.command.filters.iter().cloned());
    command.push("--".to_owned());
    command.extend(session.command.harness.selecting(&session.command.harness.filters));
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let ended = session.to_end(&instructions, None)?;
    if ended.how != End::Died(Death::Exit(0)) {
        return Err(session::no_nextest(&ended.stderr));
    }
    serde_json::from_str(&ended.stdout)
        .map_err(|error| Error::Agent(format!("the list of nextest: {error}")))
}

/// Keep what nextest lists, too.
fn keep_selected(groups: &mut Vec<Group>, list: &NextestList) {
    for group in groups.iter_mut() {
        let (Way::Harness(binary) | Way::OwnHarness(binary) | Way::Whole(binary)) = &group.way
        else {
            group.tests.clear();
            continue;
        };
        let suite = list.suites.values().find(|suite| suite.path == binary.path);
        group.tests.retain(|test| {
            let case = suite.and_then(|suite| suite.testcases.get(&test.name));
            // An ignored test is listed as one that does not match, and shown as skipped.
            case.is_some_and(|case| case.matched.status == "matches" || test.is_ignored)
        });
    }
    groups.retain(|group| !group.tests.is_empty());
}

/// The variables by which tests know that nextest runs them.
pub(super) fn variables_of_nextest(group: &Group, run: &str) -> Variables {
    let package = &group.package;
    let binary = match &group.target {
        Target::Library | Target::Documentation => package.clone(),
        Target::Integration(name) => format!("{package}::{name}"),
        Target::Program(name) => format!("{package}::bin/{name}"),
        Target::Example(name) => format!("{package}::example/{name}"),
        Target::Benchmark(name) => format!("{package}::bench/{name}"),
    };
    let some = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    Variables::from([
        some("NEXTEST", "1"),
        some("NEXTEST_EXECUTION_MODE", "process-per-test"),
        some("NEXTEST_RUN_ID", run),
        some("NEXTEST_BINARY_ID", &binary),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::found::{Binary, Listed};
    use super::*;

    #[test]
    fn the_count_at_the_end_tells_rusts_own_harness() {
        let own = "a::b: test\nc: benchmark\n\n1 test, 1 benchmark\n";
        assert_eq!(parse_list(own), List::Harness(vec!["a::b".into(), "c".into()]));
        assert_eq!(parse_list("\n0 tests, 0 benchmarks\n"), List::Harness(Vec::new()));
        assert_eq!(parse_list("a: test\nb: test\n"), List::Own(vec!["a".into(), "b".into()]));
        assert_eq!(parse_list("everything ran\n"), List::None);
        assert_eq!(parse_list(""), List::None);
    }

    #[test]
    fn the_line_of_the_only_function_of_a_name_is_found() {
        let text =
            "fn add() {}\nmod tests {\n    #[test]\n    fn adds() {}\n    fn add_all() {}\n}";
        assert_eq!(line_of(text, "adds"), Some(4));
        assert_eq!(line_of(text, "add"), Some(1));
        assert_eq!(line_of("fn a() {}\nmod b { fn a() {} }", "a"), None);
    }

    #[test]
    fn what_nextest_leaves_out_is_left_out() {
        let listed = |name: &str, is_ignored| Listed { name: name.into(), is_ignored };
        let binary = Binary {
            path: "/t/api-1".into(),
            folder: "/p".into(),
            variables: Variables::default(),
        };
        let group = Group {
            package: "web".into(),
            target: Target::Integration("api".into()),
            way: Way::Harness(binary),
            tests: vec![listed("a", false), listed("b", false), listed("c", true)],
        };
        let case = |name: &str, status: &str| {
            format!("\"{name}\":{{\"ignored\":false,\"filter-match\":{{\"status\":\"{status}\"}}}}")
        };
        let cases = [case("a", "matches"), case("b", "mismatch"), case("c", "mismatch")].join(",");
        let json = format!(
            "{{\"test-count\":3,\"rust-suites\":{{\"web::api\":{{\"binary-path\":\"/t/api-1\",\
             \"testcases\":{{{cases}}}}}}}}}"
        );
        let list: NextestList = serde_json::from_str(&json).expect("a list");
        let mut groups = vec![group];
        keep_selected(&mut groups, &list);
        let names: Vec<&str> = groups[0].tests.iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["a", "c"]);
    }
}
