//! What is odd about a report.

use std::fmt;

/// So many issues are kept; a report that is odd everywhere is odd in the same way.
const MOST: usize = 100;

/// Something in a report that could not be understood, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is: so many bytes, or for formats of lines so many lines, from the beginning.
    pub position: u64,
    /// What is odd, for people.
    pub what: String,
}

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was cut or left out; every test and its outcome is there.
    Note,
    /// Tests may be missing, or a failure belongs to none of them.
    Serious,
}

impl Severity {
    /// The severity as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Serious => "serious",
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.what, self.position)
    }
}

/// The issues so far.
#[derive(Debug, Default)]
pub(crate) struct Issues {
    kept: Vec<Issue>,
}

impl Issues {
    /// Something small.
    pub(crate) fn note(&mut self, position: u64, what: impl Into<String>) {
        self.add(Severity::Note, position, what.into());
    }

    /// Something that may hide a test.
    pub(crate) fn serious(&mut self, position: u64, what: impl Into<String>) {
        self.add(Severity::Serious, position, what.into());
    }

    /// All that were kept.
    pub(crate) fn into_vec(self) -> Vec<Issue> {
        self.kept
    }

    /// A serious issue is never dropped for notes: the last note makes room.
    fn add(&mut self, severity: Severity, position: u64, what: String) {
        if self.kept.len() >= MOST {
            let note = self.kept.iter().rposition(|issue| issue.severity == Severity::Note);
            match (severity, note) {
                (Severity::Serious, Some(at)) => drop(self.kept.remove(at)),
                _ => return,
            }
        }
        self.kept.push(Issue { severity, position, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_make_room_for_what_is_serious() {
        let mut issues = Issues::default();
        for at in 0..1_000 {
            issues.note(at, "cut");
        }
        issues.serious(1_000, "lost");
        let issues = issues.into_vec();
        assert_eq!(issues.len(), MOST);
        assert_eq!(issues.last().map(|issue| issue.severity), Some(Severity::Serious));
    }
}
