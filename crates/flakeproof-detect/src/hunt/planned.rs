//! A hunt that goes where it expects to find something.
//!
//! Where it differs from the stages of iDFlakies: how many orders and reruns there are, and of
//! which tests, follows from an [`Outlook`] that every outcome changes; and suspects are paired
//! before they are classified.
//!
//! Two ways to look compete in the outlook: another order of the whole suite, which shows tests
//! that depend on it and gives every test one more run, and single tests alone. Whichever promises
//! more flaky tests per second comes next.

use std::ops::{ControlFlow, RangeFrom};
use std::time::Duration;

use flakeproof_core::{FlakyKind, Hidden, HuntedTest, OrderKind, Tally};
use flakeproof_runner::Orders;

use super::ledger::{OtherOrder, Setting, always_failed, always_passed};
use super::settings::{Forecast, HuntStage};
use super::trial::{Step, Trial, Until};
use super::trial_scheduler::{Stop, failed};
use super::{Extent, Hunt};
use crate::plan::{Candidate, FailureRates, GroupPrior, Pick, Planner};

/// The share of what is left of the budget after which looking gives way to explaining what was seen.
const BUDGET_FOR_LOOKING: f64 = 0.6;
/// Whatever a plan expects of a whole suite, it looks at so many other orders: in a small one it expects
/// little.
const FEWEST_ORDERS: usize = 5;
/// No step is free.
const LEAST_COST: f64 = 1e-6;

impl Hunt<'_, '_> {
    /// All stages, as the plan says.
    pub(super) fn planned_stages(&mut self, forecast: &Forecast) -> Result<(), Stop> {
        self.set_up()?;
        let asked = self.most_promising_first(forecast);
        let mut outlook = None;
        let mut rounds = 1..;
        self.as_long_as_there_is_time(|hunt| {
            let mut extent = hunt.alone_of(&asked)?;
            hunt.ask_anew_about_the_broken()?;
            let outlook = outlook.get_or_insert_with(|| hunt.first_outlook(forecast));
            extent = extent.and(hunt.look(forecast, outlook, &mut rounds)?);
            hunt.pair_suspects()?;
            hunt.classify()?;
            hunt.find_influences()?;
            Ok(extent)
        })
    }

    /// The tests that are asked about, the likeliest to be flaky first.
    fn most_promising_first(&self, forecast: &Forecast) -> Vec<u32> {
        let mut asked = self.ledger.all_at(|at| forecast.is_asked(at));
        let chance = |test: &u32| {
            let of = |chances: &[f64]| chances.get(*test as usize).copied().unwrap_or_default();
            of(&forecast.flaky) + of(&forecast.victim)
        };
        if self.settings.budget.is_some() {
            asked.sort_by(|one, other| chance(other).total_cmp(&chance(one)));
        }
        asked
    }

    fn first_outlook(&self, forecast: &Forecast) -> Outlook {
        let mut outlook = Outlook::new(forecast, &self.step_costs());
        self.tell_what_is_known(&mut outlook);
        outlook
    }

    /// Run what promises most until little is expected to be hidden, and say what still is.
    fn look(
        &mut self,
        forecast: &Forecast,
        outlook: &mut Outlook,
        rounds: &mut RangeFrom<u32>,
    ) -> Result<Extent, Stop> {
        let ended = self.take_steps(forecast, outlook, rounds);
        self.hidden = Some(outlook.hidden());
        ended
    }

    fn take_steps(
        &mut self,
        forecast: &Forecast,
        outlook: &mut Outlook,
        rounds: &mut RangeFrom<u32>,
    ) -> Result<Extent, Stop> {
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_LOOKING);
        let orders = self.promising_orders();
        self.scheduler.begin(HuntStage::Running, orders.len());
        let is_whole = self.ledger.all_at(|at| !forecast.is_asked(at)).is_empty();
        let fewest = if is_whole { FEWEST_ORDERS.min(orders.len()) } else { 0 };
        for round in rounds {
            if self.scheduler.is_past(end) {
                return Ok(Extent::Cut);
            }
            let done = self.progress.orders;
            let has_orders = done < orders.len();
            let fits = self.scheduler.fits(self.seconds_of_an_order());
            let next = match outlook.next(has_orders && fits) {
                Next::Nothing if done < fewest && fits => Next::Order,
                Next::Nothing | Next::Tests(_) if has_orders && fits && self.saves_pairs() => {
                    Next::Order
                }
                next => next,
            };
            match next {
                Next::Nothing if has_orders && !fits => return Ok(Extent::Cut),
                Next::Nothing => break,
                Next::Order => {
                    self.run_other(orders[done], outlook)?;
                    self.progress.orders += 1;
                }
                Next::Tests(picks) => self.run_picks(round, &picks, outlook)?,
            }
        }
        // Why tests changed their outcome is worth more than who else might; once that was tried, it
        // is the others' turn.
        let open = self.open_suspects();
        if is_whole && end.is_some() && open > 0 && self.progress.open_suspects != Some(open) {
            self.progress.open_suspects = Some(open);
            return Ok(Extent::Cut);
        }
        if is_whole {
            self.run_every_neighbour(end, outlook)?;
            self.try_every_pair(end)?;
        }
        Ok(Extent::Whole)
    }

    /// The tests whose outcome some order changed, and of which nobody knows why yet.
    fn open_suspects(&self) -> usize {
        let changed = |test: &HuntedTest| {
            test.kind.is_none() && (test.baseline + test.shuffled).is_inconsistent()
        };
        self.ledger.all(changed).into_iter().filter(|test| !self.is_answered(*test)).count()
    }

    /// Where environments cannot be copied, and so pairs are dear: orders in which every test comes
    /// directly after every other one, as long as the time lasts that was given for looking. In any other
    /// order a test that cleans up may come between the two.
    fn run_every_neighbour(
        &mut self,
        end: Option<Duration>,
        outlook: &mut Outlook,
    ) -> Result<(), Stop> {
        let is_worth_it = end.is_some()
            && self.settings.orders > 0
            && !self.scheduler.can_copy()
            && self.scheduler.adapter.can().orders == Orders::Any;
        if !is_worth_it {
            return Ok(());
        }
        let rows = u32::try_from(self.orders.most(OrderKind::Tuscan)).unwrap_or(u32::MAX);
        while self.progress.neighbours < rows && !self.scheduler.is_past(end) {
            if !self.scheduler.fits(self.seconds_in_order) {
                break;
            }
            let (kind, number) = (OrderKind::Tuscan, self.progress.neighbours);
            self.run_other(OtherOrder { kind, number }, outlook)?;
            self.progress.neighbours += 1;
        }
        Ok(())
    }

    /// The same where orders of many tests cannot be chosen, and a pair costs little: every test after
    /// every other one.
    fn try_every_pair(&mut self, end: Option<Duration>) -> Result<(), Stop> {
        let is_worth_it =
            end.is_some() && self.settings.orders > 0 && !self.scheduler.keeps_any_order();
        if !is_worth_it {
            return Ok(());
        }
        let tests = self.orders.original();
        while let Some(first) = tests.get(self.progress.neighbours as usize) {
            if self.scheduler.is_past(end) {
                break;
            }
            let targets: Vec<(u32, bool)> =
                tests.iter().filter_map(|it| Some((*it, self.does_alone(*it)?))).collect();
            self.try_before(&[*first], &targets, &|_, _| true)?;
            self.progress.neighbours += 1;
        }
        Ok(())
    }

    /// Whether a test fails alone; `None` for one that is flaky or was not seen to do always the same.
    fn does_alone(&self, test: u32) -> Option<bool> {
        let known = self.ledger.test(test);
        if known.kind == Some(FlakyKind::Nod) || self.is_answered(test) {
            return None;
        }
        match (always_passed(known.alone), always_failed(known.alone)) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            (false, false) => None,
        }
    }

    fn step_costs(&self) -> StepCosts {
        // Who did not run alone yet takes as long as the others.
        let known: Vec<f64> = self.seconds_alone.iter().copied().filter(|it| *it > 0.0).collect();
        #[expect(clippy::cast_precision_loss, reason = "a suite has fewer tests than that")]
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let cost = |seconds: &f64| if *seconds > 0.0 { *seconds } else { mean };
        let alone = self.seconds_alone.iter().map(|it| cost(it).max(LEAST_COST)).collect();
        StepCosts { alone, suite: self.seconds_of_an_order().max(LEAST_COST) }
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
        if !self.can_reorder() {
            return Vec::new();
        }
        let backwards = OtherOrder { kind: OrderKind::Reverse, number: 0 };
        let mut orders = vec![backwards];
        orders.extend(self.planned_orders().into_iter().filter(|order| *order != backwards));
        orders.truncate(self.settings.orders as usize);
        orders
    }

    fn run_other(&mut self, order: OtherOrder, outlook: &mut Outlook) -> Result<(), Stop> {
        let name = format!("{}/{}", order.kind.word(), order.number);
        let tests = self.other(order);
        let trial = Trial::order(name, tests, self.scheduler.isolation());
        let ledger = &mut self.ledger;
        self.scheduler.one_by_one(std::iter::once(trial), &mut |trial, record| {
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
        let (name, isolation) = (format!("plan/{round}"), self.scheduler.isolation());
        let trial =
            Trial { name, steps: runs.collect(), isolation, until: Until::Done, shuffle: None };
        let ledger = &mut self.ledger;
        let mut seen = vec![Tally::default(); picks.len()];
        self.scheduler.one_by_one(std::iter::once(trial), &mut |trial, record| {
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
}

fn once(has_failed: bool) -> Tally {
    Tally { runs: 1, failures: u32::from(has_failed) }
}

/// What is believed by now, and what a step costs.
struct Outlook {
    /// Tests that fail by themselves; each run counts.
    nod: Planner,
    /// Tests that depend on the order; each other order counts.
    victims: Planner,
    /// Seconds of one run of the suite.
    suite_cost: f64,
    /// Expected hidden at first, and of that so much may stay.
    first: f64,
    may_stay_hidden: f64,
}

/// What to do next.
enum Next {
    /// Run the suite in another order.
    Order,
    /// Run these tests alone.
    Tests(Vec<Pick>),
    /// Enough is known.
    Nothing,
}

/// What steps cost, in seconds.
struct StepCosts {
    pub(super) alone: Vec<f64>,
    pub(super) suite: f64,
}

/// So many tests are picked at a time.
const PICKS: usize = 20;

impl Outlook {
    pub(super) fn new(forecast: &Forecast, costs: &StepCosts) -> Self {
        let mut prior = GroupPrior::default();
        let groups: Vec<u32> = forecast.kin.iter().map(|names| prior.group_of(names)).collect();
        let planner = |probabilities: &[f64], costs: &[f64], rates: FailureRates| {
            let tests = probabilities.iter().zip(costs).zip(&groups);
            let candidates = tests.map(|((probability, cost), group)| Candidate {
                probability: *probability,
                cost: *cost,
                group: *group,
                rates: 0,
            });
            Planner::new(candidates.collect(), vec![rates], prior.clone())
        };
        let nod = planner(&forecast.flaky, &costs.alone, forecast.rates.clone());
        let equal = vec![1.0; costs.alone.len()];
        let victims = planner(&forecast.victim, &equal, FailureRates::of_orders());
        let (suite_cost, may_stay_hidden) = (costs.suite, forecast.may_stay_hidden);
        let mut outlook = Self { nod, victims, suite_cost, first: 0.0, may_stay_hidden };
        outlook.first = outlook.hidden().expected;
        outlook
    }

    /// How a test fared in other orders than the suite's own: one that failed is a suspect, and others
    /// will ask why.
    pub(super) fn saw_in_orders(&mut self, test: u32, outcomes: Tally) {
        self.victims.learn(test, outcomes);
        if outcomes.failures > 0 {
            self.set_aside(test);
        } else {
            self.nod.learn(test, outcomes);
        }
    }

    /// How a test fared alone, or in the suite's own order.
    pub(super) fn saw(&mut self, test: u32, outcomes: Tally) {
        self.nod.learn(test, outcomes);
    }

    /// Something else is known about a test.
    pub(super) fn set_aside(&mut self, test: u32) {
        self.nod.set_aside(test);
        self.victims.set_aside(test);
    }

    /// How many flaky tests that fail often are still hidden.
    pub(super) fn hidden(&self) -> Hidden {
        let (nod, victims) =
            (self.nod.hidden(Forecast::OFTEN), self.victims.hidden(Forecast::OFTEN));
        Hidden::estimate(nod.expected + victims.expected, Forecast::OFTEN)
    }

    /// What to do next.
    pub(super) fn next(&mut self, has_orders: bool) -> Next {
        if self.hidden().expected <= self.may_stay_hidden * self.first {
            return Next::Nothing;
        }
        let order = (self.victims.gain() + self.nod.gain()) / self.suite_cost;
        match self.nod.best() {
            Some(test) if test > order || !has_orders => {
                Next::Tests((0..PICKS).map_while(|_| self.nod.pick()).collect())
            }
            _ if has_orders => Next::Order,
            _ => Next::Nothing,
        }
    }
}
