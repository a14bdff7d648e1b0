//! Reads source without running it: finds tests and their words, in many languages.

pub mod words;
