//! Tests that have a process of their own in any case: those in documentation, and those of a harness
//! of the project's own.
//!
//! Tests in documentation are each run by cargo and rustdoc in a process of their own. rustdoc
//! takes its arguments apart at spaces, and the names of these tests have some. So a test is named
//! by a part of its name without any, and what that selects besides it is left out by parts of the
//! other names. Where that does not succeed, others run along, and only this one's line is read.

use std::time::Duration;

use flakeproof_core::{Execution, Failure, Location, Outcome, Phase, Signature, TestId};

use super::execution;
use super::found::{Binary, Group, Listed, Target, Way};
use super::measure;
use super::process::{self, Process, Section};
use super::session::CargoSession;
use crate::adapter::{Error, Probe, Result};
use crate::process::{Death, End, run_to_end};

/// Run a test that has a process of its own in any case.
pub(super) fn run(
    session: &CargoSession,
    group: &Group,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let mut execution = match &group.way {
        Way::Documentation => run_documented(session, group, listed, test, probe)?,
        Way::OwnHarness(binary) | Way::Whole(binary) => {
            run_whole(session, binary, listed, test, probe)?
        }
        Way::Harness(_) => return Err(Error::Agent(format!("`{test}` was not started"))),
    };
    execution.dependencies = measure::by_crates(session, probe, group);
    Ok(execution)
}

/// Run a test of a harness of the project's own, or a binary that is one test.
fn run_whole(
    session: &CargoSession,
    binary: &Binary,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let mut command = vec![binary.path.clone()];
    if listed.name.is_empty() {
        command.extend(session.command.filters.iter().cloned());
        command.extend(session.command.harness.typed.iter().cloned());
    } else {
        command.extend(session.command.harness.naming(std::iter::once(&*listed.name)));
    }
    let mut variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(probe.attempt));
    let instructions = session.instructions(command, &binary.folder, variables);
    let limit = session.settings.timeout;
    let mut where_it_hangs = String::new();
    let ended = run_to_end(&session.hub, &instructions, limit, &session.settings.cancel, |pid| {
        where_it_hangs = process::describe_threads(pid);
    })?;
    let text = [ended.stdout.trim_end(), ended.stderr.trim_end()].join("\n");
    let section = Section { text, duration: ended.duration };
    Ok(match ended.how {
        End::Died(Death::Exit(0)) => {
            execution::plain(test, Outcome::Passed, section.duration, &section.text)
        }
        End::Died(death @ Death::Exit(_)) => failed(test, &section, death),
        End::Died(death @ Death::Signal(_)) => {
            execution::crashed(test, &section, execution::died(death))
        }
        End::TimedOut => execution::timed_out(session, test, &section, &where_it_hangs),
    })
}

fn failed(test: &TestId, section: &Section, death: Death) -> Execution {
    let message = format!("the program ended with {death}");
    let own = Location { file: test.to_string(), line: None };
    let failure = Failure {
        phase: Phase::Call,
        signature: Signature::compute(&message, Some(&own)),
        text: format!("{message}\n\n{}", section.text.trim()),
        message,
        location: None,
    };
    let execution = execution::plain(test, Outcome::Failed, section.duration, &section.text);
    Execution { failure: Some(failure), ..execution }
}

/// How long rustdoc may take to compile, on top of the limit for a test.
const COMPILING: Duration = Duration::from_secs(60);

/// Run one test in documentation.
fn run_documented(
    session: &CargoSession,
    group: &Group,
    listed: &Listed,
    test: &TestId,
    probe: Probe,
) -> Result<Execution> {
    let names: Vec<&str> = group.tests.iter().map(|test| test.name.as_str()).collect();
    let mut command = session.command.cargo(&["test", "--color", "never"]);
    command.extend(session.command.only_building());
    command.extend(["-p".to_owned(), group.package.clone()]);
    command.extend(Target::Documentation.options());
    command.push("--".to_owned());
    command.extend(session.command.harness.for_any());
    command.extend(selection(&listed.name, &names));
    command.extend(["--test-threads=1", "--color=never", "--format=pretty"].map(str::to_owned));
    let variables = session.variables_for_tests(probe.attempt);
    let instructions = session.instructions(command, &session.settings.folder, variables);
    let limit = session.settings.timeout.map(|limit| limit + COMPILING);
    let (how, text, duration) = Process::run_merged(session, &instructions, limit)?;
    let section = Section { text, duration };
    Ok(match (how, result_line(&section.text, &listed.name)) {
        (_, Some("ok")) => execution::plain(test, Outcome::Passed, duration, ""),
        (_, Some("FAILED")) => failed_in_documentation(test, &listed.name, &section),
        (_, Some(ignored)) if ignored.starts_with("ignored") => {
            execution::plain(test, Outcome::Skipped, duration, "")
        }
        (End::TimedOut, _) => execution::timed_out(session, test, &section, ""),
        (End::Died(death), _) => execution::crashed(test, &section, execution::died(death)),
    })
}

/// The arguments that select a test, and as few others as possible.
fn selection(name: &str, names: &[&str]) -> Vec<String> {
    let selected = |part: &str| names.iter().filter(|other| other.contains(part)).count();
    // The line number is at the end, and tells most.
    let parts = name.split_whitespace().rev();
    let Some(part) = parts.min_by_key(|part| selected(part)) else { return Vec::new() };
    let mut arguments = vec![part.to_owned()];
    let mut others: Vec<&str> =
        names.iter().copied().filter(|other| *other != name && other.contains(part)).collect();
    while let Some(other) = others.pop() {
        let skipped = other.split_whitespace().rev().find(|part| !name.contains(part));
        if let Some(skipped) = skipped {
            arguments.extend(["--skip".to_owned(), skipped.to_owned()]);
            others.retain(|other| !other.contains(skipped));
        }
    }
    arguments
}

/// The result in the line `test src/lib.rs - add (line 3) ... ok`.
fn result_line<'a>(printed: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("test {name}");
    let rest = printed.lines().filter_map(|line| line.strip_prefix(start.as_str()));
    rest.filter_map(|rest| rest.split_once(" ... ")).map(|(_, result)| result.trim()).next_back()
}

fn failed_in_documentation(test: &TestId, name: &str, section: &Section) -> Execution {
    let head = format!("---- {name} stdout ----\n");
    let text = section.text.find(&head).map_or("", |at| &section.text[at + head.len()..]);
    let text = text[..text.find("\n\nfailures:\n").unwrap_or(text.len())].trim();
    let found = execution::failure(test, "main", text, None);
    let compiling = text.lines().find(|line| line.starts_with("error"));
    let message = compiling.map_or(found.message, str::to_owned);
    let location = place_in_documentation(name);
    let failure = Failure {
        phase: Phase::Call,
        signature: Signature::compute(&message, location.as_ref()),
        message,
        text: text.to_owned(),
        location,
    };
    let execution = execution::plain(test, Outcome::Failed, section.duration, "");
    Execution { failure: Some(failure), ..execution }
}

/// Where a test in documentation is written: `src/lib.rs - add (line 3)`.
pub(super) fn place_in_documentation(name: &str) -> Option<Location> {
    let (file, rest) = name.split_once(" - ")?;
    let line =
        rest.rsplit_once("(line ").and_then(|(_, line)| line.split(')').next()?.parse().ok());
    Some(Location { file: file.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(name: &str, names: &[&str]) -> Vec<String> {
        let arguments = selection(name, names);
        let (part, skipped) = arguments.split_first().expect("a part of the name");
        let skipped: Vec<&String> = skipped.iter().filter(|it| *it != "--skip").collect();
        let runs =
            |it: &&&str| it.contains(part.as_str()) && !skipped.iter().any(|s| it.contains(*s));
        names.iter().filter(runs).map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_name_with_spaces_is_selected_by_parts() {
        let names = [
            "src/lib.rs - add (line 3)",
            "src/lib.rs - add (line 13)",
            "src/lib.rs - sub (line 23)",
            "src/a.rs - add (line 3)",
            "src/a.rs - add (line 31) - compile_fail",
        ];
        for name in names {
            assert_eq!(runs(name, &names), [name]);
        }
    }

    #[test]
    fn the_line_of_the_test_is_read_and_no_other() {
        let printed =
            "test src/lib.rs - a (line 3) ... ok\ntest src/lib.rs - b (line 9) ... FAILED";
        assert_eq!(result_line(printed, "src/lib.rs - a (line 3)"), Some("ok"));
        assert_eq!(result_line(printed, "src/lib.rs - b (line 9)"), Some("FAILED"));
        assert_eq!(result_line(printed, "src/lib.rs - c (line 1)"), None);
        let place = place_in_documentation("src/lib.rs - a (line 3) - compile").expect("a place");
        assert_eq!((place.file.as_str(), place.line), ("src/lib.rs", Some(3)));
    }
}
