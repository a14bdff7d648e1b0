//! What makes two failures the same failure.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::Location;

/// A failure with everything removed that differs from run to run.
///
/// Addresses, numbers, ids, dates and temporary paths become `#`, so that "port 49152 is in use"
/// and "port 49153 is in use", raised at the same place, are one failure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// Normalise a failure's message and the place that raised it.
    ///
    /// The place counts: two `assert` lines in two tests are two failures even when they read
    /// alike, and a refused connection raised in one helper is one failure for all its callers.
    #[must_use]
    pub fn compute(message: &str, location: Option<&Location>) -> Self {
        let mut text = normalised(&headline(message));
        if let Some(location) = location {
            text.push_str(" @ ");
            text.push_str(&location.to_string());
        }
        Self(text)
    }

    /// A signature that was normalised before, read back from where it was kept.
    #[must_use]
    pub fn from_normalised(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The normalised text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What varies between two runs of the same failure, most specific first.
static VARYING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
        r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?",
        r"(/private)?/(tmp|var/folders)/[^\s'\x22,:)\]]*",
        r"0x[0-9a-fA-F]+",
        r"\b[0-9a-f]{12,}\b",
        r"-?\d+(\.\d+)?(e[+-]?\d+)?",
    ]
    .into_iter()
    .map(|pattern| Regex::new(pattern).expect("the patterns are fixed and compile"))
    .collect()
});

/// The first line of a message that says something, the line after it if that is where it leads, and what was
/// compared where the lines after it say that.
#[must_use]
pub fn headline(message: &str) -> String {
    const COMPARED: [&str; 6] = ["Expected:", "Received:", "expected:", "got:", "left:", "right:"];
    const LINES: usize = 6;
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut told = lines.next().unwrap_or_default().to_owned();
    for (at, line) in lines.take(LINES).enumerate() {
        let leads_here = at == 0 && told.ends_with(':');
        if leads_here || COMPARED.iter().any(|word| line.starts_with(word)) {
            told = format!("{told} {line}");
        }
    }
    told
}

/// The small numbers of a message that stand alone: codes and counts, and no part of a date, an address, a
/// place or a measure. Runners add lines of the source and the stack, which are no part of what it says.
#[must_use]
pub fn plain_numbers(message: &str) -> Vec<&str> {
    const LONGEST: usize = 4;
    const LINES: usize = 8;
    let is_between = |letter: char| letter.is_whitespace() || "()[]{}<>='\",;".contains(letter);
    let is_plain = |word: &&str| {
        (1..=LONGEST).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_said = |line: &&str| !line.starts_with("at ") && !line.contains(" | ");
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let words = lines.take_while(is_said).take(LINES).flat_map(|line| line.split(is_between));
    words.filter(is_plain).collect()
}

fn normalised(message: &str) -> String {
    const LONGEST: usize = 300;
    let mut text = message.trim().to_owned();
    for pattern in VARYING.iter() {
        text = pattern.replace_all(&text, "#").into_owned();
    }
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(message: &str) -> String {
        Signature::compute(message, None).to_string()
    }

    #[test]
    fn ports_addresses_and_temporary_paths_do_not_count() {
        assert_eq!(
            text_of(
                "OSError: [Errno 98] <Server at 0x7f3a> on 127.0.0.1:49152 for /tmp/pytest-3/a.sock"
            ),
            text_of(
                "OSError: [Errno 98] <Server at 0x81bc> on 127.0.0.1:50001 for /tmp/pytest-9/a.sock"
            ),
        );
    }

    #[test]
    fn codes_and_counts_are_plain_numbers() {
        assert_eq!(plain_numbers("assert 503 == 200 (of 3)"), ["503", "200", "3"]);
        let of_jest =
            "expect(received).toBe(expected)\n\nExpected: 200\nReceived: 503\n\n> 7 | x\n 8 9";
        assert_eq!(plain_numbers(of_jest), ["200", "503"]);
        let measures = "2026-11-19 10:31, 127.0.0.1:80, 0x7f, 1.5s, 49152, a1, -7";
        assert_eq!(plain_numbers(measures), [""; 0]);
    }

    #[test]
    fn a_message_that_begins_with_nothing_or_leads_on_is_told_by_what_follows() {
        assert_eq!(text_of("\nExpecting actual:\n  tea\nto be:\n  milk"), "Expecting actual: tea");
        assert_ne!(text_of("Values differ:\n\na !== b"), text_of("Values differ:\n\na !== c"));
        let of_rust = |left: &str| format!("assertion failed\n  left: \"{left}\"\n right: \"ok\"");
        assert_ne!(text_of(&of_rust("busy")), text_of(&of_rust("corrupt")));
        assert_eq!(text_of("no\nmore"), "no");
    }

    #[test]
    fn another_exception_is_another_failure() {
        assert_ne!(text_of("KeyError: 'a'"), text_of("ValueError: 'a'"));
    }

    #[test]
    fn the_same_words_at_another_place_are_another_failure() {
        let at = |line| Location { file: "test_a.py".into(), line: Some(line) };
        let message = "assert 1 == 2";
        assert_ne!(
            Signature::compute(message, Some(&at(3))),
            Signature::compute(message, Some(&at(9)))
        );
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(message in ".{0,400}") {
            let once = normalised(&message);
            prop_assert_eq!(normalised(&once), once);
        }
    }
}
