//! A linear model of words: each word adds to, or takes from, the suspicion that a test is flaky.
//!
//! Words are weighted by how rare they are, as [`flast`](crate::flast) does, and a support vector
//! machine with squared loss is fitted by coordinate descent in its dual (Hsieh et al., 2008). Own
//! code, because the crates for it keep dense rows or solve the primal by sub-gradients.

mod bag;
mod descent;
mod model;

pub use bag::{WordBag, WordSpace};
pub use model::{Linear, LinearParams};
