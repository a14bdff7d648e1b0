//! The annotations and habits of JUnit and TestNG, which Java and Kotlin share.

use flakeproof_core::TestId;

use crate::outline::{Outline, ScopeId};

/// How a class makes tests of its methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Those with an annotation.
    Annotated,
    /// Those whose name begins with `test`: JUnit 3.
    Named,
    /// All public ones: TestNG with `@Test` on the class.
    Public,
}

/// The class around a method.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassScope {
    pub(super) scope: ScopeId,
    pub(super) style: Style,
}

/// What an annotation, by its simple name, makes of the method it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Test,
    Before,
    After,
    Nested,
    None,
}

impl Mark {
    pub(super) fn from_annotation(annotation: &str) -> Self {
        let simple = annotation.rsplit('.').next().unwrap_or(annotation);
        match simple {
            "TestFactory" | "TestTemplate" | "Theory" | "Property" => Self::Test,
            "Nested" => Self::Nested,
            _ if is_phase(simple, "Before") => Self::Before,
            _ if is_phase(simple, "After") => Self::After,
            _ if simple.ends_with("Test") => Self::Test,
            _ => Self::None,
        }
    }

    /// The strongest of several marks on one method: what sets up is no test.
    pub(super) fn strongest(marks: &[Self]) -> Self {
        [Self::Before, Self::After, Self::Test]
            .into_iter()
            .find(|mark| marks.contains(mark))
            .unwrap_or(Self::None)
    }
}

/// `Before` alone, or followed by what it comes before: `BeforeEach`, `BeforeTest`, `BeforeSuite`.
fn is_phase(annotation: &str, phase: &str) -> bool {
    annotation.strip_prefix(phase).is_some_and(|rest| {
        matches!(rest, "" | "Each" | "All" | "Class" | "Method" | "Test" | "Suite" | "Groups")
    })
}

/// The mark of a method by its name alone, as JUnit 3 knew it.
pub(super) fn mark_of_name(name: &str) -> Mark {
    match name {
        "setUp" => Mark::Before,
        "tearDown" => Mark::After,
        _ if name.starts_with("test") => Mark::Test,
        _ => Mark::None,
    }
}

/// `com.acme.FooTest$Inner#bar`, or `com.acme.bar` for a function outside of classes.
pub(super) fn id(package: &str, outline: &Outline<'_>, scope: ScopeId, method: &str) -> TestId {
    let classes = outline.enclosing(scope).join("$");
    let dot = if package.is_empty() || classes.is_empty() { "" } else { "." };
    TestId::from(format!("{package}{dot}{classes}#{method}"))
}

/// The name of the class a file is named after: `a/FooTest.java` holds `FooTest`.
pub(super) fn class_of_path(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// Whether a file can hold tests of JUnit or TestNG: some annotation makes a test, or a method is
/// named like one of JUnit 3.
pub(super) fn may_hold_tests(_path: &str, text: &str) -> bool {
    annotations(text).any(|annotation| Mark::from_annotation(annotation) == Mark::Test)
        || (text.contains("extends") && holds_named_test(text))
}

fn annotations(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').map(|(at, _)| {
        let name = text[at + 1..].trim_start();
        let is_part = |letter: char| letter.is_alphanumeric() || "_.$".contains(letter);
        &name[..name.find(|letter| !is_part(letter)).unwrap_or(name.len())]
    })
}

fn holds_named_test(text: &str) -> bool {
    text.match_indices("test").any(|(at, _)| text[..at].trim_end().ends_with("void"))
}
