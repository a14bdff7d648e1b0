//! What goes into the search for tests, and what comes out of it.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use flakeproof_core::TestId;

use crate::Language;

/// A file of source, as text.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Where it is, relative to the project's root, with `/` between the parts.
    pub path: &'a str,
    /// All of it.
    pub text: &'a str,
}

/// What was understood of one file.
#[derive(Debug, Clone, Default)]
pub struct Found<'a> {
    /// The tests, in the order in which they stand in the file.
    pub tests: Vec<TestSource<'a>>,
    /// What could not be read.
    pub issues: Vec<Issue>,
}

/// A test, as it stands in its file.
#[derive(Debug, Clone)]
pub struct TestSource<'a> {
    /// Its id, as its runner writes it.
    pub id: TestId,
    /// The language of its file.
    pub language: Language,
    /// The lines it covers, counted from 1, its annotations included.
    pub lines: RangeInclusive<u32>,
    /// The bytes of the file it covers.
    pub span: Range<usize>,
    /// Its text: the whole method, function or call, its annotations included.
    pub text: &'a str,
    /// The classes, modules or `describe` blocks around it, outermost first.
    pub enclosing: Vec<String>,
    /// Its own name: that of the method or function, or the title.
    pub name: String,
    /// The functions of the same file that run with it: what sets it up, what it calls, what those
    /// call, and what tears it down; each once, in the order in which they first run.
    pub helpers: Vec<Helper<'a>>,
}

/// A function of the same file that a test runs.
#[derive(Debug, Clone)]
pub struct Helper<'a> {
    /// Its own name.
    pub name: String,
    /// The lines it covers, counted from 1.
    pub lines: RangeInclusive<u32>,
    /// Its text.
    pub text: &'a str,
}

/// Something about a file that kept tests from being found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// What it is.
    pub kind: IssueKind,
    /// The line where it begins, counted from 1.
    pub line: u32,
}

/// The kinds of trouble a file can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueKind {
    /// The text breaks the language's rules here. Tests around it are still found; some may be
    /// missing.
    SyntaxError,
    /// Classes, blocks or brackets lie in one another deeper than anyone writes. What lies deeper
    /// was not read; with brackets, the whole file was not.
    TooDeep,
    /// Reading took more steps than the [`Effort`](crate::Effort) allows. The file was not read.
    GaveUp,
    /// No language is known for the file's name. The file was not read.
    UnknownLanguage,
}

impl fmt::Display for IssueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SyntaxError => "syntax error; tests near it may be missing",
            Self::TooDeep => "nested too deeply; tests from here on may be missing",
            Self::GaveUp => "takes too long to parse; the file was not read",
            Self::UnknownLanguage => "unknown language; the file was not read",
        })
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}
