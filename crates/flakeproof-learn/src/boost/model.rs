//! Boosted trees: what they are to be like, what they answer once they have learned, and why.

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::grow::{Bins, Grower, number};
use super::layout::Layout;
use crate::Chance;
use crate::forest::{ForestFitError, Table};
use crate::model_file::{Arrays, ModelFile, ModelFileError};

/// What boosted trees are to be like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoostParams {
    /// How many trees.
    pub trees: usize,
    /// How much of what is wrong each tree mends.
    pub learning_rate: f64,
    /// The most leaves of a tree.
    pub leaves: usize,
    /// The fewest rows of a leaf.
    pub fewest_rows: usize,
    /// The share of rows each tree sees.
    pub row_share: f64,
    /// The share of columns each tree sees.
    pub column_share: f64,
    /// How strongly leaves are drawn to zero.
    pub penalty: f64,
    /// How many times to learn, each with another seed; the mean is what is said. What one draw of rows and
    /// columns finds by chance, the others do not.
    pub bags: usize,
    /// The seed of all chance.
    pub seed: Seed,
}

impl BoostParams {
    /// Small trees that see parts of the table: what does well on a few hundred flaky tests.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            trees: 200,
            learning_rate: 0.05,
            leaves: 15,
            fewest_rows: 20,
            row_share: 0.8,
            column_share: 0.3,
            penalty: 5.0,
            bags: 5,
            seed,
        }
    }

    /// Learn from these rows of a table; `positive` and `weights` have one value for each of them.
    ///
    /// # Errors
    /// When there is nothing to learn from or all rows have the same label.
    pub fn fit(
        &self,
        table: &Table,
        rows: &[u32],
        positive: &[bool],
        weights: &[f64],
    ) -> Result<Boosted, ForestFitError> {
        check(table, rows, positive, weights)?;
        let bins = Bins::new(table, rows);
        let bags = self.bags.max(1);
        let fitted: Vec<Boosted> = (0..bags)
            .into_par_iter()
            .map(|bag| {
                let seed = self.seed.split(&format!("bag {bag}"));
                Self { seed, ..self.clone() }.fit_one(&bins, table.width(), positive, weights)
            })
            .collect();
        Ok(Boosted::mean(fitted))
    }

    /// Learn once.
    fn fit_one(&self, bins: &Bins, width: usize, positive: &[bool], weights: &[f64]) -> Boosted {
        let total: f64 = weights.iter().sum();
        let hits: f64 =
            weights.iter().zip(positive).filter(|(_, hit)| **hit).map(|(weight, _)| weight).sum();
        let base = (hits / (total - hits)).ln();
        let mut margins = vec![base; positive.len()];
        let mut trees = Vec::with_capacity(self.trees);
        for tree in 0..self.trees {
            let mut chance = Chance::new(self.seed.split(&format!("tree {tree}")));
            let gradients: Vec<(f64, f64)> = margins
                .iter()
                .zip(positive)
                .zip(weights)
                .map(|((margin, hit), weight)| {
                    let probability = 1.0 / (1.0 + (-margin).exp());
                    let truth = f64::from(u8::from(*hit));
                    (weight * (probability - truth), weight * probability * (1.0 - probability))
                })
                .collect();
            let columns = self.some(width, self.column_share, &mut chance);
            let seen = self.some(positive.len(), self.row_share, &mut chance);
            let grown = Grower::new(self, bins, &gradients, &columns).grow(seen);
            for (row, margin) in margins.iter_mut().enumerate() {
                *margin += grown.value(|column| bins.columns[column][row]);
            }
            trees.push(grown.unbinned(&bins.edges));
        }
        Boosted::new(base, trees, width)
    }

    /// A share of the numbers below a count, ascending.
    fn some(&self, count: usize, share: f64, chance: &mut Chance) -> Vec<u32> {
        let mut all: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        chance.shuffle(&mut all);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let kept = (crate::real(count) * share).ceil() as usize;
        all.truncate(kept.max(1));
        all.sort_unstable();
        all
    }
}

fn check(
    table: &Table,
    rows: &[u32],
    positive: &[bool],
    weights: &[f64],
) -> Result<(), ForestFitError> {
    if rows.is_empty() {
        return Err(ForestFitError::NoRows);
    }
    if table.width() == 0 {
        return Err(ForestFitError::NoColumns);
    }
    if positive.len() != rows.len() || weights.len() != rows.len() {
        return Err(ForestFitError::Lengths { rows: rows.len(), labels: positive.len() });
    }
    match positive.iter().filter(|hit| **hit).count() {
        0 => Err(ForestFitError::OneClass { rows: rows.len(), label: "negative" }),
        all if all == rows.len() => Err(ForestFitError::OneClass { rows: all, label: "positive" }),
        _ => Ok(()),
    }
}

/// So many rows go through the trees together: what is known of them lies near.
const ROWS_AT_ONCE: usize = 64;

/// Boosted trees that have learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    base: f64,
    trees: Vec<Tree>,
    columns: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Split>,
}

/// A node: where it is cut, or what it adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    /// The column, the highest number that goes to the left, and the place of the left child; the
    /// right one is behind it.
    pub(super) cut: Option<(u32, f32, u32)>,
    /// What a row that ends here gets.
    pub(super) value: f64,
    /// How many rows of the training came by.
    pub(super) cover: f64,
}

impl Boosted {
    pub(super) fn new(base: f64, trees: Vec<Tree>, columns: usize) -> Self {
        Self { base, trees, columns }
    }

    /// What several say on average, as one: each tree adds its share.
    fn mean(several: Vec<Self>) -> Self {
        let share = crate::real(several.len().max(1)).recip();
        let base = several.iter().map(|it| it.base * share).sum();
        let columns = several.first().map_or(0, |it| it.columns);
        let mut trees: Vec<Tree> = several.into_iter().flat_map(|it| it.trees).collect();
        let nodes = trees.iter_mut().flat_map(|tree| &mut tree.nodes);
        nodes.for_each(|node| node.value *= share);
        Self { base, trees, columns }
    }

    /// How many columns it learned from.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The logarithm of the odds that each of some rows is positive. A number that is not there counts
    /// as missing.
    #[must_use]
    pub fn margins<R: AsRef<[f32]> + Sync>(&self, rows: &[R]) -> Vec<f64> {
        let layout = Layout::new(&self.trees, self.columns);
        rows.par_chunks(ROWS_AT_ONCE)
            .flat_map_iter(|rows| layout.margins(self.base, rows))
            .collect()
    }

    /// What each column adds to the margin of each of some rows: along each tree, the difference that
    /// each cut makes to the mean of what lies below it (Saabas, 2014). They and the margin of a row
    /// that nothing is known about add up to the margin.
    #[must_use]
    pub fn contributions<R: AsRef<[f32]> + Sync>(&self, rows: &[R]) -> Vec<Vec<f64>> {
        rows.par_chunks(ROWS_AT_ONCE).flat_map_iter(|rows| self.contributions_to(rows)).collect()
    }

    fn contributions_to<R: AsRef<[f32]>>(&self, rows: &[R]) -> Vec<Vec<f64>> {
        let mut sums = vec![vec![0.0; self.columns]; rows.len()];
        for tree in &self.trees {
            let means = tree.means();
            for (sums, row) in sums.iter_mut().zip(rows) {
                let mut at = 0;
                while let Some((column, _, _)) = tree.nodes[at].cut {
                    let next = tree.step(at, row.as_ref());
                    sums[column as usize] += means[next] - means[at];
                    at = next;
                }
            }
        }
        sums
    }

    /// Put it into a model file.
    pub(crate) fn save(&self, arrays: &mut Arrays) {
        let nodes = || self.trees.iter().flat_map(|tree| &tree.nodes);
        let lengths: Vec<u32> =
            self.trees.iter().map(|tree| u32::try_from(tree.nodes.len()).unwrap_or(0)).collect();
        let cuts: Vec<u32> = nodes()
            .flat_map(|node| {
                node.cut.map_or([u32::MAX, 0, 0], |(column, edge, child)| {
                    [column, edge.to_bits(), child]
                })
            })
            .collect();
        let values: Vec<f64> = nodes().flat_map(|node| [node.value, node.cover]).collect();
        let shape = [self.base, crate::real(self.columns)];
        arrays.numbers("boost.lengths", &lengths);
        arrays.numbers("boost.cuts", &cuts);
        arrays.reals("boost.values", &values);
        arrays.reals("boost.shape", &shape);
    }

    /// Take it out of a model file.
    pub(crate) fn load(file: &ModelFile<'_>) -> Result<Self, ModelFileError> {
        let wrong = |what: &str| ModelFileError::Inconsistent(format!("boosted trees: {what}"));
        let [base, columns] = *file.reals("boost.shape")? else {
            return Err(wrong("their shape is not there"));
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let columns = columns as usize;
        let (cuts, _) = file.numbers("boost.cuts")?.as_chunks::<3>();
        let (values, _) = file.reals("boost.values")?.as_chunks::<2>();
        if cuts.len() != values.len() {
            return Err(wrong("cuts and values do not match"));
        }
        let mut nodes = cuts.iter().zip(values).map(|([column, edge, child], [value, cover])| {
            let cut = (*column != u32::MAX).then(|| (*column, f32::from_bits(*edge), *child));
            Split { cut, value: *value, cover: *cover }
        });
        let mut trees = Vec::new();
        for length in file.numbers("boost.lengths")? {
            let tree = Tree { nodes: nodes.by_ref().take(*length as usize).collect() };
            if tree.nodes.len() != *length as usize || !tree.is_sound(columns) {
                return Err(wrong("a tree leads nowhere"));
            }
            trees.push(tree);
        }
        Ok(Self { base, trees, columns })
    }
}

impl Tree {
    fn step(&self, at: usize, row: &[f32]) -> usize {
        match self.nodes[at].cut {
            Some((column, edge, child)) => {
                let value = number(row.get(column as usize).copied().unwrap_or(f32::NAN));
                child as usize + usize::from(value > edge)
            }
            None => at,
        }
    }

    /// The mean value of the training rows that came by each node.
    fn means(&self) -> Vec<f64> {
        let mut means: Vec<f64> = self.nodes.iter().map(|node| node.value).collect();
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if let Some((_, _, child)) = node.cut {
                let child = child as usize;
                let (left, right) = (self.nodes[child].cover, self.nodes[child + 1].cover);
                let sum = left * means[child] + right * means[child + 1];
                means[at] = sum / (left + right).max(1.0);
            }
        }
        means
    }

    /// Whether every cut leads on: children lie behind their node, columns exist.
    fn is_sound(&self, columns: usize) -> bool {
        let leads_on = |(at, node): (usize, &Split)| {
            node.cut.is_none_or(|(column, edge, child)| {
                let child = child as usize;
                (column as usize) < columns
                    && !edge.is_nan()
                    && child > at
                    && child + 1 < self.nodes.len()
            })
        };
        !self.nodes.is_empty() && self.nodes.iter().enumerate().all(leads_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned() -> (Table, Vec<bool>, Boosted) {
        let mut chance = Chance::new(Seed(5));
        #[expect(clippy::cast_possible_truncation, reason = "below one")]
        let mut column = || (0..600).map(|_| chance.unit() as f32).collect::<Vec<f32>>();
        let columns = vec![column(), column(), column()];
        let positive: Vec<bool> =
            (0..600).map(|row| columns[0][row] > 0.7 && columns[2][row] < 0.5).collect();
        let table = Table::from_columns(columns).expect("a table");
        let params = BoostParams { column_share: 1.0, ..BoostParams::new(Seed(1)) };
        let rows: Vec<u32> = (0..600).collect();
        let boosted = params.fit(&table, &rows, &positive, &[1.0; 600]).expect("both classes");
        (table, positive, boosted)
    }

    #[test]
    fn what_can_be_told_is_learned() {
        let (table, positive, boosted) = learned();
        let rows: Vec<Vec<f32>> = (0..600).map(|row| table.row(row)).collect();
        let margins = boosted.margins(&rows);
        let right = margins.iter().zip(&positive).filter(|(it, hit)| (**it > 0.0) == **hit).count();
        assert!(right > 590, "{right} of 600");
    }

    #[test]
    fn contributions_add_up_and_name_what_matters() {
        let (table, _, boosted) = learned();
        let rows: Vec<Vec<f32>> = (0..600).map(|row| table.row(row)).collect();
        let (margins, all) = (boosted.margins(&rows), boosted.contributions(&rows));
        let sum = |row: usize| all[row].iter().sum::<f64>();
        assert!((margins[3] - margins[77] - (sum(3) - sum(77))).abs() < 1e-9);
        let weight = |column: usize| all.iter().map(|row| row[column].abs()).sum::<f64>();
        assert!(weight(0) > 5.0 * weight(1) && weight(2) > 5.0 * weight(1));
    }

    /// What a tree adds for a row, walked cut by cut.
    fn walked(tree: &Tree, row: &[f32]) -> f64 {
        let mut at = 0;
        while tree.nodes[at].cut.is_some() {
            at = tree.step(at, row);
        }
        tree.nodes[at].value
    }

    #[test]
    fn many_rows_at_once_get_to_the_bit_what_each_gets_alone() {
        let (table, _, boosted) = learned();
        let mut rows: Vec<Vec<f32>> = (0..600).map(|row| table.row(row)).collect();
        rows[5][1] = f32::NAN;
        rows[70].truncate(1);
        rows[71].clear();
        rows[72] = vec![f32::NEG_INFINITY, f32::INFINITY, -0.0, 7.0];
        let alone = |row: &Vec<f32>| {
            boosted.trees.iter().fold(boosted.base, |sum, tree| sum + walked(tree, row)).to_bits()
        };
        let together: Vec<u64> = boosted.margins(&rows).into_iter().map(f64::to_bits).collect();
        assert_eq!(together, rows.iter().map(alone).collect::<Vec<u64>>());
        assert_eq!(boosted.contributions(&rows)[70], boosted.contributions(&rows[70..71])[0]);
        assert_eq!(boosted.margins::<&[f32]>(&[]), [0.0; 0]);
    }

    #[test]
    fn a_file_gives_back_what_was_saved() {
        let (_, _, boosted) = learned();
        let mut arrays = Arrays::default();
        boosted.save(&mut arrays);
        let bytes = arrays.into_file("boost", serde_json::Value::Null).expect("a file");
        let file = ModelFile::open(&bytes, "boost").expect("a whole file");
        assert_eq!(Boosted::load(&file).expect("boosted trees"), boosted);
    }
}
