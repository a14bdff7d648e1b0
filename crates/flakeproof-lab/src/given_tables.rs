//! Tables that the cost model is given: who changes whose outcome, and what some model says.
//!
//! Pairs have the columns `project`, `polluter` and `victim`. A pair is listed when the victim
//! behaves otherwise right after the polluter than alone; a test that stands in no pair as a polluter
//! is none, unless the table of outcomes says so.
//!
//! Probabilities stand instead of features to learn from. Their columns are `project`, `test`,
//! `problem` (`nod`, `nod-vs-victim`, `victim` or `polluter`), `probability`, and where wanted
//! `repeat` (1 if there is one set of answers only), `runs` (over how many runs features were
//! averaged: 1 unless said, 0 for a model that needs no run) and `seconds` (what a run of the test
//! costs).

use std::collections::{BTreeMap, HashSet};

use flakeproof_learn::cannier::{
    Answers, AnswersError, AskedTest, CostSource, CsvError, KnownTest, Label, Problem, Suites,
    TableColumns, TimedTest,
};
use serde::Deserialize;

/// A victim and one of its polluters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownPair {
    /// The project of both.
    pub project: String,
    /// The test that changes the outcome of the other.
    pub polluter: String,
    /// The test whose outcome changes.
    pub victim: String,
}

/// What some model says about a test.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenProbability {
    /// The project of the test.
    pub project: String,
    /// Its id.
    pub test: String,
    /// The question.
    pub problem: Problem,
    /// The probability that it is positive.
    pub probability: f64,
    /// The set of answers that this one belongs to.
    pub repeat: u32,
    /// Over how many runs features were averaged.
    pub runs: u32,
    /// What one run of the test costs.
    pub seconds: Option<f64>,
}

/// Why given probabilities are no answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GivenAnswersError {
    /// They are too few, or all of one kind.
    #[error(transparent)]
    Answers(#[from] AnswersError),
    /// A test lacks some repetition.
    #[error("`{test}` has no probability for `{problem}` in repeat {repeat} of {runs} runs")]
    Uneven {
        /// The test.
        test: String,
        /// The problem.
        problem: &'static str,
        /// The repetition.
        repeat: u32,
        /// Over how many runs features were averaged.
        runs: u32,
    },
}

#[derive(Debug, Deserialize)]
struct PairLine {
    #[serde(default)]
    project: String,
    polluter: String,
    victim: String,
}

const PAIR_COLUMNS: TableColumns = TableColumns {
    what: "pairs",
    known: &["project", "polluter", "victim"],
    needed: &["polluter", "victim"],
};

/// Read a table of pairs.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_pairs(text: &str) -> Result<Vec<KnownPair>, CsvError> {
    PAIR_COLUMNS.read(text, |line: PairLine| {
        if line.polluter == line.victim {
            return Err(format!("`{}` cannot be its own polluter", line.victim));
        }
        Ok(KnownPair { project: line.project, polluter: line.polluter, victim: line.victim })
    })
}

/// Say of each test whether it pollutes, where that is not known otherwise.
pub fn tell_polluters(known: &mut [KnownTest], pairs: &[KnownPair]) {
    let polluters: HashSet<(&str, &str)> =
        pairs.iter().map(|pair| (pair.project.as_str(), pair.polluter.as_str())).collect();
    for it in known {
        let pollutes = polluters.contains(&(it.project.as_str(), it.test.as_str()));
        it.outcomes.pollutes.get_or_insert(pollutes);
    }
}

#[derive(Debug, Deserialize)]
struct ProbabilityLine {
    #[serde(default)]
    project: String,
    test: String,
    problem: Problem,
    probability: f64,
    repeat: Option<u32>,
    runs: Option<u32>,
    seconds: Option<f64>,
}

const PROBABILITY_COLUMNS: TableColumns = TableColumns {
    what: "probabilities",
    known: &["project", "test", "problem", "probability", "repeat", "runs", "seconds"],
    needed: &["test", "problem", "probability"],
};

/// Read a table of probabilities.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_probabilities(text: &str) -> Result<Vec<GivenProbability>, CsvError> {
    PROBABILITY_COLUMNS.read(text, |line: ProbabilityLine| {
        if !(0.0..=1.0).contains(&line.probability) {
            return Err(format!("the probability {} is not from 0 to 1", line.probability));
        }
        if line.seconds.is_some_and(|seconds| !seconds.is_finite() || seconds < 0.0) {
            return Err("`seconds` is no time".to_owned());
        }
        Ok(GivenProbability {
            project: line.project,
            test: line.test,
            problem: line.problem,
            probability: line.probability,
            repeat: line.repeat.unwrap_or(1),
            runs: line.runs.unwrap_or(1),
            seconds: line.seconds,
        })
    })
}

/// The tests of a table of probabilities, each run at the cost that it gives.
#[must_use]
pub fn given_suites(given: &[GivenProbability], known: &[KnownTest]) -> Suites {
    let timed = given.iter().map(|it| TimedTest {
        project: &it.project,
        test: &it.test,
        seconds: it.seconds,
    });
    Suites::new(timed, known, CostSource::Given)
}

/// The answers in a table of probabilities. Tests whose truth is not known are left out.
///
/// # Errors
/// When nothing is left, or a test lacks an answer that another one has.
pub fn given_answers(
    problem: Problem,
    given: &[GivenProbability],
    suites: &Suites,
) -> Result<Answers, GivenAnswersError> {
    let mut told: BTreeMap<(u32, u32), BTreeMap<usize, f64>> = BTreeMap::new();
    let mut asked: BTreeMap<usize, bool> = BTreeMap::new();
    for line in given.iter().filter(|line| line.problem == problem) {
        let Some(at) = suites.find(&line.project, &line.test) else { continue };
        let is_positive = match problem.label(&suites.tests[at].outcomes) {
            Label::Positive => true,
            Label::Negative => false,
            Label::Outside | Label::Unknown => continue,
        };
        asked.insert(at, is_positive);
        told.entry((line.runs, line.repeat)).or_default().insert(at, line.probability);
    }
    let mut by_runs: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
    for ((runs, repeat), of_test) in told {
        let probabilities = asked.keys().map(|at| {
            of_test.get(at).copied().ok_or_else(|| GivenAnswersError::Uneven {
                test: suites.tests[*at].test.clone(),
                problem: problem.word(),
                repeat,
                runs,
            })
        });
        by_runs.entry(runs).or_default().push(probabilities.collect::<Result<_, _>>()?);
    }
    let asked = asked.into_iter().map(|(at, is_positive)| AskedTest { at, is_positive }).collect();
    Ok(Answers::new(problem, asked, by_runs)?)
}

#[cfg(test)]
mod tests {
    use flakeproof_learn::cannier::TestOutcomes;

    use super::*;

    #[test]
    fn pairs_tell_who_pollutes_where_outcomes_do_not() {
        let pairs = read_pairs("project,polluter,victim\np,a,b\np,a,c\n").expect("two pairs");
        let test = |project: &str, test: &str, pollutes| KnownTest {
            project: project.into(),
            test: test.into(),
            outcomes: TestOutcomes { pollutes, ..TestOutcomes::default() },
        };
        let mut known = [
            test("p", "a", None),
            test("p", "b", None),
            test("q", "a", None),
            test("p", "c", Some(true)),
        ];
        tell_polluters(&mut known, &pairs);
        let said = known.map(|it| it.outcomes.pollutes);
        assert_eq!(said, [Some(true), Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn nobody_pollutes_itself() {
        let error = read_pairs("polluter,victim\na,a\n").expect_err("it is wrong").to_string();
        assert_eq!(error, "line 2: `a` cannot be its own polluter");
        let error = read_pairs("polluter\na\n").expect_err("it is wrong").to_string();
        assert_eq!(error, "there is no column `victim` in the first line");
    }

    #[test]
    fn what_is_not_said_is_one_set_of_answers_from_one_run() {
        let text = "project,test,problem,probability\np,a,nod-vs-victim,0.25\n";
        let read = read_probabilities(text).expect("one line");
        assert_eq!((read[0].problem, read[0].probability), (Problem::NodVsVictim, 0.25));
        assert_eq!((read[0].repeat, read[0].runs, read[0].seconds), (1, 1, None));
    }

    #[test]
    fn what_is_wrong_with_probabilities_is_named() {
        let error = |text: &str| read_probabilities(text).expect_err("it is wrong").to_string();
        let head = "test,problem,probability";
        let too_high = error(&format!("{head}\na,nod,1.5\n"));
        assert_eq!(too_high, "line 2: the probability 1.5 is not from 0 to 1");
        assert!(error(&format!("{head}\na,nod,high\n")).starts_with("line 2: "));
        assert!(error(&format!("{head}\na,odd,0.5\n")).contains("odd"));
        assert!(error(&format!("{head},seconds\na,nod,0.5,-1\n")).contains("`seconds` is no time"));
        assert_eq!(
            error("test,problem\na,nod\n"),
            "there is no column `probability` in the first line"
        );
        assert!(error(&format!("{head},colour\na,nod,1,red\n")).contains("colour"));
    }
}
