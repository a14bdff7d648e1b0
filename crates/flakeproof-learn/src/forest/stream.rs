//! The chance inside one tree: millions of draws, so a generator of three operations (splitmix64).
//!
//! Each tree has its own stream, from the forest's seed and the number of the tree, so that trees do
//! not depend on who grows them or when. The stream is fixed here and cannot change with a crate.

use flakeproof_core::Seed;

/// A stream of random values.
#[derive(Debug, Clone)]
pub(crate) struct Stream(u64);

impl Stream {
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
    fn the_stream_is_the_published_one() {
        let mut stream = Stream::new(Seed(1_234_567));
        assert_eq!(stream.bits(), 6_457_827_717_110_365_317);
        assert_eq!(stream.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut stream = Stream::new(Seed(3));
        assert!((0..1000).all(|_| stream.below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&stream.unit())));
    }
}
