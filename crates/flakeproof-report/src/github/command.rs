//! Workflow commands: how a step tells GitHub what to show beside the code.
//!
//! GitHub shows ten annotations of a step and drops the rest without a word, so there are never
//! more than ten here. Whatever a test writes ends up inside a command and cannot start one of its
//! own.

use flakeproof_core::foreign_text::on_one_line;

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
    // GitHub has codes for the ends of lines; what else is not shown as it is, is escaped by us.
    let mut escaped = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\r', '\n']) {
        let line = piece.trim_end_matches(['\r', '\n']);
        escaped.push_str(&on_one_line(line).replace('%', "%25"));
        escaped.push_str(&piece[line.len()..].replace('\r', "%0D").replace('\n', "%0A"));
    }
    escaped
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_changes_neither_direction_nor_screen() {
        assert_eq!(escaped("a\u{202e}b\u{9b}c\r\n100%"), r"a\u{202e}b\u{9b}c%0D%0A100%25");
    }
}
