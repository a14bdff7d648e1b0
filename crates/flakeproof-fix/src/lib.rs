//! Patches for flaky tests, made on the syntax tree from the evidence of a hunt or an experiment.
//!
//! Nothing here runs a test or reads a file: texts and evidence come in, [`Proposal`]s go out, the
//! likeliest first. Whether one of them mends anything is for whoever runs the tests to prove. A proposal
//! leaves everything but the lines it adds or replaces as it was: indentation, quotes, line ends, and a
//! missing newline at the end of the file.

mod edit;
mod editable;
pub mod java;
mod literal;
pub mod mutants;
mod open_order;
mod pin;
mod proposal;
pub mod python;

pub use editable::{Change, Editable, Surround, Transplant, Wanted, check, patched};
pub use open_order::{OpenOrder, OrderOf, Sorted, order_of, type_seen};
pub use pin::Pin;
pub use proposal::{PatchedFile, Proposal};

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEditable {
    /// The file does not follow the grammar of its language.
    #[error("{file} does not parse: {issue}")]
    DoesNotParse {
        /// The file.
        file: String,
        /// What is wrong, and where.
        issue: String,
    },
    /// No patches are written for this language.
    #[error("{file} is not of Python or Java, for which patches are written")]
    OtherLanguage {
        /// The file.
        file: String,
    },
    /// The test is not written in this file, but inherited, generated or made by a plugin.
    #[error("{test} is not written in {file}: it is inherited, generated or made by a plugin")]
    NotWrittenHere {
        /// The test.
        test: String,
        /// The file.
        file: String,
    },
    /// The test is written in a form in which nothing can be put before its first statement.
    #[error("{test} is written on one line")]
    OnOneLine {
        /// The test.
        test: String,
    },
    /// Two changes are wanted for one place.
    #[error("two changes are wanted for the same lines, at line {line}")]
    TwoChanges {
        /// The line, counted from 1.
        line: usize,
    },
    /// There is no such form in this framework.
    #[error("{0}")]
    NoForm(String),
}
