//! Which tests there are, asked of the binaries themselves.

use std::collections::HashSet;
use std::time::Duration;

use super::artifacts::Artifact;
use super::found::{Binary, Group, Listed, Target, Way};
use super::harness::Ignored;
use super::metadata::Metadata;
use super::session::Session;
use crate::adapter::Result;
use crate::process::{Death, End, Ended};

/// How long a binary may take to list its tests.
const LISTING: Duration = Duration::from_secs(120);

/// The group of a binary: what it lists decides how its tests are run.
pub(super) fn group_of(
    session: &Session,
    metadata: &Metadata,
    artifact: &Artifact,
    binary: Binary,
) -> Result<Group> {
    let selecting = session.command.harness.selecting(&session.command.all_filters());
    let ended = ask(session, &binary, &selecting)?;
    let package = metadata.name_of(&artifact.package_id).unwrap_or("unknown").to_owned();
    let target = artifact.target();
    let has_ended_well = ended.how == End::Died(Death::Exit(0));
    let list = if has_ended_well { list(&ended.stdout) } else { List::None };
    let (way, tests) = match list {
        List::Harness(names) => {
            let ignored = ignored(session, &binary)?;
            let listed = |name: String| Listed { is_ignored: ignored.contains(&name), name };
            (Way::Harness(binary), names.into_iter().map(listed).collect())
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
    Ok(Group { package, target, way, tests })
}

fn ask(session: &Session, binary: &Binary, selecting: &[String]) -> Result<Ended> {
    let mut command = vec![binary.path.clone()];
    command.extend(selecting.iter().cloned());
    command.push("--list".to_owned());
    let instructions = session.instructions(command, &binary.folder, binary.variables.clone());
    session.to_end(&instructions, Some(LISTING))
}

/// The tests that the harness will not run.
fn ignored(session: &Session, binary: &Binary) -> Result<HashSet<String>> {
    if session.command.harness.ignored != Ignored::Skipped {
        return Ok(HashSet::new());
    }
    let ended = ask(session, binary, &["--ignored".to_owned()])?;
    Ok(names(&ended.stdout).into_iter().collect())
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

fn list(printed: &str) -> List {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_at_the_end_tells_rusts_own_harness() {
        let own = "a::b: test\nc: benchmark\n\n1 test, 1 benchmark\n";
        assert_eq!(list(own), List::Harness(vec!["a::b".into(), "c".into()]));
        assert_eq!(list("\n0 tests, 0 benchmarks\n"), List::Harness(Vec::new()));
        assert_eq!(list("a: test\nb: test\n"), List::Own(vec!["a".into(), "b".into()]));
        assert_eq!(list("everything ran\n"), List::None);
        assert_eq!(list(""), List::None);
    }
}
