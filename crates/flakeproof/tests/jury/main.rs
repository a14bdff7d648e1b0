//! `flakeproof train jury|peeler` and `flakeproof evaluate jury|peeler`, as a user runs them.

mod bad_input;
mod evaluate;
mod program;
mod shelf;
mod train;
