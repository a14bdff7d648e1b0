//! What several commands share when they run tests or look at what was run: how they start, where
//! the history is, what is kept while tests run, and how what was found is reported.

pub(crate) mod history;
pub(crate) mod known_cause;
pub(crate) mod listed;
pub(crate) mod naming;
pub(crate) mod overview;
pub(crate) mod ownership;
pub(crate) mod renames;
pub(crate) mod reports;
pub(crate) mod sharing;
pub(crate) mod side_by_side;
mod start;
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(crate) mod token;

pub(crate) use history::Recorder;
pub(crate) use start::{Code, Start, code_in, current_folder, listen_for_interrupts, variables};
