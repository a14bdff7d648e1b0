//! Python, measured as radon and `ast` measure it.

mod file;
mod lines;
mod operations;
mod walk;

pub(super) use file::File;
