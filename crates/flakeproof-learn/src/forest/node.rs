//! Trees as arrays: eight bytes a node, so that a whole tree stays near the processor.
//!
//! The two children of a node lie beside each other, later than the node itself. A node is two
//! numbers: the bits of its threshold, and a link made of (from the top) one bit that says where
//! missing numbers go, the feature, and the place of the left child in its tree. A link whose place
//! is 0 marks a leaf (the root is nobody's child); the other number then is the leaf's own number.

/// How the bits of a link are divided; it depends on how many features there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkBits {
    child_bits: u32,
    feature_mask: u32,
}

/// The bit that says that missing numbers go to the left.
const MISSING_LEFT: u32 = 1 << 31;

impl LinkBits {
    /// The division for so many features.
    pub(super) fn new(features: usize) -> Self {
        let feature_bits = usize::BITS - features.saturating_sub(1).leading_zeros();
        let feature_bits = feature_bits.clamp(1, 16);
        Self { child_bits: 31 - feature_bits, feature_mask: (1 << feature_bits) - 1 }
    }

    /// The most nodes that a tree can have.
    pub(super) fn most_nodes(self) -> usize {
        1 << self.child_bits
    }

    pub(super) fn link(self, feature: usize, child: usize, missing_left: bool) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "both were checked to fit")]
        let (feature, child) = (feature as u32, child as u32);
        child | (feature << self.child_bits) | if missing_left { MISSING_LEFT } else { 0 }
    }

    /// The place of the left child in its tree; 0 in a leaf.
    #[inline]
    pub(super) fn child(self, link: u32) -> u32 {
        link & ((1 << self.child_bits) - 1)
    }

    #[inline]
    pub(super) fn feature(self, link: u32) -> usize {
        ((link >> self.child_bits) & self.feature_mask) as usize
    }

    #[inline]
    pub(super) fn missing_left(link: u32) -> bool {
        link & MISSING_LEFT != 0
    }
}

/// A node, or a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Node {
    /// The bits of the threshold: smaller and equal numbers go to the left. In a leaf, its number.
    pub(super) cut: u32,
    pub(super) link: u32,
}

impl Node {
    #[inline]
    pub(super) fn threshold(self) -> f32 {
        f32::from_bits(self.cut)
    }

    /// The places where a number may go: 0 for the left child, 1 for the right one.
    #[inline]
    pub(super) fn side(self, value: f32) -> u32 {
        if value.is_nan() {
            u32::from(!LinkBits::missing_left(self.link))
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
    pub(super) fn fault(&self, bits: LinkBits, features: usize) -> Option<String> {
        if self.nodes.is_empty() || self.nodes.len() > bits.most_nodes() {
            return Some(format!("a tree has {} nodes", self.nodes.len()));
        }
        let mut has_parent = vec![false; self.nodes.len()];
        let mut has_node = vec![false; self.leaf_values.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let child = bits.child(node.link) as usize;
            if child == 0 {
                match has_node.get_mut(node.cut as usize) {
                    Some(taken) if !*taken => *taken = true,
                    _ => return Some(format!("node {place} has a leaf of another node")),
                }
                continue;
            }
            if child <= place || child + 1 >= self.nodes.len() || has_parent[child] {
                return Some(format!("node {place} has a child that is not its own"));
            }
            has_parent[child] = true;
            has_parent[child + 1] = true;
            if bits.feature(node.link) >= features {
                return Some(format!("node {place} asks for a feature that does not exist"));
            }
            if node.threshold().is_nan() {
                return Some(format!("node {place} has no threshold"));
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
    fn a_link_keeps_its_parts() {
        for features in [1, 2, 18, 1000, 65_536] {
            let bits = LinkBits::new(features);
            let child = bits.most_nodes() - 1;
            for (missing_left, feature) in [(true, features - 1), (false, 0)] {
                let link = bits.link(feature, child, missing_left);
                assert_eq!(bits.child(link) as usize, child);
                assert_eq!(bits.feature(link), feature);
                assert_eq!(LinkBits::missing_left(link), missing_left);
            }
        }
    }

    #[test]
    fn a_tree_that_leads_nowhere_is_noticed() {
        let bits = LinkBits::new(2);
        let leaf = |number| Node { cut: number, link: 0 };
        let cut = |feature, child| Node { cut: 0, link: bits.link(feature, child, false) };
        let tree = |nodes: Vec<Node>, leaves: usize| Tree {
            nodes,
            leaf_values: vec![0.5; leaves],
            leaf_covers: vec![1.0; leaves],
        };
        let fault = |nodes, leaves| tree(nodes, leaves).fault(bits, 2);
        assert_eq!(fault(vec![cut(1, 1), leaf(0), leaf(1)], 2), None);
        assert!(fault(vec![], 0).is_some());
        assert!(fault(vec![cut(0, 2), leaf(0), leaf(1)], 2).is_some(), "beyond the end");
        assert!(fault(vec![cut(0, 1), cut(0, 1), leaf(0)], 1).is_some(), "a circle");
        assert!(fault(vec![cut(0, 1), leaf(0), leaf(0)], 1).is_some(), "one leaf twice");
        assert!(fault(vec![cut(0, 1), leaf(0), leaf(9)], 2).is_some(), "no such leaf");
        assert!(fault(vec![leaf(0), leaf(1)], 2).is_some(), "nobody's child");
        let mut odd = tree(vec![leaf(0)], 1);
        odd.leaf_values[0] = f64::NAN;
        assert!(odd.fault(bits, 2).is_some());
        let two = LinkBits::new(2);
        let one_feature = tree(vec![cut(1, 1), leaf(0), leaf(1)], 2).fault(two, 1);
        assert!(one_feature.is_some(), "no such feature");
    }
}
