//! One walk over a whole tree that explains several rows, at several points of the integral.
//!
//! `shap` says what is computed. Going down, each row carries the product of the factors on its path,
//! at each point. Coming back, it brings the sum of `v · product` over the leaves below, from which
//! the cut above takes the share of its own feature.
//!
//! What an edge does to the rows that pass it depends on what becomes of their agreement with the path,
//! and is tabled once for all of them.

use super::shap::Weighed;
use super::tree::Node;

/// A walk over one tree.
pub(super) struct Walk<'a, const N: usize> {
    tree: &'a Weighed<'a>,
    features: usize,
    points: Points<N>,
    /// For each feature, what its cuts on the path let through.
    passed: Vec<Passed<N>>,
    stops: Vec<Stop<N>>,
    depth: usize,
}

impl<'a, const N: usize> Walk<'a, N> {
    pub(super) fn new(tree: &'a Weighed<'a>, features: usize, points: Points<N>) -> Self {
        let passed = vec![Passed::new(&points, 1.0); features];
        Self { tree, features, points, passed, stops: Vec::new(), depth: 0 }
    }

    /// Add the values of some rows.
    pub(super) fn explain(&mut self, cells: &[f32], values: &mut [f64]) {
        let rows = cells.len() / self.features;
        let all = Passed::new(&self.points, 1.0);
        let mut root = Stop::new(rows, Edge::new(&self.points, &all, &all), all);
        root.count = rows;
        for (walker, start) in root.walkers.iter_mut().zip((0..).step_by(self.features)) {
            walker.start = start;
        }
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
    fn enter(&mut self, side: u32, cells: &[f32], values: &mut [f64]) -> bool {
        if self.stops.len() == self.depth + 1 {
            let root = &self.stops[0];
            let stop = Stop::new(root.products.len(), root.edge, root.before);
            self.stops.push(stop);
        }
        let node = self.tree.tree.nodes[self.stops[self.depth].node];
        let child = (node.child() + side) as usize;
        let is_leaf = self.tree.below[child] == 0;
        if is_leaf && self.tree.mean[child] == 0.0 {
            return false;
        }
        let feature = node.feature();
        let old = self.passed[feature];
        let part = self.tree.cover[child] / self.tree.cover[self.stops[self.depth].node];
        let new = Passed::new(&self.points, old.share * part);
        let edge = Edge::new(&self.points, &old, &new);
        let step = Step { feature, node, side };
        if is_leaf {
            let end = edge.ending_in(self.tree.mean[child]);
            end.add(&mut self.stops[self.depth], &step, cells, values);
            return false;
        }
        self.passed[feature] = new;
        let goes_on = if self.tree.is_last_cut(child) {
            self.end_in_leaves(child, &edge, &step, cells, values);
            false
        } else {
            self.go_on(child, &edge, &step, cells, values)
        };
        if goes_on {
            let below = &mut self.stops[self.depth + 1];
            (below.node, below.next_child, below.feature) = (child, 0, feature);
            (below.edge, below.before) = (edge, old);
        } else {
            self.passed[feature] = old;
        }
        goes_on
    }

    /// Go on to a node whose children are both leaves, and to those.
    fn end_in_leaves(
        &mut self,
        node: usize,
        edge: &Edge<N>,
        step: &Step,
        cells: &[f32],
        values: &mut [f64],
    ) {
        let cover = self.tree.cover[node];
        let node = self.tree.tree.nodes[node];
        let feature = node.feature();
        let old = self.passed[feature];
        for side in 0..2 {
            let leaf = (node.child() + side) as usize;
            let value = self.tree.mean[leaf];
            if value != 0.0 {
                let new = Passed::new(&self.points, old.share * self.tree.cover[leaf] / cover);
                let last = Edge::new(&self.points, &old, &new);
                let steps = [step, &Step { feature, node, side }];
                let pair = Pair::new(edge, &last, value);
                pair.add(&mut self.stops[self.depth], steps, cells, values);
            }
        }
    }

    /// Take the walkers to a node; `false` if its mean stands for all leaves below, for all of them.
    fn go_on(
        &mut self,
        node: usize,
        edge: &Edge<N>,
        step: &Step,
        cells: &[f32],
        values: &mut [f64],
    ) -> bool {
        let (above, below) = self.stops.split_at_mut(self.depth + 1);
        let (above, below) = (&mut above[self.depth], &mut below[0]);
        let cut_below = self.tree.below[node];
        let end = edge.ending_in(self.tree.mean[node]);
        let walkers = &above.walkers[..above.count];
        let products = &above.products[..above.count];
        let mut to = 0;
        for place in 0..above.count {
            let walker = walkers[place];
            let cell = step.cell(walker.start);
            let (agreement, disagrees) = step.taken(cells[cell], walker.disagrees);
            if cut_below & !disagrees == 0 {
                let sum = &mut above.sums[place];
                values[cell] += end.add_one(&products[place], sum, agreement);
            } else {
                below.products[to] = times(&products[place], &edge.factor[agreement]);
                below.sums[to] = [0.0; N];
                #[expect(clippy::cast_possible_truncation, reason = "a place in a block of rows")]
                let place = place as u32;
                below.walkers[to] =
                    Walker { start: walker.start, above: place, agreement, disagrees };
                to += 1;
            }
        }
        below.count = to;
        to > 0
    }

    /// Come back over an edge, with the sums of all leaves below.
    fn leave(&mut self, values: &mut [f64]) {
        let (above, below) = self.stops.split_at_mut(self.depth);
        let (above, below) = (&mut above[self.depth - 1], &below[0]);
        for (walker, sum) in below.walkers[..below.count].iter().zip(&below.sums) {
            let share = &below.edge.share[walker.agreement];
            values[walker.start as usize + below.feature] += dot(share, sum);
            let to = &mut above.sums[walker.above as usize];
            *to = plus(to, sum);
        }
        self.passed[below.feature] = below.before;
    }
}

/// A node on the way from the root to where the walk is.
struct Stop<const N: usize> {
    node: usize,
    next_child: u32,
    feature: usize,
    edge: Edge<N>,
    /// What the cuts of the feature let through before this edge.
    before: Passed<N>,
    /// How many rows came here; they are the first of the following.
    count: usize,
    walkers: Vec<Walker>,
    /// The product of each walker, at each point.
    products: Vec<[f64; N]>,
    /// The sum that each walker has brought back so far.
    sums: Vec<[f64; N]>,
}

impl<const N: usize> Stop<N> {
    /// A stop for at most so many rows.
    fn new(rows: usize, edge: Edge<N>, before: Passed<N>) -> Self {
        Self {
            node: 0,
            next_child: 0,
            feature: 0,
            edge,
            before,
            count: 0,
            walkers: vec![Walker::default(); rows],
            products: vec![[1.0; N]; rows],
            sums: vec![[0.0; N]; rows],
        }
    }
}

/// A row at a node.
#[derive(Clone, Copy, Default)]
struct Walker {
    /// Where the numbers of the row begin.
    start: u32,
    /// Its place among the walkers at the node above.
    above: u32,
    /// What became of its agreement on the way here.
    agreement: usize,
    /// The features on which it disagrees with the path.
    disagrees: u64,
}

/// A step from a node to one of its children.
struct Step {
    feature: usize,
    node: Node,
    side: u32,
}

impl Step {
    /// Where the number that the cut asks for stands, in the row that begins at `start`.
    #[inline]
    fn cell(&self, start: u32) -> usize {
        start as usize + self.feature
    }

    /// What becomes of the agreement of a row, and the features on which it then disagrees.
    #[inline]
    fn taken(&self, value: f32, disagrees: u64) -> (usize, u64) {
        let disagreed = (disagrees >> self.feature) & 1;
        // Without a comparison, which would become a branch that nobody can foresee.
        let leaves = u64::from(self.node.side(value) ^ self.side);
        let stops = leaves & (disagreed ^ 1);
        ((2 * disagreed + stops) as usize, disagrees | stops << self.feature)
    }
}

/// Points of the integral; unused ones weigh nothing.
#[derive(Clone, Copy)]
pub(super) struct Points<const N: usize> {
    at: [f64; N],
    rest: [f64; N],
    weight: [f64; N],
    /// The share of a leaf when the row disagrees, which no cut changes: −weight / rest.
    against: [f64; N],
}

impl<const N: usize> Points<N> {
    /// At most `N` points with their weights.
    pub(super) fn new(points: &[(f64, f64)]) -> Self {
        let (half, zero) = ([0.5; N], [0.0; N]);
        let mut all = Self { at: half, rest: half, weight: zero, against: zero };
        for (place, (at, weight)) in points.iter().enumerate() {
            (all.at[place], all.rest[place], all.weight[place]) = (*at, 1.0 - at, *weight);
            all.against[place] = -weight / (1.0 - at);
        }
        all
    }
}

/// What the cuts of one feature on the path let through.
#[derive(Clone, Copy)]
struct Passed<const N: usize> {
    /// The share of training rows.
    share: f64,
    /// One through the factor of a row that agrees, at each point.
    inverse: [f64; N],
}

impl<const N: usize> Passed<N> {
    fn new(points: &Points<N>, share: f64) -> Self {
        let inverse = std::array::from_fn(|k| 1.0 / (points.at[k] + points.rest[k] * share));
        Self { share, inverse }
    }
}

/// The row agrees with the path so far on the feature.
const AGREES: usize = 0;
/// It stops to agree at this edge.
const STOPS: usize = 1;
/// It did not agree before.
const DISAGREED: usize = 2;

/// What an edge of the tree does to the rows that pass it, by what becomes of their agreement with the
/// path on its feature. Tables, because which of the three it is cannot be foreseen.
#[derive(Clone, Copy)]
struct Edge<const N: usize> {
    /// The change of the product.
    factor: [[f64; N]; 3],
    /// The change of the feature's share of each leaf.
    share: [[f64; N]; 3],
}

impl<const N: usize> Edge<N> {
    /// Add the leaves that the edge ends in to the sums of all walkers, and what they say to the values
    /// of the feature.
    fn add(&self, from: &mut Stop<N>, step: &Step, cells: &[f32], values: &mut [f64]) {
        let carried = from.products.iter().zip(&mut from.sums);
        for (walker, (product, sum)) in from.walkers[..from.count].iter().zip(carried) {
            let cell = step.cell(walker.start);
            let (agreement, _) = step.taken(cells[cell], walker.disagrees);
            values[cell] += self.add_one(product, sum, agreement);
        }
    }

    /// The edge from one share of training rows to another.
    fn new(points: &Points<N>, old: &Passed<N>, new: &Passed<N>) -> Self {
        let mut edge = Self { factor: [[0.0; N]; 3], share: [[0.0; N]; 3] };
        for k in 0..N {
            let weight = points.weight[k];
            let share_old = weight * (1.0 - old.share) * old.inverse[k];
            let share_new = weight * (1.0 - new.share) * new.inverse[k];
            edge.factor[AGREES][k] = (points.at[k] + points.rest[k] * new.share) * old.inverse[k];
            edge.factor[STOPS][k] = points.rest[k] * new.share * old.inverse[k];
            edge.share[AGREES][k] = share_new - share_old;
            edge.share[STOPS][k] = points.against[k] - share_old;
        }
        edge.factor[DISAGREED] = [new.share / old.share; N];
        edge
    }

    /// What the edge does when one value stands for all leaves below it.
    fn ending_in(&self, value: f64) -> Self {
        let factor = self.factor.map(|factor| factor.map(|factor| factor * value));
        let share = |way: usize| std::array::from_fn(|k| factor[way][k] * self.share[way][k]);
        Self { factor, share: [share(AGREES), share(STOPS), [0.0; N]] }
    }

    /// Add the leaves that the edge ends in to the sum of one walker; gives what is to be added to the
    /// value of the feature.
    #[inline]
    fn add_one(&self, product: &[f64; N], sum: &mut [f64; N], agreement: usize) -> f64 {
        *sum = plus(sum, &times(product, &self.factor[agreement]));
        dot(&self.share[agreement], product)
    }
}

/// Two edges, one below the other, that end in a leaf: about half of all edges. What they do together
/// is tabled, so that nobody has to stop between them.
struct Pair<const N: usize> {
    factor: [[f64; N]; 9],
    shares: [[[f64; N]; 9]; 2],
}

impl<const N: usize> Pair<N> {
    /// Add the leaf to the sums of all walkers, and what it says to the values of both features.
    fn add(&self, from: &mut Stop<N>, steps: [&Step; 2], cells: &[f32], values: &mut [f64]) {
        let carried = from.products.iter().zip(&mut from.sums);
        for (walker, (product, sum)) in from.walkers[..from.count].iter().zip(carried) {
            let [one, two] = steps.map(|step| step.cell(walker.start));
            let (first, disagrees) = steps[0].taken(cells[one], walker.disagrees);
            let (second, _) = steps[1].taken(cells[two], disagrees);
            let way = (3 * first + second).min(8);
            *sum = plus(sum, &times(product, &self.factor[way]));
            values[one] += dot(&self.shares[0][way], product);
            values[two] += dot(&self.shares[1][way], product);
        }
    }

    fn new(first: &Edge<N>, second: &Edge<N>, value: f64) -> Self {
        let mut pair = Self { factor: [[0.0; N]; 9], shares: [[[0.0; N]; 9]; 2] };
        let first_factors = first.factor.map(|factor| factor.map(|factor| factor * value));
        for way in 0..9 {
            let (one, two) = (way / 3, way % 3);
            let factor = times(&first_factors[one], &second.factor[two]);
            pair.factor[way] = factor;
            pair.shares[0][way] = times(&factor, &first.share[one]);
            pair.shares[1][way] = times(&factor, &second.share[two]);
        }
        pair
    }
}

#[inline]
fn times<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k] * b[k])
}

#[inline]
fn plus<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k] + b[k])
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
