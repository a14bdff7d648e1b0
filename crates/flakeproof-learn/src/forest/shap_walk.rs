//! One walk over a whole tree that explains several rows, at several points of the integral.
//!
//! `shap` says what is computed. Going down, each row carries the product of the factors on its path,
//! at each point. Coming back, it brings the sum of `v · product` over the leaves below, from which
//! the cut above takes the share of its own feature.

use super::node::LinkBits;
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

/// What an edge of the tree does to the rows that pass it, by whether they agree with the path on its
/// feature: they still do, they stop to, or they did not before.
#[derive(Clone, Copy)]
struct Edge<const N: usize> {
    /// The change of the product for rows that still agree, and that stop to.
    factor: [[f64; N]; 2],
    /// The change of the feature's share of each leaf.
    share: [[f64; N]; 2],
    /// The change of the product for rows that did not agree before.
    ratio: f64,
}

/// What became of a row's agreement at an edge; an index into `Edge`'s arrays.
const AGREES: u8 = 0;
const STOPS: u8 = 1;
const DISAGREED: u8 = 2;

impl<const N: usize> Edge<N> {
    /// The edge from a share `old` of training rows to a share `new`.
    fn new(points: &Points<N>, old: f64, new: f64) -> Self {
        let mut edge = Self { factor: [[0.0; N]; 2], share: [[0.0; N]; 2], ratio: new / old };
        for k in 0..N {
            let (at, rest, weight) = (points.at[k], points.rest[k], points.weight[k]);
            let inverse = 1.0 / (at + rest * old);
            let changed = at + rest * new;
            let share_old = (1.0 - old) * inverse;
            let share_new = (1.0 - new) / changed;
            edge.factor[0][k] = changed * inverse;
            edge.factor[1][k] = rest * new * inverse;
            edge.share[0][k] = weight * (share_new - share_old);
            edge.share[1][k] = -weight * (1.0 / rest + share_old);
        }
        edge
    }
}

/// A row at a node.
#[derive(Clone, Copy)]
struct Walker<const N: usize> {
    row: u32,
    /// Its place among the walkers at the node above.
    above: u32,
    /// What became of its agreement on the way here.
    agreement: u8,
    /// The features on which it disagrees with the path.
    disagrees: u128,
    product: [f64; N],
    sum: [f64; N],
}

/// A node on the way from the root to where the walk is.
struct Stop<const N: usize> {
    node: usize,
    next_child: usize,
    walkers: Vec<Walker<N>>,
    feature: usize,
    edge: Edge<N>,
    old_share: f64,
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
        let edge = Edge::new(&self.points, 1.0, 1.0);
        let walker = |row| Walker {
            row,
            above: 0,
            agreement: AGREES,
            disagrees: 0,
            product: [1.0; N],
            sum: [0.0; N],
        };
        let walkers = (0..).take(cells.len() / self.features).map(walker).collect();
        self.stops.push(Stop { node: 0, next_child: 0, walkers, feature: 0, edge, old_share: 1.0 });
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
            let edge = self.stops[self.depth].edge;
            let walkers = Vec::new();
            let (node, next_child, feature, old_share) = (0, 0, 0, 1.0);
            self.stops.push(Stop { node, next_child, walkers, feature, edge, old_share });
        }
        let (above, below) = self.stops.split_at_mut(self.depth + 1);
        let (above, below) = (&mut above[self.depth], &mut below[0]);
        let node = self.tree.tree.nodes[above.node];
        let child = self.bits.child(node.link) as usize + side;
        let feature = self.bits.feature(node.link);
        let old = self.shares[feature];
        let new = old * self.tree.cover[child] / self.tree.cover[above.node];
        let edge = Edge::new(&self.points, old, new);
        let end = End::new(&edge, self.tree.mean[child]);
        let cut_below = self.tree.below[child];
        let bit = 1u128 << feature;
        below.walkers.clear();
        for (place, walker) in (0..).zip(&mut above.walkers) {
            let row = walker.row as usize;
            let (agreement, disagrees) = if walker.disagrees & bit != 0 {
                (DISAGREED, walker.disagrees)
            } else if node.side(cells[row * self.features + feature]) as usize == side {
                (AGREES, walker.disagrees)
            } else {
                (STOPS, walker.disagrees | bit)
            };
            if cut_below & !disagrees == 0 {
                values[row * self.features + feature] += end.add(walker, agreement);
            } else {
                let product = edge.passed(&walker.product, agreement);
                let (row, sum) = (walker.row, [0.0; N]);
                let walker = Walker { row, above: place, agreement, disagrees, product, sum };
                below.walkers.push(walker);
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
        for walker in &below.walkers {
            if let Some(share) = below.edge.share.get(usize::from(walker.agreement)) {
                let value: f64 = (0..N).map(|k| share[k] * walker.sum[k]).sum();
                values[walker.row as usize * self.features + below.feature] += value;
            }
            let to = &mut above.walkers[walker.above as usize].sum;
            (0..N).for_each(|k| to[k] += walker.sum[k]);
        }
        self.shares[below.feature] = below.old_share;
    }
}

impl<const N: usize> Edge<N> {
    fn passed(&self, product: &[f64; N], agreement: u8) -> [f64; N] {
        match self.factor.get(usize::from(agreement)) {
            Some(factor) => std::array::from_fn(|k| product[k] * factor[k]),
            None => product.map(|product| product * self.ratio),
        }
    }
}

/// An edge below which one value stands for all leaves.
struct End<const N: usize> {
    factor: [[f64; N]; 2],
    share: [[f64; N]; 2],
    ratio: f64,
}

impl<const N: usize> End<N> {
    fn new(edge: &Edge<N>, value: f64) -> Self {
        let factor = edge.factor.map(|factor| factor.map(|factor| factor * value));
        let of = |way: usize| std::array::from_fn(|k| factor[way][k] * edge.share[way][k]);
        Self { factor, share: [of(0), of(1)], ratio: edge.ratio * value }
    }

    /// Add the end's leaves to the walker's sum, and give the feature's value.
    #[inline]
    fn add(&self, walker: &mut Walker<N>, agreement: u8) -> f64 {
        let Some(factor) = self.factor.get(usize::from(agreement)) else {
            (0..N).for_each(|k| walker.sum[k] += walker.product[k] * self.ratio);
            return 0.0;
        };
        let share = &self.share[usize::from(agreement)];
        let mut value = [0.0; 2];
        for k in 0..N {
            walker.sum[k] += walker.product[k] * factor[k];
            value[k % 2] += walker.product[k] * share[k];
        }
        value[0] + value[1]
    }
}
