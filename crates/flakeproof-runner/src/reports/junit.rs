//! JUnit XML, in every dialect that was met.
//!
//! There is no standard. Common to all are `testcase` elements with a name, which passed unless a
//! child says otherwise. Everything else is optional here: suites may be nested (PHPUnit), missing
//! (node:test), or stand for packages (Go); times have marks between thousands (Surefire); a state
//! may be an attribute (CTest, GoogleTest); attempts that the runner repeated are children of their
//! own, with the text inside (older Surefire, nextest) or one level deeper (newer Surefire).
//!
//! Visual Studio's test results (TRX), the only report that `dotnet test` writes by itself, are
//! read here as one more dialect: their root element tells them apart.

use std::io::{self, BufRead};
use std::time::Duration;

use flakeproof_core::Outcome;

use super::reported::{
    self, DEEPEST, Issues, LONGEST_NAME, LONGEST_TEXT, MOST_PARTS, ReportedAttempt,
    ReportedFailure, ReportedTest, seconds,
};
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
                return read_trx(pieces, issues, sink);
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
                let (case, is_cut) = Case::begin(tag, suite_name, file);
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
                reported::cut(&mut value, LONGEST_NAME);
                suite.name = value;
            }
            b"file" | b"filepath" => {
                reported::cut(&mut value, LONGEST_NAME);
                suite.file = Some(value);
            }
            _ => {}
        }
    }
    suite
}

/// A test that is being read.
pub(super) struct Case {
    test: ReportedTest,
    /// What the attributes say about how it ended.
    state: State,
    open: Option<Open>,
    is_cut: bool,
}

/// What an attribute says about how a test ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unsaid,
    Skipped,
    Failed,
    Errored,
}

/// A part of a test, where text belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What went wrong, or why it was skipped.
    Failure,
    /// The text of what went wrong, one level deeper.
    Trace,
    /// What was printed.
    Output,
    /// Nothing that is kept.
    Other,
}

/// A failure, an attempt or a skip that is being read.
struct Open {
    what: What,
    duration: Option<std::time::Duration>,
    failure: ReportedFailure,
    output: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// It decided how the test ended.
    Decided(Outcome),
    /// The runner tried again after it.
    Repeated(Outcome),
}

impl Part {
    /// Whether text may stand there.
    pub(super) fn has_text(self) -> bool {
        self != Self::Other
    }
}

impl Case {
    /// A test by its tag; whether a name was cut.
    pub(super) fn begin(tag: Tag<'_>, suite: &str, file: Option<&str>) -> (Self, bool) {
        let mut case =
            Self { test: ReportedTest::named(""), state: State::Unsaid, open: None, is_cut: false };
        let mut is_cut = false;
        let test = &mut case.test;
        suite.clone_into(&mut test.suite);
        for (name, value) in tag.attributes() {
            let mut kept = || {
                let mut value = value.clone().into_owned();
                is_cut |= reported::cut(&mut value, LONGEST_NAME);
                value
            };
            match name {
                b"name" => test.name = kept(),
                // PHPUnit writes both, and the second without the backslashes of the name.
                b"class" => test.class = kept(),
                b"classname" if test.class.is_empty() => test.class = kept(),
                b"file" | b"filepath" => test.file = Some(kept()),
                b"line" | b"lineno" => test.line = value.trim().parse().ok(),
                b"id" => test.id = Some(kept()),
                b"time" | b"duration" => test.duration = seconds(&value),
                b"status" | b"result" => case.state = state_of(&value, case.state),
                _ => {}
            }
        }
        if test.file.is_none() {
            test.file = file.map(str::to_owned);
        }
        (case, is_cut)
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.test.name
    }

    /// An element inside; `inside` is the part that is open already.
    pub(super) fn open(&mut self, name: &[u8], tag: Tag<'_>, inside: Option<Part>) -> Part {
        let what = match (name, inside) {
            (b"failure", None) => What::Decided(Outcome::Failed),
            (b"error", None) => What::Decided(Outcome::Errored),
            (b"skipped" | b"skip" | b"ignored", None) => What::Decided(Outcome::Skipped),
            (b"flakyFailure" | b"rerunFailure", None) => What::Repeated(Outcome::Failed),
            (b"flakyError" | b"rerunError", None) => What::Repeated(Outcome::Errored),
            (b"stackTrace", Some(Part::Failure)) => return Part::Trace,
            (b"system-out" | b"system-err", None | Some(Part::Failure)) => return Part::Output,
            (b"property", _) => {
                self.add_property(tag);
                return Part::Other;
            }
            _ => return Part::Other,
        };
        let mut open = Open {
            what,
            duration: None,
            failure: ReportedFailure::default(),
            output: String::new(),
        };
        for (name, value) in tag.attributes() {
            match name {
                b"message" => self.is_cut |= kept(&mut open.failure.message, &value, LONGEST_TEXT),
                b"type" => self.is_cut |= kept(&mut open.failure.kind, &value, LONGEST_NAME),
                b"time" => open.duration = seconds(&value),
                _ => {}
            }
        }
        self.open = Some(open);
        Part::Failure
    }

    /// Text of a part.
    pub(super) fn text(&mut self, part: Part, text: &str) {
        let into = match (part, &mut self.open) {
            (Part::Failure | Part::Trace, Some(open)) => &mut open.failure.text,
            (Part::Output, Some(open)) => &mut open.output,
            (Part::Output, None) => &mut self.test.output,
            (Part::Failure | Part::Trace, None) | (Part::Other, _) => return,
        };
        self.is_cut |= reported::append(into, text, LONGEST_TEXT);
    }

    /// A part is at its end.
    pub(super) fn close(&mut self, part: Part) {
        if part == Part::Failure
            && let Some(open) = self.open.take()
        {
            self.take_in(open);
        }
    }

    /// The whole test; whether texts of it were cut.
    pub(super) fn finish(mut self) -> (ReportedTest, bool) {
        if self.test.failure.is_none() && self.test.outcome == Outcome::Passed {
            self.test.outcome = match self.state {
                State::Unsaid => Outcome::Passed,
                State::Skipped => Outcome::Skipped,
                State::Failed => Outcome::Failed,
                State::Errored => Outcome::Errored,
            };
        }
        (self.test, self.is_cut)
    }

    /// The first failure is the one that matters; a skip never hides one.
    fn take_in(&mut self, open: Open) {
        let Open { what, duration, mut failure, output } = open;
        failure.text.truncate(failure.text.trim_end().len());
        let test = &mut self.test;
        match what {
            What::Decided(outcome) => {
                if !test.outcome.is_failure() && (outcome.is_failure() || test.failure.is_none()) {
                    test.outcome = outcome;
                    test.failure = Some(failure);
                }
            }
            What::Repeated(outcome) if test.reruns.len() < MOST_PARTS => {
                test.reruns.push(ReportedAttempt { outcome, duration, failure, output });
            }
            What::Repeated(_) => self.is_cut = true,
        }
    }

    fn add_property(&mut self, tag: Tag<'_>) {
        let (Some(name), value) = (tag.attribute("name"), tag.attribute("value")) else { return };
        if self.test.properties.len() >= MOST_PARTS {
            self.is_cut = true;
            return;
        }
        let (mut name, mut value) = (name.into_owned(), value.unwrap_or_default().into_owned());
        self.is_cut |= reported::cut(&mut name, LONGEST_NAME);
        self.is_cut |= reported::cut(&mut value, LONGEST_NAME);
        self.test.properties.push((name, value));
    }
}

fn kept(into: &mut String, value: &str, limit: usize) -> bool {
    into.clear();
    reported::append(into, value, limit)
}

/// A state in an attribute, which never takes back a worse one.
fn state_of(value: &str, so_far: State) -> State {
    let state = match value.to_ascii_lowercase().as_str() {
        "fail" | "failed" | "failure" => State::Failed,
        "error" | "errored" => State::Errored,
        "notrun" | "disabled" | "suppressed" | "skipped" | "skip" | "ignored" | "pending" => {
            State::Skipped
        }
        _ => State::Unsaid,
    };
    match (so_far, state) {
        (State::Failed | State::Errored, _) | (_, State::Unsaid) => so_far,
        (State::Unsaid | State::Skipped, state) => state,
    }
}

/// Read Visual Studio's test results, after the opening `TestRun`.
fn read_trx<R: BufRead>(
    mut pieces: Pieces<R>,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    let mut test: Option<(ReportedTest, usize)> = None;
    let mut into = TrxText::Nothing;
    let mut depth = 0_usize;
    loop {
        let texts = if into == TrxText::Nothing { Texts::Skipped } else { Texts::Wanted };
        match pieces.next(texts)? {
            None => break,
            Some(Piece::Open(tag)) => {
                depth += 1;
                match (tag.name(), &test) {
                    (b"UnitTestResult", None) => test = Some((result_of(tag), depth)),
                    (name, Some(_)) => into = TrxText::element(name),
                    (_, None) => {}
                }
            }
            Some(Piece::Close) => {
                into = TrxText::Nothing;
                if let Some((whole, _)) = test.take_if(|(_, at)| *at == depth) {
                    sink(whole);
                }
                depth = depth.saturating_sub(1);
            }
            Some(Piece::Text(text)) => {
                if let Some((test, _)) = &mut test {
                    into.append(test, &text);
                }
            }
        }
    }
    if let Some((test, _)) = test {
        issues.serious(pieces.offset(), format!("the report ends inside of `{}`", test.name));
    }
    Ok(())
}

/// Where text belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrxText {
    Message,
    Trace,
    Output,
    Nothing,
}

impl TrxText {
    fn element(name: &[u8]) -> Self {
        match name {
            b"Message" => Self::Message,
            b"StackTrace" => Self::Trace,
            b"StdOut" | b"StdErr" => Self::Output,
            _ => Self::Nothing,
        }
    }

    fn append(self, test: &mut ReportedTest, text: &str) {
        let into = match self {
            Self::Message => &mut test.failure.get_or_insert_default().message,
            Self::Trace => &mut test.failure.get_or_insert_default().text,
            Self::Output => &mut test.output,
            Self::Nothing => return,
        };
        reported::append(into, text, LONGEST_TEXT);
    }
}

fn result_of(tag: Tag<'_>) -> ReportedTest {
    let mut test = ReportedTest::named("");
    for (name, value) in tag.attributes() {
        match name {
            b"testName" => {
                test.name = value.into_owned();
                reported::cut(&mut test.name, LONGEST_NAME);
            }
            b"duration" => test.duration = clock(&value),
            b"outcome" => test.outcome = outcome_of(&value),
            _ => {}
        }
    }
    if test.outcome.is_failure() {
        test.failure = Some(ReportedFailure::default());
    }
    test
}

/// Only what is known to be good is good.
fn outcome_of(word: &str) -> Outcome {
    match word {
        "Passed" | "PassedButRunAborted" | "Completed" | "Warning" => Outcome::Passed,
        "NotExecuted" | "NotRunnable" | "Inconclusive" | "Pending" => Outcome::Skipped,
        "Timeout" => Outcome::TimedOut,
        "Error" | "Aborted" | "Disconnected" => Outcome::Errored,
        _ => Outcome::Failed,
    }
}

/// A duration as a clock shows it: `00:00:01.2345678`.
fn clock(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    for part in text.split(':') {
        total = total * 60.0 + part.parse::<f64>().ok()?;
    }
    Duration::try_from_secs_f64(total).ok()
}
