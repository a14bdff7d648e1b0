//! What is on record about tests, by hunts, experiments and verdicts. It beats what a model guesses: a test
//! that something is known about is never told to look fine.

use std::collections::BTreeMap;
use std::path::Path;

use flakeproof_core::{
    History, HistoryError, Notice, Prediction, Predictions, Standing, TestId, Verdict,
};

use crate::problem::Problem;
use crate::session::history;
use crate::settings::StoreName;
use crate::source::source_tests::without_parameters;

/// What is known of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownTest {
    /// In one word: the kind that a hunt found, `flaky`, `latent`, or the standing that its runs come to.
    word: String,
    is_flaky: bool,
    /// What an experiment proved to make it fail.
    category: Option<String>,
}

/// What is known of tests, by the id of their function: its cases are one test in the source.
#[derive(Debug, Default)]
pub(crate) struct KnownTests {
    tests: BTreeMap<String, KnownTest>,
}

/// Add what hunts, experiments and runs have shown. A history that cannot be read is a notice: nothing
/// depends on it here.
pub(crate) fn add_known(
    predictions: &mut Predictions,
    store: Option<&StoreName>,
    folder: &Path,
) -> Result<(), Problem> {
    let history = match store {
        // Who names a history wants that one.
        Some(_) => history::find(store, folder)?,
        None => match history::hint(folder) {
            Ok(history) => history,
            Err(problem) => {
                predictions.notices.push(Notice { what: problem.what, next: problem.next });
                return Ok(());
            }
        },
    };
    let Some(history) = history else { return Ok(()) };
    match KnownTests::read(&*history) {
        Ok(known) => predictions.tests.iter_mut().for_each(|test| known.add_to(test)),
        Err(error) => {
            let Problem { what, next, .. } = history::unreadable(&error);
            predictions.notices.push(Notice { what, next });
        }
    }
    Ok(())
}

impl KnownTests {
    /// What a history knows.
    pub(crate) fn read(history: &dyn History) -> Result<Self, HistoryError> {
        let (hunted, scores) = history::hunted_and_scores(history)?;
        let standings: BTreeMap<&TestId, Standing> =
            scores.tests.iter().map(|it| (&it.test, it.standing)).collect();
        let is_mended = |test: &TestId| standings.get(test) == Some(&Standing::Mended);
        let mut known = Self::default();
        for (test, standing) in &standings {
            match standing {
                Standing::Flaky => known.add(test, standing.word(), true),
                Standing::Broken | Standing::Unexplained | Standing::Mended => {
                    known.add(test, standing.word(), false);
                }
                Standing::Steady => {}
            }
        }
        for (test, findings) in history.past_findings()? {
            let verdicts = || findings.iter().map(|it| it.verdict);
            let was_flaky = verdicts().any(|it| matches!(it, Verdict::Flaky | Verdict::NewlyFlaky));
            match verdicts().next() {
                Some(_) if was_flaky && !is_mended(&test) => known.add(&test, "flaky", true),
                // It failed, and was not to blame.
                Some(verdict) if known.get(&test).is_none() => {
                    known.add(&test, verdict.word(), false);
                }
                Some(_) | None => {}
            }
        }
        for record in history.causes()? {
            let Some(cause) = record.found.filter(|it| it.answer.is_cause()) else { continue };
            if is_mended(&cause.test) {
                continue;
            }
            if !known.is_flaky(&cause.test) {
                let fails_by_itself = cause.plain.failures > 0;
                known.add(&cause.test, if fails_by_itself { "flaky" } else { "latent" }, true);
            }
            if let Some(known) = known.tests.get_mut(without_parameters(cause.test.as_str())) {
                known.category = cause.category.or(known.category.take());
            }
        }
        // The kind says more than that it is flaky.
        for it in hunted {
            known.add(&it.test.id, it.test.kind.map_or("flaky", |kind| kind.word()), true);
        }
        Ok(known)
    }

    fn get(&self, test: &TestId) -> Option<&KnownTest> {
        self.tests.get(without_parameters(test.as_str()))
    }

    fn is_flaky(&self, test: &TestId) -> bool {
        self.get(test).is_some_and(|it| it.is_flaky)
    }

    /// A test is flaky if one of its cases is; of two words for that the later one stays.
    fn add(&mut self, test: &TestId, word: &str, is_flaky: bool) {
        let id = without_parameters(test.as_str()).to_owned();
        let before = self.tests.get(&id);
        if before.is_some_and(|it| it.is_flaky && !is_flaky) {
            return;
        }
        let category = before.and_then(|it| it.category.clone());
        self.tests.insert(id, KnownTest { word: word.to_owned(), is_flaky, category });
    }

    /// Say it in a prediction.
    pub(crate) fn add_to(&self, test: &mut Prediction) {
        let id = without_parameters(test.id.as_str());
        // Runners for JavaScript put `::` between a file and a test, and their reports ` > `.
        let found = self.tests.get(id).or_else(|| self.tests.get(&id.replacen(" > ", "::", 1)));
        let Some(known) = found else { return };
        test.known = Some(known.word.clone());
        test.flaky |= known.is_flaky;
        test.category = known.category.clone().or(test.category.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(words: &[(&str, &str, bool)]) -> KnownTests {
        let mut known = KnownTests::default();
        words.iter().for_each(|(test, word, is_flaky)| known.add(&(*test).into(), word, *is_flaky));
        known
    }

    fn word(known: &KnownTests, test: &str) -> Option<(String, bool)> {
        known.tests.get(test).map(|it| (it.word.clone(), it.is_flaky))
    }

    #[test]
    fn one_flaky_case_makes_the_test_flaky_whatever_the_others_are() {
        let cases = [("a.py::t[1]", "mended", false), ("a.py::t[2]", "flaky", true)];
        for words in [cases, [cases[1], cases[0]]] {
            assert_eq!(word(&known(&words), "a.py::t"), Some(("flaky".to_owned(), true)));
        }
    }

    #[test]
    fn the_kind_of_a_hunt_is_the_word_that_stays() {
        let known = known(&[("a.py::t", "flaky", true), ("a.py::t", "victim", true)]);
        assert_eq!(word(&known, "a.py::t"), Some(("victim".to_owned(), true)));
    }
}
