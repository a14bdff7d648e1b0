//! Tests that go by another id since they were renamed or moved, and their history under the new one.
//!
//! This is for looking only: what a history holds stays under the ids it was recorded with, and no
//! verdict rests on the past of another id, because the code around a test changed with its name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{KnownFlaky, TestId, Timeline};

/// A test that got another id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// Its id before.
    pub from: TestId,
    /// Its id since.
    pub to: TestId,
    /// The revision that is the first to have it under its new id, as far as runs show.
    pub revision: Option<String>,
}

/// All renames of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    to: HashMap<TestId, TestId>,
    formerly: BTreeMap<TestId, Vec<TestId>>,
}

impl Renames {
    /// The renames that hold in a history: those of a test whose last run under the old id comes before
    /// its first under the new one. A test that became two at once is not renamed, nor are two that became
    /// one.
    #[must_use]
    pub fn new(found: &[Rename], timeline: &Timeline) -> Self {
        let ends: HashMap<&TestId, (u32, u32)> = timeline
            .tests
            .iter()
            .filter_map(|test| {
                let (first, last) = (test.marks.first()?, test.marks.last()?);
                Some((&test.test, (first.run, last.run)))
            })
            .collect();
        // What a test became first counts: later names of it are what that one became.
        let mut became: BTreeMap<&TestId, BTreeSet<(u32, &TestId)>> = BTreeMap::new();
        for Rename { from, to, .. } in found {
            if let (Some((_, last)), Some((first, _))) = (ends.get(from), ends.get(to))
                && last < first
            {
                became.entry(from).or_default().insert((*first, to));
            }
        }
        let mut next: HashMap<&TestId, &TestId> = HashMap::new();
        let mut claims: HashMap<&TestId, u32> = HashMap::new();
        for (from, names) in became {
            if let Some(to) = the_first(names) {
                next.insert(from, to);
                *claims.entry(to).or_default() += 1;
            }
        }
        next.retain(|_, to| claims.get(*to) == Some(&1));
        let mut renames = Self::default();
        for from in next.keys() {
            let mut latest = *from;
            // Each step leads to a later run, so it ends.
            while let Some(to) = next.get(latest) {
                latest = to;
            }
            renames.to.insert((*from).clone(), latest.clone());
        }
        for (from, to) in &renames.to {
            renames.formerly.entry(to.clone()).or_default().push(from.clone());
        }
        for former in renames.formerly.values_mut() {
            former.sort_by_key(|id| std::cmp::Reverse(ends.get(id).map(|(_, last)| *last)));
        }
        renames
    }

    /// Whether nothing was renamed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// What a test is called now.
    #[must_use]
    pub fn current<'t>(&'t self, test: &'t TestId) -> &'t TestId {
        self.to.get(test).unwrap_or(test)
    }

    /// What a test was called before, the latest first.
    #[must_use]
    pub fn formerly(&self, test: &TestId) -> &[TestId] {
        self.formerly.get(test).map_or(&[], Vec::as_slice)
    }

    /// Every test that was called otherwise before.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<TestId, Vec<TestId>> {
        &self.formerly
    }

    /// The timeline with the runs of former ids before those of the present ones.
    #[must_use]
    pub fn in_timeline(&self, mut timeline: Timeline) -> Timeline {
        if self.is_empty() {
            return timeline;
        }
        let (renamed, mut kept): (Vec<_>, Vec<_>) =
            timeline.tests.into_iter().partition(|test| self.to.contains_key(&test.test));
        let mut before: HashMap<&TestId, Vec<_>> = HashMap::new();
        for test in renamed {
            before.entry(self.current_of(&test.test)).or_default().extend(test.marks);
        }
        for test in &mut kept {
            if let Some(mut marks) = before.remove(&test.test) {
                marks.append(&mut test.marks);
                marks.sort_by_key(|mark| mark.run);
                test.marks = marks;
            }
        }
        timeline.tests = kept;
        timeline
    }

    fn current_of(&self, test: &TestId) -> &TestId {
        // It is asked of those that have one.
        &self.to[test]
    }

    /// What hunts found, under present ids; what was found under the present id itself wins.
    #[must_use]
    pub fn in_known(&self, known: Vec<KnownFlaky>) -> Vec<KnownFlaky> {
        let own: Vec<TestId> = known.iter().map(|it| it.test.id.clone()).collect();
        let renamed = known.into_iter().filter_map(|mut it| {
            let current = self.current(&it.test.id);
            if *current != it.test.id {
                if own.contains(current) {
                    return None;
                }
                it.test.id = current.clone();
                // The command names what is not there any more.
                it.test.reproduction = None;
            }
            Some(it)
        });
        renamed.collect()
    }

    /// Lists by test, under present ids; what is known of the present id comes first.
    #[must_use]
    pub fn in_lists<T>(&self, lists: BTreeMap<TestId, Vec<T>>) -> BTreeMap<TestId, Vec<T>> {
        let is_renamed = |(test, _): &(TestId, Vec<T>)| self.to.contains_key(test);
        let (renamed, mut kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            lists.into_iter().partition(is_renamed);
        for (test, list) in renamed {
            kept.entry(self.current_of(&test).clone()).or_default().extend(list);
        }
        kept
    }
}

/// The name that a test had first, if it had no other at the same time.
fn the_first(names: BTreeSet<(u32, &TestId)>) -> Option<&TestId> {
    let mut names = names.into_iter();
    let ((first, to), next) = (names.next()?, names.next());
    next.is_none_or(|(other, _)| first < other).then_some(to)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Mark, Outcome, PastRun, Scores, TestTimeline};

    fn timeline(tests: &[(&str, &[u32])]) -> Timeline {
        let test = |(id, runs): &(&str, &[u32])| TestTimeline {
            test: (*id).into(),
            marks: runs
                .iter()
                .map(|run| Mark::first(*run, Outcome::Passed, Duration::from_millis(1)))
                .collect(),
        };
        let runs = (0..10).map(|_| PastRun::default()).collect();
        Timeline { runs, tests: tests.iter().map(test).collect(), others: Vec::new() }
    }

    fn rename(from: &str, to: &str) -> Rename {
        Rename { from: from.into(), to: to.into(), revision: None }
    }

    #[test]
    fn a_test_that_was_renamed_twice_has_all_of_its_runs() {
        let timeline = timeline(&[("a", &[0, 1]), ("b", &[2, 3]), ("c", &[4, 5]), ("d", &[0, 5])]);
        // Between the first and the last revision, it looks renamed at once.
        let found = [rename("a", "b"), rename("a", "c"), rename("b", "c")];
        let renames = Renames::new(&found, &timeline);
        assert_eq!(renames.formerly(&"c".into()), ["b".into(), "a".into()]);
        let timeline = renames.in_timeline(timeline);
        let scores = Scores::from_timeline(&timeline);
        let runs: Vec<(&str, u32)> =
            scores.tests.iter().map(|it| (it.test.as_str(), it.all.runs)).collect();
        assert_eq!(runs, [("c", 6), ("d", 2)]);
        assert!(timeline.tests[0].marks.is_sorted_by_key(|mark| mark.run));
    }

    #[test]
    fn who_runs_beside_its_new_name_or_is_claimed_twice_is_not_renamed() {
        let tests: [(&str, &[u32]); 4] = [("a", &[0, 4]), ("b", &[2, 3]), ("c", &[5]), ("d", &[5])];
        let timeline = timeline(&tests);
        assert!(Renames::new(&[rename("a", "b")], &timeline).is_empty());
        assert!(Renames::new(&[rename("b", "c"), rename("b", "d")], &timeline).is_empty());
        assert!(Renames::new(&[rename("a", "c"), rename("b", "c")], &timeline).is_empty());
        assert!(Renames::new(&[rename("a", "gone")], &timeline).is_empty());
        assert_eq!(Renames::default().in_timeline(timeline.clone()), timeline);
    }

    #[test]
    fn what_is_known_of_the_present_id_comes_first() {
        let timeline = timeline(&[("a", &[0]), ("b", &[1])]);
        let renames = Renames::new(&[rename("a", "b")], &timeline);
        let lists = BTreeMap::from([("a".into(), vec![1]), ("b".into(), vec![2])]);
        assert_eq!(renames.in_lists(lists), BTreeMap::from([("b".into(), vec![2, 1])]));
    }
}
