//! `hunt --provoke`: which tests that always pass here would fail somewhere else.
//!
//! The whole suite runs once under each of a few cheap settings of levers. A test that fails then, and
//! always passed before, is only a candidate: each gets an experiment of its own with that one setting, in
//! new processes and in turns with plain runs, exactly as `cause` does it. What is proven is *latent*: it
//! never failed under the conditions under which it passes, so that nothing shows it to be flaky.

use std::collections::BTreeSet;
use std::time::Duration;

use flakeproof_core::{
    Cause, CauseAnswer, CauseProgress, Isolation, LeverName, NotTried, Outcome, Seed, TestId,
};
use flakeproof_runner::levers::{self, InForce, Intervention, Pressure, Setting};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

use crate::cause::{Question, Tries, find_cause};

/// What to provoke, and with what.
#[derive(Debug)]
pub struct Provocation<'a> {
    /// The ids of the whole suite, in its order.
    pub suite: &'a [TestId],
    /// Tests that always passed.
    pub steady: &'a BTreeSet<TestId>,
    /// The settings to try, each with its lever.
    pub settings: Vec<(LeverName, Setting)>,
    /// The seed of the lots.
    pub seed: Seed,
    /// When to stop, on the clock.
    pub until: Option<Duration>,
    /// When a run of a test is killed.
    pub timeout: Option<Duration>,
}

/// What was provoked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provoked {
    /// Tests that fail under a lever and not without it, in the order in which they were found.
    pub latent: Vec<Cause>,
    /// Tests that failed without a lever while that was looked at: they may be flaky.
    pub failed_plainly: Vec<TestId>,
    /// Tests that failed once under a lever, and not so that it could be proven.
    pub unproven: Vec<TestId>,
    /// Settings under which the suite did not run, and why.
    pub not_tried: Vec<NotTried>,
    /// Tests run.
    pub executions: u64,
    /// Whether there was time for everything.
    pub is_whole: bool,
}

/// What is told while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvokeEvent {
    /// The suite runs under a setting.
    Suite(LeverName, String),
    /// A test failed under it, and that has to be proven.
    Proving(TestId),
}

/// Look for tests that fail under a lever.
///
/// # Errors
/// When the runner itself breaks without anything changed; what tests do is never an error.
pub fn provoke(
    adapter: &dyn Adapter,
    in_force: &InForce,
    provocation: &Provocation<'_>,
    clock: &dyn Fn() -> Duration,
    cancel: &Cancel,
    sink: &mut dyn FnMut(ProvokeEvent),
) -> Result<Provoked> {
    let mut provoked = Provoked { is_whole: true, ..Provoked::default() };
    let is_over =
        || cancel.is_cancelled() || provocation.until.is_some_and(|until| clock() >= until);
    let mut known: BTreeSet<TestId> = BTreeSet::new();
    for (name, setting) in &provocation.settings {
        if is_over() {
            provoked.is_whole = false;
            break;
        }
        sink(ProvokeEvent::Suite(*name, setting.value.clone()));
        let screened = screen(adapter, in_force, provocation, setting, &is_over);
        let screened = match screened {
            Ok(screened) => screened,
            Err(Error::Cancelled) => {
                provoked.is_whole = false;
                break;
            }
            Err(error) => {
                let why = format!("the suite does not run under {}: {error}", setting.value);
                provoked.not_tried.push(NotTried { name: *name, why });
                continue;
            }
        };
        provoked.executions += screened.executions;
        for test in screened.failed {
            if is_over() {
                provoked.is_whole = false;
                break;
            }
            if !known.contains(&test) {
                sink(ProvokeEvent::Proving(test.clone()));
                prove(adapter, in_force, provocation, (*name, setting), &test, clock, cancel)?
                    .add_to(&mut provoked, &mut known, test);
            }
        }
    }
    // One that was proven in the end is not unproven.
    let latent: BTreeSet<TestId> = provoked.latent.iter().map(|it| it.test.clone()).collect();
    provoked.unproven.retain(|test| !latent.contains(test));
    provoked.unproven.sort();
    provoked.unproven.dedup();
    Ok(provoked)
}

/// What a run of the suite under a setting shows.
struct Screened {
    failed: Vec<TestId>,
    executions: u64,
}

fn screen(
    adapter: &dyn Adapter,
    in_force: &InForce,
    provocation: &Provocation<'_>,
    setting: &Setting,
    is_over: &dyn Fn() -> bool,
) -> Result<Screened> {
    let _standing = in_force.put(setting.intervention.clone());
    let order = match setting.intervention {
        Intervention::Company(_) => {
            adapter.runnable(&provocation.suite.iter().rev().cloned().collect::<Vec<_>>())
        }
        _ => provocation.suite.to_vec(),
    };
    let mut environment = opened(adapter, &order, setting)?;
    let _pressure = Pressure::begin(&setting.intervention);
    let mut screened = Screened { failed: Vec::new(), executions: 0 };
    for (at, test) in order.iter().enumerate() {
        if is_over() {
            return Ok(screened);
        }
        let execution = environment.run(test, Probe::attempt(1))?;
        screened.executions += 1;
        let is_slow = execution.outcome == Outcome::TimedOut;
        if execution.outcome.is_failure() && !is_slow && provocation.steady.contains(test) {
            screened.failed.push(test.clone());
        }
        if execution.outcome.ends_environment() {
            let rest = &order[at + 1..];
            if rest.is_empty() {
                return Ok(screened);
            }
            environment = spawned(adapter, rest)?;
        }
    }
    // Its teardown may fail or hang; what was seen stands, and it is killed.
    let _ = environment.close();
    Ok(screened)
}

fn opened(
    adapter: &dyn Adapter,
    order: &[TestId],
    setting: &Setting,
) -> Result<Box<dyn Environment>> {
    match setting.intervention {
        Intervention::Company(_) => spawned(adapter, order),
        _ => adapter.reopen(order, Then::End),
    }
}

fn spawned(adapter: &dyn Adapter, order: &[TestId]) -> Result<Box<dyn Environment>> {
    let mut environment = adapter.open(Isolation::Spawn)?;
    environment.expect(order, Then::End)?;
    Ok(environment)
}

/// What the experiment with a candidate says.
enum Proven {
    Latent(Box<Cause>, u64),
    FailsPlainly(u64),
    Nothing(u64),
}

impl Proven {
    fn add_to(self, provoked: &mut Provoked, known: &mut BTreeSet<TestId>, test: TestId) {
        let executions = match self {
            Self::Latent(cause, executions) => {
                known.insert(test);
                provoked.latent.push(*cause);
                executions
            }
            Self::FailsPlainly(executions) => {
                known.insert(test.clone());
                provoked.failed_plainly.push(test);
                executions
            }
            Self::Nothing(executions) => {
                provoked.unproven.push(test);
                executions
            }
        };
        provoked.executions += executions;
    }
}

fn prove(
    adapter: &dyn Adapter,
    in_force: &InForce,
    provocation: &Provocation<'_>,
    (name, setting): (LeverName, &Setting),
    test: &TestId,
    clock: &dyn Fn() -> Duration,
    cancel: &Cancel,
) -> Result<Proven> {
    let Some(lever) = levers::by_name(name) else { return Ok(Proven::Nothing(0)) };
    let question = Question {
        test: test.clone(),
        suite: provocation.suite.to_vec(),
        tries: vec![Tries { lever, settings: vec![setting.clone()] }],
        not_tried: Vec::new(),
        known: Vec::new(),
        seed: provocation.seed,
        budget: provocation.until,
        timeout: provocation.timeout,
        progress: CauseProgress::default(),
    };
    let found = find_cause(adapter, in_force, &question, clock, cancel, &mut |_| {})?;
    let makes_it_fail = match found.cause.answer {
        CauseAnswer::CausedBy | CauseAnswer::RaisedBy => true,
        CauseAnswer::StabilisedBy | CauseAnswer::None | CauseAnswer::NotReproduced => false,
    };
    Ok(match (found.cause.plain.failures, makes_it_fail) {
        (0, true) => Proven::Latent(Box::new(found.cause), found.executions),
        (0, false) => Proven::Nothing(found.executions),
        (_, _) => Proven::FailsPlainly(found.executions),
    })
}
