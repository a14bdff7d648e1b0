//! The best few of many.

/// A row of the training data, and how similar it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The row in the training data.
    pub row: u32,
    /// The cosine of the angle between the two, 1 for the same direction.
    pub similarity: f32,
}

/// How many neighbours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// How many in all.
    pub count: usize,
    /// How many of one group at most. Rows of a group resemble each other and know the same thing,
    /// so that without a limit one group can outvote all others.
    pub of_a_group: usize,
}

/// The most similar rows seen so far, kept sorted: they are few, so inserting beats a heap.
pub(super) struct Best {
    wanted: Wanted,
    kept: Vec<Neighbour>,
    /// The group of each, apart so that counting a group is quick.
    groups: Vec<u32>,
}

impl Best {
    pub(super) fn new(wanted: Wanted) -> Self {
        let room = wanted.count + 1;
        Self { wanted, kept: Vec::with_capacity(room), groups: Vec::with_capacity(room) }
    }

    /// What a new one must reach.
    pub(super) fn floor(&self) -> f32 {
        if self.kept.len() < self.wanted.count {
            return f32::NEG_INFINITY;
        }
        self.kept.last().map_or(f32::INFINITY, |last| last.similarity)
    }

    /// Take in a row of a group if it is among the best; the order of offers does not matter.
    /// Returns what a further row of the group must reach.
    pub(super) fn offer(&mut self, row: Neighbour, group: u32) -> f32 {
        let of_group = self.groups.iter().filter(|of| **of == group).count();
        if of_group >= self.wanted.of_a_group {
            // The last of the group gives way, or the new one stays out.
            let last = self.groups.iter().rposition(|of| *of == group).unwrap_or(0);
            if self.kept[last].order(&row).is_lt() {
                return self.kept[last].similarity;
            }
            self.kept.remove(last);
            self.groups.remove(last);
        }
        if self.kept.len() == self.wanted.count {
            if self.kept.last().is_none_or(|last| last.order(&row).is_lt()) {
                return f32::NEG_INFINITY;
            }
            self.kept.pop();
            self.groups.pop();
        }
        // Later offers are mostly lower ones: their place is near the end.
        let nearer = self.kept.iter().rposition(|kept| kept.order(&row).is_lt());
        let place = nearer.map_or(0, |at| at + 1);
        self.kept.push(row);
        self.groups.push(group);
        self.kept[place..].rotate_right(1);
        self.groups[place..].rotate_right(1);
        f32::NEG_INFINITY
    }

    /// The best, the nearest first.
    pub(super) fn into_sorted(self) -> Vec<Neighbour> {
        self.kept
    }
}

impl Neighbour {
    /// The nearer first; of two equally near ones the earlier row.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.row.cmp(&other.row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the best must equal: all sorted, taken one by one while their group has room.
    fn one_by_one(offers: &[(Neighbour, u32)], wanted: Wanted) -> Vec<Neighbour> {
        let mut sorted = offers.to_vec();
        sorted.sort_by(|a, b| a.0.order(&b.0));
        let mut taken: Vec<(Neighbour, u32)> = Vec::new();
        for (row, group) in sorted {
            let of_group = taken.iter().filter(|(_, of)| *of == group).count();
            if taken.len() < wanted.count && of_group < wanted.of_a_group {
                taken.push((row, group));
            }
        }
        taken.into_iter().map(|(row, _)| row).collect()
    }

    proptest! {
        #[test]
        fn the_best_are_those_taken_in_order_while_their_group_has_room(
            offers in proptest::collection::vec((0u8..20, 0u32..6), 0..80),
            count in 1usize..12, of_a_group in 1usize..4,
        ) {
            let wanted = Wanted { count, of_a_group };
            let offers: Vec<(Neighbour, u32)> = (0u32..)
                .zip(offers)
                .map(|(row, (similarity, group))| {
                    (Neighbour { row, similarity: f32::from(similarity) }, group)
                })
                .collect();
            let mut best = Best::new(wanted);
            for (row, group) in &offers {
                best.offer(*row, *group);
            }
            prop_assert_eq!(best.into_sorted(), one_by_one(&offers, wanted));
        }
    }
}
