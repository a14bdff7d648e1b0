//! From bags of terms to vectors: weights by rarity, or a sparse random projection.
//!
//! The projection is that of Li, Hastie and Church (the paper's section 3). Every term owns a column of
//! its matrix, drawn from a stream that depends on the seed and on the term's text alone. A term that
//! training never met therefore has its column too, and the training rows, in which it does not occur,
//! need not be projected again: footnote 4 of the paper. The scale of the entries does not matter,
//! because rows are compared by their direction.

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::bags::{Bags, NewTerms, ROWS_TOGETHER, Vocabulary};
use super::recipe::{Cut, Recipe, TermField, Weighting};
use crate::chance::Chance;
use crate::knn::SparseRows;

/// In a small set, a term may be in a large share of the tests and still tell them apart.
const NEVER_TOO_COMMON: f64 = 100.0;

/// What training learned about terms: enough to place any test among the known ones.
#[derive(Debug, Clone)]
pub(crate) enum TermWeights {
    /// Counts as they are.
    Counts {
        /// How many terms there are.
        terms: usize,
    },
    /// Each term has a column of a random projection. Those of known terms are kept.
    Projected { projection: Projection, columns: Vec<Vec<(u32, f32)>> },
    /// Each known term has a weight, those that say nothing zero, and a field.
    Rarity { weights: Vec<f32>, fields: Vec<TermField>, class: f32, package: f32 },
}

impl TermWeights {
    /// Learn from the rows of a corpus.
    pub(crate) fn learn(
        recipe: &Recipe,
        seed: Seed,
        vocabulary: &Vocabulary<'_>,
        bags: &Bags<'_>,
        rows: &[u32],
    ) -> Self {
        let frequency = frequencies(vocabulary.len(), bags, rows);
        match recipe.weighting {
            Weighting::Counts { epsilon } if epsilon <= 0.0 => {
                Self::Counts { terms: vocabulary.len() }
            }
            Weighting::Counts { epsilon } => {
                let known = frequency.iter().filter(|count| **count > 0).count();
                let projection = Projection::new(seed, epsilon, rows.len(), known);
                let columns = (0..vocabulary.len())
                    .into_par_iter()
                    .map(|term| projection.column(vocabulary.texts().get(term)))
                    .collect();
                Self::Projected { projection, columns }
            }
            Weighting::Rarity { most_common, fewest, class, package } => {
                let tests = crate::real(rows.len());
                let weight = |count: &u32| {
                    let too_common = (most_common * tests).max(NEVER_TOO_COMMON);
                    let says_nothing = f64::from(*count) > too_common || *count < fewest;
                    #[expect(clippy::cast_possible_truncation, reason = "weights are single")]
                    let rarity = ((tests + 1.0) / (f64::from(*count) + 1.0)).ln().sqrt() as f32;
                    if says_nothing { 0.0 } else { rarity }
                };
                Self::Rarity {
                    weights: frequency.iter().map(weight).collect(),
                    fields: fields(recipe.cut, vocabulary),
                    class,
                    package,
                }
            }
        }
    }

    /// How many dimensions the vectors have.
    pub(crate) fn dimensions(&self) -> usize {
        match self {
            Self::Counts { terms } => *terms,
            Self::Projected { projection, .. } => projection.dimensions(),
            Self::Rarity { weights, .. } => weights.len(),
        }
    }

    /// The vectors of some rows. Terms that training did not know are numbered after the known
    /// ones.
    pub(crate) fn vectors(
        &self,
        bags: &Bags<'_>,
        rows: &[u32],
        new_terms: &NewTerms,
    ) -> SparseRows {
        let parts: Vec<SparseRows> = rows
            .par_chunks(ROWS_TOGETHER)
            .map(|rows| {
                let (mut vectors, mut entries) = (SparseRows::new(), Vec::new());
                for row in rows {
                    entries.clear();
                    self.entries(bags.row(*row as usize), new_terms, &mut entries);
                    vectors.push_unit(&entries);
                }
                vectors
            })
            .collect();
        SparseRows::joined(&parts)
    }

    /// Write the entries of a vector, ascending, behind `entries`, which has none yet.
    fn entries(
        &self,
        bag: impl Iterator<Item = (u32, u8)>,
        new_terms: &NewTerms,
        entries: &mut Vec<(u32, f32)>,
    ) {
        match self {
            Self::Counts { .. } => {
                entries.extend(bag.map(|(term, count)| (term, f32::from(count))));
            }
            Self::Projected { projection, columns } => {
                for (term, count) in bag {
                    let add =
                        |(dimension, sign): &(u32, f32)| (*dimension, sign * f32::from(count));
                    match columns.get(term as usize) {
                        Some(column) => entries.extend(column.iter().map(add)),
                        None => {
                            let term = new_terms.term(term as usize - columns.len());
                            entries.extend(projection.column(term).iter().map(add));
                        }
                    }
                }
                sum_up(entries);
            }
            Self::Rarity { weights, fields, class, package } => {
                let weighted = bag
                    .filter_map(|(term, _)| weights.get(term as usize).map(|w| (term, *w)))
                    .filter(|(_, weight)| *weight > 0.0);
                entries.extend(weighted);
                let lengths = [
                    (TermField::Source, 1.0),
                    (TermField::Class, *class),
                    (TermField::Package, *package),
                ];
                for (field, length) in lengths {
                    scale(entries, length, |term| fields[term as usize] == field);
                }
            }
        }
    }
}

/// In how many of the rows each term occurs.
fn frequencies(terms: usize, bags: &Bags<'_>, rows: &[u32]) -> Vec<u32> {
    let mut frequency = vec![0; terms];
    for row in rows {
        for (term, _) in bags.row(*row as usize) {
            frequency[term as usize] += 1;
        }
    }
    frequency
}

fn fields(cut: Cut, vocabulary: &Vocabulary<'_>) -> Vec<TermField> {
    vocabulary.texts().iter().map(|term| cut.field(term).0).collect()
}

/// Give the entries of some terms this length together.
fn scale(entries: &mut [(u32, f32)], length: f32, belongs: impl Fn(u32) -> bool) {
    let of_field = || entries.iter().filter(|(term, _)| belongs(*term));
    let now = of_field().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    if now > 0.0 {
        for (_, weight) in entries.iter_mut().filter(|(term, _)| belongs(*term)) {
            *weight *= length / now;
        }
    }
}

/// Add up entries of the same dimension, and put them in ascending order.
fn sum_up(entries: &mut Vec<(u32, f32)>) {
    entries.sort_by_key(|(dimension, _)| *dimension);
    entries.dedup_by(|next, sum| {
        let is_same = next.0 == sum.0;
        if is_same {
            sum.1 += next.1;
        }
        is_same
    });
    entries.retain(|(_, value)| *value != 0.0);
}

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
