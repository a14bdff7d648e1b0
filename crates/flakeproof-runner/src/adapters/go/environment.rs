//! Tests one after another, in the process that tests of a package share.
//!
//! A test binary takes its order when it starts and then runs ahead, so an environment starts one for
//! each package of what was announced, one after the other, and hands out how the tests ended.
//!
//! In a *forked* environment the binary takes its order from us. In a *spawned* one nothing of ours is
//! in it: the beginning of the suite runs by `go test`, a single test by the binary that `go test` would
//! link anew each time, and a few tests in another order by a seed of `-shuffle`. Only where no seed is
//! known does a binary of ours run them. The suite's own environment is the user's command; a share of
//! the suite runs as a spawned one does.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakeproof_core::{Execution, Isolation, Measured, Outcome, State, TestId};

use super::process::{Fate, TestProcess, merged};
use super::session::{Binary, GoSession, Shuffle};
use crate::adapter::{Adapter, Environment, Error, Granularity, Measuring, Probe, Result, Then};
use crate::adapters::command::{self, CommandAdapter};
use crate::coverage::{self, CoverageFormat};
use crate::reports;

/// Where tests run.
#[derive(Debug)]
pub(super) struct GoEnvironment {
    session: Arc<GoSession>,
    /// `go test` itself.
    runner: Arc<CommandAdapter>,
    isolation: Isolation,
    announced: Vec<TestId>,
    /// Whose outcome was asked for.
    given: Vec<TestId>,
    parts: BTreeMap<String, Part>,
    /// The suite as the user's command runs it, if what is announced is all of it, or, once more, its
    /// beginning.
    suite: Option<SuiteEnvironment>,
}

/// The announced tests of one package.
#[derive(Debug)]
enum Part {
    Process(Box<TestProcess>),
    /// A process each, by `go test`.
    Apart,
}

/// An environment of another adapter.
struct SuiteEnvironment(Box<dyn Environment>);

impl std::fmt::Debug for SuiteEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the suite's own environment once more")
    }
}

impl GoEnvironment {
    pub(super) fn new(
        session: &Arc<GoSession>,
        runner: &Arc<CommandAdapter>,
        isolation: Isolation,
    ) -> Self {
        Self {
            session: Arc::clone(session),
            runner: Arc::clone(runner),
            isolation,
            announced: Vec::new(),
            given: Vec::new(),
            parts: BTreeMap::new(),
            suite: None,
        }
    }

    /// Run a test in a process of its own, as `go test` does.
    fn run_alone(&self, test: &TestId, probe: Probe) -> Result<Execution> {
        let how =
            if self.isolation == Isolation::Same { Isolation::Same } else { Isolation::Spawn };
        let mut environment = self.runner.open(how)?;
        environment.expect(std::slice::from_ref(test), Then::End)?;
        environment.run(test, probe)
    }

    /// Run a test alone, in a new process of the package's own binary. What `go test` says of a process counts
    /// where its tests do not explain how it ended, and only below it is it told what a test touches.
    fn run_in_own_process(&self, test: &TestId, probe: Probe) -> Result<Execution> {
        let (path, name) = self.runner.package_and_name(test)?;
        let (session, package) = (&self.session, self.session.package(path));
        let is_apart = self.isolation == Isolation::Spawn
            && probe.dependencies == Granularity::Off
            && !name.contains('/');
        if !is_apart || session.binary(&package, Binary::Plain).is_err() {
            return self.run_alone(test, probe);
        }
        let names = [name.to_owned()];
        let mut process = session.start_plain(&package, &names, Shuffle::Off, probe.attempt)?;
        let fate = process.fate_of(name, session.rounds())?;
        process.finish()?;
        match process.unexplained_end() {
            Some(_) => self.run_alone(test, probe),
            None => self.execution(test, path, name, fate),
        }
    }

    /// Run a test alone, and measure what it uses: its own binary, for the go command compiles and links
    /// below itself.
    fn run_measured(&self, test: &TestId, probe: Probe) -> Result<Execution> {
        let (path, name) = self.runner.package_and_name(test)?;
        let (session, package) = (&self.session, self.session.package(path));
        if session.binary(&package, Binary::Covered).is_err() {
            return self.run_alone(test, probe);
        }
        let lines = session.lines_file();
        let mut process = session.start_covered(&package, name, probe.attempt, &lines)?;
        let fate = process.fate_of(name, session.rounds())?;
        process.finish()?;
        let mut execution = self.execution(test, path, name, fate)?;
        let ran = coverage::lines_that_ran(CoverageFormat::Go, &lines, &session.settings.folder);
        execution.measured = process.usage().map(|(used, peak)| {
            let all = command::measured(used, peak, coverage::as_told(ran));
            Box::new(Measured { run_time: execution.duration, ..all })
        });
        Ok(execution)
    }

    /// The names of the announced tests of a package.
    fn announced_in(&self, package: &str) -> Result<Vec<TestId>> {
        in_package(&self.runner, &self.announced, package)
    }

    /// Hear how a test ends in the process of its package, which is started if it was not yet.
    fn run_in_order(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let (package, name) = self.runner.package_and_name(test)?;
        let (package, name) = (package.to_owned(), name.to_owned());
        if !self.parts.contains_key(&package) {
            self.finish()?;
            let tests = self.announced_in(&package)?;
            let part = self.start(&package, &tests, probe.attempt)?;
            self.parts.insert(package.clone(), part);
        }
        let rounds = self.session.rounds();
        match self.parts.get_mut(&package) {
            Some(Part::Process(process)) => {
                let fate = process.fate_of(&name, rounds)?;
                self.execution(test, &package, &name, fate)
            }
            Some(Part::Apart) | None => self.run_in_own_process(test, probe),
        }
    }

    fn start(&self, package: &str, tests: &[TestId], attempt: u32) -> Result<Part> {
        let names = names_of(&self.runner, tests)?;
        let session = &self.session;
        let package = session.package(package);
        if self.isolation != Isolation::Fork {
            if names.len() == 1 {
                return Ok(Part::Apart);
            }
            let is_own = self.runner.is_in_own_order(tests)?;
            let shuffle = session.shuffle_for(&package, &names, is_own);
            let binary = session.binary(&package, Binary::Plain).ok();
            if let (Some(shuffle), Some(_)) = (shuffle, binary) {
                let process = session.start_plain(&package, &names, shuffle, attempt)?;
                return Ok(Part::Process(Box::new(process)));
            }
        }
        match session.binary(&package, Binary::Ordered) {
            Ok(_) => {
                let process = session.start_ordered(&package, &names, attempt)?;
                Ok(Part::Process(Box::new(process)))
            }
            Err(_) if session.settings.cancel.is_cancelled() => Err(Error::Cancelled),
            // Told as a notice.
            Err(_) => Ok(Part::Apart),
        }
    }

    /// Run a test again, after all that ran before it in its process.
    fn run_again(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        self.finish()?;
        let (package, name) = self.runner.package_and_name(test)?;
        let mut before = in_package(&self.runner, &self.given, package)?;
        let end = before.iter().position(|it| it == test).map_or(before.len(), |at| at + 1);
        before.truncate(end);
        let rounds = self.session.rounds();
        match self.start(package, &before, probe.attempt)? {
            Part::Process(mut process) => {
                let fate = process.fate_of(name, rounds)?;
                self.execution(test, package, name, fate)
            }
            Part::Apart => self.run_in_own_process(test, probe),
        }
    }

    /// Wait until no process runs: two at once could disturb each other.
    fn finish(&mut self) -> Result<()> {
        for (package, part) in &mut self.parts {
            let Part::Process(process) = part else { continue };
            process.finish()?;
            if let (Isolation::Same, Some(how)) = (self.isolation, process.unexplained_end()) {
                self.session.cannot_explain(&format!("{package} {how}"));
            }
        }
        Ok(())
    }

    fn execution(&self, test: &TestId, package: &str, name: &str, fate: Fate) -> Result<Execution> {
        let folder = &self.session.settings.folder;
        let told = |outcome, printed| {
            let reported = reports::of_go_test(package, name, outcome, printed);
            command::execution(test, reported, folder)
        };
        Ok(match fate {
            Fate::Ended(ends) => {
                let end = merged(ends);
                Execution { duration: end.duration, ..told(end.outcome, end.printed) }
            }
            Fate::Died(printed, death) => {
                let duration = printed.since.map(|it| it.elapsed()).unwrap_or_default();
                let text = format!("{}\nits process ended with {death}", printed.text.trim_end());
                Execution { duration, ..told(Outcome::Crashed, text) }
            }
            Fate::TimedOut(printed) => {
                let limit = self.session.settings.timeout.unwrap_or_default();
                let message = format!("still running after {limit:?}");
                let duration = printed.since.map_or(limit, |since| since.elapsed());
                command::untold(test, Outcome::TimedOut, &message, printed.text, duration)
            }
            Fate::NeverBegan(text, death) => {
                let (outcome, message) = match death {
                    Some(death) => {
                        (Outcome::Errored, format!("its process ended before it began ({death})"))
                    }
                    None => (Outcome::TimedOut, "it did not begin in time".to_owned()),
                };
                command::untold(test, outcome, &message, text, std::time::Duration::ZERO)
            }
            Fate::Lost => {
                return Err(Error::EnvironmentLost {
                    cause: "another test took the process of the package with it".into(),
                });
            }
        })
    }

    /// Run a test of the suite, or of its beginning, as the user's own command does.
    fn run_in_suite(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let suite = match &mut self.suite {
            Some(suite) => suite,
            None => {
                let environment = match self.isolation {
                    Isolation::Same => {
                        let mut own = self.runner.open(Isolation::Same)?;
                        own.expect(&self.announced, Then::End)?;
                        own
                    }
                    Isolation::Fork | Isolation::Spawn => {
                        self.runner.reopen(&self.announced, Then::End)?
                    }
                };
                self.suite.insert(SuiteEnvironment(environment))
            }
        };
        suite.0.run(test, probe)
    }

    /// Whether what is announced runs as the user's own command runs it.
    fn is_of_the_suite(&self) -> Result<bool> {
        match self.isolation {
            Isolation::Same => {
                // What a run of the whole suite did not come to is told by it as well.
                Ok(self.suite.is_some() || self.runner.is_whole_suite(&self.announced)?)
            }
            Isolation::Spawn => self.runner.is_beginning_of_suite(&self.announced),
            Isolation::Fork => Ok(false),
        }
    }
}

/// The tests of one package among some.
fn in_package(runner: &CommandAdapter, tests: &[TestId], package: &str) -> Result<Vec<TestId>> {
    let mut found = Vec::new();
    for test in tests {
        if runner.package_and_name(test)?.0 == package {
            found.push(test.clone());
        }
    }
    Ok(found)
}

/// What Go calls tests.
pub(super) fn names_of(runner: &CommandAdapter, tests: &[TestId]) -> Result<Vec<String>> {
    tests.iter().map(|test| Ok(runner.package_and_name(test)?.1.to_owned())).collect()
}

impl Environment for GoEnvironment {
    fn expect(&mut self, upcoming: &[TestId], _: Then) -> Result<()> {
        for test in upcoming {
            self.runner.package_and_name(test)?;
        }
        if self.suite.is_some() {
            return Err(Error::NotPossible {
                what: "another order in this environment".into(),
                why: "`go test` has ended".into(),
            });
        }
        // A binary takes its order when it starts: what ran here runs again, for the state it leaves.
        self.finish()?;
        self.parts.clear();
        self.announced = self.given.clone();
        self.announced.extend(upcoming.iter().filter(|test| !self.given.contains(test)).cloned());
        Ok(())
    }

    fn get_ready(&mut self) -> Result<()> {
        if self.isolation == Isolation::Fork {
            for test in &self.announced {
                let package = self.session.package(self.runner.package_and_name(test)?.0);
                // What goes wrong shows itself again when the first test is asked for.
                let _ = self.session.binary(&package, Binary::Ordered);
            }
        }
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        self.runner.package_and_name(test)?;
        let is_alone = self.isolation != Isolation::Fork && self.announced.len() < 2;
        let is_of_the_suite = self.is_of_the_suite()?;
        // What a test touches is measured only alone; in an order it stays one of several.
        let execution = if probe.features == Measuring::On {
            self.run_measured(test, probe)
        } else if is_alone {
            self.run_in_own_process(test, probe)
        } else if is_of_the_suite {
            self.run_in_suite(test, probe)
        } else if self.given.contains(test) || !self.announced.contains(test) {
            if !self.given.contains(test) {
                self.given.push(test.clone());
            }
            self.run_again(test, probe)
        } else {
            self.run_in_order(test, probe)
        }?;
        if !self.given.contains(test) {
            self.given.push(test.clone());
        }
        Ok(execution)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible {
            what: "a snapshot".into(),
            why: "a Go program cannot be copied while it runs".into(),
        })
    }

    fn look(&mut self) -> Result<State> {
        Err(Error::NotPossible {
            what: "a look at what tests leave behind".into(),
            why: "a compiled program does not tell what it holds".into(),
        })
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let is_done = self.announced.iter().all(|test| self.given.contains(test));
        // What is ahead of those who asked dies with its guard.
        if is_done { self.finish() } else { Ok(()) }
    }
}
