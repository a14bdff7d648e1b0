//! Sparse random projection (Li, Hastie and Church; the paper's section 3).
//!
//! Every term owns a column of the projection matrix, drawn from a stream that depends on the seed
//! and on the term's text alone. A term that training never met therefore has its column too, and
//! the training rows, in which it does not occur, need not be projected again: footnote 4 of the
//! paper. The scale of the entries does not matter, because rows are compared by their direction.

use flakeproof_core::Seed;

use crate::chance::Chance;

/// A random map from terms to few dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Projection {
    seed: Seed,
    dimensions: usize,
    /// The share of entries that are not zero.
    density: f64,
}

impl Projection {
    /// The projection for this many tests and terms, keeping distances up to a factor of
    /// `1 ± epsilon`.
    pub(crate) fn new(seed: Seed, epsilon: f64, tests: usize, terms: usize) -> Self {
        let density = 1.0 / crate::real(terms.max(1)).sqrt();
        Self { seed, dimensions: dimensions(tests, epsilon), density }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The entries of a term's column that are not zero: dimension, and whether it is negative.
    pub(crate) fn column(&self, term: &str) -> Vec<(u32, f32)> {
        let mut chance = Chance::new(self.seed.split(term));
        let mut entries = Vec::new();
        let mut at = gap(chance.unit(), self.density);
        while at < self.dimensions {
            let sign = if chance.unit() < 0.5 { -1.0 } else { 1.0 };
            entries.push((u32::try_from(at).unwrap_or(u32::MAX), sign));
            at += 1 + gap(chance.unit(), self.density);
        }
        entries
    }
}

/// The dimension that Johnson and Lindenstrauss promise to be enough for this many points.
pub(crate) fn dimensions(points: usize, epsilon: f64) -> usize {
    let enough =
        4.0 * crate::real(points.max(2)).ln() / (epsilon.powi(2) / 2.0 - epsilon.powi(3) / 3.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded down")]
    let enough = enough as usize;
    enough.max(1)
}

/// How many zeros stand before the next entry, so that each is drawn with the given density.
fn gap(unit: f64, density: f64) -> usize {
    if density >= 1.0 {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded down")]
    let zeros = ((1.0 - unit).ln() / (1.0 - density).ln()) as usize;
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dimension_is_the_reference_programs() {
        assert_eq!(dimensions(21_802, 0.33), 940);
        assert_eq!(dimensions(1_700, 0.3), 826);
    }

    #[test]
    fn a_column_depends_on_its_term_alone_and_has_the_right_density() {
        let projection = Projection::new(Seed(1), 0.33, 21_802, 10_000);
        assert_eq!(projection.column("wait"), projection.column("wait"));
        let entries: usize = (0..2000).map(|n| projection.column(&format!("t{n}")).len()).sum();
        // 2000 columns of 940 entries, one in a hundred not zero: 18 800 ± 3 standard deviations.
        assert!((18_400..19_200).contains(&entries), "{entries}");
    }
}
