//! The words of a piece of code, without a grammar: fast, and indifferent to broken code.
//!
//! Three ways to cut: at white space ([`at_white_space`], as the FLAST paper says), into runs of
//! word characters ([`runs`], as its reference program does), and into tokens ([`tokens`]) whose
//! names are cut again into the words they are made of ([`parts`]).

use crate::Language;

/// The pieces between white space, as they stand.
pub fn at_white_space(code: &str) -> impl Iterator<Item = &str> {
    code.split_whitespace()
}

/// Runs of two or more letters, digits and underscores, in lower case.
pub fn runs(code: &str) -> impl Iterator<Item = String> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|run| run.chars().nth(1).is_some())
        .map(str::to_lowercase)
}

/// How a language begins a comment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Comments {
    /// `//` to the end of the line and `/*` to `*/`.
    #[default]
    Slashes,
    /// `#` to the end of the line.
    Hash,
}

impl From<Language> for Comments {
    fn from(language: Language) -> Self {
        match language {
            Language::Python | Language::Ruby => Self::Hash,
            Language::Java
            | Language::Kotlin
            | Language::JavaScript
            | Language::TypeScript
            | Language::Go
            | Language::Rust
            | Language::CSharp => Self::Slashes,
        }
    }
}

/// A token of code, comments and white space left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeToken<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A number, with its suffix.
    Number(&'a str),
    /// What stands between quotes, without them.
    Text(&'a str),
    /// One other character.
    Symbol(char),
}

/// The tokens of a piece of code. What is not closed ends with the code.
pub fn tokens(code: &str, comments: Comments) -> impl Iterator<Item = CodeToken<'_>> {
    let mut rest = code;
    std::iter::from_fn(move || {
        loop {
            // Most code is ASCII, where blanks can be told without a look at other alphabets.
            let blanks = rest.bytes().take_while(u8::is_ascii_whitespace).count();
            rest = &rest[blanks..];
            match rest.bytes().next()? {
                b'/' | b'#' => {}
                byte if byte.is_ascii() && byte != b'\x0b' => break,
                _ => rest = rest.trim_start(),
            }
            let comment = comment_length(rest, comments);
            if comment == 0 {
                break;
            }
            rest = &rest[comment..];
        }
        let first = rest.chars().next()?;
        let (token, length) = if is_name_start(first) {
            let name = leading_name(rest);
            (CodeToken::Name(name), name.len())
        } else if first.is_numeric() {
            let number = leading_name(rest);
            (CodeToken::Number(number), number.len())
        } else if matches!(first, '"' | '\'' | '`') {
            let (text, length) = quoted(rest, first);
            (CodeToken::Text(text), length)
        } else {
            (CodeToken::Symbol(first), first.len_utf8())
        };
        rest = &rest[length..];
        Some(token)
    })
}

/// The words a name is made of, as they stand: `readJSONFile_v2` is `read`, `JSON`, `File`, `v`, `2`.
pub fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        if rest.is_empty() {
            return None;
        }
        let (part, after) = rest.split_at(part_length(rest));
        rest = after;
        Some(part)
    })
}

/// The words of a piece of code, names cut into their parts, comments left out, as they stand:
/// `readJson(order, "a b")` is `read`, `Json`, `order`, `a`, `b`.
pub fn of_code(code: &str, comments: Comments) -> impl Iterator<Item = &str> {
    tokens(code, comments)
        .filter_map(|token| match token {
            CodeToken::Name(text) | CodeToken::Number(text) | CodeToken::Text(text) => {
                Some(parts(text))
            }
            CodeToken::Symbol(_) => None,
        })
        .flatten()
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The longest beginning that is a name, or what follows a digit.
fn leading_name(code: &str) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let ascii = code.bytes().take_while(is_part).count();
    if code.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return &code[..ascii];
    }
    &code[..code.find(|c| !is_name_part(c)).unwrap_or(code.len())]
}

/// The length of the comment at the beginning of the code, 0 if there is none.
fn comment_length(code: &str, comments: Comments) -> usize {
    let to_line_end = || code.find('\n').unwrap_or(code.len());
    match comments {
        Comments::Slashes if code.starts_with("//") => to_line_end(),
        Comments::Slashes if code.starts_with("/*") => {
            code[2..].find("*/").map_or(code.len(), |end| end + 4)
        }
        Comments::Hash if code.starts_with('#') => to_line_end(),
        Comments::Slashes | Comments::Hash => 0,
    }
}

/// What stands between the quote at the beginning of the code and the next one on the same line (of
/// a triple quote or a backtick: on any line), and the length of it all.
fn quoted(code: &str, quote: char) -> (&str, usize) {
    let triple: String = [quote; 3].iter().collect();
    let (mark, spans_lines) = if quote != '`' && code.starts_with(&triple) {
        (triple.as_str(), true)
    } else {
        (&triple[..1], quote == '`')
    };
    let inside = &code[mark.len()..];
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if inside[at..].starts_with(mark) {
            return (&inside[..at], at + 2 * mark.len());
        } else if c == '\n' && !spans_lines {
            return (&inside[..at], at + mark.len());
        } else {
            escaped = c == '\\';
        }
    }
    (inside, code.len())
}

/// The length of the first word of a name that begins with a letter or digit.
fn part_length(name: &str) -> usize {
    let mut characters = name.char_indices();
    let Some((_, mut previous)) = characters.next() else { return 0 };
    while let Some((at, c)) = characters.next() {
        // Most names have small letters only: nothing else needs a closer look.
        if c.is_ascii_lowercase() && !previous.is_numeric() {
            previous = c;
            continue;
        }
        let is_capital = c.is_uppercase();
        let starts_word = || characters.clone().next().is_some_and(|(_, c)| c.is_lowercase());
        let is_border = !c.is_alphanumeric()
            || c.is_numeric() != previous.is_numeric()
            || (is_capital && (!previous.is_uppercase() || starts_word()));
        if is_border {
            return at;
        }
        previous = c;
    }
    name.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts_of(name: &str) -> Vec<&str> {
        parts(name).collect()
    }

    #[test]
    fn names_fall_into_their_words() {
        assert_eq!(parts_of("readJSONFile_v2"), ["read", "JSON", "File", "v", "2"]);
        assert_eq!(parts_of("__init__"), ["init"]);
        assert_eq!(parts_of("MAX_WAIT_MS"), ["MAX", "WAIT", "MS"]);
        assert_eq!(parts_of("testÜberall"), ["test", "Überall"]);
        assert_eq!(parts_of("$_"), Vec::<&str>::new());
    }

    #[test]
    fn tokens_leave_comments_out_and_open_texts() {
        use CodeToken::{Name, Number, Symbol, Text};
        let code = "a /* no */ = 0x1F; // no\n say(\"it\\\"s\", 'c')";
        let found: Vec<CodeToken<'_>> = tokens(code, Comments::Slashes).collect();
        let expected = [
            Name("a"),
            Symbol('='),
            Number("0x1F"),
            Symbol(';'),
            Name("say"),
            Symbol('('),
            Text("it\\\"s"),
            Symbol(','),
            Text("c"),
            Symbol(')'),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_text_in_triple_quotes_spans_lines_and_others_end_with_theirs() {
        let code = "x = \"\"\"a\nb\"\"\" # no\ny = 'open\nz";
        let found: Vec<CodeToken<'_>> = tokens(code, Comments::Hash).collect();
        assert!(found.contains(&CodeToken::Text("a\nb")));
        assert!(found.contains(&CodeToken::Text("open")));
        assert_eq!(found.last(), Some(&CodeToken::Name("z")));
    }

    #[test]
    fn runs_are_the_words_of_the_reference() {
        let found: Vec<String> = runs("int a = waitFor_it(1, 22);").collect();
        assert_eq!(found, ["int", "waitfor_it", "22"]);
    }

    proptest! {
        #[test]
        fn any_text_has_tokens_and_parts(code in any::<String>()) {
            for comments in [Comments::Slashes, Comments::Hash] {
                for token in tokens(&code, comments) {
                    if let CodeToken::Name(name) = token {
                        prop_assert!(parts(name).all(|part| !part.is_empty()));
                    }
                }
            }
        }
    }
}
