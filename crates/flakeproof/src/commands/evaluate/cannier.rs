//! `flakeproof evaluate forest`: what it is worth on tests it has not learned from, and what each
//! feature does to its answers, as a picture; and `flakeproof evaluate cannier`: what can be found
//! for which time when a forest says which tests are worth it.

use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Seed};
use flakeproof_lab::given_tables::{
    GivenAnswersError, GivenProbability, KnownPair, given_answers, given_suites, read_pairs,
    read_probabilities, tell_polluters,
};
use flakeproof_lab::pairwise::Pairwise;
use flakeproof_lab::trade::{DelegationPoint, ProjectTrade, Technique};
use flakeproof_learn::cannier::{
    self, Answers, AnswersError, Dataset, Delegation, ForestProtocol, ForestValidationParams,
    Front, KnownTest, LearnError, MaxReruns, MeasuredTest, Pipeline, Recheck, Sample, Setting,
    Suites, read_outcomes,
};
use flakeproof_learn::forest::Table;
use flakeproof_report::svg::{Beeswarm, Point, Swarm};

use crate::cli::{
    CannierData, EvaluateCannier, EvaluateForest, EvaluationFormat, ForestData, TechniqueName,
};
use crate::commands::train::cannot_learn;
use crate::models::forest_data::{self, join, read_tables, tables};
use crate::problem::Problem;
use crate::session::{current_folder, reports};
use crate::view::{self, CannierTrade, CannierTrades, ForestEvaluation};

/// `evaluate forest`.
pub(super) fn evaluate_forest(typed: &EvaluateForest) -> Result<ExitCode, Problem> {
    let data = forest_data::read(&typed.data, typed.pipeline.problem.into(), &current_folder()?)?;
    let params = ForestValidationParams {
        pipeline: typed.pipeline.pipeline(),
        protocol: typed.protocol.into(),
        folds: typed.folds,
        repeats: typed.repeats.max(1),
        runs: Some(typed.runs.max(1)),
        seed: typed.pipeline.seed,
    };
    check(&data, &params)?;
    let mut progress = view::Steps::start(params.steps(&data), "folds");
    let validation =
        params.run(&data, &mut || progress.step()).map_err(|error| cannot_learn(&error))?;
    progress.end();
    let evaluation = ForestEvaluation { params, data: &data, validation };
    match typed.output_format {
        EvaluationFormat::Text => view::forest_evaluation(&evaluation),
        EvaluationFormat::Json => view::data(evaluation.json().as_bytes()),
    }
    if let Some(path) = &typed.shap {
        draw(&data, &params, path, typed.output_format)?;
    }
    Ok(ExitCode::Clean)
}

/// Whether the data can be parted as the protocol wants it.
pub(super) fn check(data: &Dataset, params: &ForestValidationParams) -> Result<(), Problem> {
    let positive = data.labels().iter().filter(|label| **label).count();
    let fewer = positive.min(data.len() - positive);
    match params.protocol {
        ForestProtocol::Random if !(2..=fewer).contains(&params.folds) => Err(Problem::usage(
            format!("{} folds cannot each have one of {fewer} tests", params.folds),
            "give fewer `--folds`, but at least 2, or more tests of the rarer kind",
        )),
        ForestProtocol::Project if data.projects.len() < 2 => Err(Problem::usage(
            "all tests belong to one project, so none can be left out",
            "give the tables of several projects, or use `--protocol random`",
        )),
        ForestProtocol::Random | ForestProtocol::Project => Ok(()),
    }
}

/// The beeswarm of a forest that learned from all tests and all runs, as in the paper (5.2.3).
fn draw(
    data: &Dataset,
    params: &ForestValidationParams,
    path: &Path,
    format: EvaluationFormat,
) -> Result<(), Problem> {
    let swarm =
        beeswarm(data, params.pipeline, params.seed).map_err(|error| cannot_learn(&error))?;
    reports::put(path, swarm.svg().as_bytes())?;
    if format == EvaluationFormat::Text {
        view::drawn(&swarm, path);
    }
    Ok(())
}

/// Tests in the picture at the most; more dots would hide each other.
const MOST_TESTS: usize = 1500;

/// The contributions of all features for the tests of a data set, the strongest feature first.
pub(super) fn beeswarm(
    data: &Dataset,
    pipeline: Pipeline,
    seed: Seed,
) -> Result<Beeswarm, LearnError> {
    let table = data.table(Sample::All)?;
    let forest = pipeline.fit(&table, &data.labels(), seed)?;
    let step = data.len().div_ceil(MOST_TESTS).max(1);
    let rows: Vec<u32> = (0u32..).take(data.len()).step_by(step).collect();
    let asked = table.select(&rows);
    let shap = forest.shap(&asked)?;
    let mut rows: Vec<(f64, Swarm)> = data
        .features
        .iter()
        .enumerate()
        .map(|(column, feature)| {
            let levels = levels(&asked, column);
            let points: Vec<Point> = levels
                .into_iter()
                .enumerate()
                .map(|(row, level)| Point { contribution: shap.row(row)[column], level })
                .collect();
            let strength: f64 = points.iter().map(|point| point.contribution.abs()).sum();
            (strength, Swarm { name: feature.name().to_owned(), points })
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let title = format!(
        "{}: what each feature does to the answer ({} of {} tests)",
        data.problem.word(),
        asked.rows(),
        data.len()
    );
    let axis = format!("SHAP value: towards {} on the right", data.problem.positive());
    Ok(Beeswarm { title, axis, rows: rows.into_iter().map(|(_, swarm)| swarm).collect() })
}

/// The rank of each value in its column, from 0 to 1; `None` where it is missing.
fn levels(table: &Table, column: usize) -> Vec<Option<f64>> {
    let values = &table.columns()[column];
    let mut sorted: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f32::total_cmp);
    let last = sorted.len().saturating_sub(1).max(1);
    let rank = |value: &f32| sorted.partition_point(|it| it < value);
    #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^52")]
    let level = |value: &f32| rank(value) as f64 / last as f64;
    values.iter().map(|value| (!value.is_nan()).then(|| level(value))).collect()
}

/// `evaluate cannier`.
pub(super) fn evaluate_cannier(typed: &EvaluateCannier) -> Result<ExitCode, Problem> {
    let material = Material::read(&typed.data, &current_folder()?)?;
    let wants_all = typed.technique == TechniqueName::All;
    let (mut trades, mut skipped) = (Vec::new(), Vec::new());
    for technique in typed.technique.techniques() {
        match trade(*technique, &material, typed) {
            Ok(trade) => trades.push(trade),
            // What the data is not enough for is named beside what it is enough for.
            Err(problem) if wants_all && problem.exit == ExitCode::Usage => {
                skipped.push((*technique, problem));
            }
            Err(problem) => return Err(problem),
        }
    }
    if trades.is_empty() {
        let first = skipped.into_iter().map(|(_, problem)| problem).next();
        return Err(
            first.unwrap_or_else(|| Problem::broken("no technique", "report this as a bug"))
        );
    }
    for trade in &trades {
        if let Some(path) = &typed.svg {
            reports::put(
                &picture(path, trade.technique, wants_all),
                trade.chart().svg().as_bytes(),
            )?;
        }
    }
    let trades = CannierTrades {
        trades,
        skipped,
        wants_all,
        protocol: (!material.is_given()).then(|| typed.protocol.into()),
        seed: typed.seed,
        costs: material.suites.costs,
        without_cost: material.suites.without_cost,
    };
    match typed.output_format {
        EvaluationFormat::Text => view::cannier(&trades),
        EvaluationFormat::Json => view::data(trades.json().as_bytes()),
    }
    Ok(ExitCode::Clean)
}

fn trade(
    technique: Technique,
    material: &Material,
    typed: &EvaluateCannier,
) -> Result<CannierTrade, Problem> {
    match technique {
        Technique::Rerun => rerun(material, typed),
        Technique::Classification => classification(material, typed),
        Technique::Pairwise => pairwise(material, typed),
    }
}

fn rerun(material: &Material, typed: &EvaluateCannier) -> Result<CannierTrade, Problem> {
    let runs = typed.max_reruns.unwrap_or_else(|| material.suites.baseline_runs());
    let most = MaxReruns::new(runs).ok_or_else(|| {
        let what = format!("{runs} runs of a test cannot show that its outcome changes");
        Problem::usage(what, "give `--max-reruns` a number from 2")
    })?;
    let answers = answers(Technique::Rerun, material, typed)?.swap_remove(0);
    let delegation = Delegation::to_rerun(&material.suites, &answers, most);
    let how = format!("at most {runs} runs of each test");
    Ok(delegated(Technique::Rerun, &delegation, &answers, how))
}

fn classification(material: &Material, typed: &EvaluateCannier) -> Result<CannierTrade, Problem> {
    let recheck = Recheck::new(typed.recheck.0).unwrap_or(Recheck::RECOMMENDED);
    let answers = answers(Technique::Classification, material, typed)?.swap_remove(0);
    let delegation = Delegation::to_classification(&material.suites, &answers, recheck);
    let how = format!("{:.0} % of further failures classified again", 100.0 * recheck.get());
    Ok(delegated(Technique::Classification, &delegation, &answers, how))
}

fn delegated(
    technique: Technique,
    delegation: &Delegation<'_>,
    answers: &Answers,
    how: String,
) -> CannierTrade {
    let front = Front::new(delegation.original(), &delegation.grid());
    let what = format!("{} {}", answers.positive(), answers.problem.positive());
    let balanced = front.pins.balanced;
    let lines = match balanced.setting {
        Setting::Between(thresholds) => {
            DelegationPoint { delegation, thresholds, runs: balanced.runs }.by_project()
        }
        Setting::Candidates { .. } => Vec::new(),
    };
    shown(technique, front, lines, (answers.tests(), what, how), answers.repeats())
}

fn pairwise(material: &Material, typed: &EvaluateCannier) -> Result<CannierTrade, Problem> {
    if material.pairs.is_empty() {
        return Err(Problem::usage(
            "PAIRWISE needs to know which pairs there are to find",
            "give a table with `--pairs CSV`: project, polluter, victim",
        ));
    }
    let both = answers(Technique::Pairwise, material, typed)?;
    let (victims, polluters) = (&both[0], &both[1]);
    let pairwise = Pairwise::new(&material.suites, victims, polluters, &material.pairs, typed.seed)
        .map_err(|error| {
            let next = "project and tests must be spelled alike in all tables";
            Problem::usage(error.to_string(), next)
        })?;
    let front = Front::new(pairwise.original(), &pairwise.grid());
    let balanced = front.pins.balanced;
    let lines = match balanced.setting {
        Setting::Candidates { victim, polluter } => {
            pairwise.by_project(victim, polluter, balanced.runs)
        }
        Setting::Between(_) => Vec::new(),
    };
    let what = format!("{} pairs", pairwise.pairs());
    let how = match pairwise.left_out {
        0 => "every candidate polluter before every candidate victim".to_owned(),
        some => format!("{some} listed pairs left out: their tests were not asked about"),
    };
    let repeats = victims.repeats();
    Ok(shown(Technique::Pairwise, front, lines, (pairwise.tests(), what, how), repeats))
}

/// What the models of a technique say, in the order of its problems.
fn answers(
    technique: Technique,
    material: &Material,
    typed: &EvaluateCannier,
) -> Result<Vec<Answers>, Problem> {
    technique.problems().iter().map(|question| material.answers(*question, typed)).collect()
}

fn shown(
    technique: Technique,
    front: Front,
    lines: Vec<ProjectTrade>,
    (tests, what, how): (usize, String, String),
    repeats: usize,
) -> CannierTrade {
    CannierTrade { technique, front, lines, tests, what, how, repeats }
}

/// Where the picture of a technique goes; several get their name before the ending.
fn picture(path: &Path, technique: Technique, is_one_of_several: bool) -> PathBuf {
    if !is_one_of_several || path == Path::new("-") {
        return path.to_path_buf();
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    path.with_extension(format!("{}.{ending}", technique.word()).trim_end_matches('.'))
}

/// More runs than this the paper did not average over either.
const MOST_RUNS: usize = 15;

/// What is known about the tests.
struct Material {
    pub(super) suites: Suites,
    pub(super) pairs: Vec<KnownPair>,
    source: Source,
}

/// Where probabilities come from.
enum Source {
    /// From forests that learn here.
    Features(Vec<MeasuredTest>, Vec<KnownTest>),
    /// From a table.
    Given(Vec<GivenProbability>),
}

impl Material {
    /// The tables and the history that were named.
    pub(super) fn read(typed: &CannierData, folder: &Path) -> Result<Self, Problem> {
        let pairs = tables(&typed.pairs, read_pairs)?;
        if typed.probabilities.is_empty() {
            if typed.features.is_empty() && !typed.history {
                return Err(nothing_to_learn_from());
            }
            let data = ForestData {
                features: typed.features.clone(),
                outcomes: typed.outcomes.clone(),
                history: typed.history,
                store: typed.store.clone(),
            };
            let (measured, mut known) = read_tables(&data, folder)?;
            add_polluters(&mut known, &pairs);
            let suites = Suites::of_features(&measured, &known);
            return Ok(Self { suites, pairs, source: Source::Features(measured, known) });
        }
        let given = tables(&typed.probabilities, read_probabilities)?;
        let mut known = tables(&typed.outcomes, read_outcomes)?;
        add_polluters(&mut known, &pairs);
        let suites = given_suites(&given, &known);
        Ok(Self { suites, pairs, source: Source::Given(given) })
    }

    /// Whether the probabilities were given, so that nobody knows what they were learned from.
    fn is_given(&self) -> bool {
        matches!(self.source, Source::Given(_))
    }

    /// The answers about a problem, on tests that were not learned from.
    pub(super) fn answers(
        &self,
        question: cannier::Problem,
        typed: &EvaluateCannier,
    ) -> Result<Answers, Problem> {
        match &self.source {
            Source::Given(given) => {
                given_answers(question, given, &self.suites).map_err(|it| no_answers(&it))
            }
            Source::Features(measured, known) => self.learned(question, (measured, known), typed),
        }
    }

    /// Learn and ask, for each number of runs that features can be averaged over.
    fn learned(
        &self,
        question: cannier::Problem,
        (measured, known): (&[MeasuredTest], &[KnownTest]),
        typed: &EvaluateCannier,
    ) -> Result<Answers, Problem> {
        let data = join(question, measured, known)?;
        let most = typed.most_runs.unwrap_or(MOST_RUNS).min(data.most_runs());
        let best = Pipeline::best_for(question);
        let params = ForestValidationParams {
            pipeline: Pipeline {
                trees: typed.trees.unwrap_or(best.trees),
                balance: typed.balance.into(),
                ..best
            },
            protocol: typed.protocol.into(),
            folds: typed.folds,
            repeats: typed.repeats.max(1),
            runs: None,
            seed: typed.seed,
        };
        check(&data, &params)?;
        let mut progress = view::Steps::start(most * params.steps(&data), question.word());
        let mut validations = Vec::new();
        for (number, runs) in (1u32..).zip(1..=most) {
            let params = ForestValidationParams { runs: Some(runs), ..params };
            let validation = params.run(&data, &mut || progress.step());
            validations.push((number, validation.map_err(|error| cannot_learn(&error))?));
        }
        progress.end();
        Answers::of_validations(&data, &self.suites, &validations)
            .map_err(|error| no_answers(&error.into()))
    }
}

/// Pairs tell who pollutes, but no pairs do not tell that nobody does.
fn add_polluters(known: &mut [KnownTest], pairs: &[KnownPair]) {
    if !pairs.is_empty() {
        tell_polluters(known, pairs);
    }
}

fn nothing_to_learn_from() -> Problem {
    Problem::usage(
        "there is nothing to learn from",
        "give `--features CSV --outcomes CSV`, `--probabilities CSV --outcomes CSV` or `--history`",
    )
}

fn no_answers(error: &GivenAnswersError) -> Problem {
    let next = match error {
        GivenAnswersError::Answers(AnswersError::None { .. }) => {
            "project and test must be spelled alike in both tables, and `problem` be one that the \
             outcomes tell"
        }
        GivenAnswersError::Answers(AnswersError::OneClass { .. }) => {
            "add tests of the kind that is missing"
        }
        GivenAnswersError::Uneven { .. } => "give every test a probability in every repeat",
    };
    Problem::usage(error.to_string(), next)
}
