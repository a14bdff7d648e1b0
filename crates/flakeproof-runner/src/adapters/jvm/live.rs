//! A live JVM with the worker in it.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{TryRecvError, at, select};
use flakeproof_core::{BlindSpot, Dependencies, Execution, Isolation, Outcome, State, TestId};

use super::launch::{self, Purpose, ReadyModule, Started, say_goodbye};
use super::messages::{self, execution};
use super::project::Project;
use super::touched::Compiled;
use super::{JvmSession, jdk, shuffling};
use crate::adapter::{Error, Granularity, Measuring, Probe, Result, Then};
use crate::agent::MeasuredFiles;
use crate::agent::protocol::{FromAgent, ResultMessage, ToAgent, Wanted};
use crate::opens::{self, Opens, TestsBegin};
use crate::process::{Death, kill_group};

/// How long a JVM may take to end after its last test.
const END: Duration = Duration::from_secs(20);
/// How long a JVM may say nothing while no test runs, where tests have no limit.
const SILENCE: Duration = Duration::from_secs(600);
/// How long a live JVM may take to answer a question that runs nothing.
const ANSWER: Duration = Duration::from_secs(60);

/// A JVM of one module.
#[derive(Debug)]
pub(super) struct Jvm {
    session: Arc<JvmSession>,
    started: Started,
    module: usize,
    /// The tests that its worker knows, by their numbers.
    known: Vec<TestId>,
    /// The announced order that its results belong to.
    order: Vec<TestId>,
    /// Results of it so far.
    results: usize,
    is_running: bool,
    /// The test that began last and has no result yet.
    begun: Option<(TestId, Instant)>,
    /// The files whose lines it has named.
    files: MeasuredFiles,
}

/// The next thing that is heard of a JVM.
#[derive(Debug)]
pub(super) enum Heard {
    /// A test ended.
    Ended(Box<Execution>),
    /// No test runs any more.
    Paused,
    /// The JVM is gone, with the test that ran in it if any did.
    Lost {
        /// How, for people.
        cause: String,
        /// The test that took the JVM with it.
        of: Option<Box<Execution>>,
    },
}

impl Jvm {
    /// Start one for a module.
    pub(super) fn start(
        session: &Arc<JvmSession>,
        module: usize,
        purpose: Purpose<'_>,
    ) -> Result<Self> {
        let ready = session.module(module)?;
        ready.count_start(session)?;
        let started = launch::start(session, ready, purpose)?;
        Ok(Self {
            session: Arc::clone(session),
            started,
            module,
            known: Vec::new(),
            order: Vec::new(),
            results: 0,
            is_running: false,
            begun: None,
            files: MeasuredFiles::default(),
        })
    }

    /// End its environment and begin another one; why this JVM cannot be used any more, if so.
    pub(super) fn renew(&mut self) -> Result<Option<String>> {
        self.started.connection.send(&ToAgent::Renew)?;
        let reason = match self.answer()? {
            FromAgent::Renewed { reason } => reason,
            other => return Err(unexpected(other)),
        };
        (self.known, self.order, self.results) = (Vec::new(), Vec::new(), 0);
        Ok(reason)
    }

    /// What it wrote down of the calls that got a shuffled order.
    pub(super) fn shuffled_calls(&self) -> Vec<String> {
        shuffling::calls_in(&self.started.scratch)
    }

    /// What its tests left behind.
    pub(super) fn look(&mut self) -> Result<State> {
        self.started.connection.send(&ToAgent::Look)?;
        match self.answer()? {
            FromAgent::State { things, initial } => Ok(things.with_initial(initial)),
            other => Err(unexpected(other)),
        }
    }

    /// Whether tests run, or their end was not heard yet.
    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    /// The tests of the announced order that have no result yet.
    pub(super) fn left(&self) -> &[TestId] {
        &self.order[self.results.min(self.order.len())..]
    }

    /// Announce an order.
    pub(super) fn announce(&mut self, order: &[TestId], then: &Then) -> Result<()> {
        self.know(order)?;
        let tests = order.iter().map(|test| self.number(test)).collect::<Result<Vec<_>>>()?;
        self.started.connection.send(&ToAgent::Order {
            tests,
            open: *then == Then::Open,
            next: None,
        })?;
        match self.answer()? {
            FromAgent::Ready => {}
            other => return Err(unexpected(other)),
        }
        self.order = order.to_vec();
        self.results = 0;
        Ok(())
    }

    /// Go on with the announced order.
    pub(super) fn go_on(&mut self, probe: Probe) -> Result<()> {
        let (from, attempt) = (self.results, probe.attempt);
        let measure = probe.features == Measuring::On;
        self.started.connection.send(&ToAgent::Run { from, attempt, measure })?;
        self.is_running = true;
        Ok(())
    }

    /// Begin to run one test again.
    pub(super) fn rerun(&mut self, test: &TestId, probe: Probe) -> Result<()> {
        self.know(std::slice::from_ref(test))?;
        let (number, attempt) = (self.number(test)?, probe.attempt);
        let measure = probe.features == Measuring::On;
        let rerun = ToAgent::Rerun { test: number, then: None, attempt, measure };
        self.started.connection.send(&rerun)?;
        self.is_running = true;
        Ok(())
    }

    /// Wait for the next thing that happens, as long as a test may take.
    pub(super) fn hear(&mut self) -> Result<Heard> {
        let limit = self.session.request.timeout;
        let mut since = Instant::now();
        loop {
            let deadline = match (&self.begun, limit) {
                (Some((_, begin)), Some(limit)) => *begin + limit,
                (Some(_), None) => Instant::now() + Duration::from_secs(365 * 24 * 3600),
                (None, limit) => since + limit.unwrap_or(SILENCE).max(ANSWER),
            };
            let messages = &self.started.connection.messages;
            select! {
                recv(messages) -> message => match message {
                    Ok(FromAgent::Begins { test }) => {
                        let test = self.known.get(test).cloned();
                        let test = test.ok_or_else(|| unexpected(FromAgent::Ready))?;
                        self.begun = Some((test, Instant::now()));
                    }
                    Ok(FromAgent::Result(message)) => return self.ended(*message),
                    Ok(FromAgent::Paused) => {
                        self.is_running = false;
                        self.begun = None;
                        return Ok(Heard::Paused);
                    }
                    Ok(other) => return Err(unexpected(other)),
                    Err(_) => return Ok(self.lost()),
                },
                recv(self.session.request.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(at(deadline)) -> _ => return Ok(self.hung()),
            }
            since = Instant::now();
        }
    }

    fn ended(&mut self, mut message: ResultMessage) -> Result<Heard> {
        let Some(test) = self.known.get(message.test).cloned() else {
            return Err(Error::Agent("a result for a test that nobody asked for".into()));
        };
        // The next test may have begun before the last result of a class is told.
        self.begun.take_if(|(begun, _)| *begun == test);
        if self.order.get(self.results) == Some(&test) {
            self.results += 1;
        }
        if let Some(case) = message.case.take()
            && self.session.cases.is_of_another(&test, &case)
        {
            message.outcome = Outcome::Skipped;
            message.failure = None;
            message.note = Some(format!("in this JVM it is another case, {case}"));
        }
        let measured = message.measured.take();
        let project = self.session.project()?;
        let mut execution = execution(&test, message, project, &self.session.root);
        if let Some(mut measured) = measured {
            for file in &mut measured.files {
                *file = project.absolute_source(self.module, file, &self.session.root);
            }
            execution.measured = Some(Box::new(self.files.read(measured, execution.duration)?));
        }
        Ok(Heard::Ended(Box::new(execution)))
    }

    /// The JVM is gone by itself.
    fn lost(&mut self) -> Heard {
        self.is_running = false;
        let death = messages::death(&self.session, self.pid());
        if self.has_died_of_its_archive() {
            let cause =
                "the JVM cannot cope with an archive of classes, and goes on without".into();
            return Heard::Lost { cause, of: None };
        }
        let of = self.begun.take().map(|(test, begin)| {
            let mut execution = messages::crashed(&test, death, begin, &mut self.started);
            execution.dependencies = self.dependencies();
            Box::new(execution)
        });
        let cause = death.map_or_else(|| "it ended in an unknown way".into(), |it| it.to_string());
        Heard::Lost { cause, of }
    }

    /// Whether the crash is one of the archive's: no JVM uses it any more then.
    fn has_died_of_its_archive(&self) -> bool {
        let report = messages::crash_report(&self.started).unwrap_or_default();
        let project = self.session.project().ok();
        let module = project.and_then(|project| project.modules.get(self.module));
        jdk::is_blamed_in(&report) && module.is_some_and(ReadyModule::forget_archive)
    }

    /// The JVM does not go on, and is killed.
    fn hung(&mut self) -> Heard {
        self.is_running = false;
        let limit = self.session.request.timeout.unwrap_or(SILENCE);
        let stacks = messages::thread_dump(self.pid(), &self.started.guard);
        kill_group(self.pid());
        messages::death(&self.session, self.pid());
        let of = self.begun.take().map(|(test, begin)| {
            let mut execution = messages::hung(&test, limit, begin, &stacks);
            execution.dependencies = self.dependencies();
            Box::new(execution)
        });
        Heard::Lost { cause: format!("it said nothing for {limit:?} and was killed"), of }
    }

    /// What the JVM has touched since its start, if that is written down.
    pub(super) fn dependencies(&self) -> Option<Dependencies> {
        let log = std::fs::read(self.started.class_log.as_ref()?).ok()?;
        let project: &Project = self.session.project().ok()?;
        let compiled = project.compiled(self.module, &self.session.root)?;
        let mut found = compiled.dependencies(&String::from_utf8_lossy(&log), &project.sources);
        found.blind_spots.push(BlindSpot::Installed { but: self.session.built(project) });
        let opens = self.opens().and_then(|opens| Some((opens, self.session.read_by_build()?)));
        Some(match opens {
            Some((opens, read)) => Compiled::with_opens(found, opens, read.clone()),
            None => found,
        })
    }

    /// Which files the JVM has opened since its start, if that is written down. What several tests open
    /// cannot be told apart.
    fn opens(&self) -> Option<Opens> {
        let file = self.started.trace.as_ref().filter(|_| self.known.len() == 1)?;
        let module = self.session.project().ok()?.modules.get(self.module)?;
        let port = Some(self.session.port);
        opens::read(file, &module.module.folder, &TestsBegin::AtOnce, port)
    }

    /// Whether what it loads is written down.
    pub(super) fn is_measured(&self) -> bool {
        self.started.class_log.is_some()
    }

    /// Whether it died while it was idle: not of the next test.
    pub(super) fn is_gone(&self) -> bool {
        let messages = &self.started.connection.messages;
        messages.is_empty() && messages.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// End it. How a JVM of the suite ends is a part of the build's word: Maven and Gradle fail if
    /// their own does not end with 0.
    pub(super) fn close(mut self, isolation: Isolation) -> Result<()> {
        let has_ended = say_goodbye(&mut self.started.connection, END);
        let death = messages::death(&self.session, self.pid());
        if isolation == Isolation::Same && death != Some(Death::Exit(0)) {
            let how = death.map_or("in an unknown way".to_owned(), |it| format!("with {it}"));
            let why = format!("the JVM of the tests ends {how} after its last test");
            let own_failure = &self.session.own_failure;
            own_failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        }
        match has_ended {
            true => Ok(()),
            false => Err(Error::EnvironmentLost {
                cause: format!("it did not end within {END:?} after its last test and was killed"),
            }),
        }
    }

    fn pid(&self) -> u32 {
        self.started.connection.hello.pid
    }

    /// Make the worker know tests, besides those that it knows.
    fn know(&mut self, tests: &[TestId]) -> Result<()> {
        let before = self.known.len();
        for test in tests {
            if !self.known.contains(test) {
                self.known.push(test.clone());
            }
        }
        if self.known.len() == before {
            return Ok(());
        }
        let project = self.session.project()?;
        let wanted = self.known.iter().map(|test| {
            let place = project.place(test);
            let place = place.ok_or_else(|| Error::UnknownTest { test: test.clone() })?;
            Ok(Wanted { id: place.plain.clone(), file: Some(place.handle.clone()), case: None })
        });
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let collected = self.started.collect(&self.session, Some(wanted), Some(ANSWER))?;
        match collected.tests.len() == self.known.len() {
            true => Ok(()),
            false => {
                Err(Error::Agent("the worker does not know the tests that it was told".into()))
            }
        }
    }

    fn number(&self, test: &TestId) -> Result<usize> {
        let found = self.known.iter().position(|known| known == test);
        found.ok_or_else(|| Error::UnknownTest { test: test.clone() })
    }

    fn answer(&self) -> Result<FromAgent> {
        let message = self.started.connection.messages.recv_timeout(ANSWER);
        message.map_err(|_| Error::EnvironmentLost { cause: "the JVM does not answer".into() })
    }
}

/// How closely a probe looks.
pub(super) fn is_measuring(probe: Probe) -> bool {
    probe.dependencies != Granularity::Off
}

fn unexpected(message: FromAgent) -> Error {
    match message {
        FromAgent::Trouble { text } => Error::Agent(text),
        other => Error::Agent(format!("an unexpected message: {other:?}")),
    }
}
