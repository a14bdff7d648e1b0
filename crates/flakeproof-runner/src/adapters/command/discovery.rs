//! Finding the tests: by asking the runner, or by running everything once.

use std::collections::HashSet;

use flakeproof_core::{CollectionProblem, Location, Suite, SuiteTest, TestId};
use serde::Deserialize;

use super::launch::{Asked, Ran};
use super::profile::{CommandText, Fields, ListFormat};
use super::session::{Project, Session};
use super::ways::Besides;
use crate::adapter::{Blame, Error, Granularity, Result};
use crate::process::{Death, End};
use crate::reports;

/// A run of everything may take as long as so many tests at their limit.
const TESTS_AT_THEIR_LIMIT: u32 = 100;

impl Session {
    /// Find the tests.
    pub(super) fn discover(&self) -> Result<Suite> {
        let (tests, problems) = match &self.profile().list {
            // A list of everything is no list of what the user selects by name.
            Some(list) if !self.runner.typed.is_selective => match self.listed(list)? {
                // Some versions of a runner say nothing about tests that they do not run.
                (tests, _) if tests.is_empty() => self.run_to_find()?,
                found => found,
            },
            _ => self.run_to_find()?,
        };
        if tests.is_empty() {
            return Err(self.nothing_found(&problems));
        }
        let fields = tests.iter().map(|(test, fields)| (test.id.clone(), fields.clone())).collect();
        let suite = Suite { tests: tests.into_iter().map(|(test, _)| test).collect(), problems };
        self.set_project(Project { suite: suite.clone(), fields });
        Ok(suite)
    }

    /// Ask the runner.
    fn listed(&self, list: &CommandText) -> Result<Found> {
        let folder =
            tempfile::tempdir_in(self.scratch()).map_err(Error::io("make a temporary folder"))?;
        let values = self.values(Asked::All, folder.path())?;
        let ended = self.run_to_end(values.fill(list), 1, self.limit_of(TESTS_AT_THEIR_LIMIT))?;
        self.set_output(&format!("{}\n{}", ended.stdout, ended.stderr));
        let path = folder.path().join("result");
        let printed = match list.uses("{result}") {
            true => std::fs::read(&path).unwrap_or_default(),
            false => ended.stdout.into_bytes(),
        };
        let tests = match self.profile().list_format {
            ListFormat::Lines => self.of_lines(&String::from_utf8_lossy(&printed)),
            ListFormat::GoList => self.of_go(&String::from_utf8_lossy(&printed)),
            ListFormat::Report => self.of_report(&printed)?,
        };
        let is_fine = ended.how == End::Died(Death::Exit(0));
        if !is_fine && tests.is_empty() {
            return Err(self.cannot_list(ended.how));
        }
        // A list that ends badly may lack tests; what is there can be run.
        let problem = (!is_fine).then(|| CollectionProblem {
            place: "the list of tests".to_owned(),
            text: format!("{}\nthe command that lists the tests failed", ended.stderr.trim_end()),
        });
        Ok((unique(tests), problem.into_iter().collect()))
    }

    fn of_lines(&self, text: &str) -> Vec<(SuiteTest, Fields)> {
        let ids = text.lines().map(str::trim).filter(|line| !line.is_empty());
        ids.map(|id| {
            let fields = Fields::of_id(id, &self.profile().id);
            let location = (!fields.file.is_empty())
                .then(|| Location { file: fields.file.clone(), line: None });
            (SuiteTest { id: TestId::from(id), location }, fields)
        })
        .collect()
    }

    fn of_report(&self, printed: &[u8]) -> Result<Vec<(SuiteTest, Fields)>> {
        let mut tests = Vec::new();
        let mut sink = |test: reports::ReportedTest| {
            let fields = Fields::of(&test, self.profile(), self.folder());
            let id = TestId::from(fields.test_id(&self.profile().id));
            let location = (!fields.file.is_empty())
                .then(|| Location { file: fields.file.clone(), line: test.line });
            tests.push((SuiteTest { id, location }, fields));
        };
        reports::read_each(printed, None, &mut sink)
            .map_err(Error::io("read the list of tests"))?;
        Ok(tests)
    }

    /// Names that `go test -list` prints, by package.
    fn of_go(&self, text: &str) -> Vec<(SuiteTest, Fields)> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "PascalCase")]
        struct Event {
            action: String,
            package: String,
            output: String,
        }
        let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
        let names = events.filter(|event| event.action == "output").filter_map(|event| {
            let name = event.output.trim_end().to_owned();
            let is_test = ["Test", "Example", "Fuzz"].iter().any(|it| name.starts_with(it))
                && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_test.then(|| Fields {
                suite: event.package,
                title: name.clone(),
                name,
                ..Fields::default()
            })
        });
        let mut names: Vec<Fields> = names.collect();
        // Packages are printed as they are compiled; each keeps the order of its own tests.
        names.sort_by(|one, other| one.suite.cmp(&other.suite));
        names
            .into_iter()
            .map(|fields| {
                let id = TestId::from(fields.test_id(&self.profile().id));
                (SuiteTest { id, location: None }, fields)
            })
            .collect()
    }

    /// Run everything and take the tests from the report, which is the suite's own run then.
    fn run_to_find(&self) -> Result<Found> {
        let limit = self.limit_of(TESTS_AT_THEIR_LIMIT);
        let ran = self.launch(Asked::All, 1, Granularity::Off, limit)?;
        self.set_output(&ran.output);
        let besides = self.what_no_test_explains(&ran, true);
        let Ran { executions, order, issues, .. } = ran;
        let problems: Vec<CollectionProblem> = issues
            .into_iter()
            .map(|issue| CollectionProblem {
                place: "a part of the suite".into(),
                text: issue.what,
            })
            .collect();
        // Problems are told as such.
        if let (Some(Besides::Anything(what) | Besides::Loss(what)), true, false) =
            (besides, problems.is_empty(), executions.is_empty())
        {
            self.cannot_explain(what, HashSet::new());
        }
        self.keep(executions);
        Ok((order, problems))
    }

    fn cannot_list(&self, how: End) -> Error {
        Error::Explained {
            blame: Blame::Runner,
            what: format!("{} cannot list its tests: it {}", self.runner.name, ending(how)),
            next: "run the command yourself to see why, and mend it".to_owned(),
            details: self.output().trim().to_owned(),
        }
    }

    fn nothing_found(&self, problems: &[CollectionProblem]) -> Error {
        let command = self.settings.command.join(" ");
        if problems.is_empty() && self.profile().list.is_some() {
            return Error::Explained {
                blame: Blame::NoTests,
                what: format!("`{command}` selects no test"),
                next: "check what selects tests in the command".to_owned(),
                details: String::new(),
            };
        }
        let texts: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
        Error::Explained {
            blame: Blame::Runner,
            what: format!("`{command}` reports no test"),
            next: "run it yourself to see why; its report may be somewhere else".to_owned(),
            details: format!("{}\n{}", texts.join("\n"), self.output()).trim().to_owned(),
        }
    }
}

/// Tests, and what could not be found.
type Found = (Vec<(SuiteTest, Fields)>, Vec<CollectionProblem>);

fn unique(tests: Vec<(SuiteTest, Fields)>) -> Vec<(SuiteTest, Fields)> {
    let mut seen: HashSet<TestId> = HashSet::new();
    tests.into_iter().filter(|(test, _)| seen.insert(test.id.clone())).collect()
}

/// How a process ended, as the end of a sentence.
pub(super) fn ending(how: End) -> String {
    match how {
        End::Died(death) => format!("ended with {death}, not only for its tests"),
        End::TimedOut => "did not end in time and was killed".to_owned(),
    }
}
