//! From a coverage report to dependencies.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use flakeproof_core::Dependencies;

use super::covered::{Covered, dependencies};
use super::{CoverageFormat, cobertura, go_profile, jacoco, lcov};

/// Why a report tells nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error("cannot read the coverage report")]
    Io(#[from] io::Error),
    /// It is not what it should be.
    #[error("the coverage report is not understood at {position}: {what}")]
    NotUnderstood {
        /// So many lines or bytes from its beginning.
        position: u64,
        /// What is wrong.
        what: String,
    },
}

impl Error {
    pub(super) fn at(position: u64, what: impl Into<String>) -> Self {
        Self::NotUnderstood { position, what: what.into() }
    }
}

/// How much of a program a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The files that it names.
    NamedFiles,
    /// Every function of the project that is part of the test's program is named: what has
    /// functions and is not named is no part of it.
    WholeProgram,
}

/// What a test touched, by the coverage report of its run in this folder.
///
/// # Errors
/// When the report cannot be read to its end, or knows no file of the project.
pub fn read(
    format: CoverageFormat,
    path: &Path,
    folder: &Path,
    extent: Extent,
) -> Result<Dependencies, Error> {
    let input = BufReader::with_capacity(128 * 1024, File::open(path)?);
    let folder = folder.canonicalize()?;
    let files = match format {
        CoverageFormat::Lcov => lcov::read(input, &folder)?,
        CoverageFormat::Cobertura => cobertura::read(input, &folder)?,
        CoverageFormat::Jacoco => jacoco::read(input, &folder)?,
        CoverageFormat::Go => go_profile::read(input, &folder, extent)?,
    };
    if files.is_empty() {
        return Err(Error::at(0, "it has no file of the project"));
    }
    Ok(dependencies(files))
}

/// The files of a report, by their paths.
pub(super) type Files = BTreeMap<String, Covered>;

/// The absolute path of a file of the project; `None` where there is none.
pub(super) fn place(file: &str, folder: &Path) -> Option<String> {
    let path = folder.join(file).canonicalize().ok()?;
    path.is_file().then(|| path.to_string_lossy().into_owned())
}
