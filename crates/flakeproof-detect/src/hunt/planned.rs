//! A hunt that goes where it expects to find something.
//!
//! Where it differs from the stages of iDFlakies: how many orders and reruns there are, and of which
//! tests, follows from an [`Outlook`] that every outcome changes. And a suspect is first tried after
//! single tests: whoever ran before it when it passed cannot be what makes it fail, so after a few
//! orders few candidates are left, and two tests cost less than two whole orders.

use std::ops::ControlFlow;

use flakeproof_core::{Decision, OrderKind, Tally};

use super::Hunt;
use super::lab::{Stop, failed};
use super::ledger::{OtherOrder, Setting, always_failed, always_passed};
use super::outlook::{Next, Outlook, StepCosts};
use super::settings::HuntStage;
use super::steer::Forecast;
use super::trial::{Step, Trial, Until};
use crate::plan::Pick;
use crate::pollution::{pairs, prefix};

/// The share of the budget after which looking gives way to explaining what was seen.
const BUDGET_FOR_LOOKING: f64 = 0.6;
/// No step is free.
const LEAST_COST: f64 = 1e-6;

impl Hunt<'_, '_> {
    /// All stages, steered.
    pub(super) fn planned_stages(&mut self, forecast: &Forecast) -> Result<(), Stop> {
        self.set_up()?;
        let asked: Vec<u32> = self.ledger.all_at(|at| forecast.is_asked(at));
        self.alone_of(&asked)?;
        self.look(forecast)?;
        self.pair_suspects()?;
        self.classify()?;
        self.find_influences()
    }

    /// Run what promises most until little is expected to be hidden.
    fn look(&mut self, forecast: &Forecast) -> Result<(), Stop> {
        let mut outlook = Outlook::new(forecast, &self.step_costs());
        self.tell_what_is_known(&mut outlook);
        let mut orders = self.promising_orders().into_iter().peekable();
        self.lab.begin(HuntStage::Running, orders.len());
        let mut round = 0;
        let ended = loop {
            if self.lab.is_spent(BUDGET_FOR_LOOKING) {
                self.is_cut = true;
                break Ok(());
            }
            round += 1;
            let step = match outlook.next(orders.peek().is_some()) {
                Next::Nothing => break Ok(()),
                Next::Order => match orders.next() {
                    Some(order) => self.run_other(order, &mut outlook),
                    None => break Ok(()),
                },
                Next::Tests(picks) => self.run_picks(round, &picks, &mut outlook),
            };
            if let Err(stop) = step {
                break Err(stop);
            }
        };
        self.hidden = Some(outlook.hidden());
        ended
    }

    fn step_costs(&self) -> StepCosts {
        let alone = self.seconds_alone.iter().map(|it| it.max(LEAST_COST)).collect();
        StepCosts { alone, suite: self.seconds_in_order.max(LEAST_COST) }
    }

    /// What set-up and single runs have shown; who failed there needs no plan any more.
    fn tell_what_is_known(&self, outlook: &mut Outlook) {
        for (test, known) in (0..).zip(&self.ledger.tests) {
            let all = known.baseline + known.alone;
            outlook.saw(test, all);
            if all.failures > 0 {
                outlook.set_aside(test);
            }
        }
    }

    /// The suite backwards first: together with its own order, every test then ran before every other
    /// one. Then those that were asked for.
    fn promising_orders(&self) -> Vec<OtherOrder> {
        let backwards = OtherOrder { kind: OrderKind::Reverse, number: 0 };
        let mut orders = vec![backwards];
        orders.extend(self.planned_orders().into_iter().filter(|order| *order != backwards));
        orders.truncate(self.settings.orders as usize);
        orders
    }

    fn run_other(&mut self, order: OtherOrder, outlook: &mut Outlook) -> Result<(), Stop> {
        let name = format!("{}/{}", order.kind.word(), order.number);
        let tests = self.orders.order(order.kind, order.number);
        let trial = Trial::order(name, tests, self.lab.isolation());
        let ledger = &mut self.ledger;
        self.lab.one_by_one(std::iter::once(trial), &mut |trial, record| {
            ledger.enter(trial, record, Setting::Shuffled(order));
            for (test, outcome) in trial.branches().flatten().zip(record.outcomes.iter().flatten())
            {
                if let Some(has_failed) = failed(*outcome) {
                    outlook.saw_in_orders(*test, once(has_failed));
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// Run picked tests alone, each as often as the plan says.
    fn run_picks(&mut self, round: u32, picks: &[Pick], outlook: &mut Outlook) -> Result<(), Stop> {
        let runs = picks
            .iter()
            .flat_map(|pick| (0..pick.runs).map(move |_| Step::Branch(vec![pick.test])));
        let (name, isolation) = (format!("plan/{round}"), self.lab.isolation());
        let trial = Trial { name, steps: runs.collect(), isolation, until: Until::Done };
        let ledger = &mut self.ledger;
        let mut seen = vec![Tally::default(); picks.len()];
        self.lab.one_by_one(std::iter::once(trial), &mut |trial, record| {
            ledger.enter(trial, record, Setting::Alone);
            for (branch, outcomes) in trial.branches().zip(&record.outcomes) {
                let at = picks.iter().position(|pick| branch == [pick.test]);
                let outcome = failed(outcomes.last().copied().flatten());
                if let (Some(at), Some(has_failed)) = (at, outcome) {
                    seen[at].count(has_failed);
                }
            }
            ControlFlow::Continue(())
        })?;
        for (pick, tally) in picks.iter().zip(seen) {
            outlook.saw(pick.test, tally);
            if tally.runs == 0 {
                // It is skipped, or takes its environment with it: nothing can be learned.
                outlook.set_aside(pick.test);
            }
            if tally.failures > 0 {
                outlook.set_aside(pick.test);
                self.call_nod_unless_for_good(pick.test)?;
            }
        }
        Ok(())
    }

    /// Try every suspect after those tests that may be what changes its outcome.
    fn pair_suspects(&mut self) -> Result<(), Stop> {
        let all = self.orders.original();
        let suspects: Vec<(u32, bool)> =
            all.iter().filter_map(|test| Some((*test, self.suspect_fails_alone(*test)?))).collect();
        if suspects.is_empty() {
            return Ok(());
        }
        self.lab.begin(HuntStage::Pollution, all.len());
        let candidates: Vec<Vec<bool>> =
            suspects.iter().map(|(test, fails)| self.may_change(*test, *fails)).collect();
        let is_tried = |first: u32, second: u32| {
            let at = suspects.iter().position(|(test, _)| *test == second);
            at.is_some_and(|at| candidates[at][first as usize])
        };
        for pair in pairs::surprising(&mut self.lab, &all, &suspects, &is_tried)? {
            if prefix::fails_after(&mut self.lab, &[pair.first], pair.second)? == pair.has_failed
                && self.is_steady_alone(pair.second, !pair.has_failed)?
            {
                self.note_orders(pair.first, pair.second, pair.has_failed);
                self.note_pair(pair);
            }
        }
        Ok(())
    }

    /// Whether a test whose outcome changed fails alone; `None` for tests that are not suspicious.
    fn suspect_fails_alone(&self, test: u32) -> Option<bool> {
        let known = self.ledger.test(test);
        let in_orders = known.baseline + known.shuffled;
        if known.kind.is_some() {
            None
        } else if always_failed(known.alone) {
            (in_orders.failures < in_orders.runs).then_some(true)
        } else {
            (always_passed(known.alone) && in_orders.failures > 0).then_some(false)
        }
    }

    /// Whether a test does alone what it did alone before, decided on repeated runs.
    fn is_steady_alone(&mut self, test: u32, fails: bool) -> Result<bool, Stop> {
        let wanted = if fails { Decision::High } else { Decision::Low };
        Ok(self.lab.decide(&format!("steady/{test}"), &[test])? == wanted)
    }

    /// The tests that may be what makes a suspect fail, or pass if it fails alone: all but those that
    /// ran before it in an order in which it did as it does alone.
    fn may_change(&self, test: u32, fails_alone: bool) -> Vec<bool> {
        let mut may = vec![true; self.orders.tests()];
        may[test as usize] = false;
        let mut clear = |order: &[u32]| {
            for other in order.iter().take_while(|other| **other != test) {
                may[*other as usize] = false;
            }
        };
        let known = self.ledger.test(test);
        let as_alone =
            |tally| if fails_alone { always_failed(tally) } else { always_passed(tally) };
        if as_alone(known.baseline) && self.ledger.is_baseline_whole {
            clear(&self.orders.original());
        }
        for order in self.ledger.whole_orders(test) {
            let has_failed = self.ledger.failing_orders(test).contains(&order);
            if has_failed == fails_alone {
                clear(&self.orders.order(order.kind, order.number));
            }
        }
        may
    }

    /// How the pair shows what the test does.
    fn note_orders(&mut self, first: u32, second: u32, has_failed: bool) {
        let (pair, alone) = (vec![first, second], vec![second]);
        let (failing, passing) = if has_failed { (pair, alone) } else { (alone, pair) };
        self.failing_order.entry(second).or_insert(failing);
        self.passing_order.entry(second).or_insert(passing);
    }
}

fn once(has_failed: bool) -> Tally {
    Tally { runs: 1, failures: u32::from(has_failed) }
}
