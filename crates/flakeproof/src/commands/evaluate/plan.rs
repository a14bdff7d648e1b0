//! `flakeproof evaluate plan`: what the planner finds for the same runs as others.

use std::time::Instant;

use flakeproof_core::{ExitCode, Tally};
use flakeproof_lab::comparison::PlannerComparison;
use flakeproof_lab::planner_benchmark::{BenchmarkCase, PlannerBenchmark, Subject};
use flakeproof_lab::validation::{FlastValidationParams, Protocol};
use flakeproof_learn::Chance;
use flakeproof_learn::cannier::MaxReruns;
use flakeproof_learn::flast::Recipe;
use flakeproof_learn::labelled::LabelledTest;

use super::flast;
use crate::cli::{CostName, EvaluatePlan, EvaluationFormat};
use crate::models::labelled_tests;
use crate::problem::Problem;
use crate::session::reports;
use crate::view::{self, PlanEvaluation};

/// Run the command.
pub(super) fn run(typed: &EvaluatePlan) -> Result<ExitCode, Problem> {
    let mut tests = labelled_tests::of_files(&typed.labelled.data, &typed.labelled.without)?;
    tests.retain(|test| test.runs.is_some_and(|it| it.runs > 0));
    let params = FlastValidationParams {
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
    let max_reruns = MaxReruns::new(typed.max_reruns).ok_or_else(|| {
        Problem::usage("fewer than two runs show nothing", "give a higher `--max-reruns`")
    })?;
    let benchmark = PlannerBenchmark::new(cases(&tests, &params, typed));
    let comparison =
        PlannerComparison { benchmark: &benchmark, repeats: typed.repeats, seed: typed.seed };
    let subjects = benchmark.cases().iter().map(|it| it.subject);
    let evaluation = PlanEvaluation {
        protocol: match params.protocol {
            Protocol::Random => "random folds",
            Protocol::Class => "folds by class",
            Protocol::Project => "each project left out",
        },
        cost: typed.cost.word(),
        tests: benchmark.cases().len(),
        flaky: subjects.filter(|it| it.outcomes.is_inconsistent()).count(),
        repeats: typed.repeats,
        max_reruns: typed.max_reruns,
        result: comparison.run(max_reruns),
    };
    match typed.output_format {
        EvaluationFormat::Text => view::plan_evaluation(&evaluation),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
    if let Some(path) = &typed.svg {
        reports::put(path, evaluation.chart().svg().as_bytes())?;
    }
    Ok(ExitCode::Clean)
}

/// Ask a model that has not seen it about each test.
fn cases(
    tests: &[LabelledTest],
    params: &FlastValidationParams,
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
