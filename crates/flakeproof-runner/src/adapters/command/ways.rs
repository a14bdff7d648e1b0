//! The three ways to run tests, and what a process that ends badly says about each of them.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use flakeproof_core::{Execution, Isolation, Outcome, TestId};

use super::discovery::ending;
use super::environment;
use super::launch::{Asked, Ran};
use super::session::Session;
use crate::adapter::{Granularity, Probe, Result};
use crate::process::{Death, End};

/// What made a process fail besides its tests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Besides {
    /// Something that no test can explain.
    Anything(String),
    /// It ended before all of its tests: one that is missing may have ended it.
    Loss(String),
}

impl Session {
    /// How long a process of so many tests may take.
    pub(super) fn limit_of(&self, tests: u32) -> Option<Duration> {
        self.settings.timeout.map(|limit| limit.saturating_mul(tests.max(1)))
    }

    /// Run the whole suite as the user's own command does, and keep what it says.
    pub(super) fn run_all(&self, tests: &[TestId]) -> Result<()> {
        let ran = self.launch(Asked::All, 1, Granularity::Off, self.limit_of(count(tests)))?;
        self.set_output(&ran.output);
        self.look_for_what_no_test_explains(&ran, tests);
        self.keep(ran.executions);
        Ok(())
    }

    /// Note what went wrong in a process of several tests that is no outcome of one of them.
    fn look_for_what_no_test_explains(&self, ran: &Ran, tests: &[TestId]) {
        let missing: HashSet<TestId> =
            tests.iter().filter(|test| !ran.executions.contains_key(*test)).cloned().collect();
        match self.what_no_test_explains(ran, missing.is_empty()) {
            Some(Besides::Anything(what)) => self.cannot_explain(what, HashSet::new()),
            Some(Besides::Loss(what)) => self.cannot_explain(what, missing),
            None => {}
        }
    }

    /// What went wrong in a process of several tests that is no outcome of one of them.
    pub(super) fn what_no_test_explains(&self, ran: &Ran, is_complete: bool) -> Option<Besides> {
        let name = &self.runner.name;
        let mut failing = ran.executions.values().filter(|it| it.outcome.is_failure());
        let known = self.project().ok().map(|project| &project.fields);
        let is_foreign = |it: &&Execution| known.is_some_and(|known| !known.contains_key(&it.test));
        if let Some(foreign) = failing.clone().find(is_foreign) {
            return Some(Besides::Anything(format!(
                "{name} reports a failure of `{}`, which it did not list",
                foreign.test
            )));
        }
        if let Some(issue) = ran.issues.first() {
            return Some(Besides::Anything(issue.what.clone()));
        }
        if ran.how == End::Died(Death::Exit(0)) {
            return None;
        }
        if let Some(line) = environment::said(&ran.output) {
            return Some(Besides::Anything(format!("{name} says: {line}")));
        }
        let has_loss = failing.clone().any(|it| it.outcome.ends_environment());
        let has_failure = failing.next().is_some();
        let what = format!("{name} {}", ending(ran.how));
        match ran.how {
            _ if has_loss => None,
            _ if !is_complete => Some(Besides::Loss(what)),
            End::Died(death) if has_failure && !is_by_signal(death) => None,
            End::Died(_) | End::TimedOut => Some(Besides::Anything(what)),
        }
    }

    /// Run one test in a process of its own.
    pub(super) fn run_alone(
        &self,
        test: &TestId,
        probe: Probe,
        isolation: Isolation,
    ) -> Result<Execution> {
        let only = std::slice::from_ref(test);
        let limit = self.limit_of(1);
        let mut ran = self.launch(Asked::Tests(only), probe.attempt, probe.dependencies, limit)?;
        // All is well, and the test did not run: one that took its process with it is no such case.
        let is_fine = ran.how == End::Died(Death::Exit(0));
        let is_passed_over = is_fine && !ran.executions.contains_key(test);
        if let (true, Some(format)) = (is_passed_over, &self.profile().older_format) {
            let asked = Asked::AsOlderRunners(test, format);
            ran = self.launch(asked, probe.attempt, probe.dependencies, limit)?;
        }
        let mut execution = match ran.executions.remove(test) {
            _ if ran.how == End::TimedOut => {
                let message =
                    format!("still running after {limit:?}", limit = limit.unwrap_or_default());
                let output = ran.output.clone();
                environment::untold(test, Outcome::TimedOut, &message, output, ran.duration)
            }
            Some(told) => checked(told, &ran),
            None => missing(test, &ran),
        };
        if execution.output.is_empty() {
            // Nobody else ran in this process: what it printed is the test's, and the runner's.
            execution.output = ran.output;
        }
        execution.dependencies = ran.dependencies;
        if execution.outcome.is_failure() && isolation == Isolation::Same {
            self.explained_by(test);
        }
        Ok(execution)
    }

    /// Run tests in one process, in this order.
    pub(super) fn run_in_order(
        &self,
        tests: &[TestId],
        isolation: Isolation,
    ) -> Result<HashMap<TestId, Execution>> {
        let limit = self.limit_of(count(tests));
        let ran = self.launch(Asked::Tests(tests), 1, Granularity::Off, limit)?;
        let is_complete = tests.iter().all(|test| ran.executions.contains_key(test));
        if is_complete && ran.how != End::TimedOut {
            if isolation == Isolation::Same {
                self.look_for_what_no_test_explains(&ran, tests);
            }
            return Ok(ran.executions);
        }
        let found = self.find_the_end(tests, ran)?;
        let has_failure = found.values().any(|it| it.outcome.is_failure());
        if isolation == Isolation::Same && !has_failure {
            // It ended badly once, and not when it was looked for the cause.
            let what = format!("{} ended without a report", self.runner.name);
            self.cannot_explain(what, HashSet::new());
        }
        Ok(found)
    }

    /// Find the test that ended a process, by shorter and shorter beginnings of its order.
    fn find_the_end(&self, tests: &[TestId], whole: Ran) -> Result<HashMap<TestId, Execution>> {
        // The longest beginning that is known to end well, and the shortest that does not.
        let (mut good, mut bad) = (0, tests.len());
        let mut last_good = HashMap::new();
        let mut last_bad = whole;
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            let some = &tests[..middle];
            let limit = self.limit_of(count(some));
            let ran = self.launch(Asked::Tests(some), 1, Granularity::Off, limit)?;
            let is_complete = some.iter().all(|test| ran.executions.contains_key(test));
            if is_complete && ran.how != End::TimedOut {
                good = middle;
                last_good = ran.executions;
            } else {
                bad = middle;
                last_bad = ran;
            }
        }
        if let Some(test) = tests.get(good) {
            let end = match last_bad.how {
                End::TimedOut => environment::untold(
                    test,
                    Outcome::TimedOut,
                    "still running at the limit of its process",
                    last_bad.output,
                    last_bad.duration,
                ),
                End::Died(_) => missing(test, &last_bad),
            };
            last_good.insert(test.clone(), end);
        }
        Ok(last_good)
    }
}

fn count(tests: &[TestId]) -> u32 {
    u32::try_from(tests.len()).unwrap_or(u32::MAX)
}

/// A pass is one only where the process agrees: what fails after the last test fails too.
fn checked(told: Execution, ran: &Ran) -> Execution {
    let is_fine = ran.how == End::Died(Death::Exit(0));
    let is_explained = ran.executions.values().any(|it| it.outcome.is_failure());
    let issues: Vec<&str> = ran.issues.iter().map(|issue| issue.what.as_str()).collect();
    if told.outcome != Outcome::Passed || is_fine || is_explained {
        return told;
    }
    let message = format!("it passes, and the runner {}", ending(ran.how));
    let text = format!("{}\n{}\n{message}", issues.join("\n"), ran.output);
    environment::untold(
        &told.test,
        Outcome::Errored,
        &message,
        text.trim().to_owned(),
        told.duration,
    )
}

/// A test that is not in the report of its process.
fn missing(test: &TestId, ran: &Ran) -> Execution {
    let issues: Vec<&str> = ran.issues.iter().map(|issue| issue.what.as_str()).collect();
    let text = format!("{}\n{}", issues.join("\n"), ran.output).trim().to_owned();
    let (outcome, message) = match ran.how {
        End::TimedOut => (Outcome::TimedOut, "still running at its limit".to_owned()),
        End::Died(death) if is_by_signal(death) => {
            (Outcome::Crashed, format!("its process was killed ({death})"))
        }
        End::Died(death) if !ran.has_report && death != Death::Exit(0) => {
            (Outcome::Crashed, format!("its process ended without a report ({death})"))
        }
        End::Died(death) => {
            (Outcome::Errored, format!("it is not in the runner's report ({death})"))
        }
    };
    environment::untold(test, outcome, &message, text, ran.duration)
}

/// Shells and launchers end with 128 and the number of the signal that killed their child.
fn is_by_signal(death: Death) -> bool {
    match death {
        Death::Signal(_) => true,
        Death::Exit(code) => (129..=128 + 64).contains(&code),
    }
}
