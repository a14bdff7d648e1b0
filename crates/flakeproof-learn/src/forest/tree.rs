//! Trees as arrays: eight bytes a node, so that a whole tree stays near the processor.
//!
//! The two children of a node lie beside each other, later than the node itself. A node is two
//! numbers: the bits of its threshold, and a link made of (from the top) one bit that says whether
//! missing numbers go to the left, 8 bits for the feature, and 23 bits for the place of the left child.
//!
//! A leaf is its own left child, and its threshold is no number (NaN), with the number of the leaf in
//! its lowest bits. No value is greater than that, so who walks on from a leaf stays there: a walk
//! need not ask at every step whether it has arrived.

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
