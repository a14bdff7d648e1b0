//! A live interpreter that runs tests.

mod own_end;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{TryRecvError, after, never, select, tick};
use flakeproof_core::{Dependencies, Execution, Outcome, State, TestId};

use self::own_end::OwnEnd;
use super::Session;
use super::messages::{execution, read_touched, unexpected, without_machinery};
use super::worker_number::WorkerNumber;
use crate::adapter::{Environment, Error, Measuring, Probe, Result, Then};
use crate::adapters::lost::{describe_death, lost_with_process};
use crate::agent::protocol::{FromAgent, ResultMessage, ToAgent};
use crate::agent::{Connection, MeasuredFiles};
use crate::folders::Scratch;
use crate::lock::locked;
use crate::process::{Guarded, dump_stacks, interrupt, kill_group};

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
    /// What it has touched so far, where that is followed.
    touched: Option<Dependencies>,
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
    /// Held until the environment is gone; the suite's own session has one forever.
    number: Option<Arc<WorkerNumber>>,
}

impl PytestEnvironment {
    /// The user's own session.
    pub(super) fn main(session: &Arc<Session>, connection: Connection) -> Result<Self> {
        let positions = Arc::clone(&session.project()?.positions);
        let notes = session.scratch.path().to_path_buf();
        let scratch = session.scratch.folder("main")?;
        let mut main = Self::new(session, connection, scratch, notes, positions, None);
        main.own_end = Some(OwnEnd::begin(session)?);
        Ok(main)
    }

    /// A copy of another environment.
    pub(super) fn copy(
        session: &Arc<Session>,
        connection: Connection,
        scratch: Scratch,
        number: Option<Arc<WorkerNumber>>,
    ) -> Result<Self> {
        let positions = Arc::clone(&session.project()?.positions);
        let notes = scratch.path().to_path_buf();
        let mut copy = Self::new(session, connection, scratch, notes, positions, None);
        copy.number = number;
        Ok(copy)
    }

    /// An interpreter of its own.
    pub(super) fn own(
        session: &Arc<Session>,
        connection: Connection,
        scratch: Scratch,
        positions: Arc<HashMap<TestId, usize>>,
        guard: Guarded,
        number: WorkerNumber,
    ) -> Self {
        let notes = scratch.path().to_path_buf();
        let mut own = Self::new(session, connection, scratch, notes, positions, Some(guard));
        own.number = Some(Arc::new(number));
        own
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
            touched: None,
            order: Vec::new(),
            next: 0,
            is_running_ahead: false,
            own_end: None,
            guard,
            number: None,
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
        mut message: ResultMessage,
    ) -> Result<Execution> {
        if let Some(new) = message.dependencies.take() {
            self.touched.get_or_insert_default().add(new);
            message.dependencies.clone_from(&self.touched);
        }
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
        let inherited = Some((&self.scratch, self.number.as_ref()));
        let copy = self.session.copy_of(&mut self.connection, inherited)?;
        Ok(Box::new(copy))
    }

    fn look(&mut self) -> Result<State> {
        self.check_idle()?;
        self.connection.send(&ToAgent::Look)?;
        match self.answer(LOOKING)? {
            FromAgent::State { things, initial } => Ok(things.with_initial(initial)),
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

/// How long a hanging interpreter may take to write down where it hangs.
const STACKS: Duration = Duration::from_millis(700);

impl PytestEnvironment {
    pub(super) fn crashed(&mut self, test: &TestId, begin: Instant) -> Execution {
        if self.is_unguarded() {
            let message = "the process that watches over it was killed, \
                as by a test that kills its parent"
                .to_owned();
            return self.lost(test, Outcome::Crashed, message.clone(), message, begin);
        }
        let death = self.session.hub.death_of(self.connection.hello.pid, DEATH);
        let message = describe_death("the process", death);
        let text = without_machinery(&self.last_words());
        self.lost(test, Outcome::Crashed, message, text, begin)
    }

    /// Whether nobody is left to tell how this interpreter ended.
    fn is_unguarded(&mut self) -> bool {
        match &mut self.guard {
            Some(guard) => guard.is_gone(),
            None => locked(&self.session.guard).as_mut().is_none_or(Guarded::is_gone),
        }
    }

    pub(super) fn hung(&self, test: &TestId, limit: Duration, begin: Instant) -> Execution {
        let pid = self.connection.hello.pid;
        let stacks = self.stacks(pid);
        let output = captured_so_far(pid);
        kill_group(pid);
        self.session.hub.death_of(pid, DEATH);
        let message = format!("still running after {limit:?}, the time limit for one test");
        let text = format!("{message}\n\n{stacks}");
        let mut execution = self.lost(test, Outcome::TimedOut, message, text, begin);
        execution.output = output;
        execution
    }

    fn lost(
        &self,
        test: &TestId,
        outcome: Outcome,
        message: String,
        text: String,
        begin: Instant,
    ) -> Execution {
        let lost = lost_with_process(test, outcome, begin.elapsed(), message, text);
        Execution { dependencies: read_touched(&self.notes), ..lost }
    }

    /// What a dead process wrote to stderr at the end: the interpreter's fatal error, if any.
    fn last_words(&self) -> String {
        const LONGEST: usize = 8 * 1024;
        let output = match &self.guard {
            Some(guard) => guard.stderr(),
            None => std::fs::read(self.notes.join("output"))
                .map_or_else(
                    |_| locked(&self.session.guard).as_ref().map(Guarded::stderr),
                    |bytes| Some(String::from_utf8_lossy(&bytes).into_owned()),
                )
                .unwrap_or_default(),
        };
        let start = output.len().saturating_sub(LONGEST);
        let start = (start..output.len()).find(|at| output.is_char_boundary(*at));
        start.map(|at| output[at..].to_owned()).unwrap_or_default()
    }

    /// Where the threads of a hanging interpreter are.
    fn stacks(&self, pid: u32) -> String {
        let file = self.notes.join("stacks");
        let before = length(&file);
        dump_stacks(pid);
        let (ticks, patience) = (tick(Duration::from_millis(20)), after(STACKS));
        let mut seen = before;
        loop {
            select! {
                recv(ticks) -> _ => {
                    let now = length(&file);
                    if now > before && now == seen {
                        break;
                    }
                    seen = now;
                }
                recv(patience) -> _ => break,
            }
        }
        without_machinery(&std::fs::read_to_string(&file).unwrap_or_default())
    }
}

/// What pytest captured of a test that is still running: its standard streams are files then.
fn captured_so_far(pid: u32) -> String {
    [1, 2]
        .into_iter()
        .map(|stream| format!("/proc/{pid}/fd/{stream}"))
        .filter(|path| std::fs::metadata(path).is_ok_and(|stream| stream.is_file()))
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}
