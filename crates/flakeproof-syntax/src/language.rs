//! The languages in which tests are found.

use crate::languages::{self, Rules};

/// A language in which tests are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    pub(crate) fn rules(self) -> &'static Rules {
        languages::rules(self)
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

pub(crate) fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, extension)| extension)
}
