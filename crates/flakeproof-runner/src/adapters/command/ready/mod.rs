//! Runners that need no description: each is data, chosen by the user's command.
//!
//! Nothing is installed into the user's project: every runner reports in a format that it has
//! built in, or (mocha, node:test, Playwright) through a reporter of ours that lies outside of the project.

mod ctest;
mod dotnet;
mod go_test;
mod jest;
mod mocha;
mod node_test;
mod phpunit;
mod playwright;
mod rspec;
mod vitest;

use std::path::Path;

use self::ctest::CTEST;
use self::dotnet::DOTNET;
pub(super) use self::go_test::GO;
use self::jest::JEST;
use self::mocha::MOCHA;
use self::node_test::NODE;
use self::phpunit::PHPUNIT;
use self::playwright::PLAYWRIGHT;
use self::rspec::RSPEC;
use self::vitest::VITEST;
use super::choice::{Grammar, TypedWords, program_end};
use super::profile::{CommandText, Coverage, Profile};
use crate::coverage::CoverageFormat;

/// A runner that is known.
pub(super) struct Ready {
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    /// The word that must follow the program.
    pub(super) verb: Option<&'static str>,
    /// An option without which it runs no tests.
    pub(super) needs: Option<&'static str>,
    pub(super) grammar: Grammar,
    /// A file or folder whose presence says that a project's tests are run like this.
    pub(super) marks: &'static [&'static str],
    pub(super) usual: &'static [&'static str],
    pub(super) profile: fn() -> Profile,
}

/// Every runner that is known, in the order in which a folder is looked at.
pub(super) const READY: [Ready; 10] =
    [GO, VITEST, JEST, MOCHA, NODE, PLAYWRIGHT, RSPEC, PHPUNIT, CTEST, DOTNET];

/// The runner of a command, and the command taken apart.
pub(super) fn of_command(command: &[String]) -> Option<(&'static Ready, TypedWords)> {
    let (ready, end) = earliest(command)?;
    Some((ready, TypedWords::parse(command, end, &ready.grammar)))
}

/// Which word of a command is the program of its runner.
pub(super) fn program_in(command: &[String]) -> Option<usize> {
    let (ready, end) = earliest(command)?;
    Some(end - 1 - usize::from(ready.verb.is_some()))
}

/// The runner whose program comes first, and where its name ends: what comes later are arguments.
fn earliest(command: &[String]) -> Option<(&'static Ready, usize)> {
    let found = READY.iter().filter_map(|ready| {
        let end = program_end(command, ready.program, ready.verb)?;
        let is_asked_for =
            ready.needs.is_none_or(|needs| command[end..].iter().any(|word| word == needs));
        is_asked_for.then_some((ready, end))
    });
    found.min_by_key(|(_, end)| *end)
}

/// The command that runs the tests of a project in this folder.
pub(super) fn usual_command(folder: &Path) -> Option<Vec<String>> {
    let ready =
        READY.iter().find(|ready| ready.marks.iter().any(|mark| folder.join(mark).exists()))?;
    Some(ready.usual.iter().map(|&word| word.to_owned()).collect())
}

/// A command of words without spaces in them.
pub(super) fn words(text: &str) -> CommandText {
    CommandText::Words(text.split_whitespace().map(str::to_owned).collect())
}

/// Measures which scripts a command of Node loads, by V8 itself.
fn by_v8(run: &str) -> Coverage {
    Coverage {
        format: CoverageFormat::V8,
        path: Some("{coverage}".to_owned()),
        is_complete: false,
        run: Some(words(&format!("env NODE_V8_COVERAGE={{coverage}} {run}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(command: &str) -> Option<&'static str> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        of_command(&words).map(|(ready, _)| ready.name)
    }

    #[test]
    fn a_command_tells_its_runner() {
        for (command, name) in [
            ("go test ./...", Some("go test")),
            ("go build ./...", None),
            ("npx jest --ci", Some("jest")),
            ("node_modules/.bin/jest", Some("jest")),
            ("npx mocha --exit", Some("mocha")),
            ("npx vitest run", Some("vitest")),
            ("npx vitest", None),
            ("npx playwright test --project=a", Some("playwright")),
            ("npx playwright show-report", None),
            ("node --test", Some("node:test")),
            ("node --test jest", Some("node:test")),
            ("npx jest go test", Some("jest")),
            ("node server.js", None),
            ("npm test", None),
            ("bundle exec rspec spec/a_spec.rb", Some("RSpec")),
            ("vendor/bin/phpunit", Some("PHPUnit")),
            ("ctest --test-dir build", Some("CTest")),
            ("dotnet test", Some("dotnet test")),
            ("python -m pytest", None),
        ] {
            assert_eq!(name_of(command), name, "{command}");
        }
    }
}
