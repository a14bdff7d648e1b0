//! Coverage reports, read as what a test touched.
//!
//! A report names the files it knows, and which of their lines and functions ran. From that follow
//! [`Dependencies`], under one rule: sound or silent.
//!
//! - What is not in the report was not measured: `within` is exactly the files that are.
//! - Which files a test opens, and which variables it reads, no coverage report tells.
//! - A file of which nothing ran is known not to be touched only where loading a file always runs a
//!   line of it: JavaScript, Python, Ruby and PHP, and of these only files that have a line outside
//!   of functions. Elsewhere a constant or a type of it may be compiled into what ran. Such files
//!   count as touched, except for the inside of functions that did not run.
//! - Where a function ends is taken from the report, or is its last line that can run before the
//!   next function begins; a line that ran ends a function that did not.
//! - A report that cannot be read to its end tells nothing.
//!
//! [`Dependencies`]: flakeproof_core::Dependencies

mod covered;
mod lines;
mod v8;
mod xml;

pub use covered::CoverageFormat;
pub use covered::{Error, Extent, lines_that_ran, read};
pub(crate) use covered::{as_told, lines_of_v8};
