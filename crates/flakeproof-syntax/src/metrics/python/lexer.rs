//! Cuts Python into logical lines and these into tokens, as the `tokenize` module of Python 3.11
//! does: an f-string is one token.
//!
//! Only as much is told apart as counting lines needs.

use std::ops::Range;

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

#[derive(Default)]
struct Lexer {
    tokens: Vec<Token>,
    open_brackets: usize,
    open_string: Option<OpenString>,
    is_continued: bool,
}

#[derive(Clone, Copy)]
struct OpenString {
    quote: u8,
    is_triple: bool,
    is_long: bool,
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 25] = [
    "**=", "//=", ">>=", "<<=", "...", "!=", "%=", "&=", "**", "*=", "+=", "-=", "->", "//", "/=",
    ":=", "<<", "<=", "==", ">=", ">>", "@=", "^=", "|=", "<>",
];

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
