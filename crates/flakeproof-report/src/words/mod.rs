//! What findings and predictions mean, in plain English.
//!
//! Each fact of [`flakeproof_core`] becomes one lower-case sentence without a full stop, so that a
//! summary, an annotation and the terminal say the same thing in the same words. The subject is
//! always the test: "passed at the end of the run, in the same environment". The text is not
//! marked up and not escaped; who prints it does that.

mod cause;
mod cluster;
mod findings;
mod history;
mod hunt;
mod predictions;

pub use cause::{cause, under_lever};
pub use cluster::cluster;
pub use findings::{command, evidence, failure, group, kind, outcome, quarantined, verdict};
pub(crate) use findings::{counted, excerpt, percent, sentence};
pub use history::{burnt, interval, rate, repeats, score, since, standing, unexplained};
pub(crate) use history::{headline, minute, period, short};
pub use hunt::{
    Rest, always_passed, expected_hidden, failed, fared, flaky_kind, flaky_tests, grouped, hidden,
    hunt_cost, hunt_end, lasted, missed, one_time_in, rest, together,
};
pub(crate) use predictions::flaky_neighbours;
pub use predictions::{advice, category, ground, model, nearest_flaky, similar, suspicion};
