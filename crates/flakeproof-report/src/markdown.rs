//! Foreign text inside a cell of a Markdown table.
//!
//! A test's id and its messages may hold any character. In a cell they must stay on one line, end
//! no cell, and mean nothing to Markdown or HTML.

use flakeproof_core::foreign_text;

/// The text as it is, on one line.
pub(crate) fn text(text: &str) -> String {
    escaped(text.trim())
}

/// The text as it is, on one line, with what stands between backticks as code.
pub(crate) fn prose(prose: &str) -> String {
    let pieces: Vec<_> = prose.split('`').collect();
    if pieces.len() % 2 == 0 {
        return text(prose);
    }
    let as_code = |at: usize| at % 2 == 1;
    let line = pieces.iter().enumerate();
    line.map(|(at, piece)| if as_code(at) { code(piece) } else { escaped(piece) }).collect()
}

/// The text as code, on one line; nothing for nothing.
pub(crate) fn code(text: &str) -> String {
    let text = on_one_line(text.trim()).replace('|', "\\|");
    if text.is_empty() {
        return text;
    }
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in on_one_line(text).chars() {
        let means_something = matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '#' | '@'
        );
        if means_something {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn on_one_line(text: &str) -> String {
    let spaced = text.replace("\r\n", " ").replace(|c: char| c.is_control(), " ");
    foreign_text::on_one_line(&spaced).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_means_nothing_to_markdown() {
        assert_eq!(text("src/__init__.py"), r"src/\_\_init\_\_.py");
        assert_eq!(text("<b> | *x* [1]\nnext"), r"\<b\> \| \*x\* \[1\] next");
    }

    #[test]
    fn no_character_changes_the_direction_of_a_cell() {
        assert_eq!(code("a\u{202e}b"), r"`a\u{202e}b`");
        assert_eq!(text("a\u{9b}b"), "a b");
    }

    #[test]
    fn prose_keeps_its_code_and_nothing_else() {
        assert_eq!(prose("pass `--a_b` or *c*"), r"pass `--a_b` or \*c\*");
        assert_eq!(prose("a lone ` stays"), r"a lone \` stays");
    }

    #[test]
    fn code_keeps_backticks_and_ends_no_cell() {
        assert_eq!(code("a|b"), r"`a\|b`");
        assert_eq!(code("a `b` ``c``"), "``` a `b` ``c`` ```");
        assert_eq!(code(""), "");
    }
}
