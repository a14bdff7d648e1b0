//! From bags of terms to vectors.

use flakeproof_core::Seed;
use rayon::prelude::*;

use super::bags::{Bags, NewTerms, ROWS_TOGETHER, Vocabulary};
use super::cut::{Cut, Field};
use super::projection::Projection;
use super::recipe::{Recipe, Weighting};
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
    Rarity { weights: Vec<f32>, fields: Vec<Field>, class: f32, package: f32 },
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
                let lengths =
                    [(Field::Source, 1.0), (Field::Class, *class), (Field::Package, *package)];
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

fn fields(cut: Cut, vocabulary: &Vocabulary<'_>) -> Vec<Field> {
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
