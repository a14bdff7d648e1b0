//! What is new about a project's tests: who is flaky, who is broken, whose quarantine is over.
//!
//! An item is the same as long as it tells the same: its key does not change with what else is known,
//! so that whoever has seen it is not told again.

use crate::{Overview, QuarantineEntry, Standing, TestId, TestScore};

/// Something that happened to a test.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// What happened.
    pub kind: NewsKind,
    /// The test, or what the entry of a quarantine covers.
    pub test: TestId,
    /// When it happened, as an RFC 3339 time stamp.
    pub at: String,
    /// What tells it from other news: the same as long as it tells the same.
    pub key: String,
}

/// What happens to tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NewsKind {
    /// It was shown to be flaky for the first time.
    NewFlaky,
    /// It fails in every run since.
    Broken,
    /// Its entry in the quarantine holds no longer.
    QuarantineEnded,
}

impl NewsKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::NewFlaky, Self::Broken, Self::QuarantineEnded];

    /// The kind as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NewFlaky => "new-flaky",
            Self::Broken => "broken",
            Self::QuarantineEnded => "quarantine-ended",
        }
    }
}

impl News {
    /// All that is new by what is known, the latest first.
    #[must_use]
    pub fn all(overview: &Overview) -> Vec<Self> {
        let scores = || overview.scores.tests.iter();
        let flaky = scores().filter_map(|score| Self::flaky(score, overview));
        let broken = scores().filter_map(Self::broken);
        let today = overview.made.split('T').next().unwrap_or_default();
        let mut entries: Vec<&QuarantineEntry> =
            overview.details.values().filter_map(|detail| detail.quarantine.as_ref()).collect();
        entries.sort_by(|one, other| {
            (&one.id, &one.branch, &one.expires).cmp(&(&other.id, &other.branch, &other.expires))
        });
        entries.dedup();
        let ended = entries.into_iter().filter(|entry| entry.is_expired(today)).map(Self::ended);
        let mut news: Vec<Self> = flaky.chain(broken).chain(ended).collect();
        news.sort_by(|one, other| {
            let order = other.at.cmp(&one.at);
            order.then(one.kind.cmp(&other.kind)).then_with(|| one.test.cmp(&other.test))
        });
        news
    }

    fn flaky(score: &TestScore, overview: &Overview) -> Option<Self> {
        let at = score.flaky_since.clone()?;
        // Whoever was told of it under its first name need not be told of each further one.
        let first = overview.formerly.get(&score.test).and_then(|formerly| formerly.last());
        let known = Self::new(NewsKind::NewFlaky, first.unwrap_or(&score.test), at, "");
        Some(Self { test: score.test.clone(), ..known })
    }

    fn broken(score: &TestScore) -> Option<Self> {
        let since = score.since.as_ref().filter(|_| score.standing == Standing::Broken)?;
        let at = since.started.clone();
        Some(Self::new(NewsKind::Broken, &score.test, at.clone(), &at))
    }

    fn ended(entry: &QuarantineEntry) -> Self {
        // The last day on which it holds is over.
        let at = format!("{}T23:59:59Z", entry.expires);
        let what = format!("{} {}", entry.expires, entry.branch.as_deref().unwrap_or_default());
        Self::new(NewsKind::QuarantineEnded, &entry.id.as_str().into(), at, &what)
    }

    fn new(kind: NewsKind, test: &TestId, at: String, what: &str) -> Self {
        let key = format!("{} {what} {test}", kind.word());
        Self { kind, test: test.clone(), at, key }
    }
}
