//! Running a failing test on the code from before the change: the strongest answer to "is it mine?".
//!
//! What fails on both sides, at the same time and in the same way, is not the change's. What passes
//! there and fails here every time is. A test that is shown to be flaky and touches the change is run
//! there until it fails like this, or until it would have.

use std::time::Duration;

use flakeproof_core::{Attempt, Conditions, Execution, Isolation, Outcome, Stage, TestId};
use flakeproof_runner::{Adapter, Environment, Error, Granularity, Orders, Probe, Result, Then};

use super::case::{Case, Shown};
use super::experiments::BaseProject;
use super::in_order::OrderStage;
use super::{Event, fresh};

/// So often a flaky test is run on the base before it is said that it never failed there: one that
/// fails once in twenty runs shows itself with 95 %.
const RUNS_FOR_A_RATE: u32 = 60;
/// The same where each run is a new process.
const RUNS_IN_NEW_PROCESSES: u32 = 12;

/// How a case fared on the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BaseTrials {
    /// The revision, for people.
    pub(super) revision: String,
    pub(super) alone: Trials,
    pub(super) in_order: Trials,
    /// Why what ran there may not have been the base's code.
    pub(super) doubt: Option<String>,
}

/// How often a case passed and failed under some conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Trials {
    pub(super) passed: u32,
    /// It failed as it does on the head.
    pub(super) failed: u32,
    /// It failed in another way.
    pub(super) failed_otherwise: u32,
}

impl Trials {
    /// Whether it ran, and always passed.
    pub(super) fn only_passed(self) -> bool {
        self.passed > 0 && self.failed == 0 && self.failed_otherwise == 0
    }

    fn count(&mut self, case: &Case, execution: &Execution) {
        match execution.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped => {}
            _ if case.fails_alike(execution) => self.failed += 1,
            _ => self.failed_otherwise += 1,
        }
    }
}

/// The base, and the head to run in turns with it.
pub(super) struct BaseStage<'a> {
    pub(super) head: &'a OrderStage<'a>,
    pub(super) base: &'a BaseProject,
    /// When there is no more time, by the clock.
    pub(super) deadline: Duration,
}

impl BaseStage<'_> {
    /// Find out how the cases that are still open fare on the base.
    pub(super) fn compare(&self, cases: Vec<&mut Case>, sink: &mut dyn FnMut(Event)) -> Result<()> {
        sink(Event::Base(cases.len()));
        for case in cases {
            if self.head.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let mut trials =
                BaseTrials { revision: self.base.revision.clone(), ..BaseTrials::default() };
            match self.try_case(case, &mut trials, sink) {
                Ok(()) => case.base = Some(trials),
                Err(Error::Cancelled) if self.head.cancel.is_cancelled() => {
                    return Err(Error::Cancelled);
                }
                Err(Error::UnknownTest { .. } | Error::CannotCollect { .. }) => {
                    case.undecided.get_or_insert_with(|| {
                        format!("it is not there on the base ({})", self.base.revision)
                    });
                }
                Err(error) => {
                    case.undecided.get_or_insert_with(|| {
                        format!("it cannot be run on the base ({}): {error}", self.base.revision)
                    });
                }
            }
        }
        Ok(())
    }

    fn try_case(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let probe = Probe { dependencies: Granularity::File, ..Probe::attempt(1) };
        let first = self.alone(&case.test, Isolation::Spawn, probe)?;
        trials.doubt = self.doubt(&first);
        trials.alone.count(case, &first);
        match case.shows() {
            Shown::Broken => self.try_alone(case, trials, sink),
            Shown::OrderDependent => self.try_in_order(case, trials, sink),
            Shown::Flaky(conditions) => self.try_often(case, trials, conditions),
            Shown::PassesAlone | Shown::Nothing => Ok(()),
        }
    }

    /// In turns: there, here, there.
    fn try_alone(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        if !trials.alone.only_passed() || self.is_over() {
            return Ok(());
        }
        let number = case.next_number();
        let ran = fresh::run_alone(
            self.head.adapter,
            &case.test,
            Isolation::Spawn,
            Probe::attempt(number),
        )?;
        self.add(case, Stage::Fresh, ran.1, sink);
        if case.shows() == Shown::Broken {
            let again = self.alone(&case.test, Isolation::Spawn, Probe::attempt(2))?;
            trials.alone.count(case, &again);
        }
        Ok(())
    }

    /// The order there; if it passes, the order here once more.
    fn try_in_order(
        &self,
        case: &mut Case,
        trials: &mut BaseTrials,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let share = self.head.shares.get(case.place.0).map_or(&[][..], Vec::as_slice);
        let Some(at) = share.iter().position(|test| *test == case.test) else { return Ok(()) };
        let order = &share[..=at];
        // Its own order: the change may have moved tests, or removed one that cleaned up.
        let own = self.order_up_to(&case.test);
        let Some(there) = self.last_of_order(&*self.base.adapter, own)? else { return Ok(()) };
        trials.doubt = trials.doubt.take().or_else(|| self.doubt(&there));
        trials.in_order.count(case, &there);
        if trials.in_order.only_passed()
            && !self.is_over()
            && let Some(here) = self.last_of_order(self.head.adapter, order)?
        {
            self.add(case, Stage::Order, here, sink);
        }
        Ok(())
    }

    /// Until it fails there as it does here.
    fn try_often(
        &self,
        case: &Case,
        trials: &mut BaseTrials,
        conditions: Conditions,
    ) -> Result<()> {
        let (isolation, most) = match self.base.adapter.can().fork {
            Ok(()) => (Isolation::Fork, RUNS_FOR_A_RATE),
            Err(_) => (Isolation::Spawn, RUNS_IN_NEW_PROCESSES),
        };
        for number in 2..=most {
            if trials.alone.failed > 0 || self.is_over() {
                break;
            }
            let execution = self.alone(&case.test, isolation, Probe::attempt(number))?;
            trials.alone.count(case, &execution);
        }
        let has_failed = trials.alone.failed > 0;
        if conditions == Conditions::InOrder && !has_failed && !self.is_over() {
            let own = self.order_up_to(&case.test);
            if let Some(there) = self.last_of_order(&*self.base.adapter, own)? {
                trials.in_order.count(case, &there);
            }
        }
        Ok(())
    }

    fn alone(&self, test: &TestId, isolation: Isolation, probe: Probe) -> Result<Execution> {
        Ok(fresh::run_alone(&*self.base.adapter, test, isolation, probe)?.1)
    }

    /// Run an order in new processes, and give what its last test came to. A test that ends its
    /// process takes nothing else with it: as in the suite, the rest runs in another one.
    ///
    /// Where the runner takes an order it is measured, so that it is known whose code ran.
    fn last_of_order(&self, adapter: &dyn Adapter, order: &[TestId]) -> Result<Option<Execution>> {
        let takes_orders = adapter.can().orders != Orders::Apart;
        let dependencies = if takes_orders { Granularity::File } else { Granularity::Off };
        let probe = Probe { dependencies, ..Probe::attempt(1) };
        let mut environment: Option<Box<dyn Environment>> = None;
        let mut last = None;
        for (at, test) in order.iter().enumerate() {
            let live = match &mut environment {
                Some(live) => live,
                None if takes_orders => {
                    let opened = environment.insert(adapter.open(Isolation::Spawn)?);
                    opened.expect(&order[at..], Then::Open)?;
                    opened
                }
                None => environment.insert(adapter.reopen(&order[at..])?),
            };
            last = match live.run(test, probe) {
                Ok(execution) => Some(execution),
                Err(Error::UnknownTest { .. }) => None,
                Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            if last.as_ref().is_some_and(|execution| execution.outcome.ends_environment()) {
                environment = None;
            }
        }
        if let Some(environment) = environment {
            let _ = environment.close();
        }
        Ok(last)
    }

    /// The base's own order, up to a test.
    fn order_up_to(&self, test: &TestId) -> &[TestId] {
        let order = &self.base.order;
        order.iter().position(|it| it == test).map_or(&[], |at| &order[..=at])
    }

    /// Why an execution on the base may have run other code than the base's.
    fn doubt(&self, execution: &Execution) -> Option<String> {
        (self.base.foreign_code)(execution.dependencies.as_ref())
    }

    fn add(
        &self,
        case: &mut Case,
        stage: Stage,
        execution: Execution,
        sink: &mut dyn FnMut(Event),
    ) {
        let number = case.next_number();
        let isolation = Isolation::Spawn;
        let attempt = Attempt { stage, isolation, number, position: None, execution };
        sink(Event::Attempt(Box::new(attempt.clone())));
        case.add(attempt, &self.head.settings.rerun);
    }

    fn is_over(&self) -> bool {
        (self.head.clock)() >= self.deadline
    }
}
