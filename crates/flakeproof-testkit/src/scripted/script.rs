//! What the tests of a scripted suite do, and what was asked of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use flakeproof_core::{Dependencies, Isolation, LeftKind, Outcome, Seed, Shuffle, TestId};
use flakeproof_runner::levers::{InForce, Intervention};
use flakeproof_runner::{Cancel, Canceller, Granularity, Likeness, OpenOrders, Orders, Then};

use super::environment::{Shared, locked};

/// An adapter whose tests follow a script.
pub struct Scripted {
    pub(super) tests: Vec<TestId>,
    pub(super) scripts: BTreeMap<TestId, Arc<Script>>,
    pub(super) fork: std::result::Result<(), String>,
    pub(super) has_zygote: bool,
    /// Whether processes of several tests can be looked into.
    pub(super) sees_processes: bool,
    pub(super) likeness: Likeness,
    pub(super) room: Option<usize>,
    pub(super) orders: Orders,
    pub(super) open_orders: OpenOrders,
    pub(super) state: Arc<Mutex<Shared>>,
    pub(super) in_force: InForce,
    /// Under which interventions no environment starts.
    pub(super) refused: Vec<Under>,
}

pub(super) type Under = Arc<dyn Fn(&Intervention) -> bool + Send + Sync>;

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
        sees_processes: true,
        likeness: Likeness::Alike,
        room: None,
        orders: Orders::Any,
        open_orders: OpenOrders::Fixed("the script says so".into()),
        state: Arc::default(),
        in_force: InForce::default(),
        refused: Vec::new(),
    }
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
    /// What decides the orders that the language leaves open, if not the runtime.
    pub shuffle: Option<&'a Shuffle>,
    /// What was changed on purpose when the environment was opened.
    pub intervention: &'a Intervention,
}

pub(super) type Behaviour = Box<dyn Fn(&Moment<'_>) -> Outcome + Send + Sync>;

/// What one test does.
#[derive(Default)]
pub(super) struct Script {
    pub(super) behaviours: Vec<Behaviour>,
    pub(super) message: Option<String>,
    pub(super) message_in: HashMap<Isolation, String>,
    pub(super) message_under: Vec<(Under, String)>,
    pub(super) output_in: HashMap<Isolation, String>,
    pub(super) has_no_failure_text: bool,
    pub(super) dependencies: Option<Dependencies>,
    pub(super) code_of_failures: BTreeSet<String>,
    pub(super) is_unmeasured: bool,
    /// Calls that get a shuffled order while it runs.
    pub(super) shuffled_calls: Vec<String>,
    /// What it leaves behind.
    pub(super) traces: Vec<(LeftKind, String, String)>,
    /// Trouble instead of an execution, by kind of environment and number of the execution.
    pub(super) trouble: HashMap<(Isolation, u32), Trouble>,
}

/// Trouble that is not the test's.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
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
    Ran(ScriptedRun),
    /// An environment was closed in good order.
    Closed {
        /// Which.
        environment: usize,
    },
}

/// One execution as the script saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedRun {
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

/// Who decides the orders that the language leaves open.
impl Scripted {
    /// These decide them.
    #[must_use]
    pub fn with_open_orders(self, open_orders: OpenOrders) -> Self {
        Self { open_orders, ..self }
    }

    /// A test gets a shuffled order in these calls.
    #[must_use]
    pub fn with_shuffled_calls(mut self, test: &str, calls: &[&str]) -> Self {
        self.script(test).shuffled_calls = calls.iter().map(|&call| call.to_owned()).collect();
        self
    }
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

    /// The failure of a test reads so under some interventions.
    #[must_use]
    pub fn says_under(
        mut self,
        test: &str,
        message: &str,
        under: impl Fn(&Intervention) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.script(test).message_under.push((Arc::new(under), message.to_owned()));
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

    /// When the test fails, it has run the code of this file, too.
    #[must_use]
    pub fn runs_when_it_fails(mut self, test: &str, code: &str) -> Self {
        self.script(test).code_of_failures.insert(code.to_owned());
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

    /// What a test touches is known only where it runs alone.
    #[must_use]
    pub fn sees_only_single_tests(mut self) -> Self {
        self.sees_processes = false;
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

    /// No environment starts under some interventions.
    #[must_use]
    pub fn does_not_start_under(
        mut self,
        under: impl Fn(&Intervention) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.refused.push(Arc::new(under));
        self
    }

    /// The adapter cannot fork, and says so.
    #[must_use]
    pub fn cannot_fork(mut self, why: &str) -> Self {
        self.fork = Err(why.to_owned());
        self
    }

    /// Forked environments are nearly, and only nearly, like new processes.
    #[must_use]
    pub fn forks_nearly(mut self) -> Self {
        self.likeness = Likeness::Nearly;
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

    /// Environments run a few tests in any order, and more of them only as a shuffle of the runner has
    /// them, but for the last.
    #[must_use]
    pub fn in_orders_of_a_shuffle(mut self) -> Self {
        self.fork = Err("the script says so".into());
        self.orders = Orders::Seeded;
        self
    }

    /// Each test has a process of its own, but for those of the suite's own environment.
    #[must_use]
    pub fn each_in_its_own_process(mut self) -> Self {
        self.fork = Err("the script says so".into());
        self.orders = Orders::Apart;
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
    /// What is changed about environments that are opened from now on.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        self.in_force.clone()
    }

    /// Every call so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        locked(&self.state).calls.clone()
    }

    /// Every execution so far, in order.
    #[must_use]
    pub fn runs(&self) -> Vec<ScriptedRun> {
        let calls = self.calls().into_iter();
        calls.filter_map(|call| if let Call::Ran(ran) = call { Some(ran) } else { None }).collect()
    }

    /// Every execution of one test so far, in order.
    #[must_use]
    pub fn runs_of(&self, test: &str) -> Vec<ScriptedRun> {
        self.runs().into_iter().filter(|ran| ran.test.as_str() == test).collect()
    }
}
