//! A test as a report tells of it.

use std::time::Duration;

use flakeproof_core::Outcome;

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
}
