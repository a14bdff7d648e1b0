//! `verify`: run a test that was mended until clean runs prove it, or a failure refutes it.
//!
//! The test runs as it used to fail: a victim after its polluters, a brittle test alone, each time
//! in a fresh environment. One such run of an order is a [`Replay`]. What copies of the interpreter
//! say is confirmed in new processes before it is called fixed. A test that fails from the first
//! run on is looked at once more where it used to pass, because a test that fails everywhere is
//! broken, not flaky. Where a lever is known to make it fail, it runs alone under that lever, and where
//! it used to pass is without it.

use std::time::Duration;

use flakeproof_core::{
    ALWAYS, Execution, Failure, FixEnd, FixTest, FixVerdict, Isolation, Outcome, Shuffle, Tally,
    TestId,
};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

use crate::cause::UnderLever;

/// So many runs in a row may say nothing, because the test is skipped or not reached.
const MOST_SILENT: u32 = 3;
/// So many orders are confirmed in new processes.
const MOST_CONFIRMED: usize = 5;

/// What to prove.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The orders in which the test used to fail, itself last; at least one.
    pub orders: Vec<Vec<TestId>>,
    /// An order in which it used to pass, if the order is what made it fail.
    pub control: Option<Vec<TestId>>,
    /// What decided the orders that the language leaves open where it failed, if not the runtime.
    pub shuffle: Option<Shuffle>,
    /// The lever that makes it fail, if one is known.
    pub under: Option<UnderLever>,
    /// The rate to test against, and how sure to be.
    pub runs: FixTest,
    /// How fresh environments are made.
    pub isolation: Isolation,
    /// How long to go on.
    pub budget: Option<Duration>,
}

/// What was found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// The test's runs in orders in which it used to fail.
    pub runs: FixTest,
    /// Tests run, those before it included.
    pub executions: u64,
    /// What is said; `None` if nothing can be.
    pub verdict: Option<FixVerdict>,
    /// Why it ended.
    pub end: FixEnd,
    /// The first failure.
    pub failure: Option<Failure>,
    /// The order that the first failure was seen in.
    pub failing: Option<Vec<TestId>>,
    /// What ended the process before the test ran, if that was it.
    pub ended_by: Option<TestId>,
}

/// What is told while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyEvent {
    /// A run ended.
    Ran(Tally),
    /// What copies have shown is confirmed in so many new processes.
    Confirming(usize),
}

/// Run a test until it is proven to be mended or not.
///
/// # Errors
/// When the runner itself breaks; what tests do is never an error.
pub fn verify(
    adapter: &dyn Adapter,
    claim: &Claim,
    clock: &dyn Fn() -> Duration,
    cancel: &Cancel,
    sink: &mut dyn FnMut(VerifyEvent),
) -> Result<Verified> {
    let verified = Verified {
        runs: claim.runs,
        executions: 0,
        verdict: None,
        end: FixEnd::Decided,
        failure: None,
        failing: None,
        ended_by: None,
    };
    let mut proof = Proof { adapter, claim, clock, cancel, sink, verified };
    match proof.decide() {
        Ok(verdict) => proof.verified.verdict = Some(verdict),
        Err(Stop::Early(end)) => {
            proof.verified.end = end;
            // A failure is proof, whenever it came.
            proof.verified.verdict = proof.verified.runs.verdict().filter(|it| !is_fixed(*it));
        }
        Err(Stop::Trouble(error)) => return Err(error),
    }
    Ok(proof.verified)
}

fn is_fixed(verdict: FixVerdict) -> bool {
    match verdict {
        FixVerdict::Fixed => true,
        FixVerdict::StillFlaky | FixVerdict::AlwaysFails => false,
    }
}

/// Whether the lever that makes a test fail is pulled, where there is one.
#[derive(Clone, Copy)]
enum Pulled {
    Yes,
    No,
}

/// Why a proof stops without a verdict.
enum Stop {
    Early(FixEnd),
    Trouble(Error),
}

/// A proof under way.
struct Proof<'a> {
    adapter: &'a dyn Adapter,
    claim: &'a Claim,
    clock: &'a dyn Fn() -> Duration,
    cancel: &'a Cancel,
    sink: &'a mut dyn FnMut(VerifyEvent),
    verified: Verified,
}

impl Proof<'_> {
    fn decide(&mut self) -> Result<FixVerdict, Stop> {
        let orders = &self.claim.orders;
        let mut turns = orders.iter().cycle();
        let verdict = loop {
            if let Some(verdict) = self.verified.runs.verdict() {
                break verdict;
            }
            let Some(order) = turns.next() else { return Err(Stop::Early(FixEnd::NotReached)) };
            self.count(order, self.claim.isolation)?;
        };
        if is_fixed(verdict) && self.claim.under.is_some() {
            return self.confirm_without_the_lever();
        }
        if is_fixed(verdict) && self.claim.isolation == Isolation::Fork {
            return self.confirm();
        }
        if is_fixed(verdict) { Ok(verdict) } else { self.look_again() }
    }

    /// What was seen in copies must hold in new processes, too.
    fn confirm(&mut self) -> Result<FixVerdict, Stop> {
        let orders = &self.claim.orders[..self.claim.orders.len().min(MOST_CONFIRMED)];
        (self.sink)(VerifyEvent::Confirming(orders.len()));
        for order in orders {
            if self.count(order, Isolation::Spawn)? {
                return Ok(FixVerdict::StillFlaky);
            }
        }
        Ok(FixVerdict::Fixed)
    }

    /// A test that passes under the lever now and fails without it is not mended.
    fn confirm_without_the_lever(&mut self) -> Result<FixVerdict, Stop> {
        let order = self.claim.orders.first().map(Vec::as_slice).unwrap_or_default();
        for _ in 0..ALWAYS {
            let (has_failed, failure) = self.run_with(order, self.claim.isolation, Pulled::No)?;
            if has_failed {
                (self.verified.failure, self.verified.failing) = (failure, Some(order.to_vec()));
                self.verified.runs.observe(true);
                return Ok(FixVerdict::StillFlaky);
            }
        }
        Ok(FixVerdict::Fixed)
    }

    /// Whether a test that failed is broken: it never passed, neither here nor where it used to.
    fn look_again(&mut self) -> Result<FixVerdict, Stop> {
        let is_broken = match &self.claim.control {
            _ if self.claim.under.is_some() => self.fails_without_the_lever()?,
            _ if self.verified.runs.tally().failures < self.verified.runs.tally().runs => false,
            Some(control) => {
                let mut failures = 0;
                while failures < ALWAYS && self.run(control, self.claim.isolation)?.0 {
                    failures += 1;
                }
                failures == ALWAYS
            }
            None => {
                let order = self.claim.orders.first().map(Vec::as_slice).unwrap_or_default();
                let enough = self.claim.runs.failures_of_a_broken_test();
                let mut has_failed = true;
                while has_failed && self.verified.runs.tally().runs < enough {
                    has_failed = self.count(order, self.claim.isolation)?;
                }
                has_failed
            }
        };
        Ok(if is_broken { FixVerdict::AlwaysFails } else { FixVerdict::StillFlaky })
    }

    /// Whether a test that fails under its lever fails each time without it, too.
    fn fails_without_the_lever(&mut self) -> Result<bool, Stop> {
        let order = self.claim.orders.first().map(Vec::as_slice).unwrap_or_default();
        for _ in 0..ALWAYS {
            if !self.run_with(order, self.claim.isolation, Pulled::No)?.0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Run an order and count how its last test ends; whether it failed.
    fn count(&mut self, order: &[TestId], isolation: Isolation) -> Result<bool, Stop> {
        let (has_failed, failure) = self.run(order, isolation)?;
        self.verified.runs.observe(has_failed);
        if has_failed && self.verified.failing.is_none() {
            (self.verified.failure, self.verified.failing) = (failure, Some(order.to_vec()));
        }
        (self.sink)(VerifyEvent::Ran(self.verified.runs.tally()));
        Ok(has_failed)
    }

    /// Run an order until its last test says something: whether it failed, and how.
    fn run(
        &mut self,
        order: &[TestId],
        isolation: Isolation,
    ) -> Result<(bool, Option<Failure>), Stop> {
        self.run_with(order, isolation, Pulled::Yes)
    }

    fn run_with(
        &mut self,
        order: &[TestId],
        isolation: Isolation,
        pulled: Pulled,
    ) -> Result<(bool, Option<Failure>), Stop> {
        for _ in 0..MOST_SILENT {
            self.may_go_on()?;
            let replayed = match (&self.claim.under, order.last(), pulled) {
                (Some(under), Some(test), Pulled::Yes) => under.replay(self.adapter, test),
                (Some(under), Some(test), Pulled::No) => under.replay_without(self.adapter, test),
                _ => replay(self.adapter, order, isolation, self.claim.shuffle.as_ref()),
            };
            let Replay { executions, last, ended_by } = replayed.map_err(|error| match error {
                Error::Cancelled => Stop::Early(FixEnd::Interrupted),
                error => Stop::Trouble(error),
            })?;
            self.verified.executions += u64::from(executions);
            self.verified.ended_by = ended_by;
            match last.map(|it| (it.outcome, it.failure)) {
                Some((Outcome::Skipped, _)) | None => {}
                Some((outcome, failure)) => return Ok((outcome.is_failure(), failure)),
            }
        }
        Err(Stop::Early(FixEnd::NotReached))
    }

    fn may_go_on(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            Err(Stop::Early(FixEnd::Interrupted))
        } else if self.claim.budget.is_some_and(|budget| (self.clock)() >= budget) {
            Err(Stop::Early(FixEnd::BudgetSpent))
        } else {
            Ok(())
        }
    }
}

/// One replay of an order.
#[derive(Debug, Clone)]
pub struct Replay {
    /// Tests that ran.
    pub executions: u32,
    /// How the last test of the order ended, if it ran.
    pub last: Option<Execution>,
    /// The test that took the environment with it before the last one could run.
    pub ended_by: Option<TestId>,
}

/// Run the order once; what matters is how its last test ends.
///
/// # Errors
/// When the runner itself breaks.
pub fn replay(
    adapter: &dyn Adapter,
    order: &[TestId],
    isolation: Isolation,
    shuffle: Option<&Shuffle>,
) -> Result<Replay> {
    let mut environment = match (isolation, shuffle) {
        (_, Some(shuffle)) => expecting(adapter.open_shuffled(shuffle)?, order)?,
        // A single test is alone only in a process of its own.
        (Isolation::Same, None) if order.len() > 1 => adapter.reopen(order, Then::End)?,
        (Isolation::Same | Isolation::Spawn, None) => {
            expecting(adapter.open(Isolation::Spawn)?, order)?
        }
        (Isolation::Fork, None) => expecting(adapter.open(Isolation::Fork)?, order)?,
    };
    let mut executions = 0;
    let mut last = None;
    for (at, test) in order.iter().enumerate() {
        let execution = environment.run(test, Probe::attempt(1))?;
        executions += 1;
        let is_gone = execution.outcome.ends_environment();
        if at + 1 == order.len() {
            last = Some(execution);
        }
        if is_gone {
            let ended_by = last.is_none().then(|| test.clone());
            return Ok(Replay { executions, last, ended_by });
        }
    }
    // Its teardown may fail or hang; the test's outcome stands, and it is killed.
    let _ = environment.close();
    Ok(Replay { executions, last, ended_by: None })
}

fn expecting(
    mut environment: Box<dyn Environment>,
    order: &[TestId],
) -> Result<Box<dyn Environment>> {
    environment.expect(order, Then::End)?;
    Ok(environment)
}
