//! Python, measured as radon and `ast` measure it.

mod extent;
mod file;
mod imports;
mod lexer;
mod lines;
mod numbers;
mod operations;
mod standard_library;
mod strings;
mod walk;

pub(super) use file::File;
