//! What GitHub Actions shows: [`GithubAnnotations`] beside the code, and [`GithubSummary`] on the
//! page of the job.

mod annotations;
mod summary;

pub use annotations::GithubAnnotations;
pub use summary::GithubSummary;
