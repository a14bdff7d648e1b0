//! One file or folder for each language: its grammar, what a test is, how tests are named, what a
//! call is, and how its code becomes the flow form.

mod chain;
mod csharp;
mod go;
mod java;
mod javascript;
mod junit;
mod kotlin;
mod lowering;
mod pieces;
mod python;
mod ruby;
mod rust;

pub(crate) use self::lowering::Lowering;
pub(crate) use self::pieces::Pieces;
use crate::Language;
use crate::flow::Unit;
use crate::language::extension;
use crate::outline::{Outline, Reading};
use crate::reach::CallReader;

/// The rules of a language. Adding one is a file here and a line in this list.
pub(crate) fn rules(language: Language) -> &'static Rules {
    match language {
        Language::Java => &java::RULES,
        Language::Kotlin => &kotlin::RULES,
        Language::Python => &python::RULES,
        Language::JavaScript => &javascript::JAVASCRIPT,
        Language::TypeScript => &javascript::TYPESCRIPT,
        Language::Go => &go::RULES,
        Language::Rust => &rust::RULES,
        Language::CSharp => &csharp::RULES,
        Language::Ruby => &ruby::RULES,
    }
}

/// What there is to know about a language.
pub(crate) struct Rules {
    /// The grammar for each extension of its files; the first is the usual one.
    pub(crate) grammars: &'static [(&'static str, Grammar)],
    /// Whether a file can hold tests, by its path and a search for words.
    pub(crate) may_hold_tests: fn(path: &str, text: &str) -> bool,
    /// The functions of a file, and which of them are tests.
    pub(crate) outline: for<'t, 'a> fn(&Reading<'t, 'a>) -> Outline<'t>,
    /// The calls a node makes, nodes below it left out.
    pub(crate) read_calls: CallReader,
    /// The file in the form data flow needs; no graph is drawn for a language without it.
    pub(crate) lower: Option<Lower>,
}

/// Writes the unit of a file.
pub(crate) type Lower = for<'t, 'a> fn(Lowering<'t, 'a>) -> Unit;

/// A grammar of tree-sitter.
pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    pub(crate) load: fn() -> tree_sitter::Language,
}

impl Rules {
    pub(crate) fn grammar_of(&self, extension: &str) -> Option<&'static Grammar> {
        let known = self.grammars.iter().find(|(known, _)| *known == extension);
        known.map(|(_, grammar)| grammar)
    }

    pub(crate) fn grammar(&self, path: &str) -> &'static Grammar {
        extension(path)
            .and_then(|extension| self.grammar_of(extension))
            .unwrap_or(&self.grammars[0].1)
    }
}
