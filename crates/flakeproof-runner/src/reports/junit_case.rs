//! One `testcase` element of JUnit XML.

use flakeproof_core::Outcome;

use super::limits::{self, LONGEST_NAME, LONGEST_TEXT, MOST_PARTS};
use super::reported::{ReportedAttempt, ReportedFailure, ReportedTest, seconds};
use super::xml::Tag;

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
    pub(super) fn of(tag: Tag<'_>, suite: &str, file: Option<&str>) -> (Self, bool) {
        let mut case =
            Self { test: ReportedTest::named(""), state: State::Unsaid, open: None, is_cut: false };
        let mut is_cut = false;
        let test = &mut case.test;
        suite.clone_into(&mut test.suite);
        for (name, value) in tag.attributes() {
            let mut kept = || {
                let mut value = value.clone().into_owned();
                is_cut |= limits::cut(&mut value, LONGEST_NAME);
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
        self.is_cut |= limits::append(into, text, LONGEST_TEXT);
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
        self.is_cut |= limits::cut(&mut name, LONGEST_NAME);
        self.is_cut |= limits::cut(&mut value, LONGEST_NAME);
        self.test.properties.push((name, value));
    }
}

fn kept(into: &mut String, value: &str, limit: usize) -> bool {
    into.clear();
    limits::append(into, value, limit)
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
