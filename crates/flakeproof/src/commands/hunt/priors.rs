//! What is believed about each test before it runs: from models to the forecast of a plan. Tests
//! belong together: where one is flaky, its neighbours are more likely to be.

use std::collections::HashMap;

use flakeproof_core::{FlakyKind, KnownFlaky, Suite, TestId};
use flakeproof_detect::hunt::Forecast;
use flakeproof_detect::plan::FailureRates;
use flakeproof_learn::cannier;

use super::opinions::{Answer, ByFeatures, BySource, ForestSays};
use crate::source::source_tests::without_parameters;

/// Of 89,668 tests, 1,015 were victims (CANNIER, Table 3).
const VICTIMS: f64 = 1_015.0 / 89_668.0;
/// A model that never saw a flaky test like this one is still no proof.
const LEAST: f64 = 0.0005;
const MOST: f64 = 1.0 - LEAST;
/// A test that was flaky when it was last hunted may have been mended since.
const KNOWN: f64 = 0.8;
/// From so many known flaky tests on, their rates say more than those of other projects.
const ENOUGH_RATES: usize = 20;

/// How likely each test is flaky, and a victim, in the suite's order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Priors {
    /// In any order.
    pub(super) flaky: Vec<f64>,
    /// By the order.
    pub(super) victim: Vec<f64>,
}

impl Priors {
    /// A forest knows a test by what it does, which is better than by its source.
    pub(super) fn from_opinions(by_source: &BySource, by_features: &ByFeatures) -> Self {
        let (nod, victim) =
            (by_features.on(cannier::Problem::Nod), by_features.on(cannier::Problem::Victim));
        let likely = |said: Option<&ForestSays>, at: usize| {
            let answer: Answer = (*said?.answers.get(at)?)?;
            Some(answer.probability)
        };
        let flaky = |(at, by_source): (usize, &f64)| likely(nod, at).unwrap_or(*by_source);
        let tests = by_source.flaky.iter().enumerate();
        Self {
            flaky: tests.clone().map(flaky).map(doubtful).collect(),
            victim: tests.map(|(at, _)| doubtful(likely(victim, at).unwrap_or(VICTIMS))).collect(),
        }
    }

    /// Tests that a hunt found flaky before most likely still are.
    pub(super) fn recall(&mut self, suite: &Suite, known: &[KnownFlaky]) {
        let kinds: HashMap<&TestId, Option<FlakyKind>> =
            known.iter().map(|it| (&it.test.id, it.test.kind)).collect();
        for (at, test) in suite.tests.iter().enumerate() {
            let prior = match kinds.get(&test.id) {
                Some(Some(FlakyKind::Nod)) => self.flaky.get_mut(at),
                Some(Some(FlakyKind::Victim | FlakyKind::Brittle)) => self.victim.get_mut(at),
                // Reruns and other orders of tests do not show it.
                Some(Some(FlakyKind::Id) | None) | None => None,
            };
            if let Some(prior) = prior {
                *prior = prior.max(KNOWN);
            }
        }
    }

    /// The forecast of a plan for this suite.
    pub(super) fn forecast(self, suite: &Suite, rates: &[f64], may_stay_hidden: f64) -> Forecast {
        Forecast {
            flaky: self.flaky,
            victim: self.victim,
            kin: suite.tests.iter().map(|test| groups_of(&test.id)).collect(),
            rates: if rates.is_empty() {
                FailureRates::known()
            } else {
                FailureRates::learned(rates.iter().copied())
            },
            may_stay_hidden,
        }
    }
}

fn doubtful(probability: f64) -> f64 {
    probability.clamp(LEAST, MOST)
}

/// How often known flaky tests fail, if enough are known.
pub(super) fn known_rates(known: &[KnownFlaky]) -> Vec<f64> {
    let nod = known.iter().map(|it| &it.test).filter(|it| it.kind == Some(FlakyKind::Nod));
    let measured = nod.filter(|test| test.telling().runs > 0);
    // Four digits are more than is known, and the same when they are read back.
    let rates: Vec<f64> =
        measured.map(|test| (test.rate().mean * 10_000.0).round() / 10_000.0).collect();
    if rates.len() >= ENOUGH_RATES { rates } else { Vec::new() }
}

/// The group of all tests.
const SUITE: &str = "suite";

/// The groups of a test, the outermost first: suite, folder, file, and class if it has one.
pub(super) fn groups_of(test: &TestId) -> Vec<String> {
    let id = without_parameters(test.as_str());
    let (file, names) = id.split_once("::").unwrap_or((id, ""));
    let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let mut groups = vec![SUITE.to_owned(), format!("{folder}/"), file.to_owned()];
    groups.extend(names.rsplit_once("::").map(|(class, _)| format!("{file}::{class}")));
    groups
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{HuntRecord, HuntedTest, SuiteTest, Tally};

    use super::*;

    fn by_source(flaky: &[f64]) -> BySource {
        BySource {
            flaky: flaky.to_vec(),
            written: flaky.iter().map(|_| None).collect(),
            is_suspicious: vec![false; flaky.len()],
            model: String::new(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn without_forests_the_source_speaks_and_victims_are_as_rare_as_elsewhere() {
        let priors = Priors::from_opinions(&by_source(&[0.2, 0.0]), &ByFeatures::default());
        assert_eq!(priors.flaky, [0.2, LEAST]);
        assert!(priors.victim.iter().all(|it| (it - 0.0113).abs() < 0.0001), "{priors:?}");
    }

    #[test]
    fn a_forest_replaces_the_source_of_tests_that_were_measured() {
        let forests = ByFeatures::default()
            .with(cannier::Problem::Nod, &[Some(0.9), None])
            .with(cannier::Problem::Victim, &[None, Some(1.0)]);
        let priors = Priors::from_opinions(&by_source(&[0.2, 0.3]), &forests);
        assert_eq!(priors.flaky, [0.9, 0.3]);
        assert_eq!(priors.victim, [VICTIMS, MOST]);
    }

    fn known(id: &str, kind: FlakyKind, failures: u32) -> KnownFlaky {
        let mut test = HuntedTest::new(id.into(), None);
        test.kind = Some(kind);
        test.baseline = Tally { runs: 10, failures };
        let text = String::new;
        let hunt = HuntRecord {
            id: text(),
            started: text(),
            command: Vec::new(),
            fingerprint: text(),
            seed: text(),
            settings: text(),
            version: text(),
        };
        KnownFlaky { hunt, test }
    }

    #[test]
    fn few_known_tests_say_nothing_about_how_often_flaky_tests_fail() {
        let one = |number: u32| known(&format!("test_{number}"), FlakyKind::Nod, 1 + number % 3);
        let rates = |many: u32| known_rates(&(0..many).map(one).collect::<Vec<_>>()).len();
        assert_eq!((rates(19), rates(20)), (0, 20));
    }

    #[test]
    fn who_was_flaky_before_is_expected_to_be() {
        let test = |id: &str| SuiteTest { id: id.into(), location: None };
        let suite = Suite { tests: ["a", "b", "c"].map(test).to_vec(), problems: Vec::new() };
        let mut priors =
            Priors::from_opinions(&by_source(&[0.9, 0.1, 0.1]), &ByFeatures::default());
        let hunted = [known("a", FlakyKind::Nod, 1), known("c", FlakyKind::Brittle, 1)];
        priors.recall(&suite, &hunted);
        assert_eq!(priors.flaky, [0.9, 0.1, 0.1]);
        assert_eq!(priors.victim, [VICTIMS, VICTIMS, KNOWN]);
    }

    #[test]
    fn a_test_stands_in_its_class_its_file_its_folder_and_the_suite() {
        let groups = groups_of(&"tests/a/test_x.py::TestA::test_b[1::2]".into());
        let class = "tests/a/test_x.py::TestA";
        assert_eq!(groups, ["suite", "tests/a/", "tests/a/test_x.py", class]);
    }

    #[test]
    fn a_test_without_a_class_stands_in_its_file() {
        assert_eq!(groups_of(&"test_x.py::test_b".into()), ["suite", "./", "test_x.py"]);
    }
}
