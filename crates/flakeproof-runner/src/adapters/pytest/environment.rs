//! A live interpreter that runs tests.

mod loss;
mod own_end;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{TryRecvError, after, never, select};
use flakeproof_core::{Execution, State, TestId};

use self::own_end::OwnEnd;
use super::Session;
use super::measured::MeasuredFiles;
use super::messages::{execution, unexpected};
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};
use crate::agent::Connection;
use crate::agent::protocol::{FromAgent, ResultMessage, ToAgent};
use crate::process::{Guarded, interrupt, kill_group};
use crate::scratch::Scratch;

/// How long a copy may take to tear down its fixtures.
const COPY_END: Duration = Duration::from_secs(20);
/// How long fixtures of earlier tests may take to be torn down, where tests have no limit.
const SETTLING: Duration = Duration::from_secs(600);
/// How long a description of what tests can leave behind may take.
const LOOKING: Duration = Duration::from_secs(60);
/// How long a process that is killed may take to be gone.
const DEATH: Duration = Duration::from_secs(5);
/// How long an interrupted session may take to write its reports; a second interrupt ends it at once.
const LAST_REPORTS: Duration = Duration::from_secs(20);

/// An interpreter with a collected suite.
#[derive(Debug)]
pub(super) struct PytestEnvironment {
    session: Arc<Session>,
    connection: Connection,
    /// Held until the environment is gone; its temporary files go with it.
    scratch: Arc<Scratch>,
    positions: Arc<HashMap<TestId, usize>>,
    /// The files that this interpreter has named so far.
    files: MeasuredFiles,
    /// Where this interpreter says its stacks and, if it is a copy, its output are.
    notes: PathBuf,
    /// The announced order, as indices.
    order: Vec<usize>,
    /// The next position of the order.
    next: usize,
    is_running_ahead: bool,
    /// Only for the user's own session: what is known about its end.
    own_end: Option<OwnEnd>,
    /// Only for an interpreter of its own; copies live under the main one's guard.
    guard: Option<Guarded>,
}

impl PytestEnvironment {
    /// The user's own session.
    pub(super) fn main(session: &Arc<Session>, connection: Connection) -> Result<Self> {
        let positions = Arc::clone(&session.project()?.positions);
        let notes = session.scratch.path().to_path_buf();
        let scratch = session.scratch.folder("main")?;
        let mut main = Self::new(session, connection, scratch, notes, positions, None);
        main.own_end = Some(OwnEnd::of(session)?);
        Ok(main)
    }

    /// A copy of another environment.
    pub(super) fn copy(
        session: &Arc<Session>,
        connection: Connection,
        scratch: Scratch,
    ) -> Result<Self> {
        let positions = Arc::clone(&session.project()?.positions);
        let notes = scratch.path().to_path_buf();
        Ok(Self::new(session, connection, scratch, notes, positions, None))
    }

    /// An interpreter of its own.
    pub(super) fn own(
        session: &Arc<Session>,
        connection: Connection,
        scratch: Scratch,
        positions: Arc<HashMap<TestId, usize>>,
        guard: Guarded,
    ) -> Self {
        let notes = scratch.path().to_path_buf();
        Self::new(session, connection, scratch, notes, positions, Some(guard))
    }

    /// Whether it collected a test.
    pub(super) fn has(&self, test: &TestId) -> bool {
        self.positions.contains_key(test)
    }

    fn new(
        session: &Arc<Session>,
        connection: Connection,
        scratch: Scratch,
        notes: PathBuf,
        positions: Arc<HashMap<TestId, usize>>,
        guard: Option<Guarded>,
    ) -> Self {
        Self {
            session: Arc::clone(session),
            connection,
            scratch: Arc::new(scratch),
            notes,
            positions,
            files: MeasuredFiles::default(),
            order: Vec::new(),
            next: 0,
            is_running_ahead: false,
            own_end: None,
            guard,
        }
    }

    fn index(&self, test: &TestId) -> Result<usize> {
        let found = self.positions.get(test).copied();
        found.ok_or_else(|| Error::UnknownTest { test: test.clone() })
    }

    /// Only between tests can anything else be asked for.
    fn check_idle(&self) -> Result<()> {
        if self.is_running_ahead {
            return Err(Error::Agent("asked for something else while tests run".into()));
        }
        self.check_alive()
    }

    /// A process that died while it was idle did not die of the next test.
    fn check_alive(&self) -> Result<()> {
        if !self.is_running_ahead
            && self.connection.messages.is_empty()
            && self.connection.messages.try_recv() == Err(TryRecvError::Disconnected)
        {
            self.died_between_tests();
            return Err(Error::EnvironmentLost { cause: self.cause_of_death() });
        }
        Ok(())
    }

    fn cause_of_death(&self) -> String {
        match self.session.hub.death_of(self.connection.hello.pid, DEATH) {
            Some(death) => death.to_string(),
            None => "it ended in an unknown way".into(),
        }
    }

    /// What the agent answers to a question that is not about a test.
    fn answer(&self, patience: Duration) -> Result<FromAgent> {
        select! {
            recv(self.connection.messages) -> message => match message {
                Ok(message) => Ok(message),
                Err(_) => Err(Error::EnvironmentLost { cause: self.cause_of_death() }),
            },
            recv(self.session.settings.cancel.signal()) -> _ => Err(Error::Cancelled),
            recv(after(patience)) -> _ => {
                kill_group(self.connection.hello.pid);
                let cause = format!("it did not answer within {patience:?} and was killed");
                Err(Error::EnvironmentLost { cause })
            }
        }
    }

    fn ask_for(&mut self, index: usize, probe: Probe) -> Result<()> {
        let (attempt, measure) = (probe.attempt, probe.features == Measuring::On);
        let is_next = self.order.get(self.next) == Some(&index);
        if is_next && !self.is_running_ahead {
            self.connection.send(&ToAgent::Run { from: self.next, attempt, measure })?;
            self.is_running_ahead = true;
        } else if !is_next {
            if self.is_running_ahead {
                return Err(Error::Agent("asked for a test out of the announced order".into()));
            }
            let then = self.order.get(self.next).copied();
            self.connection.send(&ToAgent::Rerun { test: index, then, attempt, measure })?;
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        test: &TestId,
        index: usize,
        message: ResultMessage,
    ) -> Result<Execution> {
        if message.test != index {
            return Err(Error::Agent(format!("a result for another test than `{test}`")));
        }
        if self.order.get(self.next) == Some(&index) {
            self.next += 1;
            if let (true, Some(end)) = (message.outcome.is_failure(), &mut self.own_end) {
                end.note_failure();
            }
            let is_paused = message.outcome.is_failure() || self.next == self.order.len();
            self.is_running_ahead = !is_paused;
        }
        execution(test, message, &self.session.project()?.collected.root, &mut self.files)
    }
}

impl Environment for PytestEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        self.check_idle()?;
        let tests = upcoming.iter().map(|test| self.index(test)).collect::<Result<Vec<_>>>()?;
        self.order.clone_from(&tests);
        self.next = 0;
        // Where the next one is not there in this process, what stays set up is left open.
        let (open, next) = match &then {
            Then::End => (false, None),
            Then::Open => (true, None),
            Then::Next(test) => (true, self.index(test).ok()),
        };
        self.connection.send(&ToAgent::Order { tests, open, next })?;
        match self.answer(self.session.settings.timeout.unwrap_or(SETTLING))? {
            FromAgent::Ready => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        let index = self.index(test)?;
        self.check_alive()?;
        self.ask_for(index, probe)?;
        let begin = Instant::now();
        let limit = self.session.settings.timeout;
        let deadline = limit.map_or_else(never, after);
        select! {
            recv(self.connection.messages) -> message => match message {
                Ok(FromAgent::Result(message)) => self.take_in(test, index, *message),
                Ok(FromAgent::Stopped { reason } | FromAgent::Interrupted { reason, .. }) => {
                    self.is_running_ahead = false;
                    Err(Error::Stopped { reason })
                }
                Ok(other) => Err(unexpected(other)),
                Err(_) => {
                    self.is_running_ahead = false;
                    Ok(self.crashed(test, begin))
                }
            },
            recv(self.session.settings.cancel.signal()) -> _ => {
                // The goodbye tells this interrupt from one that a test raises.
                let _ = self.connection.send(&ToAgent::Bye);
                interrupt(self.connection.hello.pid);
                self.session.hub.death_of(self.connection.hello.pid, LAST_REPORTS);
                Err(Error::Cancelled)
            }
            recv(deadline) -> _ => {
                self.is_running_ahead = false;
                Ok(self.hung(test, limit.unwrap_or_default(), begin))
            }
        }
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        self.check_idle()?;
        if self.guard.is_some() {
            return Err(Error::NotPossible {
                what: "a snapshot".into(),
                why: "a spawned interpreter is kept as it is".into(),
            });
        }
        let copy = self.session.copy_of(&mut self.connection, Some(&self.scratch))?;
        Ok(Box::new(copy))
    }

    fn look(&mut self) -> Result<State> {
        self.check_idle()?;
        self.connection.send(&ToAgent::Look)?;
        match self.answer(LOOKING)? {
            FromAgent::State { things } => Ok(things),
            other => Err(unexpected(other)),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.end()
    }
}

impl Drop for PytestEnvironment {
    fn drop(&mut self) {
        // Nothing of this environment may go on; killing what is gone already does no harm.
        let is_gone = self.connection.messages.is_empty()
            && self.connection.messages.try_recv() == Err(TryRecvError::Disconnected);
        if !is_gone {
            kill_group(self.connection.hello.pid);
        }
    }
}
