//! `flakeproof evaluate plan`: what the planner finds for the same runs as others.

use std::time::Instant;

use flakeproof_core::{ExitCode, Seed, Tally, Thresholds};
use flakeproof_detect::plan::{
    Baseline, BenchmarkCase, CannierPoint, Kin, Planner, PlannerBenchmark, Subject, front,
};
use flakeproof_learn::Chance;
use flakeproof_learn::cannier::MaxReruns;
use flakeproof_learn::flast::{Protocol, Recipe, ValidationParams};
use flakeproof_learn::labelled::LabelledTest;
use rayon::prelude::*;

use super::super::{files, training_data};
use super::flast;
use crate::cli::{CostName, EvaluatePlan, EvaluationFormat};
use crate::problem::Problem;
use crate::view::{self, Against, BudgetLine, Everywhere, PlanEvaluation};

/// Runs of each test, on average, that are shown.
const BUDGETS: [u32; 8] = [2, 5, 10, 50, 100, 500, 1000, 5000];
/// A test that fails in this share of its runs fails often.
const OFTEN: f64 = 0.05;
/// CANNIER is also measured with all of these, which the paper leaves at one value.
const MAX_RERUNS: [u32; 13] = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/// Run the command.
pub(super) fn run(typed: &EvaluatePlan) -> Result<ExitCode, Problem> {
    let mut tests = training_data::of_files(&typed.labelled.data, &typed.labelled.without)?;
    tests.retain(|test| test.runs.is_some_and(|it| it.runs > 0));
    let params = ValidationParams {
        recipe: Recipe::rarity(),
        protocol: typed.labelled.protocol.into(),
        folds: typed.labelled.folds,
        seed: typed.seed,
        with_probabilities: true,
    };
    if !tests.iter().any(|test| test.runs.is_some_and(Tally::is_inconsistent)) {
        return Err(Problem::usage(
            "no test of the data has both failing and passing runs",
            "give tests with `failing_runs` and `passing_runs`, counted on unchanged code",
        ));
    }
    flast::check(&tests, &params)?;
    let benchmark = PlannerBenchmark::new(cases(&tests, &params, typed));
    let mut evaluation = compete(&benchmark, typed)?;
    evaluation.protocol = match params.protocol {
        Protocol::Random => "random folds",
        Protocol::Class => "folds by class",
        Protocol::Project => "each project left out",
    };
    match typed.output_format {
        EvaluationFormat::Text => view::plan_evaluation(&evaluation),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
    if let Some(path) = &typed.svg {
        files::put(path, evaluation.chart().svg().as_bytes())?;
    }
    Ok(ExitCode::Clean)
}

/// Ask a model that has not seen it about each test.
fn cases(
    tests: &[LabelledTest],
    params: &ValidationParams,
    typed: &EvaluatePlan,
) -> Vec<BenchmarkCase> {
    let begin = Instant::now();
    let validation = params.run(tests, &|| begin.elapsed());
    let mut chance = Chance::new(typed.seed.split("cost"));
    let asked = validation.asked.iter().map(|asked| {
        let test = &tests[asked.row as usize];
        let package = test.class.rsplit_once('.').map_or("", |(package, _)| package);
        let outcomes = test.runs.unwrap_or_default();
        let cost = match typed.cost {
            CostName::Equal => 1.0,
            // A Pareto number from 1/3 on has mean 1.
            CostName::HeavyTailed => (1.0 - chance.unit()).powf(-1.0 / 1.5) / 3.0,
        };
        BenchmarkCase {
            kin: vec![test.project.clone(), package.to_owned(), test.class.clone()],
            fold: asked.fold,
            probability: asked.probability.unwrap_or_default(),
            subject: Subject { outcomes, cost },
        }
    });
    asked.collect()
}

fn compete(benchmark: &PlannerBenchmark, typed: &EvaluatePlan) -> Result<PlanEvaluation, Problem> {
    let subjects: Vec<Subject> = benchmark.cases().iter().map(|it| it.subject).collect();
    let probabilities: Vec<f64> = benchmark.cases().iter().map(|it| it.probability).collect();
    let cost_of_all: f64 = subjects.iter().map(|it| it.cost).sum();
    let baseline = |most: u32| {
        let most = MaxReruns::new(most).ok_or_else(|| {
            Problem::usage("fewer than two runs show nothing", "give a higher `--max-reruns`")
        })?;
        Ok::<_, Problem>(Baseline::new(&subjects, &probabilities, most))
    };
    let own_front = front(baseline(typed.max_reruns)?.grid());
    let mut shown_only = Vec::new();
    for most in MAX_RERUNS {
        shown_only.extend(baseline(most)?.shown_only());
    }
    shown_only.retain(|point| point.cost > 0.0);
    let many = Many { benchmark, repeats: typed.repeats, seed: typed.seed };
    let budgets: Vec<f64> = BUDGETS.iter().map(|runs| f64::from(*runs) * cost_of_all).collect();
    Ok(PlanEvaluation {
        protocol: "",
        cost: typed.cost.word(),
        tests: subjects.len(),
        flaky: subjects.iter().filter(|it| it.outcomes.is_inconsistent()).count(),
        repeats: typed.repeats,
        max_reruns: typed.max_reruns,
        lines: many.lines(&budgets, &shown_only),
        front: many.against(own_front),
        everywhere: many.everywhere(&shown_only),
    })
}

/// A benchmark that is repeated with other chance.
struct Many<'a> {
    benchmark: &'a PlannerBenchmark,
    repeats: u32,
    seed: Seed,
}

impl Many<'_> {
    /// What everybody finds for each budget.
    fn lines(&self, budgets: &[f64], shown_only: &[CannierPoint]) -> Vec<BudgetLine> {
        let plan = self.plan(Kin::Heard, Thresholds::UNREACHED, budgets);
        let deaf = self.plan(Kin::Ignored, Thresholds::UNREACHED, budgets);
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
                deaf: deaf[at].found,
                plan: plan[at].found,
                oracle: oracle[at].found,
                believed_hidden: plan[at].believed,
                hidden: plan[at].hidden,
            })
            .collect()
    }

    /// What the plan finds for the cost of each point, with the same claims as there.
    fn against(&self, mut points: Vec<CannierPoint>) -> Vec<Against> {
        let mut lines = Vec::new();
        // Sorted by cost they stay, where the upper threshold is the same.
        points.sort_by(|a, b| a.thresholds.upper().total_cmp(&b.thresholds.upper()));
        for same_claims in points.chunk_by(|a, b| a.thresholds.upper() == b.thresholds.upper()) {
            let budgets: Vec<f64> = same_claims.iter().map(|point| point.cost).collect();
            let upper = same_claims[0].thresholds.upper();
            let found = self.plan(Kin::Heard, upper, &budgets);
            lines.extend(same_claims.iter().zip(found).map(|(point, reached)| Against {
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

    fn mean(&self, of: impl Fn(Seed) -> Vec<Reached> + Sync) -> Vec<Reached> {
        let repeats: Vec<u32> = (0..self.repeats).collect();
        let reached: Vec<Vec<Reached>> = repeats
            .par_iter()
            .map(|repeat| of(self.seed.split(&format!("repeat {repeat}"))))
            .collect();
        let mut means = vec![Reached::default(); reached.first().map_or(0, Vec::len)];
        for (mean, one) in reached.iter().flat_map(|it| (0..).zip(it)) {
            let (mean, share): (&mut Reached, f64) =
                (&mut means[mean], 1.0 / f64::from(self.repeats));
            mean.found += one.found * share;
            mean.believed += one.believed * share;
            mean.hidden += one.hidden * share;
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

/// A count as a real number.
#[expect(clippy::cast_precision_loss, reason = "counts of tests are far below 2^52")]
fn real(count: usize) -> f64 {
    count as f64
}
