//! Counts lines as radon's `raw.analyze` does, oddities included.
//!
//! Python is cut into logical lines and these into tokens, as the `tokenize` module of Python 3.11
//! does: an f-string is one token. Only as much is told apart as counting lines needs.

use std::ops::Range;

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

/// A token, as far as it matters for counting lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Colon,
    Semicolon,
    Comment,
    /// A string, and whether it goes over more than one line.
    String {
        is_long: bool,
    },
    Other,
}

/// The least number of lines that is complete: no bracket, string or backslash is open at its end.
#[derive(Debug)]
pub(super) struct LogicalLine {
    /// Where it lies among the lines.
    pub(super) lines: Range<usize>,
    pub(super) tokens: Vec<Token>,
}

/// The logical lines of some lines; blank lines and comments are logical lines of their own.
pub(super) struct LogicalLines<'l, 'a> {
    lines: &'l [&'a str],
    next: usize,
}

impl<'l, 'a> LogicalLines<'l, 'a> {
    pub(super) fn new(lines: &'l [&'a str]) -> Self {
        Self { lines, next: 0 }
    }
}

impl Iterator for LogicalLines<'_, '_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        let first = self.next;
        let mut lexer = Lexer::default();
        while let Some(line) = self.lines.get(self.next) {
            lexer.read_line(line);
            self.next += 1;
            if lexer.is_complete() {
                break;
            }
        }
        let lines = first..self.next;
        (!lines.is_empty()).then_some(LogicalLine { lines, tokens: lexer.tokens })
    }
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 25] = [
    "**=", "//=", ">>=", "<<=", "...", "!=", "%=", "&=", "**", "*=", "+=", "-=", "->", "//", "/=",
    ":=", "<<", "<=", "==", ">=", ">>", "@=", "^=", "|=", "<>",
];

#[derive(Default)]
struct Lexer {
    tokens: Vec<Token>,
    open_brackets: usize,
    open_string: Option<OpenString>,
    is_continued: bool,
}

impl Lexer {
    fn is_complete(&self) -> bool {
        self.open_brackets == 0 && self.open_string.is_none() && !self.is_continued
    }

    fn read_line(&mut self, line: &str) {
        self.is_continued = false;
        let bytes = line.as_bytes();
        let mut at = 0;
        if let Some(open) = self.open_string.take() {
            at = self.read_string(bytes, at, OpenString { is_long: true, ..open });
        }
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b' ' | b'\t' | b'\x0c' | b'\r' => at + 1,
                b'#' => {
                    self.tokens.push(Token::Comment);
                    bytes.len()
                }
                b'\\' if at + 1 == bytes.len() => {
                    self.is_continued = true;
                    at + 1
                }
                b'\'' | b'"' => self.begin_string(bytes, at),
                b'0'..=b'9' => self.push(Token::Other, number_end(bytes, at)),
                b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                    self.push(Token::Other, number_end(bytes, at))
                }
                _ if is_name_part(byte) => self.read_name(bytes, at),
                _ => self.read_operator(line, at),
            };
        }
    }

    fn push(&mut self, token: Token, end: usize) -> usize {
        self.tokens.push(token);
        end
    }

    /// A name, or the prefix of a string and the string behind it.
    fn read_name(&mut self, bytes: &[u8], at: usize) -> usize {
        let length = bytes[at..].iter().take_while(|&&byte| is_name_part(byte)).count();
        let end = at + length;
        let is_prefix = length <= 2 && bytes[at..end].iter().all(|byte| b"rRbBuUfF".contains(byte));
        match bytes.get(end) {
            Some(b'\'' | b'"') if is_prefix => self.begin_string(bytes, end),
            _ => self.push(Token::Other, end),
        }
    }

    fn begin_string(&mut self, bytes: &[u8], at: usize) -> usize {
        let quote = bytes[at];
        let is_triple = bytes[at..].starts_with(&[quote; 3]);
        let open = OpenString { quote, is_triple, is_long: false };
        self.read_string(bytes, at + if is_triple { 3 } else { 1 }, open)
    }

    /// Read on in a string, to its end or to that of the line.
    fn read_string(&mut self, bytes: &[u8], mut at: usize, open: OpenString) -> usize {
        while let Some(&byte) = bytes.get(at) {
            if byte == b'\\' {
                at += 2;
            } else if byte == open.quote && (!open.is_triple || bytes[at..].starts_with(&[byte; 3]))
            {
                let end = at + if open.is_triple { 3 } else { 1 };
                return self.push(Token::String { is_long: open.is_long }, end);
            } else {
                at += 1;
            }
        }
        // A plain string goes on only behind a backslash; without one it is broken.
        if open.is_triple || at > bytes.len() {
            self.open_string = Some(open);
        }
        bytes.len()
    }

    fn read_operator(&mut self, line: &str, at: usize) -> usize {
        let bytes = &line.as_bytes()[at..];
        if let Some(long) = OPERATORS.iter().find(|long| bytes.starts_with(long.as_bytes())) {
            return self.push(Token::Other, at + long.len());
        }
        let token = match bytes[0] {
            b'(' | b'[' | b'{' => {
                self.open_brackets += 1;
                Token::Other
            }
            b')' | b']' | b'}' => {
                self.open_brackets = self.open_brackets.saturating_sub(1);
                Token::Other
            }
            b':' => Token::Colon,
            b';' => Token::Semicolon,
            _ => Token::Other,
        };
        self.push(token, at + 1)
    }
}

#[derive(Clone, Copy)]
struct OpenString {
    quote: u8,
    is_triple: bool,
    is_long: bool,
}

fn is_name_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Where the number that begins here ends.
fn number_end(bytes: &[u8], at: usize) -> usize {
    let run = |from: usize, is_digit: fn(u8) -> bool| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|&&byte| is_digit(byte) || byte == b'_').count()
    };
    let is_digit: fn(u8) -> bool = |byte| byte.is_ascii_digit();
    if bytes[at] == b'0' && bytes.get(at + 1).is_some_and(|byte| b"xXoObB".contains(byte)) {
        return run(at + 2, |byte| byte.is_ascii_hexdigit());
    }
    let mut end = run(at, is_digit);
    if bytes.get(end) == Some(&b'.') {
        end = run(end + 1, is_digit);
    }
    if bytes.get(end).is_some_and(|byte| b"eE".contains(byte)) {
        let signed = bytes.get(end + 1).is_some_and(|byte| b"+-".contains(byte));
        let digits = end + if signed { 2 } else { 1 };
        if bytes.get(digits).is_some_and(u8::is_ascii_digit) {
            end = run(digits, is_digit);
        }
    }
    end + usize::from(bytes.get(end).is_some_and(|byte| b"jJ".contains(byte)))
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

    fn logical(lines: &[&str]) -> Vec<(Range<usize>, usize)> {
        LogicalLines::new(lines).map(|line| (line.lines, line.tokens.len())).collect()
    }

    #[test]
    fn brackets_strings_and_backslashes_join_lines() {
        let lines = ["f(1,", "", "  2)", "x = '''a", "# b", "'''", "y = 1 + \\", "  2", "", "# c"];
        let expected = [(0..3, 6), (3..6, 3), (6..8, 5), (8..9, 0), (9..10, 1)];
        assert_eq!(logical(&lines), expected);
    }

    #[test]
    fn a_prefix_belongs_to_its_string_and_quotes_in_it_do_not_end_it() {
        assert_eq!(logical(&[r#"rb'a\'b' f"{x:>3}" u"#]), [(0..1, 3)]);
        assert_eq!(logical(&["x[1:2] ; y := 1if a else.5e-3j"]), [(0..1, 14)]);
    }

    #[test]
    fn what_never_ends_ends_with_the_text() {
        assert_eq!(logical(&["f(", "'''"]), [(0..2, 2)]);
        assert_eq!(logical(&["'a\\", "b'"]), [(0..2, 1)]);
    }
}
