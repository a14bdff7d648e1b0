//! `flakeproof hunt` and what follows from it, on real suites with the real program.

mod bad_input;
mod diff;
mod finding;
mod going_on;
mod kill;
mod known;
mod program;
mod strategies;
mod tidy;
mod verify;
