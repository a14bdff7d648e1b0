//! Chance that repeats: a stream that is the same on every platform and in every version.

use flakeproof_core::Seed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random values.
#[derive(Debug, Clone)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed.0))
    }

    /// A real number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.0.next_u64() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// A number below `limit`, each equally likely (up to one part in 2^32 for our sizes).
    ///
    /// # Panics
    /// When `limit` is zero: there is no such number.
    pub fn below(&mut self, limit: usize) -> usize {
        assert!(limit > 0, "a number below zero does not exist");
        let wide = u128::from(self.0.next_u64()) * limit as u128;
        usize::try_from(wide >> 64).unwrap_or(limit - 1)
    }

    /// Bring the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_same_on_every_machine() {
        let mut chance = Chance::new(Seed(7));
        let mut items: Vec<u32> = (0..8).collect();
        chance.shuffle(&mut items);
        assert_eq!(items, [5, 0, 6, 2, 3, 4, 7, 1]);
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut chance = Chance::new(Seed(1));
        assert!((0..1000).all(|_| chance.below(3) < 3));
        assert!((0..1000).map(|_| chance.unit()).all(|value| (0.0..1.0).contains(&value)));
    }
}
