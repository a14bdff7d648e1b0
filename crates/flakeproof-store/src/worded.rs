//! What histories keep as one word of ours.

use flakeproof_core::{Isolation, Kind, Outcome, Stage, Verdict};

/// A word that names nothing that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not known")]
pub(crate) struct UnknownWord(String);

/// What is named by one word.
pub(crate) trait Worded: Copy + 'static {
    /// All there are.
    const ALL: &'static [Self];
    /// Its word.
    fn word(self) -> &'static str;

    /// The one with this word.
    ///
    /// # Errors
    /// When there is none.
    fn of(word: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.iter().find(|it| it.word() == word);
        known.copied().ok_or_else(|| UnknownWord(word.to_owned()))
    }
}

macro_rules! worded {
    ($($kind:ty: [$($variant:ident),*],)*) => {
        $(impl Worded for $kind {
            const ALL: &'static [Self] = &[$(Self::$variant),*];
            fn word(self) -> &'static str {
                self.word()
            }
        })*
    };
}

worded! {
    Outcome: [Passed, Failed, Errored, Skipped, Crashed, TimedOut],
    Verdict: [Flaky, Real, Unknown, NewlyFlaky, Unrelated],
    Kind: [NotBursty, Bursty, StateDependent],
    Stage: [First, Immediate, Postponed, Fresh, Order],
    Isolation: [Same, Fork, Spawn],
}
