//! The languages in which tests are found, and what there is to know about each.

use serde::{Deserialize, Serialize};

use crate::flow::Unit;
use crate::languages;
use crate::languages::Lowering;
use crate::outline::{CallReader, Outline, Reading};

/// A language in which tests are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Language {
    /// JUnit 3, 4 and 5, and TestNG.
    Java,
    /// JUnit, TestNG and kotlin.test.
    Kotlin,
    /// pytest and unittest.
    Python,
    /// Jest, Vitest, Mocha, Playwright, `node:test`, Bun and Deno.
    JavaScript,
    /// As JavaScript, with types.
    TypeScript,
    /// `go test`, and suites of testify.
    Go,
    /// `cargo test` and the attributes that end in it.
    Rust,
    /// xUnit, NUnit and MSTest.
    CSharp,
    /// RSpec and minitest.
    Ruby,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Java,
        Self::Kotlin,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Go,
        Self::Rust,
        Self::CSharp,
        Self::Ruby,
    ];

    /// The language of a file, by its extension.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let extension = extension(path)?;
        Self::ALL.into_iter().find(|language| language.rules().grammar_of(extension).is_some())
    }

    /// Its name in small letters: `java`, `typescript`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Java => "java",
            Self::Kotlin => "kotlin",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Go => "go",
            Self::Rust => "rust",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
        }
    }

    /// Its rules. Whoever adds a language adds a line here.
    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Self::Java => &languages::JAVA,
            Self::Kotlin => &languages::KOTLIN,
            Self::Python => &languages::PYTHON,
            Self::JavaScript => &languages::JAVASCRIPT,
            Self::TypeScript => &languages::TYPESCRIPT,
            Self::Go => &languages::GO,
            Self::Rust => &languages::RUST,
            Self::CSharp => &languages::CSHARP,
            Self::Ruby => &languages::RUBY,
        }
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

/// Whether a file can hold tests at all: a search for a few words, so that most of a repository is
/// never parsed.
///
/// Says yes to some files without tests, and never no to a file with one.
#[must_use]
pub fn may_hold_tests(language: Language, path: &str, text: &str) -> bool {
    (language.rules().may_hold_tests)(path, text)
}

fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, extension)| extension)
}
