//! One line of the Test Anything Protocol.

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TapLine<'a> {
    /// `ok` or `not ok`.
    Point(TapPoint),
    /// `1..n`.
    Plan(u64),
    /// `Bail out!`, and why.
    BailOut(&'a str),
    /// Begins a block of diagnostics.
    Diagnostics,
    /// `TAP version`, `pragma`, comments.
    Known,
    /// Something that a test printed.
    Foreign,
}

/// A test point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TapPoint {
    pub(super) is_ok: bool,
    pub(super) name: String,
    pub(super) directive: Option<Directive>,
}

/// What a directive says about a test.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// It was not run, and why.
    Skip(String),
    /// It is expected to fail, and why.
    Todo(String),
}

/// How deep a line is indented: spaces, and what is after them.
pub(super) fn indented(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len(), rest)
}

/// Read a line without its indentation.
pub(super) fn parse(line: &str) -> TapLine<'_> {
    let line = line.trim_end();
    if let Some(rest) = after_word(line, "not ok") {
        return TapLine::Point(point(false, rest));
    }
    if let Some(rest) = after_word(line, "ok") {
        return TapLine::Point(point(true, rest));
    }
    if let Some(rest) = line.strip_prefix("1..") {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return number.parse().map_or(TapLine::Foreign, TapLine::Plan);
    }
    match line {
        "---" => TapLine::Diagnostics,
        _ if line.starts_with("Bail out!") => TapLine::BailOut(line[9..].trim()),
        _ if line.starts_with('#') || line.starts_with("pragma ") => TapLine::Known,
        _ if line.starts_with("TAP version ") => TapLine::Known,
        _ => TapLine::Foreign,
    }
}

/// What follows a word that stands alone.
fn after_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

fn point(is_ok: bool, rest: &str) -> TapPoint {
    let rest = rest.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, described) = rest.split_at(digits);
    // `ok 2nd try` is described as "2nd try".
    let (number, described) = match described.starts_with(' ') || described.is_empty() {
        true => (number, described),
        false => ("", rest),
    };
    let described = described.trim_start();
    let described =
        described.strip_prefix("- ").or(described.strip_prefix('-')).unwrap_or(described);
    let (name, directive) = directive_of(described);
    let name = unescaped(name.trim());
    let name = if name.is_empty() { format!("test {number}") } else { name };
    TapPoint { is_ok, name, directive }
}

/// The description before a directive, and the directive: the last `#` that is not escaped and is
/// followed by one of the two words.
fn directive_of(text: &str) -> (&str, Option<Directive>) {
    for (at, _) in text.match_indices('#').rev() {
        let (before, after) = (&text[..at], text[at + 1..].trim_start());
        let is_escaped = before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let has_space = before.is_empty() || before.ends_with(' ');
        let word = after.get(..4).map(str::to_ascii_lowercase);
        let reason = || {
            let rest = after[4..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
            rest.trim_start_matches(':').trim().to_owned()
        };
        match word.as_deref() {
            _ if is_escaped || !has_space => {}
            Some("skip") => return (before, Some(Directive::Skip(reason()))),
            Some("todo") => return (before, Some(Directive::Todo(reason()))),
            _ => {}
        }
    }
    (text, None)
}

fn unescaped(text: &str) -> String {
    text.replace("\\#", "#").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(line: &str) -> String {
        match parse(line) {
            TapLine::Point(point) => point.name,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn descriptions_are_read_as_every_version_writes_them() {
        for (line, name) in [
            ("ok 1 - adds", "adds"),
            ("ok 1 adds", "adds"),
            ("ok - adds", "adds"),
            ("not ok", "test "),
            ("ok 7", "test 7"),
            (r"ok 1 - issue \#3 \\o/", r"issue #3 \o/"),
            ("ok 1 - issue #3 is closed", "issue #3 is closed"),
            ("ok 2nd try", "2nd try"),
        ] {
            assert_eq!(name_of(line), name, "{line}");
        }
    }

    #[test]
    fn directives_are_read_in_any_case() {
        let directive = |line| match parse(line) {
            TapLine::Point(point) => point.directive,
            other => panic!("{other:?}"),
        };
        assert_eq!(directive("ok 1 - a # SKIP no net"), Some(Directive::Skip("no net".into())));
        assert_eq!(directive("ok 1 # skipped: no net"), Some(Directive::Skip("no net".into())));
        assert_eq!(directive("not ok 1 - a # TODO"), Some(Directive::Todo(String::new())));
        assert_eq!(directive(r"ok 1 - a \# SKIP"), None);
        assert_eq!(directive("ok 1 - a#skip"), None);
    }

    #[test]
    fn words_that_only_begin_alike_are_foreign() {
        assert_eq!(parse("okay then"), TapLine::Foreign);
        assert_eq!(parse("1..x"), TapLine::Foreign);
    }
}
