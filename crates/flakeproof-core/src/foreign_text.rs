//! Foreign text made harmless: for a line of a terminal or a log, and for a cell of a spreadsheet.
//!
//! Ids, messages and output come from tests and may hold any character. A control character moves
//! the cursor, hides or recolours what stands around it; a bidirectional one shows another order than
//! there is; a line that begins with `::` is a command for a CI service that reads the log; and a
//! cell that begins with `=` is a formula. What is escaped stays readable: `\n`, `\u{202e}`.

use std::borrow::Cow;

/// The text on one line, with everything escaped that is not shown as it is.
///
/// ```
/// use flakeproof_core::foreign_text::on_one_line;
/// assert_eq!(on_one_line("a[1]\n::error::x"), r"a[1]\n::error::x");
/// ```
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    match text.contains(is_unshown) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.chars().fold(String::new(), with_escape)),
    }
}

/// Text of several lines for a terminal or a log: colours, tabs and line ends stay, other control
/// characters are escaped, and no line is a command for a CI service.
#[must_use]
pub fn in_lines(text: &str) -> Cow<'_, str> {
    let is_harmless = !text.contains(|c| is_unshown(c) && !matches!(c, '\n' | '\t'))
        && !text.lines().any(is_workflow_command);
    if is_harmless {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        // The carriage return of a Windows line end shows nothing.
        let line = line.strip_suffix('\r').unwrap_or(line);
        if is_workflow_command(line) {
            shown.push('\\');
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let colour = colour_at_start(rest);
            let length = colour.map_or(first.len_utf8(), str::len);
            match colour {
                Some(colour) => shown.push_str(colour),
                None if first == '\t' => shown.push('\t'),
                None => shown = with_escape(shown, first),
            }
            rest = &rest[length..];
        }
        shown.push_str(end);
    }
    Cow::Owned(shown)
}

/// The text as a cell that no spreadsheet takes for a formula: with an apostrophe in front, if it
/// begins like one. [`of_cell`] takes it away again.
#[must_use]
pub fn as_cell(text: &str) -> Cow<'_, str> {
    match text.trim_start_matches('\'').starts_with(FORMULA) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// The text of a cell that [`as_cell`] made.
#[must_use]
pub fn of_cell(cell: &str) -> &str {
    let plain = cell.strip_prefix('\'');
    plain.filter(|it| it.trim_start_matches('\'').starts_with(FORMULA)).unwrap_or(cell)
}

/// What a formula begins with, or what a spreadsheet passes over before one.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Whether a character is not shown as itself: control, line separator, direction, invisible.
fn is_unshown(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn with_escape(mut text: String, character: char) -> String {
    match is_unshown(character) {
        true => text.extend(character.escape_default()),
        false => text.push(character),
    }
    text
}

/// A sequence that changes colour or weight, and nothing else: `ESC [ 1 ; 31 m`.
fn colour_at_start(text: &str) -> Option<&str> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then(|| &text[..2 + end + 1])
}

/// Whether GitHub (`::error …::`) or Azure (`##[error]`, `##vso[…]`) would obey a line of a log.
fn is_workflow_command(line: &str) -> bool {
    let mut line = line.trim_start();
    while let Some(colour) = colour_at_start(line) {
        line = line[colour.len()..].trim_start();
    }
    let is_github = line.strip_prefix("::").is_some_and(|rest| rest.contains("::"));
    is_github || line.starts_with("##[") || line.starts_with("##vso[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_as_it_is_stays_as_it_is() {
        for text in ["tests/test_a.py::test_x[ü–日本 é]", "", "a\\nb", "emoji 👩"] {
            assert_eq!(on_one_line(text), text);
            assert_eq!(in_lines(text), text);
        }
        assert_eq!(in_lines("a\n\tb\n"), "a\n\tb\n");
    }

    #[test]
    fn an_id_stays_on_its_line_and_moves_no_cursor() {
        assert_eq!(on_one_line("a\r\n::error::b"), r"a\r\n::error::b");
        assert_eq!(on_one_line("a\u{9b}2Jb\u{1b}[31m"), r"a\u{9b}2Jb\u{1b}[31m");
        assert_eq!(on_one_line("a\u{202e}b\u{2066}"), r"a\u{202e}b\u{2066}");
    }

    #[test]
    fn lines_keep_their_colours_and_nothing_else() {
        let coloured = "\u{1b}[1;31mbad\u{1b}[0m\n";
        assert_eq!(in_lines(coloured), coloured);
        assert_eq!(in_lines("\u{1b}[2Jgone\u{7}\r\n"), "\\u{1b}[2Jgone\\u{7}\n");
        assert_eq!(in_lines("over\rwritten"), "over\\rwritten");
    }

    #[test]
    fn no_line_is_a_command_for_a_ci_service() {
        for line in ["::error file=a::b", "  ::stop-commands::x", "\u{1b}[2m::warning::x", "##[x]"]
        {
            assert_eq!(in_lines(&format!("a\n{line}\n")), format!("a\n\\{line}\n"));
        }
        assert_eq!(in_lines("a.py::test_a\n::std"), "a.py::test_a\n::std");
    }

    #[test]
    fn a_cell_is_no_formula_and_is_read_as_it_was() {
        for text in ["=1+1", "+a", "-a", "@a", "\t=a", "'=a", "a=b", "'a", "", "it's"] {
            let cell = as_cell(text);
            assert!(!cell.starts_with(FORMULA), "{cell}");
            assert_eq!(of_cell(&cell), text);
        }
        assert_eq!(as_cell("=1"), "'=1");
        assert_eq!(as_cell("a"), "a");
    }
}
