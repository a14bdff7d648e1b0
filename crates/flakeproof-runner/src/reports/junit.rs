//! JUnit XML, in every dialect that was met.
//!
//! There is no standard. Common to all are `testcase` elements with a name, which passed unless a
//! child says otherwise. Everything else is optional here: suites may be nested (PHPUnit), missing
//! (node:test), or stand for packages (Go); times have marks between thousands (Surefire); a state
//! may be an attribute (CTest, GoogleTest); attempts that the runner repeated are children of their
//! own, with the text inside (older Surefire, nextest) or one level deeper (newer Surefire).

use std::io::{self, BufRead};

use super::issue::Issues;
use super::junit_case::{Case, Part};
use super::limits::{self, DEEPEST, LONGEST_NAME};
use super::reported::ReportedTest;
use super::trx;
use super::xml::{Piece, Pieces, Tag, Texts};

/// Read a report, test by test.
pub(super) fn read(
    input: impl BufRead,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    let mut pieces = Pieces::new(input);
    let mut reader = Reader { elements: Vec::new(), suites: Vec::new(), case: None, ignored: 0 };
    loop {
        let texts = reader.texts();
        let offset = pieces.offset();
        match pieces.next(texts)? {
            None => break,
            Some(Piece::Open(tag)) if reader.is_at_start() && tag.name() == b"TestRun" => {
                return trx::read(pieces, issues, sink);
            }
            Some(Piece::Open(tag)) => reader.open(tag, offset, issues),
            Some(Piece::Close) => reader.close(offset, issues, sink),
            Some(Piece::Text(text)) => reader.text(&text),
        }
    }
    reader.finish(pieces.offset(), issues);
    if pieces.cut() > 0 {
        issues.note(pieces.offset(), format!("{} pieces were too long and are cut", pieces.cut()));
    }
    Ok(())
}

/// What is open at the moment.
struct Reader {
    elements: Vec<Element>,
    suites: Vec<Suite>,
    case: Option<Case>,
    /// Elements that are open below the deepest that is looked at.
    ignored: usize,
}

/// An open element.
#[derive(Clone, Copy)]
enum Element {
    Suite,
    Case,
    /// Inside a test: where text belongs.
    Part(Part),
    Other,
}

struct Suite {
    name: String,
    file: Option<String>,
}

impl Reader {
    fn is_at_start(&self) -> bool {
        self.elements.is_empty()
    }

    fn texts(&self) -> Texts {
        match self.elements.last() {
            Some(Element::Part(part)) if self.ignored == 0 && part.has_text() => Texts::Wanted,
            _ => Texts::Skipped,
        }
    }

    fn open(&mut self, tag: Tag<'_>, offset: u64, issues: &mut Issues) {
        if self.elements.len() >= DEEPEST {
            if self.ignored == 0 {
                issues.serious(offset, "elements are nested too deeply to be told apart");
            }
            self.ignored += 1;
            return;
        }
        let element = match (tag.name(), &mut self.case) {
            (b"testcase", open) => {
                if open.is_some() {
                    issues.serious(offset, "a test is inside another test, which is lost");
                }
                let suite = self.suites.last();
                let suite_name = suite.map_or("", |suite| &suite.name);
                let file = suite.and_then(|suite| suite.file.as_deref());
                let (case, is_cut) = Case::of(tag, suite_name, file);
                if is_cut {
                    issues.note(offset, "a name is too long and is cut");
                }
                self.case = Some(case);
                Element::Case
            }
            (b"testsuite", None) => {
                self.suites.push(suite_of(tag));
                Element::Suite
            }
            (b"failure" | b"error", None) => {
                let suite = self.suites.last().map_or("?", |suite| &suite.name);
                let message = tag.attribute("message").unwrap_or_default();
                let what = format!("`{suite}` reports a failure outside of its tests: {message}");
                issues.serious(offset, what);
                Element::Other
            }
            (name, Some(case)) => {
                let inside = match self.elements.last() {
                    Some(Element::Part(part)) => Some(*part),
                    _ => None,
                };
                Element::Part(case.open(name, tag, inside))
            }
            (_, None) => Element::Other,
        };
        self.elements.push(element);
    }

    fn close(&mut self, offset: u64, issues: &mut Issues, sink: &mut dyn FnMut(ReportedTest)) {
        if self.ignored > 0 {
            self.ignored -= 1;
            return;
        }
        match self.elements.pop() {
            Some(Element::Suite) => drop(self.suites.pop()),
            Some(Element::Case) => {
                if let Some(case) = self.case.take() {
                    let (test, is_cut) = case.finish();
                    if is_cut {
                        issues.note(offset, format!("texts of `{}` are cut", test.name));
                    }
                    sink(test);
                }
            }
            Some(Element::Part(part)) => {
                if let Some(case) = &mut self.case {
                    case.close(part);
                }
            }
            Some(Element::Other) => {}
            None => issues.note(offset, "an element is closed that was not opened"),
        }
    }

    fn text(&mut self, text: &str) {
        if let (Some(Element::Part(part)), Some(case)) = (self.elements.last(), &mut self.case) {
            case.text(*part, text);
        }
    }

    /// A test that was not written to its end has no outcome that can be trusted.
    fn finish(self, offset: u64, issues: &mut Issues) {
        if let Some(case) = self.case {
            issues.serious(offset, format!("the report ends inside of `{}`", case.name()));
        } else if !self.elements.is_empty() {
            issues.serious(offset, "the report is not written to its end");
        }
    }
}

fn suite_of(tag: Tag<'_>) -> Suite {
    let mut suite = Suite { name: String::new(), file: None };
    for (name, value) in tag.attributes() {
        let mut value = value.into_owned();
        match name {
            b"name" => {
                limits::cut(&mut value, LONGEST_NAME);
                suite.name = value;
            }
            b"file" | b"filepath" => {
                limits::cut(&mut value, LONGEST_NAME);
                suite.file = Some(value);
            }
            _ => {}
        }
    }
    suite
}
