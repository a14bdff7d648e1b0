//! The nearest rows by Euclidean distance, exactly: a k-d tree (Friedman et al., 1977).
//!
//! Each node parts its points at the middle of the dimension in which they are spread widest. A leaf
//! keeps its points dimension by dimension, so that several distances are computed at once.

/// So many points stay together.
const LEAF: usize = 32;

/// Points, ready to be asked for the nearest ones.
pub(super) struct Nearest {
    width: usize,
    nodes: Vec<Branch>,
    /// The numbers of the points, leaf by leaf.
    order: Vec<u32>,
    /// Their coordinates, leaf by leaf, in each leaf dimension by dimension.
    cells: Vec<f32>,
}

enum Branch {
    Leaf { start: usize, end: usize },
    Fork { axis: usize, at: f32, right: usize },
}

/// What a search needs, and what it has found: distances squared, with the points, nearest first.
pub(super) struct Search {
    pub(super) found: Vec<(f32, u32)>,
    wanted: usize,
    offsets: Vec<f32>,
    myself: u32,
}

impl Search {
    /// A search for so many points.
    pub(super) fn new(wanted: usize, width: usize) -> Self {
        let found = Vec::with_capacity(wanted + 1);
        Self { found, wanted, offsets: vec![0.0; width], myself: 0 }
    }

    fn farthest(&self) -> f32 {
        if self.found.len() < self.wanted {
            f32::INFINITY
        } else {
            self.found.last().map_or(f32::INFINITY, |(distance, _)| *distance)
        }
    }

    /// Keep a point if it is among the nearest; of equally near ones, the one with the lower number.
    fn offer(&mut self, distance: f32, point: u32) {
        let is_before = |known: &(f32, u32)| (known.0, known.1) <= (distance, point);
        let place = self.found.partition_point(is_before);
        if point != self.myself && place < self.wanted {
            self.found.insert(place, (distance, point));
            self.found.truncate(self.wanted);
        }
    }
}

impl Nearest {
    /// A tree over points that lie one after the other.
    pub(super) fn new(points: &[f32], width: usize) -> Self {
        let count = points.len() / width.max(1);
        let mut order: Vec<u32> = (0..).take(count).collect();
        let mut tree = Self { width, nodes: Vec::new(), order: Vec::new(), cells: Vec::new() };
        tree.build(points, &mut order, 0);
        tree.order = order;
        tree
    }

    fn build(&mut self, points: &[f32], order: &mut [u32], start: usize) {
        if order.len() <= LEAF {
            let end = start + order.len();
            self.nodes.push(Branch::Leaf { start, end });
            for axis in 0..self.width {
                let cells = order.iter().map(|point| points[*point as usize * self.width + axis]);
                self.cells.extend(cells);
            }
            return;
        }
        let axis = self.widest(points, order);
        let value = |point: u32| points[point as usize * self.width + axis];
        let middle = order.len() / 2;
        let by_value = |a: &u32, b: &u32| value(*a).total_cmp(&value(*b)).then(a.cmp(b));
        let (_, at, _) = order.select_nth_unstable_by(middle, by_value);
        let at = value(*at);
        let place = self.nodes.len();
        self.nodes.push(Branch::Fork { axis, at, right: 0 });
        let (left, right) = order.split_at_mut(middle);
        self.build(points, left, start);
        let next = self.nodes.len();
        self.nodes[place] = Branch::Fork { axis, at, right: next };
        self.build(points, right, start + middle);
    }

    /// The dimension in which points are spread widest.
    fn widest(&self, points: &[f32], order: &[u32]) -> usize {
        let mut low = vec![f32::INFINITY; self.width];
        let mut high = vec![f32::NEG_INFINITY; self.width];
        for point in order {
            let row = &points[*point as usize * self.width..][..self.width];
            for (axis, value) in row.iter().enumerate() {
                low[axis] = low[axis].min(*value);
                high[axis] = high[axis].max(*value);
            }
        }
        let spread = |axis: &usize| high[*axis] - low[*axis];
        (0..self.width).max_by(|a, b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
    }

    /// Find the points nearest to a point, other than itself.
    pub(super) fn search(&self, point: &[f32], myself: u32, search: &mut Search) {
        search.found.clear();
        search.offsets.fill(0.0);
        search.myself = myself;
        self.visit(0, point, 0.0, search);
    }

    /// Look into a node that is at least so far away, squared.
    fn visit(&self, node: usize, point: &[f32], least: f32, search: &mut Search) {
        match self.nodes[node] {
            Branch::Leaf { start, end } => self.look(start, end, point, search),
            Branch::Fork { axis, at, right } => {
                let apart = point[axis] - at;
                let (near, far) = if apart < 0.0 { (node + 1, right) } else { (right, node + 1) };
                self.visit(near, point, least, search);
                let before = search.offsets[axis];
                let least = least - before * before + apart * apart;
                // A little less than the bound, because it was summed up in another order.
                if least * 0.999_99 <= search.farthest() {
                    search.offsets[axis] = apart;
                    self.visit(far, point, least, search);
                    search.offsets[axis] = before;
                }
            }
        }
    }

    fn look(&self, start: usize, end: usize, point: &[f32], search: &mut Search) {
        let count = end - start;
        if count == 0 {
            return;
        }
        let cells = &self.cells[start * self.width..end * self.width];
        let mut distances = [0f32; LEAF];
        for (axis, coordinates) in cells.chunks_exact(count).enumerate() {
            let at = point[axis];
            for (distance, coordinate) in distances.iter_mut().zip(coordinates) {
                *distance += (coordinate - at) * (coordinate - at);
            }
        }
        for (distance, point) in distances.iter().zip(&self.order[start..end]) {
            if *distance <= search.farthest() {
                search.offer(*distance, *point);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tree_finds_what_looking_at_every_point_finds(
            points in proptest::collection::vec(-9i8..9, 3..900), wanted in 1usize..6,
        ) {
            let width = 3;
            let points: Vec<f32> = points.into_iter().map(f32::from).collect();
            let count = points.len() / width;
            let points = &points[..count * width];
            let tree = Nearest::new(points, width);
            let mut search = Search::new(wanted, width);
            let row = |at: usize| &points[at * width..(at + 1) * width];
            for at in 0..count {
                tree.search(row(at), u32::try_from(at).expect("few points"), &mut search);
                let distance = |other: usize| -> f32 {
                    row(at).iter().zip(row(other)).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let mut all: Vec<(f32, u32)> = (0u32..)
                    .zip(0..count)
                    .filter(|(_, other)| *other != at)
                    .map(|(number, other)| (distance(other), number))
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                all.truncate(wanted);
                prop_assert_eq!(&search.found, &all);
            }
        }
    }
}
