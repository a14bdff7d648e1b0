//! Environments that run side by side: how many of them fit, and how a suite is shared among them.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use flakeproof_core::{Notice, Suite, TestId};
use flakeproof_runner::Adapter;

/// Split a suite into at most `jobs` orders of about equal length.
///
/// Tests of one file stay together and in order, so that fixtures of a module or class are set
/// up once, as in the suite's own run. Longest file first, to the order that is shortest so far;
/// ties go to the lower number, so equal input gives equal output.
pub(crate) fn shares(
    suite: &Suite,
    durations: &BTreeMap<TestId, Duration>,
    jobs: usize,
) -> Vec<Vec<TestId>> {
    if jobs <= 1 {
        return vec![suite.ids()];
    }
    let mut files: Vec<(Duration, Vec<(usize, TestId)>)> = Vec::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (position, test) in suite.tests.iter().enumerate() {
        let name = test.location.as_ref().map_or(test.id.as_str(), |place| place.file.as_str());
        let at = *by_name.entry(name).or_insert_with(|| {
            files.push((Duration::ZERO, Vec::new()));
            files.len() - 1
        });
        let known = durations.get(&test.id).copied();
        files[at].0 += known.unwrap_or(Duration::from_millis(10));
        files[at].1.push((position, test.id.clone()));
    }
    files.sort_by_key(|(length, tests)| (std::cmp::Reverse(*length), tests[0].0));
    let mut shares = vec![(Duration::ZERO, Vec::new()); jobs.min(files.len()).max(1)];
    for (length, tests) in files {
        if let Some(shortest) = shares.iter_mut().min_by_key(|(length, _)| *length) {
            shortest.0 += length;
            shortest.1.extend(tests);
        }
    }
    shares
        .into_iter()
        .map(|(_, mut tests)| {
            tests.sort_by_key(|(position, _)| *position);
            tests.into_iter().map(|(_, test)| test).collect()
        })
        .collect()
}

/// The wanted number of environments, or as many of them as the adapter has memory for.
pub(crate) fn environments_that_fit(
    adapter: &dyn Adapter,
    wanted: usize,
) -> (usize, Option<Notice>) {
    let most = adapter.most_environments().unwrap_or(usize::MAX).max(1);
    let notice = (wanted > most).then(|| Notice {
        what: format!("memory is enough for {most} environments side by side, not for {wanted}"),
        next: "free memory, or give the tests' own processes less of it".into(),
    });
    (wanted.min(most), notice)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Location, SuiteTest};
    use flakeproof_testkit::scripted;
    use proptest::prelude::*;

    use super::*;

    fn suite(files: &[u8]) -> Suite {
        let tests = files.iter().enumerate().map(|(at, file)| SuiteTest {
            id: format!("{file}::{at}").into(),
            location: Some(Location { file: file.to_string(), line: None }),
        });
        Suite { tests: tests.collect(), problems: Vec::new() }
    }

    proptest! {
        #[test]
        fn every_test_is_in_exactly_one_share_and_files_stay_together(
            files in prop::collection::vec(0_u8..6, 1..40), jobs in 1_usize..5
        ) {
            let suite = suite(&files);
            let shares = shares(&suite, &BTreeMap::new(), jobs);
            let mut all: Vec<TestId> = shares.concat();
            all.sort();
            let mut expected = suite.ids();
            expected.sort();
            prop_assert_eq!(all, expected);
            for file in 0_u8..6 {
                let holders = shares.iter().filter(|share| {
                    share.iter().any(|test| test.as_str().starts_with(&format!("{file}::")))
                });
                prop_assert!(holders.count() <= 1);
            }
        }
    }

    #[test]
    fn no_more_environments_are_opened_than_memory_has_room_for() {
        let roomy = scripted::suite(["a"]);
        assert_eq!(environments_that_fit(&roomy, 8), (8, None));
        let (fewer, notice) = environments_that_fit(&roomy.with_room_for(3), 8);
        assert_eq!(fewer, 3);
        assert!(notice.is_some_and(|it| it.what.contains("3 environments")));
    }
}
