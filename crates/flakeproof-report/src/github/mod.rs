//! What GitHub Actions shows: [`GithubAnnotations`] beside the code, and [`GithubSummary`] on the
//! page of the job.

mod annotations;
mod command;
mod hunt_summary;
mod overview_summary;
mod page;
mod prediction_annotations;
mod prediction_summary;
mod ranking;
mod summary;

pub use annotations::GithubAnnotations;
pub use summary::GithubSummary;
