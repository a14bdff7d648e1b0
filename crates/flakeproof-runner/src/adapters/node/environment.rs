//! An order of tests in a worker, from its beginning to its end.
//!
//! A worker is given a whole order and runs it. What is not foreseen, a test that runs again or an
//! order after an open one, runs in another worker after all that came before, so that its state is
//! there.
//!
//! Where the runner keeps files apart, the tests of a file run together: a file comes where the last
//! of its tests stands in the order, so that the last test of all comes after all others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{at, select};
use flakeproof_core::{Execution, Isolation, Outcome, State, TestId};

use super::worker::{NodeSession, NodeWorker};
use crate::adapter::{Environment, Error, Granularity, Measuring, Orders, Probe, Result, Then};
use crate::adapters::command;
use crate::adapters::lost::{describe_death, lost_with_process};
use crate::agent::protocol::{FromAgent, OrderedTest, ResultMessage, ToAgent};
use crate::process::kill_group;
use crate::reports::{ReportedFailure, ReportedTest};

/// How long a worker may say nothing while no test runs: it loads and compiles files.
const SILENCE: Duration = Duration::from_secs(300);
/// How long a process's death may take to be heard of.
const REPORT: Duration = Duration::from_secs(10);

/// Tests that share a process of their runner.
pub(super) struct NodeEnvironment {
    session: Arc<NodeSession>,
    isolation: Isolation,
    /// The runner without us.
    plain: Box<dyn Environment>,
    /// What has run so far, in order.
    history: Vec<TestId>,
    /// What is still to come of the announced order.
    upcoming: Vec<TestId>,
    running: Option<RunningOrder>,
    /// Why the environment is gone.
    lost: Option<String>,
    /// Whether the plain runner goes on.
    is_given_up: bool,
    /// Whether somebody wants to know what tests leave behind here.
    is_looked_at: bool,
}

/// An order in its worker.
#[derive(Debug)]
struct RunningOrder {
    worker: NodeWorker,
    /// The tests as they stand in the environment.
    order: Vec<TestId>,
    /// For each position of the worker, that of the order.
    places: Vec<usize>,
    executions: HashMap<usize, Execution>,
    /// The position that began last and has no result yet.
    begun: Option<(usize, Instant)>,
    /// Whether anything was heard of a test.
    has_spoken: bool,
    has_ended: bool,
    /// Whether its tests left something in the process that the next would meet.
    is_spent: bool,
    /// What is there at the end of the order, and what that was before.
    state: Option<State>,
}

impl NodeEnvironment {
    pub(super) fn new(
        session: &Arc<NodeSession>,
        isolation: Isolation,
        plain: Box<dyn Environment>,
    ) -> Self {
        Self {
            session: Arc::clone(session),
            isolation,
            plain,
            history: Vec::new(),
            upcoming: Vec::new(),
            running: None,
            lost: None,
            is_given_up: false,
            is_looked_at: false,
        }
    }

    /// Whether the plain runner is to be asked: for what it alone can measure, for a test alone in a
    /// process that is new from its very start, and where nothing else works.
    fn is_plain(&self, probe: Probe) -> bool {
        let is_alone = self.history.is_empty() && self.upcoming.len() <= 1;
        let is_measured = probe.dependencies != Granularity::Off || probe.features == Measuring::On;
        self.is_given_up
            || self.session.obstacle().is_some()
            || (is_alone
                && !self.is_looked_at
                && (is_measured || self.isolation == Isolation::Spawn))
    }

    /// Give a worker everything up to this test once more, and all that is to come after it.
    fn restart(&mut self, test: &TestId, attempt: u32, is_next: bool) -> Result<()> {
        self.running = None;
        let rest = &self.upcoming[usize::from(is_next)..];
        let order: Vec<TestId> = self.history.iter().chain([test]).chain(rest).cloned().collect();
        let worker = match self.isolation {
            Isolation::Fork => self.session.warm_worker()?,
            Isolation::Same | Isolation::Spawn => self.session.new_worker()?,
        };
        let again = (self.history.len(), attempt);
        let looks = self.is_looked_at;
        self.running = Some(RunningOrder::begin(&self.session, worker, order, again, looks)?);
        Ok(())
    }

    /// The execution at the end of what has run so far.
    fn next_execution(&mut self) -> Result<Execution> {
        let position = self.history.len();
        let Some(running) = &mut self.running else {
            return Err(Error::Agent("no worker runs".into()));
        };
        let execution = loop {
            if let Some(execution) = running.executions.remove(&position) {
                break execution;
            }
            if let Some(cause) = &self.lost {
                return Err(Error::EnvironmentLost { cause: cause.clone() });
            }
            self.lost = running.listen(&self.session, position)?;
        };
        if execution.outcome.ends_environment() {
            self.lost.get_or_insert_with(|| "a test took its process with it".to_owned());
        }
        Ok(execution)
    }

    /// Hand a worker back that has ended everything that it was given.
    fn let_go(&mut self) {
        if let Some(running) = self.running.take()
            && running.has_ended
            && !running.is_spent
            && self.lost.is_none()
        {
            self.session.take_back(running.worker);
        }
    }
}

impl RunningOrder {
    fn begin(
        session: &NodeSession,
        mut worker: NodeWorker,
        order: Vec<TestId>,
        (at, attempt): (usize, u32),
        looks: bool,
    ) -> Result<Self> {
        let mut places: Vec<usize> = (0..order.len()).collect();
        if session.kind().orders() == Orders::ByFile {
            places = file_by_file(&order, |test| {
                session.fields(test).map(|fields| fields.file.clone()).unwrap_or_default()
            });
        }
        let folder = session.plain().folder();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        let tests = places.iter().map(|place| {
            let fields = session.fields(&order[*place])?;
            Ok(OrderedTest {
                id: fields.title.clone(),
                file: folder.join(&fields.file).to_string_lossy().into_owned(),
                attempt: if *place == at { attempt } else { 1 },
            })
        });
        let tests = tests.collect::<Result<Vec<_>>>()?;
        worker.orders += 1;
        worker.connection.send(&ToAgent::RunOrder { tests, looks })?;
        let (executions, begun) = (HashMap::new(), None);
        Ok(Self {
            worker,
            order,
            places,
            executions,
            begun,
            has_spoken: false,
            has_ended: false,
            is_spent: false,
            state: None,
        })
    }

    /// Take in the next thing that happens; gives why the environment is gone, if it is.
    fn listen(&mut self, session: &NodeSession, wanted: usize) -> Result<Option<String>> {
        if self.has_ended {
            let test = &self.order[wanted];
            return Ok(Some(format!("the runner ended without a word about `{test}`")));
        }
        let settings = &session.plain().settings;
        let since = Instant::now();
        let deadline = match (&self.begun, settings.timeout) {
            (Some((_, begin)), Some(limit)) => *begin + limit,
            (Some(_), None) => since + Duration::from_secs(365 * 24 * 3600),
            (None, limit) => since + limit.unwrap_or(SILENCE).max(SILENCE),
        };
        select! {
            recv(self.worker.connection.messages) -> message => match message {
                Ok(FromAgent::Begins { test }) => {
                    self.has_spoken = true;
                    self.begun = self.places.get(test).map(|place| (*place, Instant::now()));
                }
                Ok(FromAgent::Result(message)) => {
                    self.has_spoken = true;
                    self.keep(session, *message);
                }
                Ok(FromAgent::Ended { besides_tests, .. }) => {
                    self.has_ended = true;
                    self.is_spent = besides_tests;
                }
                Ok(FromAgent::State { things, initial }) => {
                    self.state = Some(things.with_initial(initial));
                }
                Ok(FromAgent::RetriesOff) => session.note_retries(),
                Ok(FromAgent::Trouble { text }) => {
                    session.give_up_orders(text.clone());
                    return Err(Error::NotPossible { what: "this order".to_owned(), why: text });
                }
                Ok(_) => {}
                Err(_) => return self.died(session).map(Some),
            },
            recv(settings.cancel.signal()) -> _ => return Err(Error::Cancelled),
            recv(at(deadline)) -> _ => return Ok(Some(self.hung(session, wanted))),
        }
        Ok(None)
    }

    fn keep(&mut self, session: &NodeSession, message: ResultMessage) {
        let Some(place) = self.places.get(message.test).copied() else { return };
        self.begun.take_if(|(begun, _)| *begun == place);
        let test = &self.order[place];
        let phase = message.failure.as_ref().map(|failure| failure.phase);
        let failure = message.failure.map(|failure| ReportedFailure {
            message: failure.message,
            text: failure.text,
            ..ReportedFailure::default()
        });
        let failure = failure.or_else(|| {
            message.note.map(|message| ReportedFailure { message, ..ReportedFailure::default() })
        });
        let fields = session.fields(test).ok();
        let reported = ReportedTest {
            outcome: message.outcome,
            duration: Some(Duration::try_from_secs_f64(message.seconds).unwrap_or_default()),
            failure,
            output: message.output,
            file: fields.map(|fields| fields.file.clone()),
            ..ReportedTest::named(test.to_string())
        };
        let mut execution = command::execution(test, reported, session.plain().folder());
        if let (Some(failure), Some(phase)) = (&mut execution.failure, phase) {
            failure.phase = phase;
        }
        self.executions.insert(place, execution);
    }

    /// The process is gone by itself, with the test that ran in it if any did. One that says nothing
    /// before that is no environment: it may be the worker's own trouble.
    fn died(&mut self, session: &NodeSession) -> Result<String> {
        let pid = self.worker.connection.hello.pid;
        let death = session.plain().hub.death_of(pid, REPORT);
        let cause = describe_death("its process", death);
        let output = self.worker.guard.end();
        if let Some((place, begin)) = self.begun.take() {
            let (test, text) = (&self.order[place], format!("{cause}\n{output}"));
            let took = begin.elapsed();
            let lost = lost_with_process(test, Outcome::Crashed, took, cause.clone(), text);
            self.executions.insert(place, lost);
        }
        if self.has_spoken {
            return Ok(cause);
        }
        let why = format!("{cause} before it ran a test\n{output}");
        session.count_silent_death(&why);
        Err(Error::NotPossible { what: "this order".to_owned(), why })
    }

    /// The process does not go on, and is killed with all that it started.
    fn hung(&mut self, session: &NodeSession, wanted: usize) -> String {
        let pid = self.worker.connection.hello.pid;
        kill_group(pid);
        session.plain().hub.death_of(pid, REPORT);
        let output = self.worker.guard.end();
        let limit = session.plain().settings.timeout;
        let (place, took, message) = match self.begun.take() {
            Some((place, begin)) => {
                let limit = limit.unwrap_or_default();
                (place, begin.elapsed(), format!("still running after {limit:?}"))
            }
            None => (wanted, SILENCE, "its file was still being loaded at its limit".to_owned()),
        };
        let text = format!("{message}\n{output}");
        let execution =
            lost_with_process(&self.order[place], Outcome::TimedOut, took, message.clone(), text);
        self.executions.insert(place, execution);
        message
    }
}

/// The positions of an order with those of one file together: a file stands where its last test does.
fn file_by_file(order: &[TestId], file_of: impl Fn(&TestId) -> String) -> Vec<usize> {
    let files: Vec<String> = order.iter().map(file_of).collect();
    let last: HashMap<&String, usize> = files.iter().zip(0..).collect();
    let mut places: Vec<usize> = (0..order.len()).collect();
    places.sort_by_key(|place| (last[&files[*place]], *place));
    places
}

impl Environment for NodeEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        for test in upcoming {
            self.session.fields(test)?;
        }
        if let Some(cause) = &self.lost {
            return Err(Error::EnvironmentLost { cause: cause.clone() });
        }
        self.upcoming = upcoming.to_vec();
        if self.history.is_empty() {
            self.plain.expect(upcoming, then)?;
        }
        self.let_go();
        Ok(())
    }

    fn get_ready(&mut self) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        self.session.fields(test)?;
        if self.is_plain(probe) {
            return self.plain.run(test, probe);
        }
        if let Some(cause) = &self.lost {
            return Err(Error::EnvironmentLost { cause: cause.clone() });
        }
        let is_next = self.upcoming.first() == Some(test);
        if !is_next || self.running.is_none() {
            match self.restart(test, probe.attempt, is_next) {
                Err(Error::NotPossible { why, .. }) => {
                    self.session.give_up_orders(why);
                    return self.plain.run(test, probe);
                }
                restarted => restarted?,
            }
        }
        let execution = match self.next_execution() {
            Err(Error::NotPossible { .. }) => {
                self.running = None;
                self.is_given_up = true;
                return self.plain.run(test, probe);
            }
            execution => execution?,
        };
        self.history.push(test.clone());
        if is_next {
            self.upcoming.remove(0);
        }
        Ok(execution)
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        Err(Error::NotPossible {
            what: "a snapshot".into(),
            why: "a process of Node cannot be copied".into(),
        })
    }

    fn look(&mut self) -> Result<State> {
        self.is_looked_at = true;
        // What was at the beginning comes with the picture of the end.
        if self.history.is_empty() {
            return Ok(State::default());
        }
        while let (Some(running), None) = (&mut self.running, &self.lost)
            && !running.has_ended
            && self.upcoming.is_empty()
        {
            self.lost = running.listen(&self.session, self.history.len() - 1)?;
        }
        let state = self.running.as_ref().and_then(|running| running.state.clone());
        state.ok_or_else(|| Error::NotPossible {
            what: "a look at what tests leave behind".into(),
            why: "the runner's process said nothing about it".into(),
        })
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        // The end of the order is a part of its last test, and may still be on its way.
        while let (Some(running), None) = (&mut self.running, &self.lost)
            && !running.has_ended
            && self.upcoming.is_empty()
        {
            self.lost = running.listen(&self.session, self.history.len().saturating_sub(1))?;
        }
        self.let_go();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_a_file_stay_together_and_the_last_test_is_the_last() {
        let order: Vec<TestId> = ["a1", "b1", "a2", "c1", "b2"].map(TestId::from).to_vec();
        let places = file_by_file(&order, |test| test.as_str()[..1].to_owned());
        let names: Vec<&str> = places.iter().map(|place| order[*place].as_str()).collect();
        assert_eq!(names, ["a1", "a2", "c1", "b1", "b2"]);
    }
}
