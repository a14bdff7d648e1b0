//! One tree, grown leaf by leaf where a cut gains the most.
//!
//! Columns are put into a few bins, so that a cut is looked for among bins and not among rows.

use rayon::prelude::*;

use super::model::{BoostParams, Split, Tree};
use crate::forest::Table;

/// The sums of gradients, of their slopes, and of rows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    gradient: f64,
    slope: f64,
    rows: u32,
}

/// A cut of a leaf: after this bin of this column.
#[derive(Debug, Clone, Copy)]
struct Cut {
    gain: f64,
    column: u32,
    bin: u8,
}

/// A leaf that may still be cut.
struct Leaf {
    node: usize,
    rows: Vec<u32>,
    histograms: Histograms,
    cut: Option<Cut>,
}

/// The sums in each bin of each column that the tree sees.
type Histograms = Vec<Vec<Sums>>;

/// Grows a tree from gradients.
pub(super) struct Grower<'a> {
    params: &'a BoostParams,
    bins: &'a Bins,
    gradients: &'a [(f64, f64)],
    columns: &'a [u32],
}

/// A tree whose cuts are between bins.
pub(super) struct BinnedTree {
    nodes: Vec<BinnedNode>,
}

#[derive(Debug, Clone, Copy)]
struct BinnedNode {
    /// The column and the bin after which it is cut, and the place of the left child.
    cut: Option<(u32, u8, u32)>,
    value: f64,
    cover: f64,
}

impl<'a> Grower<'a> {
    pub(super) fn new(
        params: &'a BoostParams,
        bins: &'a Bins,
        gradients: &'a [(f64, f64)],
        columns: &'a [u32],
    ) -> Self {
        Self { params, bins, gradients, columns }
    }

    pub(super) fn grow(&self, rows: Vec<u32>) -> BinnedTree {
        let mut tree = BinnedTree { nodes: Vec::new() };
        let histograms = self.histograms(&rows);
        let mut leaves = vec![self.leaf(&mut tree, rows, histograms)];
        for _ in 1..self.params.leaves {
            let best = leaves
                .iter()
                .enumerate()
                .filter_map(|(at, leaf)| leaf.cut.map(|cut| (at, cut)))
                .max_by(|(a_at, a), (b_at, b)| a.gain.total_cmp(&b.gain).then(b_at.cmp(a_at)));
            let Some((at, cut)) = best else { break };
            let leaf = leaves.swap_remove(at);
            let child = u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
            tree.nodes[leaf.node].cut = Some((cut.column, cut.bin, child));
            for (rows, histograms) in self.part(leaf.rows, leaf.histograms, cut) {
                leaves.push(self.leaf(&mut tree, rows, histograms));
            }
        }
        tree
    }

    /// Both sides of a cut. Only the smaller one is counted; the other is what remains.
    fn part(&self, rows: Vec<u32>, whole: Histograms, cut: Cut) -> [(Vec<u32>, Histograms); 2] {
        let bins = &self.bins.columns[cut.column as usize];
        let (left, right): (Vec<u32>, Vec<u32>) =
            rows.into_iter().partition(|row| bins[*row as usize] <= cut.bin);
        if left.len() <= right.len() {
            let counted = self.histograms(&left);
            let remaining = subtract(whole, &counted);
            [(left, counted), (right, remaining)]
        } else {
            let counted = self.histograms(&right);
            let remaining = subtract(whole, &counted);
            [(left, remaining), (right, counted)]
        }
    }

    fn histograms(&self, rows: &[u32]) -> Histograms {
        let count = |column: &u32| {
            let bins = &self.bins.columns[*column as usize];
            let edges = self.bins.edges[*column as usize].len();
            let mut histogram = vec![Sums::default(); edges + 1];
            for row in rows {
                histogram[bins[*row as usize] as usize].add(self.gradients[*row as usize]);
            }
            histogram
        };
        self.columns.par_iter().map(count).collect()
    }

    fn leaf(&self, tree: &mut BinnedTree, rows: Vec<u32>, histograms: Histograms) -> Leaf {
        let sums = self.sums(&rows);
        let value = -sums.gradient / (sums.slope + self.params.penalty);
        let cover = f64::from(sums.rows);
        tree.nodes.push(BinnedNode { cut: None, value: value * self.params.learning_rate, cover });
        let cut = self.best_cut(&histograms, sums);
        Leaf { node: tree.nodes.len() - 1, rows, histograms, cut }
    }

    fn sums(&self, rows: &[u32]) -> Sums {
        let mut sums = Sums::default();
        rows.iter().for_each(|row| sums.add(self.gradients[*row as usize]));
        sums
    }

    /// The cut that gains the most; of equal ones that of the first column.
    fn best_cut(&self, histograms: &Histograms, all: Sums) -> Option<Cut> {
        let cuts = self.columns.iter().zip(histograms);
        cuts.filter_map(|(column, histogram)| self.best_cut_of(*column, histogram, all))
            .reduce(|best, cut| if cut.gain > best.gain { cut } else { best })
    }

    fn best_cut_of(&self, column: u32, histogram: &[Sums], all: Sums) -> Option<Cut> {
        let edges = histogram.len().saturating_sub(1);
        let fewest = u32::try_from(self.params.fewest_rows).unwrap_or(u32::MAX);
        let mut left = Sums::default();
        let mut best: Option<Cut> = None;
        for (bin, sums) in (0..).zip(&histogram[..edges]) {
            left.plus(*sums);
            let right = all.minus(left);
            if left.rows < fewest || right.rows < fewest {
                continue;
            }
            let gain = self.worth(left) + self.worth(right) - self.worth(all);
            if gain > 1e-9 && best.is_none_or(|best| gain > best.gain) {
                best = Some(Cut { gain, column, bin });
            }
        }
        best
    }

    fn worth(&self, sums: Sums) -> f64 {
        sums.gradient * sums.gradient / (sums.slope + self.params.penalty)
    }
}

fn subtract(mut whole: Histograms, part: &Histograms) -> Histograms {
    for (whole, part) in whole.iter_mut().flatten().zip(part.iter().flatten()) {
        *whole = whole.minus(*part);
    }
    whole
}

impl Sums {
    fn add(&mut self, (gradient, slope): (f64, f64)) {
        self.gradient += gradient;
        self.slope += slope;
        self.rows += 1;
    }

    fn plus(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.slope += other.slope;
        self.rows += other.rows;
    }

    fn minus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            slope: self.slope - other.slope,
            rows: self.rows - other.rows,
        }
    }
}

impl BinnedTree {
    /// What the tree adds for a row, given its bin in each column.
    pub(super) fn value(&self, bin: impl Fn(usize) -> u8) -> f64 {
        let mut at = 0;
        while let Some((column, cut, child)) = self.nodes[at].cut {
            at = child as usize + usize::from(bin(column as usize) > cut);
        }
        self.nodes[at].value
    }

    /// The tree with the numbers of the bins' edges.
    pub(super) fn unbinned(&self, edges: &[Vec<f32>]) -> Tree {
        let node = |node: &BinnedNode| Split {
            cut: node
                .cut
                .map(|(column, bin, child)| (column, edges[column as usize][bin as usize], child)),
            value: node.value,
            cover: node.cover,
        };
        Tree { nodes: self.nodes.iter().map(node).collect() }
    }
}

/// The most bins of a column.
const MOST_BINS: usize = 64;

/// The rows of a table, each number replaced by its bin.
#[derive(Debug)]
pub(super) struct Bins {
    /// The bin of each row, column by column.
    pub(super) columns: Vec<Vec<u8>>,
    /// The highest number of each bin but the last, ascending.
    pub(super) edges: Vec<Vec<f32>>,
}

impl Bins {
    /// Bins of about equally many rows. A missing number is in the lowest bin.
    pub(super) fn new(table: &Table, rows: &[u32]) -> Self {
        let (columns, edges) = (0..table.width())
            .into_par_iter()
            .map(|column| {
                let values: Vec<f32> =
                    rows.iter().map(|row| number(table.columns()[column][*row as usize])).collect();
                let edges = edges(&values);
                let bins = values.iter().map(|value| bin(&edges, *value)).collect::<Vec<u8>>();
                (bins, edges)
            })
            .unzip();
        Self { columns, edges }
    }
}

/// A missing number is below all others.
pub(super) fn number(value: f32) -> f32 {
    if value.is_nan() { f32::NEG_INFINITY } else { value }
}

fn bin(edges: &[f32], value: f32) -> u8 {
    u8::try_from(edges.partition_point(|edge| *edge < value)).unwrap_or(u8::MAX)
}

fn edges(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() <= MOST_BINS {
        distinct.pop();
        return distinct;
    }
    let mut edges: Vec<f32> = (1..MOST_BINS)
        .filter_map(|at| sorted.get(at * sorted.len() / MOST_BINS).copied())
        .collect();
    edges.dedup();
    edges.pop_if(|last| distinct.last() == Some(last));
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each_and_many_share() {
        let few = Table::from_columns(vec![vec![2.0, f32::NAN, 1.0, 2.0]]).expect("a table");
        let bins = Bins::new(&few, &[0, 1, 2, 3]);
        assert_eq!(bins.columns, [[2, 0, 1, 2]]);
        #[expect(clippy::cast_precision_loss, reason = "a thousand")]
        let many: Vec<f32> = (0..1000).map(|at| at as f32).collect();
        let table = Table::from_columns(vec![many]).expect("a table");
        let bins = Bins::new(&table, &(0..1000).collect::<Vec<u32>>());
        assert!(bins.edges[0].len() < MOST_BINS && bins.columns[0].is_sorted());
    }
}
