//! From a test to its terms.

use flakeproof_syntax::words::{self, Comments, Token};
use serde::{Deserialize, Serialize};

/// A test as a model sees it: its source, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct TestText<'a> {
    /// The source of the test.
    pub source: &'a str,
    /// Where it stands, dotted: package and class, or folders and file (`org.acme.FooTest`).
    pub class: &'a str,
    /// How comments begin in its language.
    pub comments: Comments,
}

/// How source becomes terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// What stands between white space, as the paper's text says.
    WhiteSpace,
    /// Runs of word characters in lower case, as the paper's program does.
    Runs,
    /// The words that names and texts are made of, in lower case, and those of class and package.
    Parts,
}

/// What a term was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermField {
    /// The source of the test.
    Source,
    /// The name of its class or file.
    Class,
    /// Its package or folders.
    Package,
}

/// Marks terms of the class and of the package. No part of a name contains a blank.
const CLASS_MARK: &str = "class ";
const PACKAGE_MARK: &str = "package ";

impl Cut {
    /// Hand each piece of the test's source to `take`, as often as it occurs. Equal pieces have equal
    /// terms, see [`terms_of`](Self::terms_of).
    pub(crate) fn pieces(self, test: &TestText<'_>, mut take: impl FnMut(&str)) {
        match self {
            Self::WhiteSpace => words::at_white_space(test.source).for_each(take),
            Self::Runs => words::runs(test.source).for_each(|run| take(&run)),
            Self::Parts => {
                for token in words::tokens(test.source, test.comments) {
                    match token {
                        Token::Name(text) | Token::Text(text) => take(text),
                        Token::Number(_) | Token::Symbol(_) => {}
                    }
                }
            }
        }
    }

    /// Hand each term of a piece to `take`, as often as it occurs.
    pub(crate) fn terms_of(self, piece: &str, mut take: impl FnMut(&str)) {
        match self {
            Self::WhiteSpace | Self::Runs => take(piece),
            Self::Parts => take_parts(piece, "", &mut String::new(), &mut take),
        }
    }

    /// Hand each term of the test's class and package to `take`, as often as it occurs.
    pub(crate) fn place_terms(self, test: &TestText<'_>, mut take: impl FnMut(&str)) {
        if self == Self::Parts {
            let mut lower = String::new();
            let (package, class) = test.class.rsplit_once('.').unwrap_or(("", test.class));
            take_parts(class, CLASS_MARK, &mut lower, &mut take);
            take_parts(package, PACKAGE_MARK, &mut lower, &mut take);
        }
    }

    /// What a term of this cut was taken from, and the term without its mark.
    pub(crate) fn field(self, term: &str) -> (TermField, &str) {
        if self != Self::Parts {
            return (TermField::Source, term);
        }
        if let Some(term) = term.strip_prefix(CLASS_MARK) {
            (TermField::Class, term)
        } else if let Some(term) = term.strip_prefix(PACKAGE_MARK) {
            (TermField::Package, term)
        } else {
            (TermField::Source, term)
        }
    }
}

/// Hand the words of a text to `take`, in lower case and with a mark. `lower` is room to write.
fn take_parts(text: &str, mark: &str, lower: &mut String, take: &mut impl FnMut(&str)) {
    for part in words::parts(text) {
        lower.clear();
        lower.push_str(mark);
        if part.is_ascii() {
            lower.push_str(part);
            lower.make_ascii_lowercase();
        } else {
            lower.extend(part.chars().flat_map(char::to_lowercase));
        }
        take(lower);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(cut: Cut, source: &str, class: &str) -> Vec<String> {
        let mut terms = Vec::new();
        let test = TestText { source, class, comments: Comments::Slashes };
        cut.pieces(&test, |piece| cut.terms_of(piece, |term| terms.push(term.to_owned())));
        cut.place_terms(&test, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn the_paper_cuts_at_white_space() {
        let found = terms(Cut::WhiteSpace, "void t() {\n wait(10); }", "a.B");
        assert_eq!(found, ["void", "t()", "{", "wait(10);", "}"]);
    }

    #[test]
    fn parts_come_from_names_texts_and_the_class() {
        let found = terms(Cut::Parts, "waitFor(\"port 80\", 5) // no", "org.acme.HttpTest");
        let place = ["class http", "class test", "package org", "package acme"];
        assert_eq!(found, [&["wait", "for", "port", "80"][..], &place].concat());
        assert_eq!(Cut::Parts.field("class http"), (TermField::Class, "http"));
        assert_eq!(Cut::Parts.field("wait"), (TermField::Source, "wait"));
    }
}
