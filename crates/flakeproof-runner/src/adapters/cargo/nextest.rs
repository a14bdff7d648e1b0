//! What nextest adds to cargo: which tests it selects, and what it tells them.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::found::{Group, Target, Way};
use super::session::{self, Session, Variables};
use crate::adapter::{Error, Result};
use crate::process::{Death, End};

/// What nextest lists.
#[derive(Deserialize)]
pub(super) struct List {
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
pub(super) fn list(session: &Session) -> Result<List> {
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
pub(super) fn keep_selected(groups: &mut Vec<Group>, list: &List) {
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
pub(super) fn variables(group: &Group, run: &str) -> Variables {
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
    use super::*;
    use crate::adapters::cargo::found::{Binary, Listed};

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
        let list: List = serde_json::from_str(&json).expect("a list");
        let mut groups = vec![group];
        keep_selected(&mut groups, &list);
        let names: Vec<&str> = groups[0].tests.iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["a", "c"]);
    }
}
