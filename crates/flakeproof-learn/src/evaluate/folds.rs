//! Which rows learn and which are asked.
//!
//! Random folds let a test meet its own class in training, so they mostly reward recognising the
//! class. Folds by class, and leaving out a whole project, do not.

use std::collections::BTreeMap;

use flakeproof_core::Seed;

use crate::chance::Chance;

/// One division of the rows: every row is in exactly one of the two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The rows to learn from, ascending.
    pub train: Vec<u32>,
    /// The rows to predict, ascending.
    pub test: Vec<u32>,
}

/// Folds of equal size and equal share of flaky rows, drawn at random.
#[must_use]
pub fn stratified(flaky: &[bool], folds: usize, seed: Seed) -> Vec<Fold> {
    let mut chance = Chance::new(seed);
    let mut fold_of = vec![0; flaky.len()];
    let mut next = 0;
    for label in [true, false] {
        let mut rows: Vec<usize> = (0..flaky.len()).filter(|row| flaky[*row] == label).collect();
        chance.shuffle(&mut rows);
        for row in rows {
            fold_of[row] = next % folds;
            next += 1;
        }
    }
    from_assignment(&fold_of, folds)
}

/// Folds that never part a group, with about equally many rows and flaky rows each.
///
/// Groups are taken in random order, those with the most flaky rows first, and each goes to the fold
/// that has the fewest flaky rows, then the fewest rows.
#[must_use]
pub fn grouped(flaky: &[bool], groups: &[u32], folds: usize, seed: Seed) -> Vec<Fold> {
    let mut members: Vec<Vec<usize>> = by_group(groups).into_values().collect();
    Chance::new(seed).shuffle(&mut members);
    let flaky_in = |rows: &[usize]| rows.iter().filter(|row| flaky[**row]).count();
    members.sort_by_key(|rows| std::cmp::Reverse((flaky_in(rows), rows.len())));
    let mut load = vec![(0, 0); folds];
    let mut fold_of = vec![0; flaky.len()];
    for rows in members {
        let added = flaky_in(&rows);
        let lightest = (0..folds)
            .min_by_key(|fold| if added > 0 { load[*fold] } else { (load[*fold].1, 0) })
            .unwrap_or(0);
        load[lightest].0 += added;
        load[lightest].1 += rows.len();
        for row in rows {
            fold_of[row] = lightest;
        }
    }
    from_assignment(&fold_of, folds)
}

/// One fold for each group, in which that group is asked and all others learn.
#[must_use]
pub fn leave_one_group_out(groups: &[u32]) -> Vec<Fold> {
    let numbers: Vec<u32> = by_group(groups).into_keys().collect();
    let fold_of: Vec<usize> =
        groups.iter().map(|group| numbers.partition_point(|number| number < group)).collect();
    from_assignment(&fold_of, numbers.len())
}

fn by_group(groups: &[u32]) -> BTreeMap<u32, Vec<usize>> {
    let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate() {
        members.entry(*group).or_default().push(row);
    }
    members
}

fn from_assignment(fold_of: &[usize], folds: usize) -> Vec<Fold> {
    let rows_where = |wanted: &dyn Fn(usize) -> bool| {
        (0u32..).zip(fold_of).filter(|(_, fold)| wanted(**fold)).map(|(row, _)| row).collect()
    };
    (0..folds)
        .map(|fold| Fold {
            train: rows_where(&|of| of != fold),
            test: rows_where(&|of| of == fold),
        })
        .filter(|fold| !fold.test.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_row_is_asked_once_and_never_learns_in_its_own_fold(
            labels in proptest::collection::vec((any::<bool>(), 0u32..9), 20..200), seed: u64,
        ) {
            let flaky: Vec<bool> = labels.iter().map(|(flaky, _)| *flaky).collect();
            let groups: Vec<u32> = labels.iter().map(|(_, group)| *group).collect();
            for folds in [
                stratified(&flaky, 5, Seed(seed)),
                grouped(&flaky, &groups, 5, Seed(seed)),
                leave_one_group_out(&groups),
            ] {
                let mut asked: Vec<u32> = folds.iter().flat_map(|f| f.test.clone()).collect();
                asked.sort_unstable();
                prop_assert_eq!(asked.len(), flaky.len());
                asked.dedup();
                prop_assert_eq!(asked.len(), flaky.len());
                for fold in folds {
                    prop_assert_eq!(fold.train.len() + fold.test.len(), flaky.len());
                    prop_assert!(fold.test.iter().all(|row| !fold.train.contains(row)));
                }
            }
        }

        #[test]
        fn a_group_is_never_parted(
            labels in proptest::collection::vec((any::<bool>(), 0u32..9), 20..200), seed: u64,
        ) {
            let flaky: Vec<bool> = labels.iter().map(|(flaky, _)| *flaky).collect();
            let groups: Vec<u32> = labels.iter().map(|(_, group)| *group).collect();
            for fold in grouped(&flaky, &groups, 3, Seed(seed)) {
                let asked: Vec<u32> = fold.test.iter().map(|row| groups[*row as usize]).collect();
                prop_assert!(fold.train.iter().all(|row| !asked.contains(&groups[*row as usize])));
            }
        }
    }

    #[test]
    fn the_share_of_flaky_rows_is_the_same_in_each_fold() {
        let flaky: Vec<bool> = (0..100).map(|row| row % 5 == 0).collect();
        for fold in stratified(&flaky, 10, Seed(3)) {
            assert_eq!(fold.test.len(), 10);
            assert_eq!(fold.test.iter().filter(|row| flaky[**row as usize]).count(), 2);
        }
    }
}
