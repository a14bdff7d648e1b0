//! Counts lines as radon's `raw.analyze` does, oddities included.

use super::lexer::{LogicalLines, Token};

/// The lines of a piece of code, by what is on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineCounts {
    /// All lines.
    pub(super) all: u32,
    /// Roughly the statements; see [`logical`].
    pub(super) logical: u32,
    /// Lines with code on them.
    pub(super) source: u32,
    /// Comments, those behind code included.
    pub(super) comments: u32,
    /// Lines of strings over several lines that stand for themselves: documentation, as a rule.
    pub(super) long_strings: u32,
}

/// Count the lines of a piece of code.
pub(super) fn count(code: &str) -> LineCounts {
    let lines: Vec<&str> = split_lines(code).map(strip).collect();
    let mut counts = LineCounts { all: to_u32(lines.len()), ..LineCounts::default() };
    for line in LogicalLines::new(&lines) {
        let tokens = &line.tokens;
        counts.comments += to_u32(tokens.iter().filter(|&&t| t == Token::Comment).count());
        let written = lines[line.lines].iter().filter(|line| !line.is_empty()).count();
        match tokens.as_slice() {
            [Token::Comment | Token::String { is_long: false }] => {}
            [Token::String { is_long: true }] => counts.long_strings += to_u32(written),
            _ => counts.source += to_u32(written),
        }
        counts.logical += logical(tokens);
    }
    counts
}

/// How many logical lines radon sees in one.
///
/// Between semicolons it takes a colon anywhere for that of a compound statement (`if x: return`
/// is two, and so is `{1: 2}`), unless nothing comes behind it. Where a semicolon follows, it takes
/// one token behind the colon for nothing, because only the last part ends with an end marker.
fn logical(tokens: &[Token]) -> u32 {
    let parts: Vec<&[Token]> = tokens.split(|&token| token == Token::Semicolon).collect();
    let last = parts.len().saturating_sub(1);
    let of_part = |(index, part): (usize, &&[Token])| {
        let code: Vec<Token> = part.iter().copied().filter(|&t| t != Token::Comment).collect();
        let behind = code.iter().rev().position(|&token| token == Token::Colon);
        match behind {
            Some(behind) => 2 - u32::from(behind == usize::from(index != last)),
            None => u32::from(!code.is_empty()),
        }
    };
    parts.iter().enumerate().map(of_part).sum()
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The lines of a text as `str.splitlines` cuts them, without what ends them.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let ends_line = |letter: char| {
        matches!(
            letter,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(ends_line).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[end..];
        rest = rest.strip_prefix("\r\n").unwrap_or_else(|| {
            let mut letters = rest.chars();
            letters.next();
            letters.as_str()
        });
        Some(line)
    })
}

/// A line without white space around it, as `str.strip` leaves it.
fn strip(line: &str) -> &str {
    line.trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '\x1c'..='\x1f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logical_of(code: &str) -> u32 {
        count(code).logical
    }

    #[test]
    fn a_colon_with_something_behind_it_makes_two_logical_lines() {
        assert_eq!(logical_of("if cond:"), 1);
        assert_eq!(logical_of("if cond: return 0  # why"), 2);
        assert_eq!(logical_of("if cond:  # only a comment"), 1);
        assert_eq!(logical_of("x = {1: 2}"), 2);
        assert_eq!(logical_of("a = 1; b = 2;"), 2);
        assert_eq!(logical_of("# nothing"), 0);
    }

    #[test]
    fn one_token_between_colon_and_semicolon_is_overlooked() {
        assert_eq!(logical_of("if a: b; c"), 2);
        assert_eq!(logical_of("if a: return b; c"), 3);
    }

    #[test]
    fn documentation_is_neither_source_nor_comment() {
        let code = "def test():\n    '''Says\n\n    more.'''\n    x = 1  # one\n    'short'\n";
        let counts = count(code);
        assert_eq!((counts.all, counts.source, counts.long_strings), (6, 2, 2));
        assert_eq!((counts.comments, counts.logical), (1, 4));
    }

    #[test]
    fn form_feeds_and_separators_end_lines_too() {
        let lines: Vec<&str> = split_lines("a\x0c\nb\r\nc\u{2028}d").collect();
        assert_eq!(lines, ["a", "", "b", "c", "d"]);
    }
}
