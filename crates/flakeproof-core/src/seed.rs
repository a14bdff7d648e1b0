//! Chance that can be repeated.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The one number from which all chance of a run is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed for one item of the work, so that items do not depend on who runs them or when.
    #[must_use]
    pub fn split(self, item: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0.to_le_bytes());
        hasher.update(item.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Self(u64::from_le_bytes(first))
    }

    /// A value for `PYTHONHASHSEED`, which takes 1 to 4294967295 (0 means "no randomness").
    #[must_use]
    pub fn hash_seed(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(u32::MAX).max(1)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_seed_depends_on_the_item_and_on_nothing_else() {
        let seed = Seed(7);
        assert_eq!(seed.split("a"), seed.split("a"));
        assert_ne!(seed.split("a"), seed.split("b"));
        assert_ne!(seed.split("a"), Seed(8).split("a"));
    }
}
