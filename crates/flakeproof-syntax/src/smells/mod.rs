//! What makes tests flaky, counted in the code around a test.
//!
//! A [`Smell`] is a family of words that code with one cause of flakiness is made of: threads,
//! sockets, time. A [`SmellReader`] counts them in [`Circle`]s around a test: in itself, in what
//! runs with it, in its file, in the code it calls and in the files that those mention. The smells
//! of FlakeFlagger (Alshammari et al., ICSE 2021) need a type checker or a run of the test; these
//! need the text alone, and are the same for all languages.

mod reader;
mod smell;

pub use reader::{SmellReader, TestWords};
pub use smell::{Circle, Smell};
