//! `flakeproof train` and `flakeproof evaluate`, as they are typed: the models there are, FLAST,
//! the plan of a hunt, and the options that all share.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueEnum};
use flakeproof_core::Seed;
use flakeproof_lab::validation::Protocol;
use flakeproof_learn::flast::{Aim, HoldOut, Recipe, Weighting};
use flakeproof_syntax::perturbation::{Form, Perturbation};

use super::ensemble::{EvaluateEnsemble, EvaluatePeeler, TrainEnsemble, TrainPeeler};
use super::forest::{EvaluateCannier, EvaluateForest, TrainForest};
use crate::problem::Problem;
use crate::settings::StoreName;

/// Train a model on tests whose flakiness is known.
#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    #[command(subcommand)]
    pub(crate) model: TrainModel,
}

/// Which model to train.
#[derive(Debug, Subcommand)]
pub(crate) enum TrainModel {
    Flast(TrainFlast),
    Forest(TrainForest),
    Peeler(TrainPeeler),
    #[command(name = "jury", alias = "ensemble")]
    Ensemble(TrainEnsemble),
}

/// Nearest neighbours over the words of a test (FLAST).
///
/// Learns from JSON Lines with `source` and `flaky` (and where known `id`, `project`, `class`,
/// `method`, `category`), from two folders with one test a file, or from the verdicts that
/// `flakeproof run` keeps in the project's history.
#[derive(Debug, Args)]
pub(crate) struct TrainFlast {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = DATA)]
    pub(crate) data: Vec<PathBuf>,
    /// A folder with one flaky test in each file.
    #[arg(long, value_name = "DIR", requires = "stable", help_heading = DATA)]
    pub(crate) flaky: Option<PathBuf>,
    /// A folder with one test that is not flaky in each file.
    #[arg(long, value_name = "DIR", requires = "flaky", help_heading = DATA)]
    pub(crate) stable: Option<PathBuf>,
    /// The verdicts of this project's own runs, for the tests in the current folder.
    #[arg(long, help_heading = DATA)]
    pub(crate) history: bool,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE", help_heading = DATA)]
    pub(crate) store: Option<StoreName>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT", help_heading = DATA)]
    pub(crate) without: Vec<String>,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// What is held out to choose thresholds [default: the largest unit there is enough of].
    #[arg(long, value_name = "WHAT")]
    pub(crate) hold_out: Option<HoldOutChoice>,
    #[command(flatten)]
    pub(crate) learned: LearnedArguments,
    /// Where to write the model [default: `.flakeproof/flast.model`, which `predict` looks for].
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
}

const DATA: &str = "What to learn from";

/// Measure what a model is worth on tests it has not learned from.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
    #[command(subcommand)]
    pub(crate) model: EvaluateModel,
}

/// Which model to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum EvaluateModel {
    Flast(EvaluateFlast),
    Forest(EvaluateForest),
    Plan(EvaluatePlan),
    Cannier(EvaluateCannier),
    Peeler(EvaluatePeeler),
    #[command(name = "jury", alias = "ensemble")]
    Ensemble(EvaluateEnsemble),
}

/// Nearest neighbours over the words of a test (FLAST).
#[derive(Debug, Args)]
pub(crate) struct EvaluateFlast {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    #[command(flatten)]
    pub(crate) perturb: PerturbArguments,
    /// Learn and ask within each project alone, as the FLAST paper does.
    #[arg(long)]
    pub(crate) within_project: bool,
    /// Also show each project.
    #[arg(long)]
    pub(crate) by_project: bool,
    #[command(flatten)]
    pub(crate) recipe: RecipeArguments,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// Labelled tests, and how they are parted.
#[derive(Debug, Args)]
pub(crate) struct LabelledFolds {
    /// A file of labelled tests, JSON Lines, also compressed (`.zst`). Repeatable.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Leave out this project of the data. Repeatable.
    #[arg(long, value_name = "PROJECT")]
    pub(crate) without: Vec<String>,
    /// Which tests are asked, and which may be learned from.
    #[arg(long, value_name = "NAME", default_value = "project")]
    pub(crate) protocol: ProtocolName,
    /// How many folds (`random` and `class`).
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) folds: usize,
}

/// In which other forms tests are asked about, too.
#[derive(Debug, Args)]
pub(crate) struct PerturbArguments {
    /// Also ask about each test in another form that does the same, and tell by how much the figures drop:
    /// with other `names`, in another `order`, with `dead-code`, with `comments` [default: with all of
    /// these]. Java only.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, value_delimiter = ',',
          default_missing_value = "names,order,dead-code,comments")]
    perturb: Vec<PerturbationName>,
}

/// A change that does not change what a test does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum PerturbationName {
    /// Local variables, parameters and private members are called otherwise.
    Names,
    /// The methods of each class stand in another order.
    Order,
    /// Methods begin with code that does nothing.
    DeadCode,
    /// There are comments before methods and in them.
    Comments,
}

impl PerturbArguments {
    /// The form that is meant, if any is, its chance by a part of this seed.
    pub(crate) fn form(&self, seed: Seed) -> Option<Form> {
        let mut names = self.perturb.clone();
        names.sort_unstable();
        names.dedup();
        let kinds: Vec<Perturbation> = names.into_iter().map(Perturbation::from).collect();
        (!kinds.is_empty()).then(|| Form { kinds, seed: seed.split("perturb") })
    }
}

impl From<PerturbationName> for Perturbation {
    fn from(name: PerturbationName) -> Self {
        match name {
            PerturbationName::Names => Self::Names,
            PerturbationName::Order => Self::Order,
            PerturbationName::DeadCode => Self::DeadCode,
            PerturbationName::Comments => Self::Comments,
        }
    }
}

/// Which tests are asked, and which may be learned from.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProtocolName {
    /// Random folds; flatters, because a test meets its own class in training.
    Random,
    /// Folds that never part a class.
    Class,
    /// One project is asked, all others are learned from: what a new user gets.
    Project,
}

impl From<ProtocolName> for Protocol {
    fn from(name: ProtocolName) -> Self {
        match name {
            ProtocolName::Random => Self::Random,
            ProtocolName::Class => Self::Class,
            ProtocolName::Project => Self::Project,
        }
    }
}

/// How to print the result of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvaluationFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The planner of `hunt` against plain reruns, CANNIER and an oracle.
///
/// Nothing is run: chance decides, by the `failing_runs` and `passing_runs` of each test in the data.
#[derive(Debug, Args)]
pub(crate) struct EvaluatePlan {
    #[command(flatten)]
    pub(crate) labelled: LabelledFolds,
    /// What a run of each test costs.
    #[arg(long, value_name = "NAME", default_value = "equal")]
    pub(crate) cost: CostName,
    /// How often CANNIER runs an ambiguous test, at most.
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = RangedU64ValueParser::<u32>::new().range(2..=1_000_000))]
    pub(crate) max_reruns: u32,
    /// Over how many repetitions, each with other chance, the plan is averaged.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = RangedU64ValueParser::<u32>::new().range(1..=1000))]
    pub(crate) repeats: u32,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// Draw what each strategy finds for its runs into this file.
    #[arg(long, value_name = "SVG")]
    pub(crate) svg: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: EvaluationFormat,
}

/// What a run of a test costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostName {
    /// The same for every test.
    Equal,
    /// Drawn by the seed: a few tests cost far more than the others (Pareto, shape 1.5, mean 1).
    HeavyTailed,
}

impl CostName {
    /// The word that names it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::HeavyTailed => "heavy-tailed",
        }
    }
}

/// Which variant of FLAST.
#[derive(Debug, Args)]
pub(crate) struct RecipeArguments {
    /// The variant of FLAST.
    #[arg(long, value_name = "NAME", default_value = "rarity", help_heading = RECIPE)]
    pub(crate) recipe: RecipeName,
    /// How many neighbours vote [default: 30, and 7 for `white-space` and `paper`].
    #[arg(short = 'k', long, value_name = "N", help_heading = RECIPE)]
    pub(crate) neighbours: Option<usize>,
    /// The threshold: a test is called flaky from this share of its neighbours' votes on [default:
    /// chosen on held-out tests, and 0.5 for `white-space` and `paper`].
    #[arg(long, value_name = "SHARE", help_heading = RECIPE)]
    sigma: Option<f64>,
    /// How much the random projection may change distances, 0 for none (`white-space`, `paper`)
    /// [default: 0.33].
    #[arg(long, value_name = "X", help_heading = RECIPE)]
    epsilon: Option<f64>,
}

const RECIPE: &str = "The recipe";

/// A variant of FLAST.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RecipeName {
    /// The words that names are made of, weighted by how rare they are; the best on real data.
    Rarity,
    /// As the paper measured it: runs of word characters.
    Paper,
    /// As the paper describes it: what stands between white space.
    WhiteSpace,
}

/// What every model that learns from labelled tests is told besides.
#[derive(Debug, Args)]
pub(crate) struct LearnedArguments {
    /// The share of alarms that must be right at the `careful` threshold.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    precision: f64,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value = "1", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Seed,
    /// What to call the model [default: the name of its file].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

impl LearnedArguments {
    /// The share of alarms that must be right at the `careful` threshold.
    pub(crate) fn careful_precision(&self) -> Result<f64, Problem> {
        share(self.precision, "--precision")
    }
}

/// What is held out to choose thresholds.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HoldOutChoice {
    /// Each test alone.
    Test,
    /// Each class as a whole.
    Class,
    /// Each project as a whole.
    Project,
}

impl From<HoldOutChoice> for HoldOut {
    fn from(choice: HoldOutChoice) -> Self {
        match choice {
            HoldOutChoice::Test => Self::Test,
            HoldOutChoice::Class => Self::Class,
            HoldOutChoice::Project => Self::Project,
        }
    }
}

impl RecipeArguments {
    /// The recipe that is meant.
    pub(crate) fn resolve(&self) -> Result<Recipe, Problem> {
        let mut recipe = match self.recipe {
            RecipeName::Rarity => Recipe::rarity(),
            RecipeName::Paper => Recipe::paper(),
            RecipeName::WhiteSpace => Recipe::white_space(),
        };
        if let Some(neighbours) = self.neighbours {
            if neighbours == 0 {
                return Err(Problem::usage("no neighbour cannot vote", "give `-k` 1 or more"));
            }
            let whole_class = recipe.of_a_class == recipe.neighbours;
            recipe.neighbours = neighbours;
            recipe.of_a_class =
                if whole_class { neighbours } else { recipe.of_a_class.min(neighbours) };
        }
        if let Some(sigma) = self.sigma {
            recipe.aim = Aim::Fixed(share(sigma, "--sigma")?);
        }
        if let Some(given) = self.epsilon {
            let Weighting::Counts { epsilon } = &mut recipe.weighting else {
                return Err(Problem::usage(
                    "`--epsilon` belongs to a random projection, and this recipe has none",
                    "leave it out, or choose `--recipe white-space` or `--recipe paper`",
                ));
            };
            *epsilon = Some(given).filter(|given| (0.0..1.0).contains(given)).ok_or_else(|| {
                Problem::usage(
                    format!("`--epsilon {given}` is not a share of a distance"),
                    "give a number from 0 up to, but not including, 1",
                )
            })?;
        }
        Ok(recipe)
    }
}

/// A number from 0 to 1.
pub(crate) fn share(given: f64, option: &str) -> Result<f64, Problem> {
    if (0.0..=1.0).contains(&given) {
        return Ok(given);
    }
    let what = format!("`{option} {given}` is not a share");
    Err(Problem::usage(what, "give a number from 0 to 1"))
}
