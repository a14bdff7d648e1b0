//! What the edges of a tree do to rows that pass them, at several points of the integral that `shap`
//! describes.

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
pub(super) struct Passed<const N: usize> {
    /// The share of training rows.
    pub(super) share: f64,
    /// One through the factor of a row that agrees, at each point.
    inverse: [f64; N],
}

impl<const N: usize> Passed<N> {
    pub(super) fn new(points: &Points<N>, share: f64) -> Self {
        let inverse = std::array::from_fn(|k| 1.0 / (points.at[k] + points.rest[k] * share));
        Self { share, inverse }
    }
}

/// What an edge of the tree does to the rows that pass it, by what becomes of their agreement with the
/// path on its feature. Tables, because which of the three it is cannot be foreseen.
#[derive(Clone, Copy)]
pub(super) struct Edge<const N: usize> {
    /// The change of the product.
    pub(super) factor: [[f64; N]; 3],
    /// The change of the feature's share of each leaf.
    pub(super) share: [[f64; N]; 3],
}

/// The row agrees with the path so far on the feature.
pub(super) const AGREES: usize = 0;
/// It stops to agree at this edge.
pub(super) const STOPS: usize = 1;
/// It did not agree before.
pub(super) const DISAGREED: usize = 2;

impl<const N: usize> Edge<N> {
    /// The edge from one share of training rows to another.
    pub(super) fn new(points: &Points<N>, old: &Passed<N>, new: &Passed<N>) -> Self {
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
    pub(super) fn ending_in(&self, value: f64) -> Self {
        let factor = self.factor.map(|factor| factor.map(|factor| factor * value));
        let share = |way: usize| std::array::from_fn(|k| factor[way][k] * self.share[way][k]);
        Self { factor, share: [share(AGREES), share(STOPS), [0.0; N]] }
    }
}

impl<const N: usize> Edge<N> {
    /// Add the leaves that the edge ends in to the sum of one walker; gives what is to be added to the
    /// value of the feature.
    #[inline]
    pub(super) fn add_one(&self, product: &[f64; N], sum: &mut [f64; N], agreement: usize) -> f64 {
        *sum = plus(sum, &times(product, &self.factor[agreement]));
        dot(&self.share[agreement], product)
    }
}

/// Two edges, one below the other, that end in a leaf: about half of all edges. What they do together
/// is tabled, so that nobody has to stop between them.
pub(super) struct Pair<const N: usize> {
    pub(super) factor: [[f64; N]; 9],
    pub(super) shares: [[[f64; N]; 9]; 2],
}

impl<const N: usize> Pair<N> {
    pub(super) fn new(first: &Edge<N>, second: &Edge<N>, value: f64) -> Self {
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
pub(super) fn times<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k] * b[k])
}

#[inline]
pub(super) fn plus<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k] + b[k])
}

/// The sum of the products, two at a time; `N` is even.
#[inline]
pub(super) fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sums = [0.0; 2];
    for (a, b) in a.as_chunks::<2>().0.iter().zip(b.as_chunks::<2>().0) {
        sums[0] += a[0] * b[0];
        sums[1] += a[1] * b[1];
    }
    sums[0] + sums[1]
}
