//! Changes of a text that leave the rest of it as it is.

use std::ops::Range;

use crate::NotEditable;

/// Changes of one text; what is put in is written with `\n` and gets the line ends of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Edits {
    changes: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Put lines in at the beginning of a line.
    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.changes.push((at..at, text.into()));
    }

    /// Put something else in place of a part.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.changes.push((range, text.into()));
    }

    /// The text with all changes; those at one place in the order in which they were made.
    ///
    /// # Errors
    /// When two of them change the same part.
    pub(crate) fn apply(mut self, text: &str) -> Result<String, NotEditable> {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut changed = String::with_capacity(text.len() + 256);
        let mut at = 0;
        for (range, new) in &self.changes {
            if range.start < at {
                let line = text[..range.start].matches('\n').count() + 1;
                return Err(NotEditable::TwoChanges { line });
            }
            changed.push_str(&text[at..range.start]);
            // A line put in behind a last line without a line end must not be glued to it.
            let is_new_line = range.is_empty() && new.ends_with('\n');
            if is_new_line && !changed.is_empty() && !changed.ends_with('\n') {
                changed.push_str(line_end);
                changed.push_str(&new[..new.len() - 1].replace('\n', line_end));
            } else {
                changed.push_str(&new.replace('\n', line_end));
            }
            at = range.end;
        }
        changed.push_str(&text[at..]);
        Ok(changed)
    }
}

/// The beginning of the line that a byte is in.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |it| it + 1)
}

/// The beginning of the line after the one that a byte is in, or the end of the text.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |it| at + it + 1)
}

/// The white space that the line of a byte begins with.
pub(crate) fn indentation(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Add what is not among them yet; what is the same in both counts once.
pub(crate) fn join<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// The lines of a statement, indented.
pub(crate) fn indented(statement: &str, indentation: &str) -> String {
    statement
        .lines()
        .map(|line| match line.is_empty() {
            true => "\n".to_owned(),
            false => format!("{indentation}{line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_a_missing_last_one_stay() {
        let mut edits = Edits::default();
        edits.insert(3, "b\n");
        assert_eq!(edits.apply("a\r\nc").unwrap(), "a\r\nb\r\nc");
        let mut edits = Edits::default();
        edits.insert(1, "b\n");
        assert_eq!(edits.apply("a").unwrap(), "a\nb");
    }

    #[test]
    fn two_changes_of_the_same_lines_are_refused() {
        let mut edits = Edits::default();
        edits.replace(2..5, "x");
        edits.replace(4..6, "y");
        assert_eq!(edits.apply("a\nbcdefg"), Err(NotEditable::TwoChanges { line: 2 }));
    }
}
