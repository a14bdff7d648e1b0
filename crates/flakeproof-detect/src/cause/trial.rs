//! One run of a test under an intervention, in processes that no other run had.

use std::sync::Arc;
use std::time::Duration;

use flakeproof_core::{Execution, Isolation, Outcome, TestId};
use flakeproof_runner::levers::{Company, InForce, Intervention, Machine, Pressure};
use flakeproof_runner::{Adapter, Environment, Error, Probe, Result, Then};

use crate::verify::Replay;

/// A lever under which a test is run again, because that makes it fail.
#[derive(Debug, Clone)]
pub struct UnderLever {
    /// What is in force for the processes of the adapter.
    pub in_force: InForce,
    /// What the lever does.
    pub intervention: Intervention,
    /// The ids of the whole suite, in its order.
    pub suite: Vec<TestId>,
    /// Where the files lie that the intervention points to.
    pub machine: Arc<Machine>,
}

impl UnderLever {
    /// Run the test once under the lever, in processes that no other run had.
    ///
    /// # Errors
    /// When the runner itself breaks.
    pub fn replay(&self, adapter: &dyn Adapter, test: &TestId) -> Result<Replay> {
        self.run(adapter, test, &self.intervention)
    }

    /// Run it once without the lever, in the same way.
    ///
    /// # Errors
    /// When the runner itself breaks.
    pub fn replay_without(&self, adapter: &dyn Adapter, test: &TestId) -> Result<Replay> {
        self.run(adapter, test, &Intervention::Nothing)
    }

    fn run(
        &self,
        adapter: &dyn Adapter,
        test: &TestId,
        intervention: &Intervention,
    ) -> Result<Replay> {
        let lab = Laboratory { adapter, in_force: &self.in_force, suite: &self.suite };
        let trial = lab.run(test, intervention)?;
        let executions = u32::try_from(trial.executions).unwrap_or(u32::MAX);
        Ok(Replay { executions, last: trial.execution, ended_by: None })
    }
}

/// Where tests run, and what is in force there.
pub(super) struct Laboratory<'a> {
    pub(super) adapter: &'a dyn Adapter,
    pub(super) in_force: &'a InForce,
    /// The ids of the whole suite, in its order.
    pub(super) suite: &'a [TestId],
}

/// What a run of a test came to.
pub(super) struct Trial {
    /// How the test ended; `None` if it was skipped, or never reached.
    pub(super) execution: Option<Execution>,
    /// Tests run, those before it and beside it included.
    pub(super) executions: u64,
}

impl Laboratory<'_> {
    /// Run a test under an intervention.
    ///
    /// # Errors
    /// When the runner itself does not work, or the user interrupts.
    pub(super) fn run(&self, test: &TestId, intervention: &Intervention) -> Result<Trial> {
        let _standing = self.in_force.put(intervention.clone());
        let (executions, execution) = match intervention {
            Intervention::Company(Company::Itself) => self.run_beside_itself(test),
            Intervention::Company(Company::ItselfInTurn) => self.run_twice(test),
            Intervention::Company(company) => self.run_after(test, *company),
            _ => self.run_alone(test, intervention),
        }?;
        let execution = execution.filter(|it| it.outcome != Outcome::Skipped);
        Ok(Trial { execution, executions })
    }

    fn run_alone(
        &self,
        test: &TestId,
        intervention: &Intervention,
    ) -> Result<(u64, Option<Execution>)> {
        let mut environment = self.ready(test, intervention)?;
        let pressure = Pressure::begin(intervention);
        let execution = environment.run(test, Probe::attempt(1));
        drop(pressure);
        let execution = execution?;
        close(environment, &execution);
        Ok((1, Some(execution)))
    }

    /// A process of its own, as ready to run the test as it can be.
    fn ready(&self, test: &TestId, intervention: &Intervention) -> Result<Box<dyn Environment>> {
        let mut environment = match intervention {
            Intervention::OpenOrders(shuffle) => self.adapter.open_shuffled(shuffle)?,
            _ => self.adapter.open(Isolation::Spawn)?,
        };
        environment.expect(std::slice::from_ref(test), Then::End)?;
        environment.get_ready()?;
        Ok(environment)
    }

    /// Two copies at once; the one that fails is the one that counts.
    fn run_beside_itself(&self, test: &TestId) -> Result<(u64, Option<Execution>)> {
        let ready = || self.ready(test, &Intervention::Nothing);
        let (mut one, mut two) = (ready()?, ready()?);
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| two.run(test, Probe::attempt(1)));
            (one.run(test, Probe::attempt(1)), other.join())
        });
        let first = first?;
        let second = second.unwrap_or_else(|_| {
            Err(Error::EnvironmentLost { cause: "the thread that ran it is gone".into() })
        })?;
        close(one, &first);
        close(two, &second);
        let failed = if first.outcome.is_failure() { first } else { second };
        Ok((2, Some(failed)))
    }

    /// Two copies one after the other, each in a process of its own; the one that fails is the one that
    /// counts.
    fn run_twice(&self, test: &TestId) -> Result<(u64, Option<Execution>)> {
        let (mut executions, mut last) = (0, None);
        while executions < 2 && !last.as_ref().is_some_and(|it: &Execution| it.outcome.is_failure())
        {
            let (one, execution) = self.run_alone(test, &Intervention::Nothing)?;
            executions += one;
            last = execution;
        }
        Ok((executions, last))
    }

    fn run_after(&self, test: &TestId, company: Company) -> Result<(u64, Option<Execution>)> {
        let order = self.order(test, company).ok_or_else(|| Error::NotPossible {
            what: "another order".into(),
            why: "no other test of the suite comes there".into(),
        })?;
        let mut environment = match company {
            Company::SuiteBefore => self.adapter.reopen(&order, Then::End)?,
            Company::SuiteReversed | Company::Itself | Company::ItselfInTurn => {
                let mut environment = self.adapter.open(Isolation::Spawn)?;
                environment.expect(&order, Then::End)?;
                environment
            }
        };
        let mut executions = 0;
        for other in &order {
            let execution = environment.run(other, Probe::attempt(1))?;
            executions += 1;
            if other == test {
                close(environment, &execution);
                return Ok((executions, Some(execution)));
            }
            if execution.outcome.ends_environment() {
                break;
            }
        }
        Ok((executions, None))
    }

    /// The tests that run before a test, and the test; `None` if there are no others.
    pub(super) fn order(&self, test: &TestId, company: Company) -> Option<Vec<TestId>> {
        let at = self.suite.iter().position(|it| it == test)?;
        let others: Vec<TestId> = match company {
            Company::SuiteBefore => self.suite[..at].to_vec(),
            Company::SuiteReversed => self.suite[at + 1..].iter().rev().cloned().collect(),
            Company::Itself | Company::ItselfInTurn => Vec::new(),
        };
        (!others.is_empty()).then(|| {
            let order = [others, vec![test.clone()]].concat();
            match company {
                Company::SuiteBefore => order,
                Company::SuiteReversed | Company::Itself | Company::ItselfInTurn => {
                    self.adapter.runnable(&order)
                }
            }
        })
    }

    /// Tests other than this one, the nearest first.
    pub(super) fn neighbours(&self, test: &TestId) -> Vec<TestId> {
        let Some(at) = self.suite.iter().position(|it| it == test) else { return Vec::new() };
        let mut others: Vec<(usize, &TestId)> =
            self.suite.iter().enumerate().filter(|(index, _)| *index != at).collect();
        others.sort_by_key(|(index, _)| index.abs_diff(at));
        others.into_iter().map(|(_, test)| test.clone()).collect()
    }
}

fn close(environment: Box<dyn Environment>, execution: &Execution) {
    if !execution.outcome.ends_environment() {
        // Its teardown may fail or hang; the test's outcome stands, and it is killed.
        let _ = environment.close();
    }
}

/// Whether an intervention makes a test so slow that a deadline says nothing, given what it takes plainly.
pub(super) fn is_too_slow_for(
    intervention: &Intervention,
    plain: Duration,
    deadline: Option<Duration>,
) -> bool {
    let factor = match intervention {
        Intervention::Quota { running, stopped } => {
            let share = (*running + *stopped).as_secs_f64() / running.as_secs_f64().max(1e-3);
            2.0 * share
        }
        Intervention::Load(_) | Intervention::HeldThreads(_) | Intervention::HeldCalls(_) => 20.0,
        Intervention::OneCore | Intervention::Company(_) => 10.0,
        _ => 4.0,
    };
    deadline.is_some_and(|deadline| plain.mul_f64(factor) > deadline)
}

/// Whether an intervention may stop a runner from working, so that a failure need not be the test's.
pub(super) fn may_break_a_runner(intervention: &Intervention) -> bool {
    match intervention {
        Intervention::Nothing
        | Intervention::OneCore
        | Intervention::FixedAddresses
        | Intervention::Quota { .. }
        | Intervention::Load(_)
        | Intervention::HeldThreads(_)
        | Intervention::Company(_) => false,
        Intervention::Variables(_)
        | Intervention::NewFolder(_)
        | Intervention::Umask(_)
        | Intervention::Descriptors(_)
        | Intervention::Memory(_)
        | Intervention::HeldCalls(_)
        | Intervention::IgnoredSignals(_)
        | Intervention::Namespaces(_)
        | Intervention::Clock { .. }
        | Intervention::OpenOrders(_)
        | Intervention::SeededNumbers(_)
        | Intervention::FilesInPlace(_) => true,
    }
}

/// Whether two runs under the same intervention may end differently because of it.
pub(super) fn is_left_to_chance(intervention: &Intervention) -> bool {
    matches!(
        intervention,
        Intervention::OneCore
            | Intervention::Quota { .. }
            | Intervention::Load(_)
            | Intervention::HeldThreads(_)
            | Intervention::Company(_)
    )
}
