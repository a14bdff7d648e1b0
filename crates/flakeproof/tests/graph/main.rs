//! `flakeproof graph`, as a user runs it.

mod bad_input;
mod formats;
mod languages;
mod program;
