//! A test in its file, in whatever language, and what a patch changes about it.

use flakeproof_core::{LeftBehind, TestId};

use crate::java::{self, JavaFile, TestMethod};
use crate::python::{self, PythonFile, TestFunction};
use crate::{NotEditable, OpenOrder, PatchedFile, Pin};

/// A test to edit, in its file.
#[derive(Debug, Clone)]
pub enum Editable {
    /// Of pytest or unittest.
    Python(PythonFile, TestFunction),
    /// Of JUnit or TestNG.
    Java(JavaFile, TestMethod),
}

/// What a patch changes about one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Of a Python test.
    Python(python::Addition),
    /// Of a Java test.
    Java(java::Addition),
}

/// What is known around the tests: what the names in a picture of state mean.
#[derive(Debug, Clone, Default)]
pub struct Surround {
    /// The modules that were imported.
    pub python: python::Surround,
    /// The sources of the project's classes.
    pub java: java::Sources,
}

/// The value that a test relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What was there before others ran: of a victim.
    Before,
    /// What others leave: of a brittle test.
    After,
}

impl Editable {
    /// A test in the text of its file.
    ///
    /// # Errors
    /// When the file is of a language for which no patches are written, does not parse, or does not hold
    /// the test.
    pub fn find(path: &str, text: String, test: &TestId) -> Result<Self, NotEditable> {
        if path.ends_with(".py") {
            let file = PythonFile::parse(path, text)?;
            let test = file.test(test)?;
            return Ok(Self::Python(file, test));
        }
        if path.ends_with(".java") {
            let file = JavaFile::parse(path, text)?;
            let test = file.test(test)?;
            return Ok(Self::Java(file, test));
        }
        Err(NotEditable::OtherLanguage { file: path.to_owned() })
    }

    /// The path of its file, relative to the project's root.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Python(file, _) => &file.path,
            Self::Java(file, _) => &file.path,
        }
    }

    /// The text of the test.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Python(file, test) => file.text_of_test(test),
            Self::Java(file, test) => file.text_of_test(test),
        }
    }

    /// The ways to put a thing back after the test, the likeliest first.
    #[must_use]
    pub fn restores(&self, thing: &LeftBehind, surround: &Surround) -> Vec<Change> {
        match self {
            Self::Python(file, test) => {
                let all = python::restores(thing, file, test, &surround.python);
                all.into_iter().map(Change::Python).collect()
            }
            Self::Java(file, test) => {
                let all = java::restores(thing, file, test, &surround.java);
                all.into_iter().map(Change::Java).collect()
            }
        }
    }

    /// The ways to give the test what it relies on, the likeliest first.
    #[must_use]
    pub fn resets(&self, thing: &LeftBehind, wanted: Wanted, surround: &Surround) -> Vec<Change> {
        match self {
            Self::Python(file, test) => {
                let all = python::resets(thing, wanted, file, test, &surround.python);
                all.into_iter().map(Change::Python).collect()
            }
            Self::Java(file, test) => {
                let all = java::resets(thing, wanted, file, test, &surround.java);
                all.into_iter().map(Change::Java).collect()
            }
        }
    }

    /// The comparisons of the test that an order may decide which the language leaves open.
    #[must_use]
    pub fn open_orders(&self) -> Vec<OpenOrder> {
        match self {
            Self::Python(file, test) => python::open_orders(file, test),
            Self::Java(file, test) => java::open_orders(file, test),
        }
    }

    /// The ways to pin something for the test, the likeliest first.
    #[must_use]
    pub fn pins(&self, pin: &Pin) -> Vec<Change> {
        match self {
            Self::Python(file, test) => {
                python::pins(pin, file, test).into_iter().map(Change::Python).collect()
            }
            Self::Java(file, test) => {
                java::pins(pin, file, test).into_iter().map(Change::Java).collect()
            }
        }
    }

    /// Whether a change of this file edits the same place for both tests.
    fn is_same_test(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Python(_, one), Self::Python(_, other)) => one.span == other.span,
            (Self::Java(_, one), Self::Java(_, other)) => one == other,
            (Self::Python(..), Self::Java(..)) | (Self::Java(..), Self::Python(..)) => false,
        }
    }
}

impl Change {
    /// No change at all.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Python(python::Addition::default())
    }

    /// What it does, in one sentence, where that is not to put something back.
    #[must_use]
    pub fn idea(&self) -> Option<&str> {
        match self {
            Self::Python(addition) => addition.idea.as_deref(),
            Self::Java(addition) => addition.idea.as_deref(),
        }
    }

    /// Both together; what is the same in both counts once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Python(one), Self::Python(other)) => Self::Python(one.and(other)),
            (Self::Java(one), Self::Java(other)) => Self::Java(one.and(other)),
            // A test is of one language.
            (one @ Self::Python(_), Self::Java(_)) | (one @ Self::Java(_), Self::Python(_)) => one,
        }
    }
}

/// See that the text of a file follows the grammar of its language.
///
/// # Errors
/// When it does not parse.
pub fn check(path: &str, text: &str) -> Result<(), NotEditable> {
    match path.ends_with(".java") {
        true => JavaFile::parse(path, text).map(drop),
        false => PythonFile::parse(path, text).map(drop),
    }
}

/// The files of tests with their changes.
///
/// # Errors
/// When two changes are of the same lines.
pub fn patched(changes: &[(Editable, Change)]) -> Result<Vec<PatchedFile>, NotEditable> {
    let mut by_file: Vec<Vec<(&Editable, Change)>> = Vec::new();
    for (editable, change) in changes {
        let group = by_file
            .iter_mut()
            .find(|all| all.first().is_some_and(|(first, _)| first.path() == editable.path()));
        let Some(group) = group else {
            by_file.push(vec![(editable, change.clone())]);
            continue;
        };
        match group.iter_mut().find(|(known, _)| known.is_same_test(editable)) {
            Some((_, known)) => *known = known.clone().and(change.clone()),
            None => group.push((editable, change.clone())),
        }
    }
    by_file.iter().map(|group| patched_file(group)).collect()
}

fn patched_file(group: &[(&Editable, Change)]) -> Result<PatchedFile, NotEditable> {
    let (mut python, mut java) = (Vec::new(), Vec::new());
    for (editable, change) in group {
        match (editable, change) {
            (Editable::Python(_, test), Change::Python(change)) => {
                python.push((test.clone(), change.clone()));
            }
            (Editable::Java(_, test), Change::Java(change)) => {
                java.push((test.clone(), change.clone()));
            }
            (Editable::Python(..), Change::Java(_)) | (Editable::Java(..), Change::Python(_)) => {}
        }
    }
    let (path, before, after) = match group.first() {
        Some((Editable::Python(file, _), _)) => (&file.path, &file.text, file.with(&python)?),
        Some((Editable::Java(file, _), _)) => (&file.path, &file.text, file.with(&java)?),
        None => return Err(NotEditable::NoForm("there is nothing to change".to_owned())),
    };
    Ok(PatchedFile { path: path.clone(), before: before.clone(), after })
}

/// Statements of one test, to be run at the beginning of another.
#[derive(Debug)]
pub enum Transplant<'f> {
    /// Between Python tests.
    Python(Box<python::Transplant<'f>>),
    /// Between Java tests.
    Java(Box<java::Transplant<'f>>),
}

impl<'f> Transplant<'f> {
    /// Statements of the donor for the recipient; `None` between two languages.
    #[must_use]
    pub fn new(donor: &'f Editable, recipient: &'f Editable) -> Option<Self> {
        match (donor, recipient) {
            (Editable::Python(donor, from), Editable::Python(recipient, to)) => {
                let both = ((donor, from.clone()), (recipient, to.clone()));
                Some(Self::Python(Box::new(python::Transplant::new(both.0, both.1))))
            }
            (Editable::Java(donor, from), Editable::Java(recipient, _)) => {
                let transplant = java::Transplant::new((donor, from.clone()), recipient);
                Some(Self::Java(Box::new(transplant)))
            }
            (Editable::Python(..), Editable::Java(..))
            | (Editable::Java(..), Editable::Python(..)) => None,
        }
    }

    /// The numbers of the donor's statements that do something besides checking.
    #[must_use]
    pub fn statements(&self) -> Vec<usize> {
        match self {
            Self::Python(it) => it.statements(),
            Self::Java(it) => it.statements(),
        }
    }

    /// The recipient with these statements at its beginning.
    ///
    /// # Errors
    /// When they need something that the recipient cannot have.
    pub fn with(&self, chosen: &[usize]) -> Result<Change, NotEditable> {
        match self {
            Self::Python(it) => it.with(chosen).map(Change::Python),
            Self::Java(it) => it.with(chosen).map(Change::Java),
        }
    }
}
