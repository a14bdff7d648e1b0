//! FLAST (Verdecchia et al., 2021): a test is probably flaky when the known tests most similar to
//! it are.

mod bags;
mod corpus;
mod model;
mod neighbourhood;
mod recipe;
mod weights;

pub use corpus::Corpus;
pub use model::{AboutFlast, Flast, FlastParams, KIND, Level, ThresholdLevels, TrainingError};
pub(crate) use neighbourhood::Space;
pub use neighbourhood::{Asker, HoldOut, Neighbourhood, Opinion, SharedTerm};
pub use recipe::{Aim, Cut, Recipe, TermField, TestText, Vote, Weighting};
