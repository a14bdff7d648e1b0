//! The adapter and its environments, in which tests do what their script says.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flakeproof_core::{
    Dependencies, Execution, Failure, Isolation, Location, Outcome, Phase, Piece, Shuffle,
    Signature, State, Suite, SuiteTest, Surroundings, TestId,
};
use flakeproof_runner::levers::Intervention;
use flakeproof_runner::{
    Adapter, Capabilities, Environment, Error, Granularity, LONGEST_COMMAND, OpenOrders, Orders,
    Probe, Result, Then,
};

use super::script::{Call, Moment, Script, Scripted, ScriptedRun, Trouble};

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
        if self.refused.iter().any(|under| under(&self.in_force.now())) {
            return Err(Error::EndedEarly {
                command: "scripted".into(),
                status: "exit code 1".into(),
                code: Some(1),
                output: "the script says so".into(),
                reached_framework: false,
            });
        }
        Ok(Box::new(self.environment(how, None)))
    }

    fn open_orders(&self) -> OpenOrders {
        self.open_orders.clone()
    }

    fn open_shuffled(&self, shuffle: &Shuffle) -> Result<Box<dyn Environment>> {
        Ok(Box::new(self.environment(Isolation::Spawn, Some(shuffle.clone()))))
    }

    fn calls_shuffled(&self, test: &TestId, _shuffle: &Shuffle) -> Result<Vec<String>> {
        Ok(self.scripts.get(test).map(|it| it.shuffled_calls.clone()).unwrap_or_default())
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
            likeness: self.likeness,
            snapshot: true,
            orders: self.orders,
            piece: Piece::Test,
            dependencies: true,
            features: false,
            state: self.sees_processes,
            examines_servers: false,
        }
    }

    fn runnable(&self, order: &[TestId]) -> Vec<TestId> {
        match self.orders {
            Orders::Seeded => as_shuffled(&self.tests, order),
            Orders::Any | Orders::AnyFresh | Orders::ByFile | Orders::Own | Orders::Apart => {
                order.to_vec()
            }
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

impl Scripted {
    fn environment(&self, how: Isolation, shuffle: Option<Shuffle>) -> ScriptedEnvironment {
        ScriptedEnvironment {
            intervention: self.in_force.now(),
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
            shuffle,
        }
    }
}

/// An environment of a [`Scripted`] adapter.
#[derive(Clone)]
struct ScriptedEnvironment {
    intervention: Intervention,
    number: usize,
    isolation: Isolation,
    tests: Vec<TestId>,
    scripts: BTreeMap<TestId, Arc<Script>>,
    state: Arc<Mutex<Shared>>,
    orders: Orders,
    order: Vec<TestId>,
    next: usize,
    is_running_ahead: bool,
    is_gone: bool,
    before: Vec<TestId>,
    failed: HashSet<TestId>,
    shuffle: Option<Shuffle>,
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
            shuffle: self.shuffle.as_ref(),
            intervention: &self.intervention,
        };
        let mut outcomes = script.behaviours.iter().map(|behaviour| behaviour(&moment));
        outcomes.find(|outcome| *outcome != Outcome::Passed).unwrap_or(Outcome::Passed)
    }

    fn finish(&mut self, test: &TestId, outcome: Outcome) {
        let mut state = locked(&self.state);
        *state.times.entry(test.clone()).or_default() += 1;
        state.clock += 1;
        if self.orders != Orders::Apart || self.isolation == Isolation::Same {
            self.before.push(test.clone());
        }
        if outcome.is_failure() {
            self.failed.insert(test.clone());
        }
        self.is_gone = outcome.ends_environment();
        self.is_running_ahead = !outcome.is_failure() && self.next < self.order.len();
    }

    /// What the process of this environment has touched up to this test.
    fn touched(&self, test: &TestId) -> Dependencies {
        let ran = self.before.iter().chain(std::iter::once(test));
        let mut touched = Dependencies::default();
        for test in ran {
            let Some(script) = self.scripts.get(test) else { continue };
            script.dependencies.iter().cloned().for_each(|code| touched.add(code));
            if self.failed.contains(test) {
                touched.code.extend(script.code_of_failures.iter().cloned());
            }
        }
        touched
    }

    fn failure(&self, test: &TestId, outcome: Outcome, script: &Script) -> Option<Failure> {
        if !outcome.is_failure() || script.has_no_failure_text {
            return None;
        }
        let under = script.message_under.iter().find(|(under, _)| under(&self.intervention));
        let said = under
            .map(|(_, message)| message)
            .or(script.message_in.get(&self.isolation))
            .or(script.message.as_ref());
        let message = said.cloned().unwrap_or_else(|| format!("{outcome}"));
        let own = Location { file: test.to_string(), line: None };
        let location = said.is_none().then_some(own);
        Some(Failure {
            phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
            signature: Signature::compute(&message, location.as_ref()),
            text: message.clone(),
            message,
            location,
        })
    }
}

/// So many tests a scripted shuffle brings into any order.
const FEW: usize = 3;

/// Tests in an order of a scripted shuffle: all but the last by a digest of their names, if they are
/// many and do not stand as in the suite.
fn as_shuffled(suite: &[TestId], order: &[TestId]) -> Vec<TestId> {
    let position = |test: &TestId| suite.iter().position(|it| it == test);
    let is_own = order.windows(2).all(|two| position(&two[0]) < position(&two[1]));
    let mut shuffled = order.to_vec();
    let Some(last) = shuffled.pop().filter(|_| order.len() > FEW && !is_own) else {
        return order.to_vec();
    };
    shuffled.sort_by_key(|test| *blake3::hash(test.as_str().as_bytes()).as_bytes());
    shuffled.push(last);
    shuffled
}

impl Environment for ScriptedEnvironment {
    fn expect(&mut self, upcoming: &[TestId], then: Then) -> Result<()> {
        let position = |test: &TestId| self.tests.iter().position(|it| it == test);
        let is_own = upcoming.windows(2).all(|two| position(&two[0]) < position(&two[1]));
        if self.orders == Orders::Own && !is_own {
            let (what, why) = ("this order".into(), "the script says so".into());
            return Err(Error::NotPossible { what, why });
        }
        if self.orders == Orders::Seeded && as_shuffled(&self.tests, upcoming) != upcoming {
            let (what, why) = ("this order".into(), "no seed gives it".into());
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
        let mut ran = ScriptedRun {
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
            failure: self.failure(test, outcome, &script),
            output: script.output_in.get(&self.isolation).cloned().unwrap_or_default(),
            dependencies: is_probed.then(|| self.touched(test)),
            ..Execution::new(test.clone(), outcome, Duration::from_millis(1))
        })
    }

    fn snapshot(&mut self) -> Result<Box<dyn Environment>> {
        let number = locked(&self.state).open(self.isolation);
        Ok(Box::new(Self { number, ..self.clone() }))
    }

    fn look(&mut self) -> Result<State> {
        let mut picture = State::default();
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

/// What all environments of one adapter know.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) calls: Vec<Call>,
    environments: usize,
    times: HashMap<TestId, u32>,
    clock: u32,
    asked: HashMap<(TestId, Isolation), u32>,
}

impl Shared {
    fn open(&mut self, isolation: Isolation) -> usize {
        let environment = self.environments;
        self.environments += 1;
        self.calls.push(Call::Opened { environment, isolation });
        environment
    }
}

pub(super) fn locked(state: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
