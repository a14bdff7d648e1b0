//! The planner against RERUN, CANNIER and an oracle, for the same runs.
//!
//! CANNIER gets the thresholds and numbers of reruns that are best in hindsight; the plan chooses
//! nothing in hindsight. Everything that chance decides is repeated, and means are given.

use flakeproof_core::{Seed, Thresholds};
use flakeproof_detect::plan::Planner;
use flakeproof_learn::cannier::MaxReruns;
use rayon::prelude::*;

use crate::baseline::{Baseline, CannierPoint, unbeaten_points};
use crate::planner_benchmark::{BenchmarkCase, BenchmarkSubject, Kin, PlannerBenchmark};
use crate::real;

/// Runs of each test, on average, that are shown.
const BUDGETS: [u32; 8] = [2, 5, 10, 50, 100, 500, 1000, 5000];
/// A test that fails in this share of its runs fails often.
const OFTEN: f64 = 0.05;
/// CANNIER is also measured with all of these, which the paper leaves at one value.
const MAX_RERUNS: [u32; 13] = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/// A benchmark that is repeated with other chance.
#[derive(Debug)]
pub struct PlannerComparison<'a> {
    /// The tests.
    pub benchmark: &'a PlannerBenchmark,
    /// How often it is repeated.
    pub repeats: u32,
    /// The seed of all chance.
    pub seed: Seed,
}

/// What came out of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonResult {
    /// What everybody finds for each budget.
    pub lines: Vec<BudgetLine>,
    /// The plan against each point of CANNIER's own front.
    pub front: Vec<AgainstPoint>,
    /// The plan against CANNIER with every lower threshold and every number of reruns.
    pub everywhere: Everywhere,
}

/// Flaky tests found for one budget.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLine {
    /// Runs of each test, on average.
    pub runs: u32,
    /// What they cost.
    pub cost: f64,
    /// All tests are run equally often.
    pub rerun: f64,
    /// CANNIER without an upper threshold, with whatever lower one and number of reruns finds most.
    pub cannier: f64,
    /// The plan without what tests say about their kin.
    pub plan_without_kin: f64,
    /// The plan.
    pub plan: f64,
    /// A plan that knows which tests are flaky, but not how often they fail.
    pub oracle: f64,
    /// Of tests that fail at least once in 20 runs, how many the plan believes hidden.
    pub believed_hidden: f64,
    /// How many of those are hidden.
    pub hidden: f64,
}

/// A point of CANNIER's own front, and what the plan finds for its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstPoint {
    /// The point.
    pub point: CannierPoint,
    /// What the plan finds, with the same claims.
    pub plan: f64,
}

/// At how many points the plan finds more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Everywhere {
    /// How many points there are.
    pub points: usize,
    /// At how many of them the plan finds more.
    pub beaten: usize,
    /// The fewest tests that it finds more.
    pub smallest_lead: f64,
}

impl PlannerComparison<'_> {
    /// Let all compete. CANNIER's own front is that of the most reruns given.
    #[must_use]
    pub fn run(&self, max_reruns: MaxReruns) -> ComparisonResult {
        let cases = self.benchmark.cases();
        let subjects: Vec<BenchmarkSubject> = cases.iter().map(|it| it.subject).collect();
        let probabilities: Vec<f64> = cases.iter().map(|it| it.probability).collect();
        let baseline = |most: MaxReruns| Baseline::new(&subjects, &probabilities, most);
        let own_front = unbeaten_points(baseline(max_reruns).grid());
        let others = MAX_RERUNS.into_iter().filter_map(MaxReruns::new);
        let mut shown_only: Vec<CannierPoint> =
            others.flat_map(|most| baseline(most).shown_only()).collect();
        shown_only.retain(|point| point.cost > 0.0);
        let cost_of_all: f64 = subjects.iter().map(|it| it.cost).sum();
        let budgets: Vec<f64> = BUDGETS.iter().map(|runs| f64::from(*runs) * cost_of_all).collect();
        ComparisonResult {
            lines: self.lines(&budgets, &shown_only),
            front: self.against(own_front),
            everywhere: self.everywhere(&shown_only),
        }
    }

    /// What everybody finds for each budget.
    fn lines(&self, budgets: &[f64], shown_only: &[CannierPoint]) -> Vec<BudgetLine> {
        let plan = self.plan(Kin::Heard, Thresholds::UNREACHED, budgets);
        let without_kin = self.plan(Kin::Ignored, Thresholds::UNREACHED, budgets);
        let oracle = self.mean(|seed| {
            let found = self.benchmark.oracle(budgets, seed).into_iter();
            found.map(|it| Reached { found: real(it), ..Reached::default() }).collect()
        });
        let best = |budget: f64, is_one: &dyn Fn(&CannierPoint) -> bool| {
            // Sums of the same costs in another order differ in their last digits.
            let within = budget * (1.0 + 1e-9);
            let affordable = shown_only.iter().filter(|it| it.cost <= within && is_one(it));
            affordable.map(CannierPoint::found).fold(0.0, f64::max)
        };
        let all = |point: &CannierPoint| point.thresholds == Thresholds::RERUN_ALL;
        (0..budgets.len())
            .map(|at| BudgetLine {
                runs: BUDGETS[at],
                cost: budgets[at],
                rerun: best(budgets[at], &all),
                cannier: best(budgets[at], &|_| true),
                plan_without_kin: without_kin[at].found,
                plan: plan[at].found,
                oracle: oracle[at].found,
                believed_hidden: plan[at].believed,
                hidden: plan[at].hidden,
            })
            .collect()
    }

    /// What the plan finds for the cost of each point, with the same claims as there.
    fn against(&self, mut points: Vec<CannierPoint>) -> Vec<AgainstPoint> {
        let mut lines = Vec::new();
        // Sorted by cost they stay, where the upper threshold is the same.
        points.sort_by(|a, b| a.thresholds.upper().total_cmp(&b.thresholds.upper()));
        for same_claims in points.chunk_by(|a, b| a.thresholds.upper() == b.thresholds.upper()) {
            let budgets: Vec<f64> = same_claims.iter().map(|point| point.cost).collect();
            let upper = same_claims[0].thresholds.upper();
            let found = self.plan(Kin::Heard, upper, &budgets);
            lines.extend(same_claims.iter().zip(found).map(|(point, reached)| AgainstPoint {
                point: *point,
                plan: reached.found + real(point.claimed),
            }));
        }
        lines.sort_by(|a, b| a.point.cost.total_cmp(&b.point.cost));
        lines
    }

    fn everywhere(&self, points: &[CannierPoint]) -> Everywhere {
        let mut points = points.to_vec();
        points.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let budgets: Vec<f64> = points.iter().map(|point| point.cost).collect();
        let found = self.plan(Kin::Heard, Thresholds::UNREACHED, &budgets);
        let leads = points.iter().zip(&found).map(|(point, plan)| plan.found - point.found());
        Everywhere {
            points: points.len(),
            beaten: leads.clone().filter(|lead| *lead > 0.0).count(),
            smallest_lead: leads.fold(f64::INFINITY, f64::min),
        }
    }

    /// How far the plan comes with each budget, on average.
    fn plan(&self, kin: Kin, below: f64, budgets: &[f64]) -> Vec<Reached> {
        // What is hidden takes a look at every test; nobody reads it where budgets are many.
        let is_hidden_asked = budgets.len() == BUDGETS.len();
        self.mean(|seed| {
            let mut reached = Vec::with_capacity(budgets.len());
            self.benchmark.plan(kin, below, budgets, seed, &mut |found, planner| {
                let found = real(found);
                let (believed, hidden) =
                    if is_hidden_asked { self.hidden(planner) } else { (0.0, 0.0) };
                reached.push(Reached { found, believed, hidden });
            });
            reached
        })
    }

    /// How many flaky tests that fail often a planner believes hidden, and how many are.
    fn hidden(&self, planner: &Planner) -> (f64, f64) {
        let cases = (0..).zip(self.benchmark.cases());
        let is_hidden = |(test, case): &(u32, &BenchmarkCase)| {
            let subject = &case.subject;
            let is_flaky = subject.outcomes.is_inconsistent() && subject.rate() >= OFTEN;
            is_flaky && !planner.has_shown(*test)
        };
        (planner.hidden(OFTEN).expected, real(cases.filter(is_hidden).count()))
    }

    fn mean(&self, reach: impl Fn(Seed) -> Vec<Reached> + Sync) -> Vec<Reached> {
        let repeats: Vec<u32> = (0..self.repeats).collect();
        let reached: Vec<Vec<Reached>> = repeats
            .par_iter()
            .map(|repeat| reach(self.seed.split(&format!("repeat {repeat}"))))
            .collect();
        let share = 1.0 / f64::from(self.repeats);
        let mut means = vec![Reached::default(); reached.first().map_or(0, Vec::len)];
        for repeat in &reached {
            for (mean, one) in means.iter_mut().zip(repeat) {
                mean.found += one.found * share;
                mean.believed += one.believed * share;
                mean.hidden += one.hidden * share;
            }
        }
        means
    }
}

/// How far a strategy has come.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    /// Flaky tests that showed themselves.
    found: f64,
    /// Of those that fail often, so many are believed hidden, and so many are.
    believed: f64,
    hidden: f64,
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Tally;

    use super::*;

    /// Ten classes of five tests; those of the first two fail now and then, and the model is right
    /// about half of them.
    fn benchmark() -> PlannerBenchmark {
        let case = |number: u32| {
            let is_flaky = number < 10;
            BenchmarkCase {
                kin: vec!["project".into(), format!("class {}", number / 5)],
                fold: number as usize % 2,
                probability: if is_flaky && number.is_multiple_of(2) { 0.8 } else { 0.1 },
                subject: BenchmarkSubject {
                    outcomes: Tally { runs: 100, failures: if is_flaky { 20 } else { 0 } },
                    cost: 1.0,
                },
            }
        };
        PlannerBenchmark::new((0..50).map(case).collect())
    }

    #[test]
    fn everybody_finds_more_for_more_and_nobody_more_than_there_is() {
        let comparison = PlannerComparison { benchmark: &benchmark(), repeats: 5, seed: Seed(1) };
        let result = comparison.run(MaxReruns::new(100).expect("more than one"));
        let rising = |of: fn(&BudgetLine) -> f64| {
            let found: Vec<f64> = result.lines.iter().map(of).collect();
            found.is_sorted() && found.iter().all(|it| *it <= 10.0 + 1e-9)
        };
        assert!(rising(|line| line.rerun) && rising(|line| line.cannier));
        assert!(rising(|line| line.plan) && rising(|line| line.plan_without_kin));
        assert!(rising(|line| line.oracle));
        assert_eq!(result.lines.len(), BUDGETS.len());
        assert!(result.lines.iter().all(|line| line.cannier >= line.rerun));
        assert!(result.everywhere.beaten <= result.everywhere.points);
        assert!(result.front.is_sorted_by(|a, b| a.point.cost <= b.point.cost));
    }
}
