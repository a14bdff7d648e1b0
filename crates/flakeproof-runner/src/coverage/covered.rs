//! A coverage report: its format, what it says about each file, and what follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use flakeproof_core::{BlindSpot, Covered, Dependencies, FunctionUse, Lines};

use super::{lines, v8, xml};

/// Languages in which loading a file runs a line of it.
const RUN_WHEN_LOADED: [&str; 7] = [".js", ".mjs", ".cjs", ".jsx", ".py", ".rb", ".php"];

/// A file of a report.
#[derive(Debug, Default)]
pub(super) struct CoveredFile {
    /// Lines that can run, and whether they did.
    pub(super) lines: BTreeMap<u32, bool>,
    pub(super) functions: Vec<Function>,
    /// Whether nothing is known but that it is there.
    pub(super) is_ambiguous: bool,
    /// Whether it is certain that nothing of it had a part in the test.
    pub(super) is_known_to_be_idle: bool,
}

/// A function, or a block of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function {
    pub(super) first: u32,
    /// Its last line, where the report tells.
    pub(super) last: Option<u32>,
    pub(super) ran: bool,
}

/// What a test touched, by the files of its report. Their paths are absolute.
pub(super) fn dependencies(files: BTreeMap<String, CoveredFile>) -> Dependencies {
    let mut dependencies = Dependencies {
        variables: BTreeSet::from(["*".to_owned()]),
        blind_spots: vec![BlindSpot::Opens],
        followed: BTreeSet::new(),
        within: Some(files.keys().cloned().collect()),
        ..Dependencies::default()
    };
    for (path, file) in files {
        dependencies.followed.extend(ending_of(&path));
        if file.is_known_to_be_untouched(&path) {
            continue;
        }
        let functions = file.uses();
        if !functions.is_empty() {
            dependencies.functions.insert(path.clone(), functions);
        }
        dependencies.code.insert(path);
    }
    dependencies
}

fn ending_of(path: &str) -> Option<String> {
    let ending = Path::new(path).extension()?;
    Some(format!(".{}", ending.to_string_lossy()))
}

impl CoveredFile {
    fn is_known_to_be_untouched(&self, path: &str) -> bool {
        if self.is_known_to_be_idle {
            return true;
        }
        let ran = self.lines.values().any(|ran| *ran)
            || self.functions.iter().any(|function| function.ran);
        let runs_when_loaded = RUN_WHEN_LOADED.iter().any(|ending| path.ends_with(ending));
        !ran && runs_when_loaded && !self.is_ambiguous && self.has_line_outside_of_functions()
    }

    /// Every line that ran; where only blocks are told, every line of those that did.
    fn lines_that_ran(&self) -> Lines {
        if self.lines.is_empty() {
            let ran = self.functions.iter().filter(|function| function.ran);
            return ran.flat_map(|it| it.first..=it.last.unwrap_or(it.first)).collect();
        }
        self.lines.iter().filter(|(_, ran)| **ran).map(|(line, _)| *line).collect()
    }

    /// A file of nothing but functions may be loaded without running a line.
    fn has_line_outside_of_functions(&self) -> bool {
        let first = self.functions.iter().map(|function| function.first).min();
        let line = self.lines.keys().next();
        line.is_some_and(|line| first.is_none_or(|first| *line < first))
    }

    /// The functions, from their first line to their last.
    fn uses(&self) -> Vec<FunctionUse> {
        if self.is_ambiguous {
            return Vec::new();
        }
        let mut functions = self.functions.clone();
        functions.sort_by_key(|function| (function.first, function.last));
        let starts: BTreeSet<u32> = functions.iter().map(|function| function.first).collect();
        let used = functions.iter().filter_map(|function| {
            let end = match function.last {
                // What comes after the end of a function may share its last line.
                Some(last) => last.checked_sub(1)?,
                None => self.last_line(function, &starts)?,
            };
            (end > function.first).then_some(FunctionUse {
                body: function.first,
                end,
                ran: function.ran,
            })
        });
        used.collect()
    }

    fn last_line(&self, function: &Function, starts: &BTreeSet<u32>) -> Option<u32> {
        let next = starts.range(function.first + 1..).next().copied().unwrap_or(u32::MAX);
        let mut own = self.lines.range(function.first..next);
        match function.ran {
            true => own.next_back().map(|(line, _)| *line),
            false => own.take_while(|(_, ran)| !**ran).last().map(|(line, _)| *line),
        }
    }
}

/// The format of a coverage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageFormat {
    /// `lcov.info`, as lcov, istanbul, c8 and llvm-cov write it.
    Lcov,
    /// Cobertura XML.
    Cobertura,
    /// JaCoCo XML.
    Jacoco,
    /// A profile of `go test -coverprofile`.
    Go,
    /// The folder of `NODE_V8_COVERAGE`.
    V8,
}

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
    let mut files = files(format, path, folder, extent)?;
    if format == CoverageFormat::V8 {
        // A script can be loaded twice, and a function run in one of them only: files are told.
        files.values_mut().for_each(|file| file.is_ambiguous = true);
    }
    Ok(dependencies(files))
}

/// The lines of the project that ran, by the coverage report of a run in this folder.
///
/// # Errors
/// When the report cannot be read to its end, or knows no file of the project.
pub fn lines_that_ran(
    format: CoverageFormat,
    path: &Path,
    folder: &Path,
) -> Result<BTreeMap<String, Lines>, Error> {
    files(format, path, folder, Extent::NamedFiles).and_then(ran)
}

/// The lines of the project that ran, by what V8 wrote into a folder of its own.
///
/// # Errors
/// When it cannot be read, or knows no file of the project as it is written.
pub(crate) fn lines_of_v8(reports: &Path, folder: &Path) -> Result<BTreeMap<String, Lines>, Error> {
    v8::read_v8(reports, &folder.canonicalize()?).and_then(ran)
}

/// The lines that ran, or why a report does not tell them.
pub(crate) fn as_told(lines: Result<BTreeMap<String, Lines>, Error>) -> Covered {
    lines.map_or_else(|error| Covered::Unknown { reason: error.to_string() }, Covered::Lines)
}

fn files(
    format: CoverageFormat,
    path: &Path,
    folder: &Path,
    extent: Extent,
) -> Result<Files, Error> {
    let input = || File::open(path).map(|it| BufReader::with_capacity(128 * 1024, it));
    let folder = folder.canonicalize()?;
    let files = match format {
        CoverageFormat::Lcov => lines::read_lcov(input()?, &folder)?,
        CoverageFormat::Cobertura => xml::read_cobertura(input()?, &folder)?,
        CoverageFormat::Jacoco => xml::read_jacoco(input()?, &folder)?,
        CoverageFormat::Go => lines::read_go(input()?, &folder, extent)?,
        CoverageFormat::V8 => v8::read_v8(path, &folder)?,
    };
    if files.is_empty() {
        return Err(Error::at(0, "it has no file of the project"));
    }
    Ok(files)
}

fn ran(files: Files) -> Result<BTreeMap<String, Lines>, Error> {
    if files.values().all(|file| file.is_ambiguous) {
        return Err(Error::at(0, "every file was translated before it ran"));
    }
    let known = files.into_iter().filter(|(_, file)| !file.is_ambiguous);
    Ok(known
        .map(|(path, file)| (path, file.lines_that_ran()))
        .filter(|it| !it.1.is_empty())
        .collect())
}

/// The files of a report, by their paths.
pub(super) type Files = BTreeMap<String, CoveredFile>;

/// The absolute path of a file of the project; `None` where there is none.
pub(super) fn place(file: &str, folder: &Path) -> Option<String> {
    let path = folder.join(file).canonicalize().ok()?;
    path.is_file().then(|| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: &[(u32, bool)], functions: &[(u32, Option<u32>, bool)]) -> CoveredFile {
        CoveredFile {
            lines: lines.iter().copied().collect(),
            functions: functions
                .iter()
                .map(|&(first, last, ran)| Function { first, last, ran })
                .collect(),
            ..CoveredFile::default()
        }
    }

    fn uses_of(path: &str, file: CoveredFile) -> Dependencies {
        dependencies(BTreeMap::from([(path.to_owned(), file)]))
    }

    #[test]
    fn a_script_of_which_nothing_ran_was_not_loaded() {
        let idle = || file(&[(1, false), (4, false)], &[(3, None, false)]);
        assert!(uses_of("/p/a.js", idle()).code.is_empty());
        assert!(uses_of("/p/a.js", idle()).within.unwrap().contains("/p/a.js"));
        assert!(
            uses_of("/p/a.go", idle()).code.contains("/p/a.go"),
            "a constant may be compiled in"
        );
    }

    #[test]
    fn a_script_of_functions_alone_may_have_been_loaded() {
        let only_functions = file(&[(2, false)], &[(1, None, false)]);
        assert!(uses_of("/p/a.mjs", only_functions).code.contains("/p/a.mjs"));
        assert!(uses_of("/p/b.mjs", file(&[], &[])).code.contains("/p/b.mjs"));
    }

    #[test]
    fn an_idle_function_ends_where_a_line_ran() {
        let lines = [(2, false), (3, false), (5, true), (6, false), (9, false), (10, false)];
        let uses = uses_of("/p/a.cc", file(&lines, &[(1, None, false), (8, None, false)]));
        let uses = &uses.functions["/p/a.cc"];
        assert_eq!((uses[0].end, uses[1].end), (3, 10));
    }

    #[test]
    fn the_last_line_of_a_function_may_belong_to_others_too() {
        let uses = uses_of("/p/a.go", file(&[], &[(1, Some(5), false)]));
        assert_eq!(uses.functions["/p/a.go"][0].end, 4);
    }
}
