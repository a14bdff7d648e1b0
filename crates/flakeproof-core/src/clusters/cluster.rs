//! Tests that fail together, how often, and what they have in common.

use super::linkage::groups;
use super::pairs::Pairs;
use super::suspect::{FEWEST_SHARED, Suspect};
use crate::{Scores, TestId, Timeline};

/// Tests that fail together beyond chance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {
    /// The tests, those first that failed most often; at least two.
    pub tests: Vec<TestId>,
    /// Runs in which at least two of them failed.
    pub together: u32,
    /// Runs in which at least one of them failed.
    pub any: u32,
    /// How often two of them failed in the same run, over all pairs.
    pub coincidences: u64,
    /// How often two of them would have, on average, did each fail by itself.
    pub expected: f64,
    /// The weakest link: the false discovery rate at which every pair that counts is still found.
    pub chance: f64,
    /// The runs in which at least two of them failed, as indices into [`Timeline::runs`].
    pub runs: Vec<u32>,
    /// What the tests have in common.
    pub shared: Shared,
}

/// What tests have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shared {
    /// Who owns all of them.
    pub owners: Vec<String>,
    /// The file, or else the folder, in which all of them stand.
    pub place: Option<String>,
    /// How all of them failed.
    pub failure: Option<String>,
    /// The only job of CI in which they failed together, though they ran in others.
    pub job: Option<String>,
}

/// What one test has that others may have, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traits {
    /// Who owns it.
    pub owners: Vec<String>,
    /// Where it stands.
    pub file: Option<String>,
    /// The ways in which it failed: what tells them apart, and in words.
    pub failures: Vec<(String, String)>,
}

impl Cluster {
    /// Find the clusters in a history, those first that fail together most often.
    #[must_use]
    pub fn all(timeline: &Timeline, scores: &Scores) -> Vec<Self> {
        let suspects = Suspect::all(timeline, scores);
        let pairs = Pairs::significant(&suspects, timeline.runs.len());
        let groups = groups(suspects.len(), &pairs);
        let mut clusters: Vec<Self> =
            groups.iter().map(|group| Self::new(group, &suspects, &pairs, timeline)).collect();
        clusters.sort_by(|one, other| {
            let weight = |it: &Self| (it.together, it.tests.len());
            weight(other).cmp(&weight(one)).then_with(|| one.tests.cmp(&other.tests))
        });
        clusters
    }

    fn new(group: &[usize], suspects: &[Suspect<'_>], pairs: &Pairs, timeline: &Timeline) -> Self {
        let mut members: Vec<&Suspect<'_>> = group.iter().map(|at| &suspects[*at]).collect();
        members.sort_by(|one, other| {
            other.failures.len().cmp(&one.failures.len()).then(one.test.cmp(other.test))
        });
        let mut cluster = Self {
            tests: members.iter().map(|it| it.test.clone()).collect(),
            chance: pairs.weakest(group),
            ..Self::default()
        };
        for run in 0..u32::try_from(timeline.runs.len()).unwrap_or(u32::MAX) {
            let (mut failed, mut sum, mut squares) = (0_u32, 0.0, 0.0);
            for member in members.iter().filter(|member| member.ran.has(run)) {
                failed += u32::from(member.failed.has(run));
                sum += member.rate;
                squares += member.rate * member.rate;
            }
            cluster.expected += (sum * sum - squares) / 2.0;
            cluster.coincidences += u64::from(failed) * u64::from(failed.saturating_sub(1)) / 2;
            cluster.any += u32::from(failed > 0);
            if failed >= FEWEST_SHARED {
                cluster.together += 1;
                cluster.runs.push(run);
            }
        }
        cluster.shared.job = only_job(&cluster.runs, &members, timeline);
        cluster
    }

    /// How many times as often two of them fail in the same run as chance would have it.
    #[must_use]
    pub fn times_chance(&self) -> f64 {
        self.coincidences as f64 / self.expected.max(f64::MIN_POSITIVE)
    }

    /// Find out what the tests have in common, by what each of them has.
    pub fn find_shared(&mut self, traits: impl Fn(&TestId) -> Traits) {
        let all: Vec<Traits> = self.tests.iter().map(traits).collect();
        let Some((first, others)) = all.split_first() else { return };
        let owned = |owner: &&String| others.iter().all(|it| it.owners.contains(owner));
        self.shared.owners = first.owners.iter().filter(owned).cloned().collect();
        let files: Option<Vec<&str>> = all.iter().map(|it| it.file.as_deref()).collect();
        self.shared.place = files.and_then(|files| common_place(&files));
        let alike = |(signature, _): &&(String, String)| {
            others.iter().all(|it| it.failures.iter().any(|(other, _)| other == signature))
        };
        self.shared.failure = first.failures.iter().find(alike).map(|(_, words)| words.clone());
    }
}

/// The file of all, or the deepest folder that holds all.
fn common_place(files: &[&str]) -> Option<String> {
    let (first, others) = files.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some((*first).to_owned());
    }
    let mut folder = *first;
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        let is_in =
            |file: &&str| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        if others.iter().all(is_in) {
            return Some(format!("{folder}/"));
        }
    }
    None
}

/// The job of all these runs, if the tests ran in others, too.
fn only_job(runs: &[u32], members: &[&Suspect<'_>], timeline: &Timeline) -> Option<String> {
    let job = |run: u32| timeline.runs.get(run as usize)?.job.as_deref();
    let only = job(*runs.first()?)?;
    let is_only = runs.iter().all(|run| job(*run) == Some(only));
    let ran_elsewhere = (0..timeline.runs.len()).any(|run| {
        let run = u32::try_from(run).unwrap_or(u32::MAX);
        job(run).is_some_and(|other| other != only) && members.iter().all(|it| it.ran.has(run))
    });
    (is_only && ran_elsewhere).then(|| only.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::FALSE_DISCOVERIES;
    use crate::{Again, Mark, Outcome, PastRun, TestTimeline};

    /// Numbers that look like chance and are the same every time.
    struct Chance(u64);

    impl Chance {
        fn share(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// A history of tests that fail in some runs, and pass when run again.
    fn timeline(runs: u32, tests: &[(&str, Vec<bool>)]) -> Timeline {
        let run = |number: u32| PastRun {
            id: number.to_string(),
            started: "2026-11-16T00:00:00Z".to_owned(),
            code: Some(number),
            ..PastRun::default()
        };
        let mark = |(run, has_failed): (u32, &bool)| Mark {
            run,
            outcome: if *has_failed { Outcome::Failed } else { Outcome::Passed },
            again: if *has_failed { Again::Passed } else { Again::Never },
            verdict: None,
            milliseconds: 1,
            again_milliseconds: 0,
        };
        let test = |(id, failed): &(&str, Vec<bool>)| TestTimeline {
            test: (*id).into(),
            marks: (0..).zip(failed).map(mark).collect(),
        };
        let tests = tests.iter().map(test).collect();
        Timeline { runs: (0..runs).map(run).collect(), tests, others: Vec::new() }
    }

    fn found(timeline: &Timeline) -> Vec<Cluster> {
        Cluster::all(timeline, &Scores::from_timeline(timeline))
    }

    fn failing(runs: &[u32], of: u32) -> Vec<bool> {
        (0..of).map(|run| runs.contains(&run)).collect()
    }

    /// Tests of which some fail for common causes, and each fails by itself now and then.
    fn planted(seed: u64, runs: u32, causes: &[&[usize]], tests: usize, noise: f64) -> Timeline {
        let mut chance = Chance(seed);
        let mut failed = vec![vec![false; runs as usize]; tests];
        for run in 0..runs as usize {
            for cause in causes {
                let strikes = chance.share() < 0.04;
                for test in *cause {
                    failed[*test][run] |= chance.share() < 0.8 && strikes;
                }
            }
            for test in &mut failed {
                test[run] |= chance.share() < noise;
            }
        }
        let ids: Vec<String> = (0..tests).map(|test| format!("t{test:03}")).collect();
        let tests: Vec<(&str, Vec<bool>)> = ids.iter().map(String::as_str).zip(failed).collect();
        timeline(runs, &tests)
    }

    fn numbers(cluster: &Cluster) -> Vec<usize> {
        let number = |test: &TestId| test.as_str()[1..].parse().expect("a number");
        let mut numbers: Vec<usize> = cluster.tests.iter().map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn two_tests_that_always_fail_together_are_one_cluster_with_its_rate_against_chance() {
        let runs = [3, 20, 41, 77, 96];
        let other = failing(&[5, 50, 80], 100);
        let tests = [("a", failing(&runs, 100)), ("b", failing(&runs, 100)), ("c", other)];
        let clusters = found(&timeline(100, &tests));
        assert_eq!(clusters.len(), 1);
        let cluster = &clusters[0];
        assert_eq!(cluster.tests, ["a".into(), "b".into()]);
        assert_eq!((cluster.together, cluster.any, &cluster.runs[..]), (5, 5, &runs[..]));
        assert!((cluster.expected - 0.25).abs() < 1e-9, "{}", cluster.expected);
        assert!((cluster.times_chance() - 20.0).abs() < 1e-6);
        assert!(cluster.chance < 1e-6);
    }

    #[test]
    fn one_failure_in_the_same_run_is_a_coincidence() {
        let tests = [("a", failing(&[3, 9], 1000)), ("b", failing(&[3, 700], 1000))];
        assert_eq!(found(&timeline(1000, &tests)), []);
    }

    #[test]
    fn a_run_in_which_nearly_everything_fails_is_an_outage_and_no_cluster() {
        let ids: Vec<String> = (0..30).map(|number| format!("t{number}")).collect();
        let tests: Vec<(&str, Vec<bool>)> =
            ids.iter().map(|id| (id.as_str(), failing(&[3, 20, 41, 77, 96], 100))).collect();
        assert_eq!(found(&timeline(100, &tests)), []);
    }

    #[test]
    fn what_may_be_the_code_is_no_cluster() {
        let both = [("a", failing(&[3, 20, 41], 100)), ("b", failing(&[3, 20, 41], 100))];
        let mut timeline = timeline(100, &both);
        for test in &mut timeline.tests {
            test.marks.iter_mut().for_each(|mark| mark.again = Again::Never);
        }
        assert_eq!(found(&timeline), []);
        timeline.runs.iter_mut().for_each(|run| run.code = Some(1));
        assert_eq!(found(&timeline).len(), 1, "the same code passed elsewhere");
    }

    #[test]
    fn independent_failures_give_a_cluster_in_no_more_histories_than_is_stated() {
        let histories = 300;
        let with_cluster = (0..histories)
            .filter(|seed| {
                let rate = 0.01 + 0.09 * Chance(*seed).share();
                !found(&planted(*seed, 200, &[], 40, rate)).is_empty()
            })
            .count();
        // Three standard deviations above the mean of that many throws.
        let mean = FALSE_DISCOVERIES * histories as f64;
        let most = mean + 3.0 * (mean * (1.0 - FALSE_DISCOVERIES)).sqrt();
        assert!((with_cluster as f64) < most, "{with_cluster} of {histories}");
    }

    #[test]
    fn tests_that_were_flaky_in_the_same_month_only_are_not_related() {
        let with_cluster = (0..200)
            .filter(|seed| {
                let mut chance = Chance(*seed);
                let mut lately = || -> Vec<bool> {
                    (0..1000).map(|run| run >= 900 && chance.share() < 0.2).collect()
                };
                let tests = [("a", lately()), ("b", lately()), ("c", lately())];
                !found(&timeline(1000, &tests)).is_empty()
            })
            .count();
        assert!(with_cluster < 20, "{with_cluster}");
    }

    #[test]
    fn a_test_with_two_causes_does_not_make_them_one() {
        let causes: [&[usize]; 2] = [&[0, 1, 2, 3, 4], &[4, 5, 6, 7, 8]];
        let clusters = found(&planted(7, 600, &causes, 20, 0.002));
        assert_eq!(clusters.len(), 2, "{clusters:?}");
        assert!(clusters.iter().all(|cluster| cluster.tests.len() >= 4));
    }

    #[test]
    fn what_all_tests_have_in_common_is_told() {
        let mut cluster = Cluster { tests: vec!["a".into(), "b".into()], ..Cluster::default() };
        cluster.find_shared(|test| Traits {
            owners: vec!["@all".into(), format!("@{test}")],
            file: Some(format!("tests/db/test_{test}.py")),
            failures: vec![
                (format!("own {test}"), "own".into()),
                ("refused".into(), "db refused".into()),
            ],
        });
        let shared = Shared {
            owners: vec!["@all".into()],
            place: Some("tests/db/".into()),
            failure: Some("db refused".into()),
            job: None,
        };
        assert_eq!(cluster.shared, shared);
        assert_eq!(common_place(&["a.py", "a.py"]).as_deref(), Some("a.py"));
        assert_eq!(common_place(&["ab/x.py", "a/x.py"]), None);
    }

    #[test]
    fn among_a_thousand_tests_the_planted_clusters_are_found() {
        let causes: Vec<Vec<usize>> = (0..20).map(|at| (at * 7..at * 7 + 5).collect()).collect();
        let causes: Vec<&[usize]> = causes.iter().map(Vec::as_slice).collect();
        let timeline = planted(11, 400, &causes, 1_000, 0.01);
        let clusters = found(&timeline);
        let planted = |cluster: &Cluster| {
            let numbers = numbers(cluster);
            causes.iter().any(|cause| cause.iter().filter(|at| numbers.contains(at)).count() >= 4)
        };
        assert!(clusters.iter().filter(|it| planted(it)).count() >= 18, "{}", clusters.len());
        assert!(clusters.len() <= 24, "{}", clusters.len());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn planted_clusters_are_found_and_nothing_else(
            seed in 0_u64..1 << 40, sizes in proptest::collection::vec(2_usize..8, 1..4),
        ) {
            let mut from = 3;
            let causes: Vec<Vec<usize>> = sizes
                .iter()
                .map(|size| { from += size + 1; (from - size..from).collect() })
                .collect();
            let causes: Vec<&[usize]> = causes.iter().map(Vec::as_slice).collect();
            let clusters = found(&planted(seed, 800, &causes, 60, 0.004));
            for cause in &causes {
                let holds = |it: &&Cluster| {
                    let numbers = numbers(it);
                    cause.iter().all(|test| numbers.contains(test))
                };
                let found: Vec<&Cluster> = clusters.iter().filter(holds).collect();
                proptest::prop_assert_eq!(found.len(), 1, "{:?} in {:?}", cause, &clusters);
                proptest::prop_assert!(found[0].times_chance() > 5.0, "{:?}", found[0]);
            }
            let foreign = clusters.iter().filter(|it| {
                !causes.iter().any(|cause| numbers(it).iter().any(|at| cause.contains(at)))
            });
            proptest::prop_assert!(foreign.count() <= 1);
        }

        #[test]
        fn a_test_is_in_one_cluster_at_most(seed in 0_u64..1 << 40) {
            let causes: [&[usize]; 3] = [&[0, 1, 2], &[2, 3, 4], &[4, 5, 0]];
            let clusters = found(&planted(seed, 300, &causes, 12, 0.02));
            let mut tests: Vec<&TestId> = clusters.iter().flat_map(|it| &it.tests).collect();
            let all = tests.len();
            tests.sort();
            tests.dedup();
            proptest::prop_assert_eq!(tests.len(), all);
            proptest::prop_assert!(clusters.iter().all(|it| it.tests.len() > 1));
            proptest::prop_assert!(clusters.iter().all(|it| it.chance <= FALSE_DISCOVERIES));
        }
    }
}
