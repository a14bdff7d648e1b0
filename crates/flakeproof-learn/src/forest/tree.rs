//! Trees as arrays: eight bytes a node, so that a whole tree stays near the processor.
//!
//! The two children of a node lie beside each other, later than the node itself. A node is two
//! numbers: the bits of its threshold, and a link made of (from the top) one bit that says whether
//! missing numbers go to the left, 8 bits for the feature, and 23 bits for the place of the left child.
//!
//! A leaf is its own left child, and its threshold is no number (NaN), with the number of the leaf in
//! its lowest bits. No value is greater than that, so who walks on from a leaf stays there: a walk
//! need not ask at every step whether it has arrived.
//!
//! A tree is grown from the whole table down to nodes that need no further cut. The rows of a node
//! are a stretch of one array, and a cut parts that stretch in place, keeping the order. A node looks
//! at a few features, drawn at random; their numbers are first copied out of the rows, four features
//! at a time, because the numbers of a row lie side by side in memory.

use super::cut::{ClassWeights, Column, Counts, Cut, Gain, Splitter};
use crate::chance::SplitMix;

/// A node, or a leaf. Its layout is fixed for those who read it as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(super) struct Node {
    /// The bits of the threshold: smaller and equal numbers go to the left. In a leaf, its number.
    pub(super) cut: u32,
    pub(super) link: u32,
}

/// The most nodes that a tree can have.
pub(super) const MOST_NODES: usize = 1 << CHILD_BITS;
/// The most features that a tree can have.
pub(crate) const MOST_FEATURES: usize = 1 << (31 - CHILD_BITS);

pub(super) const CHILD_BITS: u32 = 23;
/// These bits make a threshold no number. Half of the nodes of a tree are leaves, so that their
/// numbers fit below.
pub(super) const LEAF: u32 = 0x7FC0_0000;
pub(super) const MISSING_LEFT: u32 = 1 << 31;

impl Node {
    /// A node that cuts; the feature and the child must be below what a tree can have.
    pub(super) fn cut(threshold: f32, feature: usize, child: usize, missing_left: bool) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "both were checked to fit")]
        let link = child as u32 | (feature as u32) << CHILD_BITS;
        let missing = if missing_left { MISSING_LEFT } else { 0 };
        Self { cut: threshold.to_bits(), link: link | missing }
    }

    /// The leaf with this number, at this place of its tree.
    pub(super) fn leaf(number: usize, place: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "there are no more nodes than fit")]
        let (number, place) = (number as u32, place as u32);
        Self { cut: LEAF | number, link: place }
    }

    #[inline]
    pub(super) fn is_leaf(self) -> bool {
        self.cut & LEAF == LEAF
    }

    /// The number of a leaf.
    #[inline]
    pub(super) fn leaf_number(self) -> usize {
        (self.cut & !LEAF) as usize
    }

    /// The place of the left child in its tree; in a leaf its own.
    #[inline]
    pub(super) fn child(self) -> u32 {
        self.link & ((1 << CHILD_BITS) - 1)
    }

    #[inline]
    pub(super) fn feature(self) -> usize {
        ((self.link & !MISSING_LEFT) >> CHILD_BITS) as usize
    }

    #[inline]
    pub(super) fn threshold(self) -> f32 {
        f32::from_bits(self.cut)
    }

    /// Where a number goes: 0 for the left child, 1 for the right one.
    #[inline]
    pub(super) fn side(self, value: f32) -> u32 {
        if value.is_nan() {
            u32::from(self.link & MISSING_LEFT == 0)
        } else {
            u32::from(value > self.threshold())
        }
    }
}

/// One tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The positive share of each leaf, by its number.
    pub(super) leaf_values: Vec<f64>,
    /// The weight of the training rows in each leaf.
    pub(super) leaf_covers: Vec<f64>,
}

impl Tree {
    /// Say why the tree makes no sense, if it does not: every node but the root is the child of
    /// exactly one earlier node, features and leaves exist, shares are shares.
    pub(super) fn fault(&self, features: usize) -> Option<String> {
        if self.nodes.is_empty() || self.nodes.len() > MOST_NODES {
            return Some(format!("a tree has {} nodes", self.nodes.len()));
        }
        let mut has_parent = vec![false; self.nodes.len()];
        let mut has_node = vec![false; self.leaf_values.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let child = node.child() as usize;
            if node.is_leaf() {
                match has_node.get_mut(node.leaf_number()) {
                    Some(taken) if !*taken && node.link as usize == place => *taken = true,
                    _ => return Some(format!("node {place} has a leaf of another node")),
                }
                continue;
            }
            if child <= place || child + 1 >= self.nodes.len() || has_parent[child] {
                return Some(format!("node {place} has a child that is not its own"));
            }
            has_parent[child] = true;
            has_parent[child + 1] = true;
            if node.feature() >= features {
                return Some(format!("node {place} asks for a feature that does not exist"));
            }
            if node.threshold().is_nan() {
                return Some(format!("node {place} is neither a leaf nor a cut"));
            }
        }
        if has_parent.iter().skip(1).any(|known| !known) || has_node.contains(&false) {
            return Some("a node or a leaf belongs to no tree".to_owned());
        }
        self.leaf_fault()
    }

    fn leaf_fault(&self) -> Option<String> {
        if self.leaf_values.len() != self.leaf_covers.len() {
            return Some("leaves have no share or no weight".to_owned());
        }
        let is_share = |value: &f64| (0.0..=1.0).contains(value);
        let is_weight = |cover: &f64| cover.is_finite() && *cover > 0.0;
        let fine = self.leaf_values.iter().all(is_share) && self.leaf_covers.iter().all(is_weight);
        (!fine).then(|| "a leaf has a share or a weight that cannot be".to_owned())
    }
}

/// What holds for every node of every tree.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) weights: ClassWeights,
    pub(super) max_depth: u32,
    pub(super) min_samples_leaf: u32,
    pub(super) features_per_split: usize,
    /// Which features have a missing number somewhere.
    pub(super) may_miss: Vec<bool>,
}

/// How many features are copied out of the rows at a time.
const LANES: usize = 4;
/// Rows are moved together when they are one in so many of those around them.
const SPREAD: usize = 8;
const FEWEST_MOVED: usize = 32;

/// What grows trees, one after another, reusing its memory.
pub(super) struct Grower<'a, S: Splitter> {
    cells: &'a [S::Cell],
    /// Rows of one node, of one of its descendants, and so on, each moved together.
    moved: Vec<Vec<S::Cell>>,
    limits: &'a Limits,
    splitter: S,
    /// The row in the upper half, its tag in the lower one.
    entries: Vec<u64>,
    spare: Vec<u64>,
    copied: Copied<S::Cell>,
    features: Vec<usize>,
}

/// The numbers of some features, copied out of the rows of a node.
struct Copied<T> {
    lanes: [Vec<T>; LANES],
    features: [usize; LANES],
    tags: Vec<u32>,
}

impl<T: Copy + Default> Copied<T> {
    fn resize(&mut self, rows: usize) {
        self.tags.resize(rows, 0);
        self.lanes.iter_mut().for_each(|lane| lane.resize(rows, T::default()));
    }

    fn column(&self, lane: usize, length: usize, gain: Gain, may_miss: &[bool]) -> Column<'_, T> {
        let feature = self.features[lane];
        Column {
            feature,
            cells: &self.lanes[lane][..length],
            tags: &self.tags[..length],
            may_miss: may_miss[feature],
            gain,
        }
    }
}

struct Open {
    place: usize,
    start: usize,
    end: usize,
    depth: u32,
    counts: Counts,
    /// Where its rows lie: in the table (0), or in what was moved together, counted from 1.
    level: usize,
}

impl<'a, S: Splitter> Grower<'a, S> {
    /// A grower over a table, row by row.
    pub(super) fn new(cells: &'a [S::Cell], limits: &'a Limits, splitter: S) -> Self {
        Self {
            cells,
            moved: Vec::new(),
            limits,
            splitter,
            entries: Vec::new(),
            spare: Vec::new(),
            copied: Copied {
                lanes: [const { Vec::new() }; LANES],
                features: [usize::MAX; LANES],
                tags: Vec::new(),
            },
            features: Vec::new(),
        }
    }

    /// The tree of some rows, each with its tag. `None` when it has more nodes than fit.
    pub(super) fn grow(&mut self, rows: &[(u32, u32)], mut stream: SplitMix) -> Option<Tree> {
        self.features = (0..self.limits.may_miss.len()).collect();
        self.entries =
            rows.iter().map(|(row, tag)| u64::from(*row) << 32 | u64::from(*tag)).collect();
        self.spare.resize(rows.len(), 0);
        self.copied.resize(rows.len());
        let mut tree = Tree::default();
        tree.nodes.push(Node::default());
        let counts = Counts::of_tags(rows.iter().map(|(_, tag)| *tag));
        let mut open =
            vec![Open { place: 0, start: 0, end: rows.len(), depth: 0, counts, level: 0 }];
        while let Some(mut node) = open.pop() {
            self.move_together(&mut node);
            match self.cut(&node, &mut stream) {
                None => self.close(&node, &mut tree),
                Some((feature, threshold, cut)) => {
                    let child = tree.nodes.len();
                    if child + 2 > MOST_NODES {
                        return None;
                    }
                    tree.nodes[node.place] = Node::cut(threshold, feature, child, cut.missing_left);
                    tree.nodes.extend([Node::default(); 2]);
                    let middle = self.part(&node, feature, &cut);
                    let (depth, level) = (node.depth + 1, node.level);
                    let (start, end, counts) = (node.start, middle, cut.left);
                    let left = Open { place: child, start, end, depth, counts, level };
                    let (start, end, counts) = (middle, node.end, node.counts - cut.left);
                    let right = Open { place: child + 1, start, end, depth, counts, level };
                    // The larger child goes first, so that its children come next in memory: rows
                    // that are asked about mostly go there too.
                    let left_is_larger = left.end - left.start > right.end - right.start;
                    open.extend(if left_is_larger { [right, left] } else { [left, right] });
                }
            }
        }
        Some(tree)
    }

    fn close(&self, node: &Open, tree: &mut Tree) {
        tree.nodes[node.place] = Node::leaf(tree.leaf_values.len(), node.place);
        tree.leaf_values.push(self.limits.weights.share(node.counts));
        tree.leaf_covers.push(self.limits.weights.cover(node.counts));
    }

    /// Choose a feature and a cut; `None` makes the node a leaf.
    ///
    /// Features are drawn without putting back. Constant ones count as looked at, but the search goes
    /// on until one is found that can be cut, as scikit-learn does.
    fn cut(&mut self, node: &Open, stream: &mut SplitMix) -> Option<(usize, f32, Cut<S::Cell>)> {
        let limits = self.limits;
        let least = limits.min_samples_leaf;
        let small = node.counts.all() < 2 || node.counts.all() < least.saturating_mul(2);
        if node.counts.is_pure() || node.depth >= limits.max_depth || small {
            return None;
        }
        let gain = Gain::new(limits.weights, node.counts, least);
        let length = node.end - node.start;
        let tags = self.copied.tags[..length].iter_mut();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is the tag")]
        tags.zip(&self.entries[node.start..]).for_each(|(tag, entry)| *tag = *entry as u32);
        let mut best: Option<(usize, Cut<S::Cell>)> = None;
        let (mut drawn, width) = (0, self.features.len());
        while drawn < width {
            let missing_draws = limits.features_per_split.saturating_sub(drawn).min(LANES);
            let more = if missing_draws == 0 { usize::from(best.is_none()) } else { missing_draws };
            if more == 0 {
                break;
            }
            let more = more.min(width - drawn);
            self.draw(drawn, more, stream);
            self.copy(node, drawn, more);
            for lane in 0..more {
                let column = self.copied.column(lane, length, gain, &limits.may_miss);
                let feature = column.feature;
                if let Some(cut) = self.splitter.search(&column, stream)
                    && best.as_ref().is_none_or(|(_, known)| cut.gain > known.gain)
                {
                    best = Some((feature, cut));
                }
            }
            drawn += more;
        }
        let (feature, cut) = best?;
        let lane = self.lane(node, feature);
        let column = self.copied.column(lane, length, gain, &limits.may_miss);
        let threshold = self.splitter.threshold(&column, &cut);
        Some((feature, threshold, cut))
    }

    /// Copy the rows of a node to one place once they lie far apart. The subtree of a node is finished
    /// before the next node of its level begins, so each level needs one place.
    fn move_together(&mut self, node: &mut Open) {
        let width = self.features.len();
        let length = node.end - node.start;
        let spread = self.rows_at(node.level).len() / width;
        if length < FEWEST_MOVED || length * SPREAD > spread {
            return;
        }
        if self.moved.len() == node.level {
            self.moved.push(Vec::new());
        }
        let mut to = std::mem::take(&mut self.moved[node.level]);
        to.clear();
        let from = if node.level == 0 { self.cells } else { &self.moved[node.level - 1] };
        for (row, entry) in (0u64..).zip(&mut self.entries[node.start..node.end]) {
            to.extend_from_slice(&from[(*entry >> 32) as usize * width..][..width]);
            *entry = row << 32 | (*entry & u64::from(u32::MAX));
        }
        self.moved[node.level] = to;
        node.level += 1;
    }

    fn rows_at(&self, level: usize) -> &[S::Cell] {
        if level == 0 { self.cells } else { &self.moved[level - 1] }
    }

    /// Draw features into the places from `from` on.
    fn draw(&mut self, from: usize, count: usize, stream: &mut SplitMix) {
        for place in from..from + count {
            let left = u32::try_from(self.features.len() - place).unwrap_or(u32::MAX);
            self.features.swap(place, place + stream.below(left) as usize);
        }
    }

    /// Copy the numbers of drawn features out of the rows of a node.
    fn copy(&mut self, node: &Open, from: usize, count: usize) {
        let drawn = |lane: usize| self.features[from + lane.min(count - 1)];
        let wanted = [drawn(0), drawn(1), drawn(2), drawn(3)];
        let width = self.features.len();
        let entries = &self.entries[node.start..node.end];
        let cells = if node.level == 0 { self.cells } else { &self.moved[node.level - 1] };
        let [a, b, c, d] = &mut self.copied.lanes;
        if count == 1 {
            for (to, entry) in a.iter_mut().zip(entries) {
                *to = cells[(entry >> 32) as usize * width + wanted[0]];
            }
        } else {
            let to = a.iter_mut().zip(b).zip(c).zip(d);
            for ((((a, b), c), d), entry) in to.zip(entries) {
                let row = &cells[(entry >> 32) as usize * width..][..width];
                (*a, *b) = (row[wanted[0]], row[wanted[1]]);
                (*c, *d) = (row[wanted[2]], row[wanted[3]]);
            }
        }
        self.copied.features = wanted;
        self.copied.features[count..].fill(usize::MAX);
    }

    /// The lane that has the numbers of a feature, copied again if they were overwritten.
    fn lane(&mut self, node: &Open, feature: usize) -> usize {
        if let Some(lane) = self.copied.features.iter().position(|copied| *copied == feature) {
            return lane;
        }
        let place = self.features.iter().position(|known| *known == feature).unwrap_or(0);
        self.copy(node, place, 1);
        0
    }

    /// Bring the rows that go to the left to the front, and say where the others begin.
    fn part(&mut self, node: &Open, feature: usize, cut: &Cut<S::Cell>) -> usize {
        let lane = self.lane(node, feature);
        let missing_left = cut.missing_left && self.limits.may_miss[feature];
        let cells = &self.copied.lanes[lane][..node.end - node.start];
        let entries = &mut self.entries[node.start..node.end];
        let (mut left, mut right) = (0, 0);
        for (at, cell) in cells.iter().enumerate() {
            let entry = entries[at];
            let goes_left = *cell <= cut.at || (missing_left && S::is_missing(*cell));
            entries[left] = entry;
            self.spare[right] = entry;
            left += usize::from(goes_left);
            right += usize::from(!goes_left);
        }
        entries[left..].copy_from_slice(&self.spare[..right]);
        node.start + left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_keeps_its_parts() {
        let (feature, child) = (MOST_FEATURES - 1, MOST_NODES - 1);
        for (missing_left, side) in [(true, 0), (false, 1)] {
            let node = Node::cut(-0.5, feature, child, missing_left);
            assert_eq!((node.feature(), node.child() as usize), (feature, child));
            assert_eq!((node.side(f32::NAN), node.side(-0.5), node.side(0.0)), (side, 0, 1));
        }
        let leaf = Node::leaf(MOST_NODES / 2 - 1, 5);
        assert_eq!((leaf.leaf_number(), leaf.child()), (MOST_NODES / 2 - 1, 5));
        assert!(leaf.is_leaf() && !leaf.threshold().is_finite());
    }

    #[test]
    fn a_tree_that_leads_nowhere_is_noticed() {
        let cut = |feature, child| Node::cut(0.0, feature, child, false);
        let tree = |nodes: Vec<Node>, leaves: usize| Tree {
            nodes,
            leaf_values: vec![0.5; leaves],
            leaf_covers: vec![1.0; leaves],
        };
        let fault = |nodes, leaves| tree(nodes, leaves).fault(2);
        let [one, two] = [Node::leaf(0, 1), Node::leaf(1, 2)];
        assert_eq!(fault(vec![cut(1, 1), one, two], 2), None);
        assert!(fault(vec![], 0).is_some());
        assert!(fault(vec![cut(0, 2), one, two], 2).is_some(), "beyond the end");
        assert!(fault(vec![cut(0, 1), cut(0, 1), two], 1).is_some(), "a circle");
        assert!(fault(vec![cut(0, 1), one, Node::leaf(0, 2)], 1).is_some(), "one leaf twice");
        assert!(fault(vec![cut(0, 1), one, Node::leaf(9, 2)], 2).is_some(), "no such leaf");
        assert!(fault(vec![cut(0, 1), one, Node::leaf(1, 0)], 2).is_some(), "a leaf leads away");
        assert!(fault(vec![Node::leaf(0, 0), Node::leaf(1, 1)], 2).is_some(), "nobody's child");
        let mut odd = tree(vec![Node::leaf(0, 0)], 1);
        odd.leaf_values[0] = f64::NAN;
        assert!(odd.fault(2).is_some());
        let one_feature = tree(vec![cut(1, 1), one, two], 2).fault(1);
        assert!(one_feature.is_some(), "no such feature");
    }
}
