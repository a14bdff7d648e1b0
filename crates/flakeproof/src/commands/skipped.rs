//! Files that were not read, and how that is told.

use flakeproof_core::Notice;
use flakeproof_syntax::{Issue, IssueKind};

/// Files named in one notice.
const NAMED: usize = 5;

/// Why a file was not read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Skipped {
    TooLarge,
    Binary,
    Unreadable,
    TakesTooLong,
    TooDeep,
}

impl Skipped {
    /// What kept a file from being read whole, if anything did.
    pub(super) fn of(issues: &[Issue]) -> Option<Self> {
        issues.iter().find_map(|issue| match issue.kind {
            IssueKind::GaveUp => Some(Self::TakesTooLong),
            IssueKind::TooDeep => Some(Self::TooDeep),
            // Half-written code is everyday; what stands around it was read.
            IssueKind::SyntaxError | IssueKind::UnknownLanguage => None,
        })
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TooLarge => (
                "was not read: larger than 8 MiB",
                "no tests are that large; generated files belong into `.gitignore`",
            ),
            Self::Binary => ("was not read: not a text", "rename it if it is not source"),
            Self::Unreadable => ("could not be read", "check its permissions"),
            Self::TakesTooLong => (
                "was not read: it takes too long to parse",
                "is it source? If so, please report this as a bug",
            ),
            Self::TooDeep => (
                "was read in part: it is nested deeper than anyone writes",
                "generated files belong into `.gitignore`",
            ),
        }
    }
}

/// A notice for each reason, naming some of its files.
pub(super) fn notices(skipped: &[(Skipped, String)]) -> Vec<Notice> {
    let mut by_kind = skipped.to_vec();
    by_kind.sort();
    by_kind
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let names: Vec<&str> = same.iter().take(NAMED).map(|(_, path)| path.as_str()).collect();
            let more = same.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let (why, next) = same[0].0.words();
            Notice { what: format!("{} {why}", names.join(", ") + &more), next: next.to_owned() }
        })
        .collect()
}
