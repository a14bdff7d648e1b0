//! Chance that repeats: streams that are the same on every platform and in every version.
//!
//! [`Chance`] is for most things. A tree of a forest makes millions of draws, so it has a generator of
//! three operations; each tree has its own stream, from the forest's seed and the number of the tree, so
//! that trees do not depend on who grows them or when.

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

/// A fast stream of random values (splitmix64), fixed here so that it cannot change with a crate.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// The stream of this seed.
    pub(crate) fn new(seed: Seed) -> Self {
        Self(seed.0)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, each equally likely up to one part in 2^32; 0 when there is none.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let wide = (self.bits() >> 32) * u64::from(limit);
        u32::try_from(wide >> 32).unwrap_or(0)
    }

    /// A real number from 0 up to, but not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.bits() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
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

    #[test]
    fn the_stream_is_the_published_one() {
        let mut stream = SplitMix::new(Seed(1_234_567));
        assert_eq!(stream.bits(), 6_457_827_717_110_365_317);
        assert_eq!(stream.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn fast_numbers_stay_in_their_range() {
        let mut stream = SplitMix::new(Seed(3));
        assert!((0..1000).all(|_| stream.below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&stream.unit())));
    }
}
