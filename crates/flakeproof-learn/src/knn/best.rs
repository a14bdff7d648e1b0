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
pub struct NeighbourLimit {
    /// How many in all.
    pub count: usize,
    /// How many of one group at most. Rows of a group resemble each other and know the same thing,
    /// so that without a limit one group can outvote all others.
    pub of_a_group: usize,
}

/// A neighbour with a positive similarity as one number: the nearer first, and of two equally near
/// ones the earlier row. Sorting numbers is quick, and the bits of positive reals sort as they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate(u64);

impl Candidate {
    pub(super) fn new(row: u32, similarity: f32) -> Self {
        debug_assert!(similarity > 0.0);
        Self(u64::from(!similarity.to_bits()) << 32 | u64::from(row))
    }

    fn neighbour(self) -> Neighbour {
        #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
        let (similarity, row) = (!((self.0 >> 32) as u32), self.0 as u32);
        Neighbour { row, similarity: f32::from_bits(similarity) }
    }
}

/// The best of some candidates, taken in their order while their groups have room; one without a
/// group is passed over.
pub(super) fn best(
    candidates: &mut [Candidate],
    wanted: NeighbourLimit,
    group_of: impl Fn(u32) -> Option<u32>,
) -> Vec<Neighbour> {
    candidates.sort_unstable();
    let mut taken = Vec::with_capacity(wanted.count);
    // The groups of those taken, apart so that counting one is quick.
    let mut groups = Vec::with_capacity(wanted.count);
    for neighbour in candidates.iter().map(|candidate| candidate.neighbour()) {
        if taken.len() == wanted.count {
            break;
        }
        let Some(group) = group_of(neighbour.row) else { continue };
        if groups.iter().filter(|of| **of == group).count() < wanted.of_a_group {
            taken.push(neighbour);
            groups.push(group);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn candidates_sort_as_neighbours_do(
            all in proptest::collection::vec((1e-5f32..1.1, 0u32..9), 0..40),
        ) {
            let mut candidates: Vec<Candidate> =
                all.iter().map(|(similarity, row)| Candidate::new(*row, *similarity)).collect();
            candidates.sort_unstable();
            let mut neighbours = all;
            neighbours.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let found: Vec<(f32, u32)> = candidates
                .iter()
                .map(|it| it.neighbour())
                .map(|it| (it.similarity, it.row))
                .collect();
            prop_assert_eq!(found, neighbours);
        }
    }

    #[test]
    fn a_full_group_and_rows_without_one_leave_their_place_to_others() {
        let mut candidates: Vec<Candidate> =
            (0u8..6).map(|row| Candidate::new(row.into(), 1.0 - f32::from(row) / 10.0)).collect();
        let group_of = |row: u32| (row != 1).then_some(row / 4);
        let wanted = NeighbourLimit { count: 3, of_a_group: 2 };
        let rows: Vec<u32> =
            best(&mut candidates, wanted, group_of).iter().map(|it| it.row).collect();
        assert_eq!(rows, [0, 2, 4]);
    }
}
