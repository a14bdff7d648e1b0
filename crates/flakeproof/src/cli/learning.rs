//! Options that training and evaluating share.

use clap::{Args, ValueEnum};
use flakeproof_learn::flast::{Aim, HoldOut, Recipe, Weighting};

use crate::problem::Problem;

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
    pub(crate) sigma: Option<f64>,
    /// How much the random projection may change distances, 0 for none (`white-space`, `paper`)
    /// [default: 0.33].
    #[arg(long, value_name = "X", help_heading = RECIPE)]
    pub(crate) epsilon: Option<f64>,
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
