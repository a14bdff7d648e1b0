//! How far from a test something is.

/// A circle of code around a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Circle {
    /// The test itself.
    Test,
    /// What runs with it in the test code: set-up, tear-down, fixtures, helpers.
    Helpers,
    /// The file it stands in.
    File,
    /// The files of the classes its class is derived from.
    Bases,
    /// The functions of the code under test that it calls itself.
    Called,
    /// The functions that those call, and so on.
    Reached,
    /// The files of the classes that the test's text names.
    Named,
    /// The files that its file and its bases mention.
    Mentioned,
    /// The files that those mention.
    Beyond,
}

impl Circle {
    /// All of them, from the inside to the outside.
    pub const ALL: [Self; 9] = [
        Self::Test,
        Self::Helpers,
        Self::File,
        Self::Bases,
        Self::Called,
        Self::Reached,
        Self::Named,
        Self::Mentioned,
        Self::Beyond,
    ];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "in the test",
            Self::Helpers => "in its helpers",
            Self::File => "in its file",
            Self::Bases => "in its base classes",
            Self::Called => "in the code it calls",
            Self::Reached => "in the code that is called from there",
            Self::Named => "in the classes it names",
            Self::Mentioned => "in the classes its file mentions",
            Self::Beyond => "in the classes those mention",
        }
    }
}
