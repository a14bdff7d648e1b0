//! Workflow commands: how a step tells GitHub what to show beside the code.
//!
//! GitHub shows ten annotations of a step and drops the rest without a word, so there are never
//! more than ten here. Whatever a test writes ends up inside a command and cannot start one of its
//! own.

use crate::words;

/// What GitHub shows of one step.
const SHOWN: usize = 10;

/// How serious an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
}

/// One annotation, on one line.
pub(super) fn annotation(level: Level, properties: &[(&str, &str)], message: &str) -> String {
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let properties = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped_property(value)))
        .collect::<Vec<_>>()
        .join(",");
    format!("::{level} {properties}::{}", escaped(message))
}

/// The annotations that GitHub shows, one per line, and how many there are besides.
pub(super) fn lines(annotations: &[String]) -> String {
    let mut text = String::new();
    for annotation in annotations.iter().take(SHOWN) {
        text.push_str(annotation);
        text.push('\n');
    }
    if let Some(more @ 1..) = annotations.len().checked_sub(SHOWN) {
        let more = words::counted(more, "more annotation");
        text.push_str(&format!("{more} left out, because GitHub shows {SHOWN}\n"));
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
