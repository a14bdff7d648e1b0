//! What findings and predictions mean, in plain English.
//!
//! Each fact of [`flakeproof_core`] becomes one lower-case sentence without a full stop, so that a
//! summary, an annotation and the terminal say the same thing in the same words. The subject is
//! always the test: "passed at the end of the run, in the same environment". The text is not
//! marked up and not escaped; who prints it does that.

mod categories;
mod findings;
mod hunt;
mod overview;
mod phrases;
mod predictions;
mod scores;

pub use categories::{advice, category};
pub use findings::{command, evidence, failure, group, kind, outcome, quarantined, verdict};
pub use hunt::{
    Rest, always_passed, failed, fared, flaky_kind, flaky_tests, grouped, hidden, hunt_cost,
    hunt_end, lasted, missed, one_time_in, rest, together,
};
pub(crate) use overview::{burnt, headline, minute, period};
pub(crate) use phrases::{counted, excerpt, percent, sentence};
pub(crate) use predictions::flaky_neighbours;
pub use predictions::{model, nearest_flaky, similar, suspicion};
pub use scores::{interval, score, standing, unexplained};
