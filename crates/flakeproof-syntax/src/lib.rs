//! Reads source without running it: finds tests and their words, in many languages.
//!
//! A [`Finder`] is given the text of a file and says which tests are in it, named as their runner
//! names them, each with the helpers of the same file that it calls. It never fails: a broken file
//! gives the tests that can still be read, and [`SourceIssue`]s. A language is one file in `languages`
//! and one line that lists it.

pub mod cues;
pub mod dependence;
mod finder;
pub mod flow;
mod language;
mod languages;
pub mod metrics;
mod outline;
pub mod perturbation;
pub mod project;
pub mod rules;
pub mod smells;
mod source;
mod structure;
mod tree;
pub mod words;

pub use finder::{Effort, Finder, Lowered};
pub use language::{Language, may_hold_tests};
pub use source::{Found, Helper, IssueKind, Layout, SourceFile, SourceIssue, TestSource};
pub use structure::TestStructure;
