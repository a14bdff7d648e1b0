//! A test as a report tells of it, and the attempts that were made at it.

use std::fmt;
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, Failure, Isolation, Location, Outcome, Phase, Signature, Stage, TestId,
    headline,
};

/// One test of a report.
///
/// What a format does not tell is empty. Names are as the report writes them: no two runners agree
/// on what a class or a suite is.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedTest {
    /// The suite around it, the innermost where they are nested; a Go package.
    pub suite: String,
    /// Its class, or what stands in for one: the names of the groups around it, joined by ` > `.
    pub class: String,
    /// Its own name.
    pub name: String,
    /// The file it is written in.
    pub file: Option<String>,
    /// The line of that file, counted from 1.
    pub line: Option<u32>,
    /// The runner's own id of it, where the report has one.
    pub id: Option<String>,
    /// Where its beginning stands among those of all tests, where the report tells it apart from its end.
    pub begun: Option<u64>,
    /// How it ended; how its last attempt ended where the runner repeated it.
    pub outcome: Outcome,
    /// How long it took.
    pub duration: Option<Duration>,
    /// What went wrong in the attempt that decided, or why it was skipped.
    pub failure: Option<ReportedFailure>,
    /// Attempts that did not decide, in order. A runner that repeats tests reports them.
    pub reruns: Vec<ReportedAttempt>,
    /// What it printed.
    pub output: String,
    /// Names and values that the runner or the test attached.
    pub properties: Vec<(String, String)>,
}

/// One attempt at a test that the runner itself repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedAttempt {
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub duration: Option<Duration>,
    /// What went wrong.
    pub failure: ReportedFailure,
    /// What it printed.
    pub output: String,
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedFailure {
    /// In one line, or the reason of a skip.
    pub message: String,
    /// The type of the exception, or another word for what it is.
    pub kind: String,
    /// All of it, traceback included.
    pub text: String,
}

impl ReportedTest {
    /// A test that passed and of which only the name is known.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            suite: String::new(),
            class: String::new(),
            name: name.into(),
            file: None,
            line: None,
            id: None,
            begun: None,
            outcome: Outcome::Passed,
            duration: None,
            failure: None,
            reruns: Vec::new(),
            output: String::new(),
            properties: Vec::new(),
        }
    }
}

/// Seconds as a report writes them: `0.5`, `1,234.5` with marks between thousands, `0,5`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let plain = match (text.contains(','), text.contains('.')) {
        (true, true) => text.replace(',', ""),
        (true, false) => text.replace(',', "."),
        (false, _) => text.to_owned(),
    };
    Duration::try_from_secs_f64(plain.parse().ok()?).ok()
}

/// Milliseconds as a number of a report.
pub(crate) fn milliseconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number / 1_000.0).ok()
}

/// So many issues are kept; a report that is odd everywhere is odd in the same way.
const MOST: usize = 100;

/// Something in a report that could not be understood, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportIssue {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is: so many bytes, or for formats of lines so many lines, from the beginning.
    pub position: u64,
    /// What is odd, for people.
    pub what: String,
}

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was cut or left out; every test and its outcome is there.
    Note,
    /// Tests may be missing, or a failure belongs to none of them.
    Serious,
}

impl Severity {
    /// The severity as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Serious => "serious",
        }
    }
}

impl fmt::Display for ReportIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.what, self.position)
    }
}

/// The issues so far.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    kept: Vec<ReportIssue>,
}

impl Issues {
    /// Something small.
    pub(crate) fn note(&mut self, position: u64, what: impl Into<String>) {
        self.add(Severity::Note, position, what.into());
    }

    /// Something that may hide a test.
    pub(crate) fn serious(&mut self, position: u64, what: impl Into<String>) {
        self.add(Severity::Serious, position, what.into());
    }

    /// All that were kept.
    pub(crate) fn into_vec(self) -> Vec<ReportIssue> {
        self.kept
    }

    /// A serious issue is never dropped for notes: the last note makes room.
    fn add(&mut self, severity: Severity, position: u64, what: String) {
        if self.kept.len() >= MOST {
            let note = self.kept.iter().rposition(|issue| issue.severity == Severity::Note);
            match (severity, note) {
                (Severity::Serious, Some(at)) => drop(self.kept.remove(at)),
                _ => return,
            }
        }
        self.kept.push(ReportIssue { severity, position, what });
    }
}

/// The most bytes of a name, of a class or of a path.
pub(crate) const LONGEST_NAME: usize = 4 * 1024;

/// The most bytes of a failure's text, or of what a test printed.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;

/// How deep elements may be nested and still be told apart.
pub(crate) const DEEPEST: usize = 200;

/// The most attempts, or properties, of one test.
pub(crate) const MOST_PARTS: usize = 100;

/// Append to a text up to a limit; say whether something was left out.
pub(crate) fn append(text: &mut String, more: &str, limit: usize) -> bool {
    let room = limit.saturating_sub(text.len());
    text.push_str(more.get(..end_within(more, room)).unwrap_or_default());
    more.len() > room
}

/// Shorten a text to a limit; say whether something was left out.
pub(crate) fn cut(text: &mut String, limit: usize) -> bool {
    let is_long = text.len() > limit;
    text.truncate(end_within(text, limit));
    is_long
}

/// The largest end of a whole character within a limit.
fn end_within(text: &str, limit: usize) -> usize {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// The longest text of a failure that is kept, in bytes: enough for its message.
const LONGEST_MESSAGE: usize = 2_000;

/// The attempts at a test, earliest first, the first of which has this number.
///
/// What a runner repeated until it passed failed before; what failed every time failed first.
#[must_use]
pub fn attempts(
    test: ReportedTest,
    id: &TestId,
    number: u32,
    isolation: Isolation,
) -> Vec<Attempt> {
    let ReportedTest { outcome, duration, failure, reruns, output, file, line, .. } = test;
    let location = file.map(|file| Location { file, line });
    let decided = (outcome, duration, failure, output);
    let repeated =
        reruns.into_iter().map(|it| (it.outcome, it.duration, Some(it.failure), it.output));
    let told: Vec<_> = match outcome.is_failure() {
        true => std::iter::once(decided).chain(repeated).collect(),
        false => repeated.chain(std::iter::once(decided)).collect(),
    };
    let attempt = |(at, (outcome, duration, failure, output)): (u32, AttemptParts)| Attempt {
        stage: if number + at == 1 { Stage::First } else { Stage::Postponed },
        isolation: if at == 0 { isolation } else { Isolation::Same },
        number: number + at,
        position: None,
        execution: execution(id, outcome, duration, failure, &output, location.as_ref()),
    };
    (0..).zip(told).map(attempt).collect()
}

/// How an attempt ended, how long it took, why it failed, and what it printed.
type AttemptParts = (Outcome, Option<Duration>, Option<ReportedFailure>, String);

fn execution(
    id: &TestId,
    outcome: Outcome,
    duration: Option<Duration>,
    told: Option<ReportedFailure>,
    output: &str,
    own: Option<&Location>,
) -> Execution {
    let (failure, note) = match told {
        _ if outcome == Outcome::Passed => (None, None),
        told if outcome.is_failure() => {
            (Some(failure(id, outcome, told.unwrap_or_default(), output, own)), None)
        }
        told => (None, told.map(|told| told.message).filter(|message| !message.is_empty())),
    };
    Execution { failure, note, ..Execution::new(id.clone(), outcome, duration.unwrap_or_default()) }
}

fn failure(
    id: &TestId,
    outcome: Outcome,
    told: ReportedFailure,
    output: &str,
    own: Option<&Location>,
) -> Failure {
    let ReportedFailure { message, kind, text } = told;
    let line = |text: &str| Some(headline(text)).filter(|it| !it.is_empty());
    // Some runners say in the message only what the text begins with.
    let told = if text.trim_start().starts_with(message.trim()) { &text } else { &message };
    let first = line(told).or_else(|| line(output));
    let first = first.unwrap_or_else(|| "no message".to_owned());
    let mut message = match kind.is_empty() || first.contains(kind.as_str()) || kind.contains(' ') {
        true => first,
        false => format!("{kind}: {first}"),
    };
    cut(&mut message, LONGEST_MESSAGE);
    // Without a place, the words alone are not enough: every test of some runners just "Failed".
    let here = Location { file: id.to_string(), line: None };
    Failure {
        phase: if outcome == Outcome::Errored { Phase::Setup } else { Phase::Call },
        signature: Signature::compute(&message, Some(&here)),
        message,
        text: String::new(),
        location: own.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_as_every_locale_writes_them() {
        let millis = |text| seconds(text).map(|time| time.as_millis());
        assert_eq!(millis("0.5"), Some(500));
        assert_eq!(millis("0,5"), Some(500));
        assert_eq!(millis("1,234.5"), Some(1_234_500));
        assert_eq!(millis(" 7 "), Some(7_000));
        for odd in ["", "-1", "NaN", "inf", "1e300", "soon"] {
            assert_eq!(millis(odd), None, "{odd}");
        }
    }

    #[test]
    fn notes_make_room_for_what_is_serious() {
        let mut issues = Issues::default();
        for at in 0..1_000 {
            issues.note(at, "cut");
        }
        issues.serious(1_000, "lost");
        let issues = issues.into_vec();
        assert_eq!(issues.len(), MOST);
        assert_eq!(issues.last().map(|issue| issue.severity), Some(Severity::Serious));
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let mut text = String::from("aé");
        assert!(cut(&mut text, 2));
        assert_eq!(text, "a");
        assert!(append(&mut text, "ü!", 2));
        assert_eq!(text, "a");
    }

    fn outcomes(outcome: Outcome, reruns: usize) -> Vec<(u32, Stage, Outcome)> {
        let mut test = ReportedTest::named("a");
        test.outcome = outcome;
        let rerun = ReportedAttempt {
            outcome: Outcome::Errored,
            duration: None,
            failure: ReportedFailure::default(),
            output: String::new(),
        };
        test.reruns = vec![rerun; reruns];
        let attempts = attempts(test, &"a".into(), 1, Isolation::Same);
        attempts.iter().map(|it| (it.number, it.stage, it.execution.outcome)).collect()
    }

    #[test]
    fn a_test_that_passed_when_repeated_failed_first() {
        let expected =
            [(1, Stage::First, Outcome::Errored), (2, Stage::Postponed, Outcome::Passed)];
        assert_eq!(outcomes(Outcome::Passed, 1), expected);
    }

    #[test]
    fn a_test_that_failed_every_time_failed_first() {
        let expected =
            [(1, Stage::First, Outcome::Failed), (2, Stage::Postponed, Outcome::Errored)];
        assert_eq!(outcomes(Outcome::Failed, 1), expected);
    }
}
