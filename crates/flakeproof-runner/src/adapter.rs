//! The shape everything hangs on, and the only way to run a test.

use flakeproof_core::{
    CollectionProblem, Execution, Isolation, LeverName, Notice, Piece, Shuffle, State, Suite,
    Surroundings, TestId,
};
use std::path::PathBuf;

use crate::levers::RandomNumbers;

/// The most characters of a command that is shown to people.
pub const LONGEST_COMMAND: usize = 4_000;

/// What can go wrong for us, as opposed to what goes wrong in a test.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One framework's way to find and run tests.
pub trait Adapter: Sync {
    /// Find the tests, in the order in which the user's own command would run them.
    ///
    /// # Errors
    /// When the command does not start, refuses its arguments, or cannot collect.
    fn discover(&self) -> Result<Suite>;

    /// Open an environment.
    ///
    /// [`Isolation::Same`] is the environment of the user's own command. It exists once; asked
    /// for again, the adapter gives the nearest thing it has to go on with the suite.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>>;

    /// Open the environment of the user's own command once more, in new processes and from the very
    /// start, with this beginning of the suite's order announced, and what comes then. Where the
    /// runner cannot be told where to stop, it runs the whole suite.
    ///
    /// # Errors
    /// When it cannot be opened, or finds other tests than before.
    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>>;

    /// Take this part of the suite, as it stands there, for all that the user's own command runs: from
    /// here on [`Isolation::Same`] and [`reopen`](Self::reopen) run it as they would run a suite that has
    /// nothing else. Asked for after [`discover`](Self::discover) and before anything is opened; what is
    /// given back is what the reader should know.
    ///
    /// # Errors
    /// [`Error::Explained`] where the runner cannot be told to run some of its tests together.
    fn narrow(&self, _part: &[TestId]) -> Result<Vec<Notice>> {
        Ok(Vec::new())
    }

    /// Who decides the orders that the language leaves open, such as that of a hash table.
    fn open_orders(&self) -> OpenOrders {
        OpenOrders::Fixed("this runner has no way to choose them".into())
    }

    /// Open a fresh environment in a new process, in which a seed decides those orders.
    ///
    /// # Errors
    /// When it cannot be opened, or the orders cannot be chosen, see [`open_orders`](Self::open_orders).
    fn open_shuffled(&self, _shuffle: &Shuffle) -> Result<Box<dyn Environment>> {
        let why = "this runner has no way to choose them".into();
        Err(Error::NotPossible { what: "another order of hash tables".into(), why })
    }

    /// The calls, of the project or a library, that get something in such an order while a test runs
    /// alone, in the order in which they first do. None where the adapter cannot tell.
    ///
    /// # Errors
    /// When the environment for it cannot be opened.
    fn calls_shuffled(&self, _test: &TestId, _shuffle: &Shuffle) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// A command that runs this test alone with the orders of a seed, as the user would type it; `None`
    /// where there is none.
    fn command_shuffled(&self, _test: &TestId, _shuffle: &Shuffle) -> Option<String> {
        None
    }

    /// Let environments that are opened from now on run changed source files, known since
    /// [`discover`](Self::discover). Nothing is to be done where the runner reads the sources themselves.
    ///
    /// # Errors
    /// When they cannot be compiled.
    fn take_in(&self, _files: &[PathBuf]) -> Result<()> {
        Ok(())
    }

    /// What this adapter can do, known after [`discover`](Self::discover).
    fn can(&self) -> Capabilities;

    /// Find out in which orders tests can run, where that takes starting something; then
    /// [`can`](Self::can) knows it. Whoever wants other orders than the suite's own asks after
    /// [`discover`](Self::discover), and once more at the end: what is given back is what the reader
    /// should know about the orders that ran.
    ///
    /// # Errors
    /// When what is started cannot be.
    fn find_orders(&self) -> Result<Vec<Notice>> {
        Ok(Vec::new())
    }

    /// These tests in an order that fresh environments run, as near to the wanted one as there is: the
    /// last one stays the last, and an order that came from here, or a beginning of it, stays as it is.
    /// The same order where [`Orders`] sets no limit.
    fn runnable(&self, order: &[TestId]) -> Vec<TestId> {
        order.to_vec()
    }

    /// Runtime, packages and variables around the code, known after
    /// [`discover`](Self::discover).
    fn surroundings(&self) -> Surroundings;

    /// The folder that the places of tests are relative to, known after
    /// [`discover`](Self::discover). `None` where they are relative to nothing.
    fn root(&self) -> Option<PathBuf> {
        None
    }

    /// What made the user's own command fail besides its tests, such as a coverage threshold.
    /// Known once its environment is closed.
    fn own_failure(&self) -> Option<String> {
        None
    }

    /// What the reader should know about how the command is run here. Known after
    /// [`discover`](Self::discover).
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// The end of what the user's command printed so far.
    fn output(&self) -> String {
        String::new()
    }

    /// Processes that the user's command would share its tests among, where they run in
    /// environments instead. Known after [`discover`](Self::discover).
    fn workers(&self) -> Option<Workers> {
        None
    }

    /// How many environments fit beside each other, where memory is a limit. Known after
    /// [`discover`](Self::discover).
    fn most_environments(&self) -> Option<usize> {
        None
    }

    /// Why changing this says nothing about tests of this runner, where it does not reach them.
    fn obstacle_to(&self, _lever: LeverName) -> Option<String> {
        None
    }

    /// How the random numbers of its tests get a seed.
    ///
    /// # Errors
    /// Why they cannot, for people.
    fn random_numbers(&self) -> std::result::Result<RandomNumbers, String> {
        Err("this runner has no seed of random numbers that can be set".to_owned())
    }

    /// A command that lists the ids of all tests, as the user would type it.
    fn command_to_list(&self) -> Option<String> {
        None
    }

    /// A command that runs this test alone, as the user would type it.
    fn command_for(&self, test: &TestId) -> String;

    /// A command that runs exactly these tests in this order in one process, as the user would
    /// type it. `None` where there is no such command, or none that a person would type: at most
    /// [`LONGEST_COMMAND`] characters.
    ///
    /// The framework may still regroup tests, as pytest does by parameters of shared fixtures.
    fn command_for_order(&self, order: &[TestId]) -> Option<String>;

    /// The command that runs the whole suite in its own order and, where that matters, with the
    /// same chance as in this run.
    fn command_for_all(&self) -> String;
}

/// One runtime in which tests run one after another and share state.
pub trait Environment: Send {
    /// Say which tests will be run, in order, and whether anything comes after them.
    ///
    /// Fixtures that several tests share are torn down after the last of them, so the
    /// environment must know what comes next. It may also run ahead up to the next failure.
    ///
    /// Where tests ran before, what the first of the new ones does not share is torn down here:
    /// two orders, the first of them [`Then::Open`], are the same to tests as one that joins them.
    ///
    /// # Errors
    /// [`Error::EnvironmentLost`] when the environment is gone, or spoilt because that teardown
    /// failed: in one order it would have been part of the last test. The whole order in another
    /// environment tells. [`Error::NotPossible`] when the environment cannot take on these tests,
    /// as a spawned interpreter that collected only those announced first.
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()>;

    /// Prepare for the announced tests, which will be run without measuring anything, and run none. Only
    /// time is won: where this is not called, or fails, the first run does it.
    ///
    /// # Errors
    /// When the environment does not start.
    fn get_ready(&mut self) -> Result<()> {
        Ok(())
    }

    /// Run one test and wait for its end.
    ///
    /// A test that was just run may be run again; then the order goes on. After a crash or a
    /// timeout the environment is gone.
    ///
    /// # Errors
    /// Only for trouble that is not the test's.
    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution>;

    /// A cheap copy of this environment, with all state that its tests left.
    ///
    /// Original and copies go on independently of each other, and one may outlive the other. What
    /// lies outside the process is theirs together: drop a copy rather than close it where its
    /// teardown could take files or servers away from the others.
    ///
    /// # Errors
    /// When the adapter cannot copy, see [`Capabilities::snapshot`].
    fn snapshot(&mut self) -> Result<Box<dyn Environment>>;

    /// What tests can leave behind in this environment, as it is between two tests. None of the
    /// project's code runs for it. Compare pictures of one environment or of copies of it.
    ///
    /// # Errors
    /// When the adapter cannot tell, see [`Capabilities::state`], or the environment is gone.
    fn look(&mut self) -> Result<State>;

    /// Tear down what is still set up, and end.
    ///
    /// # Errors
    /// When it does not end by itself and has to be killed.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Processes that a runner would share its tests among.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workers {
    /// What asks for them, as the user wrote it: `-n auto`.
    pub asked: String,
    /// How many there would be.
    pub count: usize,
    /// Why the tests cannot be shared among environments as they would be among these.
    pub obstacle: Option<String>,
}

/// What comes after the tests of an announced order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// Nothing: everything is torn down after the last of them.
    End,
    /// This test, which is not run: what it shares with the last of them stays set up, and everything else
    /// is torn down as a part of that one.
    Next(TestId),
    /// Something that is not decided yet: what tests share stays set up, as far as the last of
    /// them uses it.
    Open,
}

/// What an adapter can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The framework and runtime, for people.
    pub runner: String,
    /// Whether [`Isolation::Fork`] can be opened; if not, why.
    pub fork: std::result::Result<(), String>,
    /// How like new processes the environments of [`Isolation::Fork`] are.
    pub likeness: Likeness,
    /// Whether environments can be copied with their state.
    pub snapshot: bool,
    /// In which orders tests can run in one environment.
    pub orders: Orders,
    /// What of a suite must stay together where it is shared among machines.
    pub piece: Piece,
    /// Whether dependencies can be measured.
    pub dependencies: bool,
    /// Whether what a test uses and covers can be measured.
    pub features: bool,
    /// Whether environments can tell what tests leave behind.
    pub state: bool,
    /// Whether what its tests examine is, as a rule, a server, which may have been there before them and
    /// run other code than that of their folder.
    pub examines_servers: bool,
}

impl Capabilities {
    /// How environments are made whose word must stand, where these were asked for: in a new process
    /// where forked ones are only nearly like one, or cannot be had.
    #[must_use]
    pub fn judging(&self, wanted: Isolation) -> Isolation {
        match (wanted, &self.fork, self.likeness) {
            (Isolation::Fork, Ok(()), Likeness::Alike) => Isolation::Fork,
            (Isolation::Fork, _, _) => Isolation::Spawn,
            (Isolation::Spawn | Isolation::Same, _, _) => wanted,
        }
    }
}

/// How like a new process an environment of [`Isolation::Fork`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Tests do there what they do in a new process, but for what grows old.
    Alike,
    /// Most tests do. It is a filter and no judge: nothing may rest on what is seen there before a new
    /// process has shown it.
    Nearly,
}

/// In which orders tests can run in one environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// In any.
    Any,
    /// In any, in fresh environments, each of which runs an announced order to its end: a test that is run
    /// again runs in another process, after all that came before it. In the suite's own environment, what
    /// is not the whole suite runs in a process for each test.
    AnyFresh,
    /// The same, with the tests of a file together: a file comes where the last of its tests stands. The
    /// suite's own command may run files beside each other.
    ByFile,
    /// In those that the runner's own shuffle has a seed for: a few tests in any, more of them with any
    /// one last, and in no order that is chosen further. [`Adapter::runnable`] gives them.
    Seeded,
    /// Only as they stand in the suite, though some may be left out.
    Own,
    /// In any, but each in a process of its own: they share only what lies outside of it, such as
    /// files and ports.
    Apart,
}

/// Who decides the orders that a language leaves open, such as that of a hash table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenOrders {
    /// The runtime alone; why nobody else can.
    Fixed(String),
    /// The runtime, in the same way each time, unless a seed does.
    Usual,
    /// Chance, in every process, unless a seed does.
    Drawn,
}

/// What to do and measure besides running the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Counts the attempts at this test from 1; the test sees it as `FLAKEPROOF_ATTEMPT`.
    pub attempt: u32,
    /// How closely to follow what the test touches.
    pub dependencies: Granularity,
    /// Whether to measure what the test uses and covers.
    pub features: Measuring,
}

impl Probe {
    /// Run only.
    #[must_use]
    pub fn attempt(attempt: u32) -> Self {
        Self { attempt, dependencies: Granularity::Off, features: Measuring::Off }
    }

    /// Run and measure, as the first attempt.
    #[must_use]
    pub fn features() -> Self {
        Self { features: Measuring::On, ..Self::attempt(1) }
    }
}

/// Whether to measure what a test uses and covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measuring {
    /// No: the test runs at its own speed.
    Off,
    /// Yes.
    On,
}

/// How closely to follow what a test touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// Not at all.
    Off,
    /// Which files.
    File,
    /// Which files, and which functions of the source files.
    Function,
}

impl Granularity {
    /// The granularity as the protocol and the settings write it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::File => "file",
            Self::Function => "function",
        }
    }
}

/// Trouble that is not a test's.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's command cannot be started.
    #[error("`{command}` does not start: {cause}")]
    CannotStart {
        /// The program.
        command: String,
        /// What the system said.
        cause: String,
    },
    /// The runner's own words for what went wrong, and what to do about it.
    #[error("{what}")]
    Explained {
        /// Whose turn it is.
        blame: Blame,
        /// What happened.
        what: String,
        /// What to do next.
        next: String,
        /// What the runner printed, as far as it helps.
        details: String,
    },
    /// The user's command ended before it had collected anything.
    #[error("`{command}` ended before it collected tests ({status})")]
    EndedEarly {
        /// The command.
        command: String,
        /// How it ended, for people.
        status: String,
        /// Its exit code, if it has one.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
        /// Whether the framework was reached at all.
        reached_framework: bool,
    },
    /// The session cannot be run under flakeproof as it is configured.
    #[error("this session cannot be run: {reason} {detail}")]
    Refused {
        /// A word for the reason, fixed by the protocol.
        reason: String,
        /// More about it, for people.
        detail: String,
    },
    /// Files could not be collected, and the framework stops at that.
    #[error("{} could not be collected", problems.len())]
    CannotCollect {
        /// What could not be collected.
        problems: Vec<CollectionProblem>,
    },
    /// The command only lists tests.
    #[error("the command only collects tests")]
    CollectOnly {
        /// What it printed.
        output: String,
    },
    /// The runner itself stopped the session, for example at `--maxfail`.
    #[error("the runner stopped: {reason}")]
    Stopped {
        /// The runner's reason.
        reason: String,
    },
    /// The environment died while no test was running in it.
    #[error("the environment is gone: {cause}")]
    EnvironmentLost {
        /// How it ended.
        cause: String,
    },
    /// Environments cannot be made in this way here.
    #[error("{what} is not possible here: {why}")]
    NotPossible {
        /// What was asked for.
        what: String,
        /// Why it cannot be had.
        why: String,
    },
    /// The test is not part of the collected suite.
    #[error("`{test}` is not in the suite")]
    UnknownTest {
        /// The test.
        test: TestId,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Cancelled,
    /// The agent or the runner has a fault of its own.
    #[error("the agent reports trouble: {0}")]
    Agent(String),
    /// The system refused something.
    #[error("{doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Whose turn it is when the tests could not be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The user's: the command or its configuration is to be changed.
    Usage,
    /// Nobody's: the command does something else than running tests, and did it.
    Nobody,
    /// The user's: the command selects no test.
    NoTests,
    /// The runner's or the project's: something is broken there.
    Runner,
}

impl Error {
    /// Wrap a refusal of the system with what was being done.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}
