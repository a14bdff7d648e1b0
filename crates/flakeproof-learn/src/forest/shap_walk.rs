//! One walk over a whole tree that explains several rows, at several points of the integral.
//!
//! `shap` says what is computed. Going down, each row carries the product of the factors on its path,
//! at each point. Coming back, it brings the sum of `v · product` over the leaves below, from which
//! the cut above takes the share of its own feature.

use super::node::{LinkBits, Node};
use super::shap::Weighed;

/// Points of the integral; unused ones weigh nothing.
#[derive(Clone, Copy)]
pub(super) struct Points<const N: usize> {
    at: [f64; N],
    rest: [f64; N],
    weight: [f64; N],
}

impl<const N: usize> Points<N> {
    /// At most `N` points with their weights.
    pub(super) fn new(points: &[(f64, f64)]) -> Self {
        let mut all = Self { at: [0.5; N], rest: [0.5; N], weight: [0.0; N] };
        for (place, (at, weight)) in points.iter().enumerate() {
            (all.at[place], all.rest[place], all.weight[place]) = (*at, 1.0 - at, *weight);
        }
        all
    }
}

/// What an edge of the tree does to the rows that pass it, by what becomes of their agreement with the
/// path on its feature. Tables, because which of the three it is cannot be foreseen.
#[derive(Clone, Copy)]
struct Edge<const N: usize> {
    /// The change of the product.
    factor: [[f64; N]; 3],
    /// The change of the feature's share of each leaf.
    share: [[f64; N]; 3],
}

/// The row agrees with the path so far on the feature.
const AGREES: usize = 0;
/// It stops to agree at this edge.
const STOPS: usize = 1;
/// It did not agree before.
const DISAGREED: usize = 2;

impl<const N: usize> Edge<N> {
    /// The edge from a share `old` of training rows to a share `new`.
    fn new(points: &Points<N>, old: f64, new: f64) -> Self {
        let mut edge = Self { factor: [[0.0; N]; 3], share: [[0.0; N]; 3] };
        for k in 0..N {
            let (at, rest, weight) = (points.at[k], points.rest[k], points.weight[k]);
            let inverse = 1.0 / (at + rest * old);
            let changed = at + rest * new;
            let share_old = (1.0 - old) * inverse;
            let share_new = (1.0 - new) / changed;
            edge.factor[AGREES][k] = changed * inverse;
            edge.factor[STOPS][k] = rest * new * inverse;
            edge.share[AGREES][k] = weight * (share_new - share_old);
            edge.share[STOPS][k] = -weight * (1.0 / rest + share_old);
        }
        edge.factor[DISAGREED] = [new / old; N];
        edge
    }

    /// What the edge does when one value stands for all leaves below it.
    fn ending_in(&self, value: f64) -> Self {
        let factor = self.factor.map(|factor| factor.map(|factor| factor * value));
        let share = |way: usize| std::array::from_fn(|k| factor[way][k] * self.share[way][k]);
        Self { factor, share: [share(AGREES), share(STOPS), [0.0; N]] }
    }
}

/// A row at a node.
#[derive(Clone, Copy)]
struct Walker {
    row: u32,
    /// Its place among the walkers at the node above.
    above: u32,
    /// What became of its agreement on the way here.
    agreement: usize,
    /// The features on which it disagrees with the path.
    disagrees: u64,
}

/// A step from a node to one of its children.
struct Step {
    features: usize,
    feature: usize,
    node: Node,
    side: usize,
}

impl Step {
    /// Where the number of a row stands that the cut asks for.
    #[inline]
    fn cell(&self, row: u32) -> usize {
        row as usize * self.features + self.feature
    }

    /// What becomes of the agreement of a row, and the features on which it then disagrees.
    #[inline]
    fn taken(&self, value: f32, disagrees: u64) -> (usize, u64) {
        let disagreed = (disagrees >> self.feature) & 1;
        let leaves = u64::from(self.node.side(value) as usize != self.side);
        let stops = leaves & !disagreed;
        ((2 * disagreed + stops) as usize, disagrees | stops << self.feature)
    }
}

/// Two edges, one below the other, that end in a leaf: about half of all edges. What they do together
/// is tabled, so that nobody has to stop between them.
struct Pair<const N: usize> {
    factor: [[f64; N]; 9],
    shares: [[[f64; N]; 9]; 2],
}

impl<const N: usize> Pair<N> {
    fn new(first: &Edge<N>, second: &Edge<N>, value: f64) -> Self {
        let mut pair = Self { factor: [[0.0; N]; 9], shares: [[[0.0; N]; 9]; 2] };
        for way in 0..9 {
            let (one, two) = (way / 3, way % 3);
            for k in 0..N {
                let factor = first.factor[one][k] * second.factor[two][k] * value;
                pair.factor[way][k] = factor;
                pair.shares[0][way][k] = factor * first.share[one][k];
                pair.shares[1][way][k] = factor * second.share[two][k];
            }
        }
        pair
    }

    /// Add the leaf to the sums of all walkers, and what it says to the values of both features.
    fn add(&self, from: &mut Stop<N>, steps: [&Step; 2], cells: &[f32], values: &mut [f64]) {
        let carried = from.products.iter().zip(&mut from.sums);
        for (walker, (product, sum)) in from.walkers.iter().zip(carried) {
            let [one, two] = steps.map(|step| step.cell(walker.row));
            let (first, disagrees) = steps[0].taken(cells[one], walker.disagrees);
            let (second, _) = steps[1].taken(cells[two], disagrees);
            let way = (3 * first + second).min(8);
            let factor = &self.factor[way];
            (0..N).for_each(|k| sum[k] += product[k] * factor[k]);
            values[one] += dot(&self.shares[0][way], product);
            values[two] += dot(&self.shares[1][way], product);
        }
    }
}

/// A node on the way from the root to where the walk is.
struct Stop<const N: usize> {
    node: usize,
    next_child: usize,
    feature: usize,
    edge: Edge<N>,
    old_share: f64,
    walkers: Vec<Walker>,
    /// The product of each walker, at each point.
    products: Vec<[f64; N]>,
    /// The sum that each walker has brought back so far.
    sums: Vec<[f64; N]>,
}

impl<const N: usize> Stop<N> {
    /// A stop for at most so many rows.
    fn new(rows: usize, edge: Edge<N>) -> Self {
        Self {
            node: 0,
            next_child: 0,
            feature: 0,
            edge,
            old_share: 1.0,
            walkers: Vec::with_capacity(rows),
            products: vec![[1.0; N]; rows],
            sums: vec![[0.0; N]; rows],
        }
    }
}

/// A walk over one tree.
pub(super) struct Walk<'a, const N: usize> {
    tree: &'a Weighed<'a>,
    bits: LinkBits,
    features: usize,
    points: Points<N>,
    /// For each feature, the share of training rows that its cuts on the path let through.
    shares: Vec<f64>,
    stops: Vec<Stop<N>>,
    depth: usize,
}

impl<'a, const N: usize> Walk<'a, N> {
    pub(super) fn new(
        tree: &'a Weighed<'a>,
        bits: LinkBits,
        features: usize,
        points: Points<N>,
    ) -> Self {
        let shares = vec![1.0; features];
        Self { tree, bits, features, points, shares, stops: Vec::new(), depth: 0 }
    }

    /// Add the values of some rows.
    pub(super) fn explain(&mut self, cells: &[f32], values: &mut [f64]) {
        let rows = cells.len() / self.features;
        let mut root = Stop::new(rows, Edge::new(&self.points, 1.0, 1.0));
        let walker = |row| Walker { row, above: 0, agreement: 0, disagrees: 0 };
        root.walkers.extend((0..).take(rows).map(walker));
        self.stops.push(root);
        loop {
            let stop = &mut self.stops[self.depth];
            if stop.next_child < 2 {
                let side = stop.next_child;
                stop.next_child += 1;
                if self.enter(side, cells, values) {
                    self.depth += 1;
                }
            } else if self.depth == 0 {
                break;
            } else {
                self.leave(values);
                self.depth -= 1;
            }
        }
    }

    /// Go down one edge; `false` if nobody has to go on from there.
    fn enter(&mut self, side: usize, cells: &[f32], values: &mut [f64]) -> bool {
        if self.stops.len() == self.depth + 1 {
            let stop = Stop::new(self.stops[0].products.len(), self.stops[0].edge);
            self.stops.push(stop);
        }
        let (above, below) = self.stops.split_at_mut(self.depth + 1);
        let (above, below) = (&mut above[self.depth], &mut below[0]);
        let node = self.tree.tree.nodes[above.node];
        let child = self.bits.child(node.link) as usize + side;
        let feature = self.bits.feature(node.link);
        let old = self.shares[feature];
        let new = old * self.tree.cover[child] / self.tree.cover[above.node];
        let value = self.tree.mean[child];
        let cut_below = self.tree.below[child];
        if cut_below == 0 && value == 0.0 {
            return false;
        }
        let edge = Edge::new(&self.points, old, new);
        let step = Step { features: self.features, feature, node, side };
        if let Some((second, leaves)) = self.tree.last_cut(child, self.bits) {
            for (side, leaf) in (0..).zip(leaves).filter(|(_, leaf)| self.tree.mean[*leaf] != 0.0) {
                let old = if second.1 == feature { new } else { self.shares[second.1] };
                let new = old * self.tree.cover[leaf] / self.tree.cover[child];
                let pair =
                    Pair::new(&edge, &Edge::new(&self.points, old, new), self.tree.mean[leaf]);
                let (features, (node, feature)) = (self.features, second);
                let last = Step { features, feature, node, side };
                pair.add(above, [&step, &last], cells, values);
            }
            return false;
        }
        let end = edge.ending_in(value);
        below.walkers.clear();
        let carried = above.products.iter().zip(&mut above.sums);
        for ((place, walker), (product, sum)) in (0..).zip(&above.walkers).zip(carried) {
            let cell = step.cell(walker.row);
            let (agreement, disagrees) = step.taken(cells[cell], walker.disagrees);
            if cut_below & !disagrees == 0 {
                values[cell] += end.add(product, sum, agreement);
            } else {
                let to = below.walkers.len();
                let factor = &edge.factor[agreement];
                multiply(&mut below.products[to], product, factor);
                below.sums[to] = [0.0; N];
                let row = walker.row;
                below.walkers.push(Walker { row, above: place, agreement, disagrees });
            }
        }
        if below.walkers.is_empty() {
            return false;
        }
        (below.node, below.next_child, below.feature) = (child, 0, feature);
        (below.edge, below.old_share) = (edge, old);
        self.shares[feature] = new;
        true
    }

    /// Come back over an edge, with the sums of all leaves below.
    fn leave(&mut self, values: &mut [f64]) {
        let (above, below) = self.stops.split_at_mut(self.depth);
        let (above, below) = (&mut above[self.depth - 1], &below[0]);
        for (walker, sum) in below.walkers.iter().zip(&below.sums) {
            let share = &below.edge.share[walker.agreement];
            values[walker.row as usize * self.features + below.feature] += dot(share, sum);
            let to = &mut above.sums[walker.above as usize];
            (0..N).for_each(|k| to[k] += sum[k]);
        }
        self.shares[below.feature] = below.old_share;
    }
}

impl<const N: usize> Edge<N> {
    /// Add the leaves that the edge ends in to the walker's sum, and give the feature's value.
    #[inline]
    fn add(&self, product: &[f64; N], sum: &mut [f64; N], agreement: usize) -> f64 {
        let factor = &self.factor[agreement];
        (0..N).for_each(|k| sum[k] += product[k] * factor[k]);
        dot(&self.share[agreement], product)
    }
}

#[inline]
fn multiply<const N: usize>(to: &mut [f64; N], a: &[f64; N], b: &[f64; N]) {
    (0..N).for_each(|k| to[k] = a[k] * b[k]);
}

/// The sum of the products, two at a time; `N` is even.
#[inline]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sums = [0.0; 2];
    for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0) {
        sums[0] += a[0] * b[0];
        sums[1] += a[1] * b[1];
    }
    sums[0] + sums[1]
}
