//! The seven static features of a test, features 12 to 18 of Table 1 in the CANNIER paper (section
//! 4.1), read from its source alone: nothing is run, and no interpreter is needed.
//!
//! For Python each equals what radon 6 and Python's own `ast` say about the test's source text, as
//! `textwrap.dedent(inspect.getsource(function))` gives it under Python 3.11; `evaluation/features`
//! holds the independent script. For Java, JavaScript, TypeScript, Go and Rust the definitions are
//! the same, with each language's own words for branches, operators and assertions.

mod features;
mod python;
mod tabled;
mod vocabularies;

pub use features::{MeasuredTests, StaticFeatures};

pub(crate) use features::of_tests;
