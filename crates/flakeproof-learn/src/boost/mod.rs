//! Boosted trees for two classes: each small tree mends what those before it got wrong.
//!
//! Friedman's gradient boosting (2001) with the second-order gains and the penalty of Chen and
//! Guestrin (2016) and the binned columns and leaf-wise growth of Ke et al. (2017). Own code, because
//! the crates for it bring their own tables, threads and file formats, and none promises the same
//! bytes on any number of threads.

mod grow;
mod layout;
mod model;

pub use model::{BoostParams, Boosted};
