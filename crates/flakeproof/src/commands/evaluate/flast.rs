//! `flakeproof evaluate flast`: what it is worth on tests it has not learned from; and `flakeproof
//! evaluate plan`: what the planner, which is told what FLAST says, finds for the same runs as
//! others.

use std::collections::BTreeMap;
use std::time::Instant;

use flakeproof_core::{ExitCode, Tally};
use flakeproof_lab::comparison::PlannerComparison;
use flakeproof_lab::planner_benchmark::{BenchmarkCase, BenchmarkSubject, PlannerBenchmark};
use flakeproof_lab::validation::{FlastValidation, FlastValidationParams, Protocol};
use flakeproof_learn::Chance;
use flakeproof_learn::cannier::MaxReruns;
use flakeproof_learn::evaluate::Confusion;
use flakeproof_learn::flast::Recipe;
use flakeproof_learn::labelled::LabelledTest;

use crate::cli::{CostName, EvaluateFlast, EvaluatePlan, EvaluationFormat};
use crate::models::labelled_tests;
use crate::problem::Problem;
use crate::session::reports;
use crate::view::{self, Evaluation, PlanEvaluation, ProjectLine};

/// `evaluate flast`.
pub(super) fn evaluate_flast(typed: &EvaluateFlast) -> Result<ExitCode, Problem> {
    let tests = labelled_tests::of_files(&typed.labelled.data, &typed.labelled.without)?;
    let params = FlastValidationParams {
        recipe: typed.recipe.resolve()?,
        protocol: typed.labelled.protocol.into(),
        folds: typed.labelled.folds,
        seed: typed.seed,
        with_probabilities: false,
    };
    check(&tests, &params)?;
    let form = typed.perturb.form(typed.seed);
    let parts = if typed.within_project { alone(tests, &params)? } else { vec![tests] };
    let begin = Instant::now();
    let mut evaluation = Evaluation::new(&params, typed.within_project, typed.by_project);
    let mut progress = view::Steps::start(parts.len(), "projects");
    for mut part in parts {
        let originals = part.len();
        if let Some(form) = &form {
            let forms = labelled_tests::in_form(&part, form);
            let pairs = forms.iter().zip(&part);
            let changed = pairs.filter(|(form, test)| form.source != test.source).count();
            part.extend(forms);
            evaluation.perturb(form, changed);
        }
        let (validation, of_forms) = params.run_on_forms(&part, originals, &|| begin.elapsed());
        evaluation.add_forms(of_forms);
        add(&mut evaluation, validation, &part);
        progress.step();
    }
    progress.end();
    match typed.output_format {
        EvaluationFormat::Text => view::evaluation(&evaluation),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
    Ok(ExitCode::Clean)
}

/// Whether the tests can be parted as asked.
pub(super) fn check(tests: &[LabelledTest], params: &FlastValidationParams) -> Result<(), Problem> {
    let flaky = tests.iter().filter(|test| test.flaky).count();
    let is_about_categories = tests.iter().any(|test| test.category.is_some());
    if tests.len() <= params.recipe.neighbours {
        return Err(Problem::usage(
            format!(
                "{} tests are too few for {} neighbours",
                tests.len(),
                params.recipe.neighbours
            ),
            "give more tests, or fewer neighbours with `-k`",
        ));
    }
    if flaky == 0 || flaky == tests.len() && !is_about_categories {
        let all = if flaky == 0 { "not flaky" } else { "flaky" };
        return Err(Problem::usage(
            format!("all {} tests are {all}", tests.len()),
            "an evaluation needs both kinds; add a second file with `--data`",
        ));
    }
    if params.protocol != Protocol::Project && !(2..=tests.len()).contains(&params.folds) {
        return Err(Problem::usage(
            format!("{} folds cannot be made of {} tests", params.folds, tests.len()),
            "give `--folds` a number from 2 up to the number of tests",
        ));
    }
    let mut projects: Vec<&str> = tests.iter().map(|test| test.project.as_str()).collect();
    projects.sort_unstable();
    projects.dedup();
    if params.protocol == Protocol::Project && projects.len() < 2 {
        return Err(Problem::usage(
            "all tests belong to one project, so none can be left out",
            "choose `--protocol class` or `--protocol random`",
        ));
    }
    Ok(())
}

/// The tests of each project that can be measured alone.
fn alone(
    tests: Vec<LabelledTest>,
    params: &FlastValidationParams,
) -> Result<Vec<Vec<LabelledTest>>, Problem> {
    if params.protocol == Protocol::Project {
        return Err(Problem::usage(
            "`--within-project` leaves no other project to learn from",
            "choose `--protocol class` or `--protocol random`",
        ));
    }
    let mut projects = by_project(tests);
    projects.retain(|tests| can_be_parted(tests, params));
    if projects.is_empty() {
        return Err(Problem::usage(
            format!(
                "no project can be measured alone: none has two flaky tests, one that is not, and \
                 more than {} in all",
                params.recipe.neighbours
            ),
            "give more tests, or fewer neighbours with `-k`",
        ));
    }
    Ok(projects)
}

fn by_project(tests: Vec<LabelledTest>) -> Vec<Vec<LabelledTest>> {
    let mut projects: BTreeMap<String, Vec<LabelledTest>> = BTreeMap::new();
    for test in tests {
        projects.entry(test.project.clone()).or_default().push(test);
    }
    projects.into_values().collect()
}

/// Whether a project alone has both kinds of tests, and a flaky one to learn from and one to ask.
fn can_be_parted(tests: &[LabelledTest], params: &FlastValidationParams) -> bool {
    let flaky = tests.iter().filter(|test| test.flaky).count();
    flaky >= 2 && flaky < tests.len() && tests.len() > params.recipe.neighbours
}

fn add(evaluation: &mut Evaluation, validation: FlastValidation, tests: &[LabelledTest]) {
    let line = |(project, confusion): (String, Confusion)| ProjectLine { project, confusion };
    evaluation.projects.extend(validation.by_project(tests).into_iter().map(line));
    evaluation.add(validation);
}

/// `evaluate plan`.
pub(super) fn evaluate_plan(typed: &EvaluatePlan) -> Result<ExitCode, Problem> {
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
    check(&tests, &params)?;
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
            subject: BenchmarkSubject { outcomes, cost },
        }
    });
    asked.collect()
}
