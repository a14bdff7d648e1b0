//! Growing one tree: from the whole table down to nodes that need no further cut.
//!
//! The rows of a node are a stretch of one array, and a cut parts that stretch in place, keeping the
//! order. A node looks at a few features, drawn at random; their numbers are first copied out of the
//! rows, four features at a time, because the numbers of a row lie side by side in memory.

use super::cut::{ClassWeights, Column, Counts, Cut, Gain, Splitter};
use super::tree::{MOST_NODES, Node, Tree};
use crate::chance::SplitMix;

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
