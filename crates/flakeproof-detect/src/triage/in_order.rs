//! Rerunning in the suite's order, in new processes.
//!
//! A test that fails in the suite and passes alone is flaky, or the order makes it fail. The two are
//! told apart by running the order once more, from the start of new processes up to the last test in
//! question, once for all of them together. What still fails there is tried alone a few more times,
//! because chance is cheaper to see there, and then in order again while the budget lasts.

use std::collections::HashSet;
use std::time::Duration;

use flakeproof_core::{Attempt, Isolation, Outcome, Stage, TestId};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result};

use super::case::{Case, Shown};
use super::{Event, TriageSettings};

/// Runs of the order that tell something; what fails in all of them fails for the order.
const MOST_RUNS: u32 = 3;

/// So often a test is tried alone that failed in every rerun in the suite.
const SURE_ENOUGH: u32 = 2;

/// What is the same for all runs of the order.
pub(super) struct OrderStage<'a> {
    pub(super) adapter: &'a dyn Adapter,
    pub(super) settings: &'a TriageSettings,
    pub(super) cancel: &'a Cancel,
    pub(super) clock: &'a dyn Fn() -> Duration,
    /// The orders of the suite's own run, by worker.
    pub(super) shares: &'a [Vec<TestId>],
    /// How long the suite's own run took.
    pub(super) suite_took: Duration,
}

impl OrderStage<'_> {
    /// Rerun the order for all cases that pass alone.
    pub(super) fn rerun(&self, cases: &mut [Case], sink: &mut dyn FnMut(Event)) -> Result<()> {
        let budget = self.settings.evidence.order(self.suite_took);
        let begin = (self.clock)();
        let mut costs = self.suite_took;
        for run in 0..MOST_RUNS {
            let open = cases.iter().filter(|case| needs_the_order(case)).count();
            if open == 0 {
                return Ok(());
            }
            let spent = (self.clock)().saturating_sub(begin);
            // The first run is estimated by the whole suite, of which it is a part.
            if spent + costs.mul_f64(if run == 0 { 0.5 } else { 1.0 }) > budget {
                self.say_what_it_costs(cases, costs);
                return Ok(());
            }
            sink(Event::Stage(Stage::Order, open));
            for (worker, share) in self.shares.iter().enumerate() {
                self.rerun_share(worker, share, cases, sink)?;
            }
            costs = (self.clock)().saturating_sub(begin + spent);
            if run == 0 {
                self.rerun_alone(cases, sink)?;
            }
            if !cases.iter().any(|case| needs_the_order(case) && may_be_chance(case)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn say_what_it_costs(&self, cases: &mut [Case], costs: Duration) {
        for case in cases.iter_mut().filter(|case| case.is_open()) {
            if case.shows() == Shown::PassesAlone {
                case.undecided.get_or_insert(format!(
                    "it passes alone; the suite's order once more would tell whether it is flaky, \
                     and takes about {:.0} s (`--evidence-budget`)",
                    costs.as_secs_f64().max(1.0)
                ));
            }
        }
    }

    /// Run the order of one worker, up to the last test in question.
    fn rerun_share(
        &self,
        worker: usize,
        share: &[TestId],
        cases: &mut [Case],
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let wanted: HashSet<TestId> = cases
            .iter()
            .filter(|case| case.place.0 == worker && needs_the_order(case))
            .map(|case| case.test.clone())
            .collect();
        let Some(last) = share.iter().rposition(|test| wanted.contains(test)) else {
            return Ok(());
        };
        let order = &share[..=last];
        let mut environment: Option<Box<dyn Environment>> = None;
        for (at, test) in order.iter().enumerate() {
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let live = match &mut environment {
                Some(live) => live,
                None => match self.adapter.reopen(&order[at..]) {
                    Ok(opened) => environment.insert(opened),
                    Err(Error::Cancelled) => return Err(Error::Cancelled),
                    Err(error) => {
                        let why = format!("the suite's order cannot be run once more: {error}");
                        let wanted = cases.iter_mut().filter(|it| wanted.contains(&it.test));
                        wanted.for_each(|case| case.undecided = Some(why.clone()));
                        return Ok(());
                    }
                },
            };
            let case = cases.iter_mut().find(|case| case.test == *test);
            let number = case.as_ref().map_or(1, |case| case.next_number());
            let execution = match live.run(test, Probe::attempt(number)) {
                Ok(execution) => execution,
                // This one is not there in another process, which the others may not need.
                Err(Error::UnknownTest { .. }) => continue,
                Err(Error::EnvironmentLost { .. } | Error::Stopped { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            if execution.outcome.ends_environment() {
                environment = None;
            }
            if let Some(case) = case.filter(|_| wanted.contains(test)) {
                let (stage, isolation) = (Stage::Order, Isolation::Spawn);
                let position = u32::try_from(at).ok();
                let attempt = Attempt { stage, isolation, number, position, execution };
                sink(Event::Attempt(Box::new(attempt.clone())));
                case.add(attempt, &self.settings.rerun);
            }
        }
        if let Some(environment) = environment {
            // Its teardown says nothing about the tests in question.
            let _ = environment.close();
        }
        Ok(())
    }

    /// Try what fails in order alone, until it fails there too.
    fn rerun_alone(&self, cases: &mut [Case], sink: &mut dyn FnMut(Event)) -> Result<()> {
        for case in cases.iter_mut().filter(|case| needs_the_order(case)) {
            let most = self.settings.confirmations;
            for _ in 0..if may_be_chance(case) { most } else { most.min(SURE_ENOUGH) } {
                if self.cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let number = case.next_number();
                let probe = Probe::attempt(number);
                let ran =
                    super::fresh::run_alone(self.adapter, &case.test, Isolation::Spawn, probe);
                let Ok((isolation, execution)) = ran else { break };
                let (stage, position) = (Stage::Fresh, None);
                let attempt = Attempt { stage, isolation, number, position, execution };
                sink(Event::Attempt(Box::new(attempt.clone())));
                case.add(attempt, &self.settings.rerun);
                if !needs_the_order(case) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Whether reruns in the suite's own environment do not speak against chance: one passed, or none was
/// made.
fn may_be_chance(case: &Case) -> bool {
    let mut again = case.reruns_in_same_environment().map(|it| it.execution.outcome);
    let has_none = case.reruns_in_same_environment().next().is_none() && case.like.is_none();
    has_none || again.any(|outcome| !outcome.is_failure())
}

/// Whether only the suite's order can tell more about a case.
pub(super) fn needs_the_order(case: &Case) -> bool {
    // Alone it was only skipped, so that nothing speaks against a pass in order.
    let was_skipped = || {
        let mut alone = case.alone().map(|it| it.outcome).peekable();
        alone.peek().is_some() && alone.all(|outcome| outcome == Outcome::Skipped)
    };
    case.is_open()
        && match case.shows() {
            Shown::PassesAlone | Shown::OrderDependent => true,
            Shown::Nothing => was_skipped(),
            Shown::Flaky(_) | Shown::Broken => false,
        }
}
