//! A real new interpreter for a few tests.
//!
//! It starts with the first test it is asked for, because it collects only the files it needs:
//! what it imports, from its very start, is what the test depends on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flakeproof_core::{
    CollectionProblem, Execution, Failure, Outcome, Phase, Signature, State, TestId,
};

use super::Session;
use super::environment::PytestEnvironment;
use super::launch::{HashSeed, Launch};
use crate::adapter::{Environment, Error, Probe, Result, Then};
use crate::agent::protocol::{Collected, Wanted};

/// The least time that a fresh collection gets.
const COLLECTION: Duration = Duration::from_secs(60);

/// An interpreter that will start when it is needed.
#[derive(Debug)]
pub(super) struct SpawnedEnvironment {
    session: Arc<Session>,
    upcoming: Vec<TestId>,
    then: Then,
    live: Option<Box<PytestEnvironment>>,
    /// Whether it collects all files, as the suite's own session does.
    collects_all: bool,
    /// By which seed it orders its sets of strings.
    seed: HashSeed,
}

impl SpawnedEnvironment {
    pub(super) fn new(session: &Arc<Session>) -> Self {
        Self {
            session: Arc::clone(session),
            upcoming: Vec::new(),
            then: Then::End,
            live: None,
            collects_all: false,
            seed: HashSeed::Own,
        }
    }

    /// One whose sets of strings have the order of this seed.
    pub(super) fn shuffled(session: &Arc<Session>, seed: u32) -> Self {
        Self { seed: HashSeed::Given(seed), ..Self::new(session) }
    }

    /// One that imports all that the suite's own session does, and leaves no trace.
    pub(super) fn of_all(session: &Arc<Session>) -> Self {
        Self { collects_all: true, ..Self::new(session) }
    }

    fn start(&self, test: &TestId, probe: Probe) -> Result<Box<PytestEnvironment>> {
        let upcoming =
            if self.upcoming.is_empty() { std::slice::from_ref(test) } else { &self.upcoming };
        let next = if let Then::Next(test) = &self.then { Some(test) } else { None };
        let needed: Vec<&TestId> = upcoming.iter().chain(next).collect();
        let mut live = self.start_with(&needed, probe, self.seed)?;
        // The names of parametrized tests may follow the order of a set.
        if self.seed == HashSeed::Own && !upcoming.iter().all(|test| live.has(test)) {
            drop(live);
            live = self.start_with(&needed, probe, HashSeed::OfMain)?;
        }
        // Or of objects by their address, which no seed decides.
        let there: Vec<TestId> =
            self.upcoming.iter().filter(|test| live.has(test)).cloned().collect();
        if !there.is_empty() {
            live.expect(&there, self.then.clone())?;
        }
        Ok(live)
    }

    fn start_with(
        &self,
        needed: &[&TestId],
        probe: Probe,
        seed: HashSeed,
    ) -> Result<Box<PytestEnvironment>> {
        let session = &self.session;
        let wanted = needed.iter().map(|test| self.wanted(test)).collect::<Result<Vec<_>>>()?;
        let name = session.next_name();
        let scratch = session.scratch.folder(&name)?;
        let number = session.workers.take();
        let launch = Launch::fresh(session, &name, &scratch, probe.dependencies, seed);
        let launch = launch.with_worker(number.get());
        let mut started = launch.start(session)?;
        let Some(mut guard) = started.guarded.take() else {
            return Err(Error::Agent("the command has no guard".into()));
        };
        let patience = COLLECTION.max(session.project()?.took * 10);
        let collected =
            started.collect(session, (!self.collects_all).then_some(wanted), Some(patience));
        let (connection, collected) = match collected {
            Err(Error::EndedEarly { command, status, code, reached_framework, .. }) => {
                let output = guard.end();
                return Err(Error::EndedEarly { command, status, code, output, reached_framework });
            }
            other => other?,
        };
        if !collected.goes_on || (collected.tests.is_empty() && !collected.problems.is_empty()) {
            return Err(Error::CannotCollect { problems: collected.problems });
        }
        let positions = positions_in(&collected, &session.project()?.collected);
        let moves = |(test, at): (&TestId, &usize)| collected.tests[*at].id != test.as_str();
        session.names_move.fetch_or(positions.iter().any(moves), Ordering::Relaxed);
        let positions = Arc::new(positions);
        let own = PytestEnvironment::own(session, connection, scratch, positions, guard, number);
        Ok(Box::new(own))
    }

    fn wanted(&self, test: &TestId) -> Result<Wanted> {
        let project = self.session.project()?;
        let index = project.positions.get(test).copied();
        let index = index.ok_or_else(|| Error::UnknownTest { test: test.clone() })?;
        let known = project.collected.tests.get(index);
        let file = known.and_then(|test| test.path.clone());
        let case = known.and_then(|test| test.case.clone());
        Ok(Wanted { id: test.to_string(), file, case })
    }
}

impl Environment for SpawnedEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        if let Some(live) = &mut self.live {
            return match live.expect(upcoming, then) {
                Err(Error::UnknownTest { test }) => Err(Error::NotPossible {
                    what: format!("`{test}` in this interpreter"),
                    why: "it collected only the tests that were announced first".into(),
                }),
                other => other,
            };
        }
        self.upcoming = upcoming.to_vec();
        self.then = then;
        Ok(())
    }

    fn get_ready(&mut self) -> Result<()> {
        if let (None, Some(first)) = (&self.live, self.upcoming.first()) {
            self.live = Some(self.start(first, Probe::attempt(1))?);
        }
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let begin = Instant::now();
        if self.live.is_none() {
            match self.start(test, probe) {
                Ok(live) => self.live = Some(live),
                // A test whose file does not even import in a fresh interpreter fails there.
                Err(Error::CannotCollect { problems }) => {
                    let text = problems.iter().map(text_of).collect::<Vec<_>>().join("\n");
                    return Ok(failed(test, Outcome::Errored, &text, begin.elapsed()));
                }
                Err(Error::EndedEarly { status, output, .. }) => {
                    let text =
                        format!("{output}\nthe interpreter ended while collecting: {status}");
                    return Ok(failed(test, Outcome::Crashed, &text, begin.elapsed()));
                }
                Err(error) => return Err(error),
            }
        }
        match &mut self.live {
            Some(live) => live.run(test, probe),
            None => Err(Error::Agent("the interpreter was not started".into())),
        }
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        match &mut self.live {
            Some(live) => live.snapshot(),
            None => Ok(Box::new(Self::new(&self.session))),
        }
    }

    fn look(&mut self) -> Result<State> {
        let live = match (self.live.take(), self.upcoming.first()) {
            (Some(live), _) => live,
            (None, Some(first)) => self.start(first, Probe::attempt(1))?,
            (None, None) => {
                return Err(Error::NotPossible {
                    what: "a look at what tests leave behind".into(),
                    why: "an interpreter without tests has nothing of theirs".into(),
                });
            }
        };
        self.live.insert(live).look()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.live.map_or(Ok(()), Environment::close)
    }
}

fn text_of(problem: &CollectionProblem) -> String {
    format!("{}\n{}", problem.place, problem.text)
}

fn failed(test: &TestId, outcome: Outcome, text: &str, duration: Duration) -> Execution {
    let message = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Execution {
        failure: Some(Failure {
            phase: Phase::Setup,
            message: message.trim().to_owned(),
            text: text.to_owned(),
            location: None,
            signature: Signature::compute(message, None),
        }),
        ..Execution::new(test.clone(), outcome, duration)
    }
}

/// The position of each test of `main` in what another interpreter collected.
///
/// An id that pytest numbers (`expected3`) may mean another case there, where cases come out of a set. Such a
/// test is found by its case, or is not there. A case that neither interpreter shares with the other
/// holds something that is new in each process, and says nothing.
pub(super) fn positions_in(other: &Collected, main: &Collected) -> HashMap<TestId, usize> {
    let by_id: HashMap<&str, usize> =
        other.tests.iter().enumerate().map(|(at, test)| (test.id.as_str(), at)).collect();
    let of_main: HashSet<&str> = main.tests.iter().filter_map(|it| it.case.as_deref()).collect();
    let (once_in_main, once_in_other) = (positions_of_cases(main), positions_of_cases(other));
    let found = main.tests.iter().filter_map(|test| {
        let same_id = by_id.get(test.id.as_str()).copied();
        let Some(case) = test.case.as_deref() else {
            return Some((test, same_id?));
        };
        let means_the_same = |at: &usize| {
            let there = other.tests[*at].case.as_deref();
            there.is_none_or(|there| there == case || !of_main.contains(there))
        };
        let by_case = || once_in_main.get(case)?.and(*once_in_other.get(case)?);
        Some((test, same_id.filter(means_the_same).or_else(by_case)?))
    });
    found.map(|(test, at)| (TestId::from(test.id.as_str()), at)).collect()
}

/// Where each case is; None for one that several tests have.
fn positions_of_cases(collected: &Collected) -> HashMap<&str, Option<usize>> {
    let mut positions = HashMap::new();
    for (at, test) in collected.tests.iter().enumerate() {
        if let Some(case) = test.case.as_deref() {
            positions.entry(case).and_modify(|it| *it = None).or_insert(Some(at));
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::protocol::CollectedTest;

    fn collected(tests: &[(&str, Option<&str>)]) -> Collected {
        let tests = tests.iter().map(|(id, case)| CollectedTest {
            id: (*id).to_owned(),
            path: None,
            file: None,
            line: None,
            case: case.map(str::to_owned),
        });
        Collected {
            root: String::new(),
            tests: tests.collect(),
            problems: Vec::new(),
            goes_on: true,
            collect_only: false,
            threads: 1,
            selectors: Vec::new(),
            for_order: Vec::new(),
            workers: None,
        }
    }

    fn position(
        test: &str,
        main: &[(&str, Option<&str>)],
        other: &[(&str, Option<&str>)],
    ) -> Option<usize> {
        positions_in(&collected(other), &collected(main)).get(&TestId::from(test)).copied()
    }

    #[test]
    fn a_test_without_cases_is_found_by_its_id() {
        let (main, other) = ([("a", None), ("b", None)], [("b", None)]);
        assert_eq!(position("b", &main, &other), Some(0));
        assert_eq!(position("a", &main, &other), None);
    }

    #[test]
    fn a_case_that_changed_its_number_is_found() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("blue"))];
        let other = [("t[x0]", Some("blue")), ("t[x1]", Some("red"))];
        assert_eq!(position("t[x0]", &main, &other), Some(1));
        assert_eq!(position("t[x1]", &main, &other), Some(0));
    }

    #[test]
    fn a_case_with_another_id_is_found() {
        let main = [("t[4-x0]", Some("red")), ("t[6-x1]", Some("blue"))];
        let other = [("t[6-x0]", Some("blue")), ("t[4-x1]", Some("red"))];
        assert_eq!(position("t[4-x0]", &main, &other), Some(1));
    }

    #[test]
    fn an_id_that_means_another_case_is_not_the_test() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("blue"))];
        assert_eq!(position("t[x0]", &main, &[("t[x0]", Some("blue"))]), None);
    }

    #[test]
    fn a_case_that_is_new_in_each_process_is_found_by_its_id() {
        let (main, other) = ([("t[x0]", Some("at noon"))], [("t[x0]", Some("at one"))]);
        assert_eq!(position("t[x0]", &main, &other), Some(0));
    }

    #[test]
    fn alike_cases_are_told_apart_by_their_ids_only() {
        let main = [("t[x0]", Some("red")), ("t[x1]", Some("red"))];
        let other = [("t[x0]", Some("red")), ("t[y]", Some("red"))];
        assert_eq!(position("t[x0]", &main, &other), Some(0));
        assert_eq!(position("t[x1]", &main, &other), None);
    }
}
