//! A suite without processes: every test does what its script says.
//!
//! [`suite`] gives a [`Scripted`] adapter in which all tests pass; its methods say which do not,
//! and when. It keeps the contract of a real adapter: tests of one environment share state, a
//! crash or a timeout ends the environment, the announced order is kept, and dependencies are
//! given only when they are probed. Every call is recorded, so that a test can look at what was
//! asked for and not only at what came of it.
//!
//! ```
//! use flakeproof_core::{Isolation, Outcome};
//! use flakeproof_runner::{Adapter, Probe};
//! use flakeproof_testkit::scripted::suite;
//!
//! let scripted = suite(["polluter", "victim"]).with_polluter("victim", "polluter");
//! let mut environment = scripted.open(Isolation::Spawn)?;
//! let alone = environment.run(&"victim".into(), Probe::attempt(1))?;
//! assert_eq!(alone.outcome, Outcome::Passed);
//! # Ok::<(), flakeproof_runner::Error>(())
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flakeproof_core::{
    Dependencies, Execution, Failure, Isolation, LeftKind, Location, Outcome, Phase, Seed,
    Signature, Suite, SuiteTest, Surroundings, TestId,
};
use flakeproof_runner::{
    Adapter, Cancel, Canceller, Capabilities, Environment, Error, Granularity, LONGEST_COMMAND,
    Orders, Probe, Result, Then,
};

/// A suite in which every test passes, until its methods say otherwise.
///
/// The part of an id before `::` is the test's file.
#[must_use]
pub fn suite<'a>(tests: impl IntoIterator<Item = &'a str>) -> Scripted {
    Scripted {
        tests: tests.into_iter().map(TestId::from).collect(),
        scripts: BTreeMap::new(),
        fork: Ok(()),
        has_zygote: true,
        room: None,
        orders: Orders::Any,
        state: Arc::default(),
    }
}

/// An adapter whose tests follow a script.
pub struct Scripted {
    tests: Vec<TestId>,
    scripts: BTreeMap<TestId, Arc<Script>>,
    fork: std::result::Result<(), String>,
    has_zygote: bool,
    room: Option<usize>,
    orders: Orders,
    state: Arc<Mutex<State>>,
}

/// The circumstances of one execution, on which its outcome may depend.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The kind of environment.
    pub isolation: Isolation,
    /// The tests that ran in this environment before, in order, itself included.
    pub before: &'a [TestId],
    /// Whether this test failed in this environment before.
    pub has_failed_here: bool,
    /// How often this test ran before, anywhere.
    pub times: u32,
    /// How often any test ran before, anywhere.
    pub clock: u32,
    /// Whether the last test of the suite has run.
    pub is_at_the_end: bool,
}

type Behaviour = Box<dyn Fn(&Moment<'_>) -> Outcome + Send + Sync>;

/// What one test does.
#[derive(Default)]
struct Script {
    behaviours: Vec<Behaviour>,
    message: Option<String>,
    message_in: HashMap<Isolation, String>,
    output_in: HashMap<Isolation, String>,
    has_no_failure_text: bool,
    dependencies: Option<Dependencies>,
    is_unmeasured: bool,
    /// What it leaves behind.
    traces: Vec<(LeftKind, String, String)>,
    /// Trouble instead of an execution, by kind of environment and number of the execution.
    trouble: HashMap<(Isolation, u32), Trouble>,
}

/// Trouble that is not the test's.
#[derive(Debug, Clone)]
enum Trouble {
    Lost,
    Stopped(String),
    NotCollected,
    Interrupted(Canceller),
    Broken,
}

/// What was asked of the adapter or one of its environments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// An environment was opened; they are numbered from 0.
    Opened {
        /// Its number.
        environment: usize,
        /// Its kind.
        isolation: Isolation,
    },
    /// An order was announced.
    Expected {
        /// Where.
        environment: usize,
        /// The order.
        upcoming: Vec<TestId>,
        /// What comes after it.
        then: Then,
    },
    /// A test was run.
    Ran(Ran),
    /// An environment was closed in good order.
    Closed {
        /// Which.
        environment: usize,
    },
}

/// One execution as the script saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The test.
    pub test: TestId,
    /// The number of its environment.
    pub environment: usize,
    /// The kind of its environment.
    pub isolation: Isolation,
    /// The number of the attempt, as the caller counts.
    pub attempt: u32,
    /// How closely the caller wanted to look.
    pub dependencies: Granularity,
    /// How it ended; `None` if there was trouble.
    pub outcome: Option<Outcome>,
}

/// What all environments of one adapter know.
#[derive(Default)]
struct State {
    calls: Vec<Call>,
    environments: usize,
    times: HashMap<TestId, u32>,
    clock: u32,
    asked: HashMap<(TestId, Isolation), u32>,
}

/// How a test behaves.
impl Scripted {
    /// The test does what a function of the circumstances says. Of several, the first that does
    /// not pass decides.
    #[must_use]
    pub fn behaves(
        mut self,
        test: &str,
        behaviour: impl Fn(&Moment<'_>) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.script(test).behaviours.push(Box::new(behaviour));
        self
    }

    /// The test fails in these circumstances.
    #[must_use]
    pub fn fails_if(
        self,
        test: &str,
        condition: impl Fn(&Moment<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.behaves(test, move |moment| match condition(moment) {
            true => Outcome::Failed,
            false => Outcome::Passed,
        })
    }

    /// The test fails wherever and whenever it runs.
    #[must_use]
    pub fn always_fails(self, test: &str) -> Self {
        self.fails_if(test, |_| true)
    }

    /// The test has this outcome in environments of this kind.
    #[must_use]
    pub fn gives(self, test: &str, isolation: Isolation, outcome: Outcome) -> Self {
        self.behaves(test, move |moment| match moment.isolation == isolation {
            true => outcome,
            false => Outcome::Passed,
        })
    }

    /// The test fails this many times, and then passes.
    #[must_use]
    pub fn fails_times(self, test: &str, times: u32) -> Self {
        self.fails_if(test, move |moment| moment.times < times)
    }

    /// Each execution has its own chance to fail.
    #[must_use]
    pub fn fails_at_random(self, test: &str, seed: Seed, rate: f64) -> Self {
        let test_id = test.to_owned();
        self.fails_if(test, move |moment| {
            let chance = seed.split(&format!("{test_id} {}", moment.times)).0 >> 32;
            f64::from(u32::try_from(chance).unwrap_or(u32::MAX)) < rate * f64::from(u32::MAX)
        })
    }

    /// Memory is enough for this many environments at once.
    #[must_use]
    pub fn with_room_for(mut self, environments: usize) -> Self {
        self.room = Some(environments);
        self
    }

    /// The victim fails if the polluter ran before it in the same environment.
    #[must_use]
    pub fn with_polluter(self, victim: &str, polluter: &str) -> Self {
        let polluter = TestId::from(polluter);
        self.fails_if(victim, move |moment| moment.before.contains(&polluter))
    }

    /// The test fails unless the setter ran before it in the same environment.
    #[must_use]
    pub fn brittle(self, test: &str, setter: &str) -> Self {
        let setter = TestId::from(setter);
        self.fails_if(test, move |moment| !moment.before.contains(&setter))
    }

    /// The test caches its failure: it fails first, and passes ever after in that environment.
    #[must_use]
    pub fn passes_only_after_first_failure_in_same_environment(self, test: &str) -> Self {
        self.fails_if(test, |moment| !moment.has_failed_here)
    }

    /// The test fails until this many tests have run, anywhere.
    #[must_use]
    pub fn heals_after(self, test: &str, executions: u32) -> Self {
        self.fails_if(test, move |moment| moment.clock < executions)
    }

    /// The test fails until the last test of the suite has run.
    #[must_use]
    pub fn heals_at_the_end(self, test: &str) -> Self {
        self.fails_if(test, |moment| !moment.is_at_the_end)
    }

    /// The test takes its process with it.
    #[must_use]
    pub fn crashes(self, test: &str) -> Self {
        self.behaves(test, |_| Outcome::Crashed)
    }

    /// The test does not end, and is killed.
    #[must_use]
    pub fn hangs(self, test: &str) -> Self {
        self.behaves(test, |_| Outcome::TimedOut)
    }

    /// The test is skipped.
    #[must_use]
    pub fn skips(self, test: &str) -> Self {
        self.behaves(test, |_| Outcome::Skipped)
    }
}

/// What an execution says about itself.
impl Scripted {
    /// The failure of a test reads so. Tests that say the same fail in the same way; without this
    /// each test fails in its own.
    #[must_use]
    pub fn says(mut self, test: &str, message: &str) -> Self {
        self.script(test).message = Some(message.to_owned());
        self
    }

    /// The failure of a test reads so in environments of one kind.
    #[must_use]
    pub fn says_in(mut self, test: &str, isolation: Isolation, message: &str) -> Self {
        self.script(test).message_in.insert(isolation, message.to_owned());
        self
    }

    /// The test's failure comes without any text.
    #[must_use]
    pub fn says_nothing(mut self, test: &str) -> Self {
        self.script(test).has_no_failure_text = true;
        self
    }

    /// The test prints this in environments of one kind.
    #[must_use]
    pub fn prints_in(mut self, test: &str, isolation: Isolation, text: &str) -> Self {
        self.script(test).output_in.insert(isolation, text.to_owned());
        self
    }

    /// The test runs the code of these files.
    #[must_use]
    pub fn depends_on<const N: usize>(mut self, test: &str, code: [&str; N]) -> Self {
        let code = code.into_iter().map(str::to_owned).collect();
        self.script(test).dependencies = Some(Dependencies { code, ..Dependencies::default() });
        self
    }

    /// The test leaves a thing of its environment with this value behind.
    #[must_use]
    pub fn leaves(mut self, test: &str, kind: LeftKind, name: &str, value: &str) -> Self {
        self.script(test).traces.push((kind, name.to_owned(), value.to_owned()));
        self
    }

    /// What the test touches is not known, even when it is probed.
    #[must_use]
    pub fn cannot_be_measured(mut self, test: &str) -> Self {
        self.script(test).is_unmeasured = true;
        self
    }
}

/// Trouble that is not a test's. `time` counts the tries in environments of that kind from 1.
impl Scripted {
    /// An environment dies before this test starts.
    #[must_use]
    pub fn loses_environment(self, test: &str, isolation: Isolation, time: u32) -> Self {
        self.trouble(test, isolation, time, Trouble::Lost)
    }

    /// The runner stops instead of running this test.
    #[must_use]
    pub fn stops_before(self, test: &str, isolation: Isolation, reason: &str) -> Self {
        self.trouble(test, isolation, 1, Trouble::Stopped(reason.to_owned()))
    }

    /// A new process does not know this test.
    #[must_use]
    pub fn is_not_collected_in(self, test: &str, isolation: Isolation) -> Self {
        self.trouble(test, isolation, 1, Trouble::NotCollected)
    }

    /// The agent has a fault of its own when it should run this test.
    #[must_use]
    pub fn breaks_at(self, test: &str, isolation: Isolation, time: u32) -> Self {
        self.trouble(test, isolation, time, Trouble::Broken)
    }

    /// The user interrupts while this test runs; the second value is what the caller looks at.
    #[must_use]
    pub fn interrupted_at(self, test: &str, isolation: Isolation, time: u32) -> (Self, Cancel) {
        let (canceller, cancel) = Cancel::new();
        (self.trouble(test, isolation, time, Trouble::Interrupted(canceller)), cancel)
    }

    /// The adapter cannot fork, and says so.
    #[must_use]
    pub fn cannot_fork(mut self, why: &str) -> Self {
        self.fork = Err(why.to_owned());
        self
    }

    /// The adapter says that it can fork, and then cannot.
    #[must_use]
    pub fn loses_what_it_forks_from(mut self) -> Self {
        self.has_zygote = false;
        self
    }

    /// Environments run tests only as they stand in the suite.
    #[must_use]
    pub fn only_in_its_own_order(mut self) -> Self {
        self.orders = Orders::Own;
        self
    }

    fn trouble(mut self, test: &str, isolation: Isolation, time: u32, trouble: Trouble) -> Self {
        self.script(test).trouble.insert((isolation, time), trouble);
        self
    }

    fn script(&mut self, test: &str) -> &mut Script {
        assert!(self.tests.iter().any(|it| it.as_str() == test), "`{test}` is not in the suite");
        let script = self.scripts.entry(test.into()).or_default();
        Arc::get_mut(script).expect("scripts are shared only once environments are open")
    }
}

/// What was asked for.
impl Scripted {
    /// Every call so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        locked(&self.state).calls.clone()
    }

    /// Every execution so far, in order.
    #[must_use]
    pub fn runs(&self) -> Vec<Ran> {
        let calls = self.calls().into_iter();
        calls.filter_map(|call| if let Call::Ran(ran) = call { Some(ran) } else { None }).collect()
    }

    /// Every execution of one test so far, in order.
    #[must_use]
    pub fn runs_of(&self, test: &str) -> Vec<Ran> {
        self.runs().into_iter().filter(|ran| ran.test.as_str() == test).collect()
    }
}

impl Adapter for Scripted {
    fn discover(&self) -> Result<Suite> {
        let location = |id: &TestId| {
            let (file, _) = id.as_str().split_once("::")?;
            Some(Location { file: file.to_owned(), line: None })
        };
        let tests =
            self.tests.iter().map(|id| SuiteTest { location: location(id), id: id.clone() });
        Ok(Suite { tests: tests.collect(), problems: Vec::new() })
    }

    fn open(&self, how: Isolation) -> Result<Box<dyn Environment>> {
        if how == Isolation::Fork && (self.fork.is_err() || !self.has_zygote) {
            let (what, why) = ("a fork".into(), "the script says so".into());
            return Err(Error::NotPossible { what, why });
        }
        Ok(Box::new(ScriptedEnvironment {
            number: locked(&self.state).open(how),
            isolation: how,
            tests: self.tests.clone(),
            scripts: self.scripts.clone(),
            state: Arc::clone(&self.state),
            orders: self.orders,
            order: Vec::new(),
            next: 0,
            is_running_ahead: false,
            is_gone: false,
            before: Vec::new(),
            failed: HashSet::new(),
        }))
    }

    fn reopen(&self, order: &[TestId], then: Then) -> Result<Box<dyn Environment>> {
        let mut environment = self.open(Isolation::Same)?;
        environment.expect(order, then)?;
        Ok(environment)
    }

    fn can(&self) -> Capabilities {
        Capabilities {
            runner: "scripted".into(),
            fork: self.fork.clone(),
            snapshot: true,
            orders: self.orders,
            dependencies: true,
            features: false,
            state: true,
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings::default()
    }

    fn most_environments(&self) -> Option<usize> {
        self.room
    }

    fn command_for(&self, test: &TestId) -> String {
        format!("scripted {test}")
    }

    fn command_for_order(&self, order: &[TestId]) -> Option<String> {
        let words: Vec<&str> = order.iter().map(TestId::as_str).collect();
        Some(format!("scripted {}", words.join(" "))).filter(|it| it.len() <= LONGEST_COMMAND)
    }

    fn command_for_all(&self) -> String {
        "scripted".into()
    }
}

/// An environment of a [`Scripted`] adapter.
#[derive(Clone)]
struct ScriptedEnvironment {
    number: usize,
    isolation: Isolation,
    tests: Vec<TestId>,
    scripts: BTreeMap<TestId, Arc<Script>>,
    state: Arc<Mutex<State>>,
    orders: Orders,
    order: Vec<TestId>,
    next: usize,
    is_running_ahead: bool,
    is_gone: bool,
    before: Vec<TestId>,
    failed: HashSet<TestId>,
}

impl ScriptedEnvironment {
    /// Keep to the announced order, as a real environment that runs ahead does.
    fn keep_order(&mut self, test: &TestId) -> Result<()> {
        if self.order.get(self.next) == Some(test) {
            self.next += 1;
        } else if self.is_running_ahead {
            return Err(Error::Agent(format!("`{test}` is out of the announced order")));
        }
        Ok(())
    }

    fn trouble(&mut self, test: &TestId, script: &Script) -> Option<Error> {
        let mut state = locked(&self.state);
        let time = state.asked.entry((test.clone(), self.isolation)).or_default();
        *time += 1;
        Some(match script.trouble.get(&(self.isolation, *time))?.clone() {
            Trouble::Lost => {
                self.is_gone = true;
                Error::EnvironmentLost { cause: "the script says so".into() }
            }
            Trouble::Stopped(reason) => Error::Stopped { reason },
            Trouble::NotCollected => Error::UnknownTest { test: test.clone() },
            Trouble::Interrupted(canceller) => {
                canceller.cancel();
                Error::Cancelled
            }
            Trouble::Broken => Error::Agent("the script says so".into()),
        })
    }

    fn outcome(&self, test: &TestId, script: &Script) -> Outcome {
        let state = locked(&self.state);
        let last = self.tests.last();
        let moment = Moment {
            isolation: self.isolation,
            before: &self.before,
            has_failed_here: self.failed.contains(test),
            times: state.times.get(test).copied().unwrap_or_default(),
            clock: state.clock,
            is_at_the_end: last.is_some_and(|last| state.times.contains_key(last)),
        };
        let mut outcomes = script.behaviours.iter().map(|behaviour| behaviour(&moment));
        outcomes.find(|outcome| *outcome != Outcome::Passed).unwrap_or(Outcome::Passed)
    }

    fn finish(&mut self, test: &TestId, outcome: Outcome) {
        let mut state = locked(&self.state);
        *state.times.entry(test.clone()).or_default() += 1;
        state.clock += 1;
        self.before.push(test.clone());
        if outcome.is_failure() {
            self.failed.insert(test.clone());
        }
        self.is_gone = outcome.ends_environment();
        self.is_running_ahead = !outcome.is_failure() && self.next < self.order.len();
    }

    /// What the process of this environment has touched up to this test.
    fn touched(&self, test: &TestId) -> Dependencies {
        let ran = self.before.iter().chain(std::iter::once(test));
        let scripts = ran.filter_map(|test| self.scripts.get(test)?.dependencies.clone());
        scripts.fold(Dependencies::default(), |mut touched, later| {
            touched.add(later);
            touched
        })
    }

    fn failure(&self, test: &TestId, outcome: Outcome, script: &Script) -> Option<Failure> {
        if !outcome.is_failure() || script.has_no_failure_text {
            return None;
        }
        let said = script.message_in.get(&self.isolation).or(script.message.as_ref());
        let message = said.cloned().unwrap_or_else(|| format!("{outcome}"));
        let own = Location { file: test.to_string(), line: None };
        let location = said.is_none().then_some(own);
        Some(Failure {
            phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
            signature: Signature::of(&message, location.as_ref()),
            text: message.clone(),
            message,
            location,
        })
    }
}

impl Environment for ScriptedEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        let position = |test: &TestId| self.tests.iter().position(|it| it == test);
        let is_own = upcoming.windows(2).all(|two| position(&two[0]) < position(&two[1]));
        if self.orders == Orders::Own && !is_own {
            let (what, why) = ("this order".into(), "the script says so".into());
            return Err(Error::NotPossible { what, why });
        }
        let (environment, upcoming) = (self.number, upcoming.to_vec());
        self.order.clone_from(&upcoming);
        self.next = 0;
        locked(&self.state).calls.push(Call::Expected { environment, upcoming, then });
        Ok(())
    }

    fn run(&mut self, test: &TestId, probe: Probe) -> Result<Execution> {
        if self.is_gone {
            return Err(Error::EnvironmentLost { cause: "it ended before".into() });
        }
        let script = self.scripts.get(test).cloned().unwrap_or_default();
        let mut ran = Ran {
            test: test.clone(),
            environment: self.number,
            isolation: self.isolation,
            attempt: probe.attempt,
            dependencies: probe.dependencies,
            outcome: None,
        };
        if let Some(trouble) = self.trouble(test, &script) {
            locked(&self.state).calls.push(Call::Ran(ran));
            return Err(trouble);
        }
        self.keep_order(test)?;
        let outcome = self.outcome(test, &script);
        self.finish(test, outcome);
        ran.outcome = Some(outcome);
        locked(&self.state).calls.push(Call::Ran(ran));
        let is_probed = probe.dependencies != Granularity::Off && !script.is_unmeasured;
        Ok(Execution {
            test: test.clone(),
            outcome,
            duration: Duration::from_millis(1),
            failure: self.failure(test, outcome, &script),
            note: None,
            output: script.output_in.get(&self.isolation).cloned().unwrap_or_default(),
            dependencies: is_probed.then(|| self.touched(test)),
            measured: None,
        })
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        let number = locked(&self.state).open(self.isolation);
        Ok(Box::new(Self { number, ..self.clone() }))
    }

    fn look(&mut self) -> Result<flakeproof_core::State> {
        let mut picture = flakeproof_core::State::default();
        let scripts = self.before.iter().filter_map(|test| self.scripts.get(test));
        for (kind, name, value) in scripts.flat_map(|script| &script.traces) {
            picture.insert(*kind, name, value);
        }
        Ok(picture)
    }

    fn close(self: Box<Self>) -> Result<()> {
        locked(&self.state).calls.push(Call::Closed { environment: self.number });
        Ok(())
    }
}

impl State {
    fn open(&mut self, isolation: Isolation) -> usize {
        let environment = self.environments;
        self.environments += 1;
        self.calls.push(Call::Opened { environment, isolation });
        environment
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
