//! Tests with their features and what is true about them: what a forest learns from.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use flakeproof_core::{Feature, Seed};

use super::problem::{Label, Problem};
use super::tables::{KnownTest, MeasuredTest};
use crate::chance::Chance;
use crate::forest::{Table, TableError};

/// Tests with their features and their labels for one problem.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The problem.
    pub problem: Problem,
    /// The features that are known for at least one test, in the order of Table 1.
    pub features: Vec<Feature>,
    /// The names of the projects.
    pub projects: Vec<String>,
    tests: Vec<LabelledRow>,
    /// The vectors of all tests, one test after the other.
    vectors: Vec<Vector>,
    /// Measured tests whose label is not known, and that are therefore left out.
    pub without_label: usize,
}

#[derive(Debug, Clone)]
struct LabelledRow {
    project: u32,
    test: String,
    is_positive: bool,
    /// Its vectors.
    runs: Range<usize>,
}

/// The features of a test in one run, as forests keep them: a missing one is not a number.
#[derive(Debug, Clone, Copy)]
struct Vector {
    run: u32,
    values: [f32; Feature::ALL.len()],
}

impl Vector {
    fn from_measured(measured: &MeasuredTest) -> Self {
        Self { run: measured.run, values: measured.features.values().map(single) }
    }
}

/// Over which runs features are averaged (Equation 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Over all.
    All,
    /// Over so many of each project's runs, drawn without putting back.
    Drawn {
        /// How many.
        runs: usize,
        /// The seed of the draw.
        seed: Seed,
    },
}

/// Why features and outcomes make no data set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatasetError {
    /// No test was measured.
    #[error("no test was measured")]
    Empty,
    /// No measured test has outcomes.
    #[error("none of the {measured} measured tests has outcomes (`{example}`, for example)")]
    NothingInCommon {
        /// How many tests were measured.
        measured: usize,
        /// One of them.
        example: String,
    },
    /// The outcomes do not say what the problem asks.
    #[error("the outcomes of {tests} tests do not tell {what}")]
    Unobserved {
        /// How many tests.
        tests: usize,
        /// What they do not tell.
        what: &'static str,
    },
    /// Tests were measured, but no value of any feature is known.
    #[error("no feature of the {tests} tests is known")]
    NoFeature {
        /// How many tests.
        tests: usize,
    },
    /// All tests have the same label.
    #[error("{positive} of {tests} tests are positive, and a model needs both kinds")]
    OneClass {
        /// How many tests.
        tests: usize,
        /// How many of them are positive.
        positive: usize,
    },
}

impl Dataset {
    /// Join features and outcomes by project and test.
    ///
    /// # Errors
    /// When they have nothing in common, or do not tell both kinds of tests.
    pub fn join(
        problem: Problem,
        measured: &[MeasuredTest],
        known: &[KnownTest],
    ) -> Result<Self, DatasetError> {
        let labels: HashMap<(&str, &str), Label> = known
            .iter()
            .map(|it| ((it.project.as_str(), it.test.as_str()), problem.label(&it.outcomes)))
            .collect();
        let mut sorted: Vec<&MeasuredTest> = measured.iter().collect();
        sorted.sort_by(|a, b| (&a.project, &a.test, a.run).cmp(&(&b.project, &b.test, b.run)));
        let mut data = Self {
            problem,
            features: Vec::new(),
            projects: Vec::new(),
            tests: Vec::new(),
            vectors: Vec::new(),
            without_label: 0,
        };
        let mut tests = Counts::default();
        for of_test in sorted.chunk_by(|a, b| a.project == b.project && a.test == b.test) {
            let label = labels.get(&(of_test[0].project.as_str(), of_test[0].test.as_str()));
            tests.measured += 1;
            match label {
                Some(Label::Positive) => data.push(of_test, true),
                Some(Label::Negative) => data.push(of_test, false),
                Some(Label::Outside) => {}
                Some(Label::Unknown) => tests.unknown += 1,
                None => data.without_label += 1,
            }
        }
        data.without_label += tests.unknown;
        data.features = data.known_features();
        data.check(tests, sorted.first().map(|it| it.test.as_str()))?;
        Ok(data)
    }

    /// Take in a test with all its runs.
    fn push(&mut self, of_test: &[&MeasuredTest], is_positive: bool) {
        let project = &of_test[0].project;
        if self.projects.last() != Some(project) {
            self.projects.push(project.clone());
        }
        let start = self.vectors.len();
        // Of two lines for the same run the last one counts.
        let runs = of_test.chunk_by(|a, b| a.run == b.run).filter_map(<[_]>::last);
        self.vectors.extend(runs.map(|measured| Vector::from_measured(measured)));
        self.tests.push(LabelledRow {
            project: u32::try_from(self.projects.len() - 1).unwrap_or(u32::MAX),
            test: of_test[0].test.clone(),
            is_positive,
            runs: start..self.vectors.len(),
        });
    }

    fn known_features(&self) -> Vec<Feature> {
        let is_known = |feature: &Feature| {
            self.vectors.iter().any(|vector| !vector.values[*feature as usize].is_nan())
        };
        Feature::ALL.into_iter().filter(is_known).collect()
    }

    /// Whether there is something to learn, and if not, why.
    fn check(&self, tests: Counts, example: Option<&str>) -> Result<(), DatasetError> {
        let example = example.ok_or(DatasetError::Empty)?.to_owned();
        let positive = self.labels().iter().filter(|it| **it).count();
        if self.is_empty() && tests.unknown > 0 {
            return Err(DatasetError::Unobserved {
                tests: tests.unknown,
                what: needed(self.problem),
            });
        }
        if self.is_empty() && self.without_label == tests.measured {
            return Err(DatasetError::NothingInCommon { measured: tests.measured, example });
        }
        if self.features.is_empty() && !self.is_empty() {
            return Err(DatasetError::NoFeature { tests: self.len() });
        }
        if positive == 0 || positive == self.len() {
            return Err(DatasetError::OneClass { tests: self.len(), positive });
        }
        Ok(())
    }

    /// How many tests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tests.len()
    }

    /// Whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Which tests are positive.
    #[must_use]
    pub fn labels(&self) -> Vec<bool> {
        self.tests.iter().map(|test| test.is_positive).collect()
    }

    /// The number of the project of each test.
    #[must_use]
    pub fn project_numbers(&self) -> Vec<u32> {
        self.tests.iter().map(|test| test.project).collect()
    }

    /// The most runs in which the features of a test were measured (`N_F`).
    #[must_use]
    pub fn most_runs(&self) -> usize {
        self.tests.iter().map(|test| test.runs.len()).max().unwrap_or_default()
    }

    /// The ids of the tests.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().map(|test| test.test.as_str())
    }

    /// The features of all tests, a row each, averaged over some runs.
    ///
    /// # Errors
    /// When a value is too large for single precision.
    pub fn table(&self, sample: Sample) -> Result<Table, TableError> {
        let drawn = self.drawn(sample);
        let column = |feature: &Feature| {
            let means = self.tests.iter().map(|test| {
                let drawn = &drawn[test.project as usize];
                let runs = self.vectors[test.runs.clone()].iter();
                mean(
                    runs.filter(|it| drawn.contains(&it.run))
                        .map(|it| it.values[*feature as usize]),
                )
            });
            means.collect()
        };
        Table::from_columns(self.features.iter().map(column).collect())
    }

    /// The runs of each project that were drawn.
    fn drawn(&self, sample: Sample) -> Vec<BTreeSet<u32>> {
        let mut all = vec![BTreeSet::new(); self.projects.len()];
        for test in &self.tests {
            let runs = self.vectors[test.runs.clone()].iter().map(|vector| vector.run);
            all[test.project as usize].extend(runs);
        }
        let Sample::Drawn { runs: wanted, seed } = sample else { return all };
        all.into_iter()
            .zip(&self.projects)
            .map(|(runs, project)| {
                let mut runs: Vec<u32> = runs.into_iter().collect();
                Chance::new(seed.split(project)).shuffle(&mut runs);
                runs.into_iter().take(wanted.max(1)).collect()
            })
            .collect()
    }

    /// A digest of everything in it.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.problem.word().as_bytes());
        for test in &self.tests {
            let place = [&self.projects[test.project as usize], &test.test];
            place.iter().for_each(|text| {
                hasher.update(text.as_bytes()).update(b"\n");
            });
            hasher.update(&[u8::from(test.is_positive)]);
            for vector in &self.vectors[test.runs.clone()] {
                hasher.update(&vector.run.to_le_bytes());
                hasher.update(bytemuck::cast_slice(&vector.values));
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// How many tests were measured, and of how many the answer was not observed.
#[derive(Clone, Copy, Default)]
struct Counts {
    measured: usize,
    unknown: usize,
}

/// The mean of the values that are known.
fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut known) = (0.0, 0u32);
    for value in values.filter(|value| !value.is_nan()) {
        sum += f64::from(value);
        known += 1;
    }
    single((known > 0).then(|| sum / f64::from(known)))
}

/// A value as forests keep it; missing is not a number.
pub(super) fn single(value: Option<f64>) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "forests work in single precision")]
    let single = value.unwrap_or(f64::NAN) as f32;
    single
}

fn needed(problem: Problem) -> &'static str {
    match problem {
        Problem::Nod => "how they fared in several runs in the suite's own order",
        Problem::NodVsVictim | Problem::Victim => "how they fared in shuffled orders",
        Problem::Polluter => "whether they pollute",
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Features, Tally};

    use super::super::problem::TestOutcomes;
    use super::*;

    fn measured(test: &str, run: u32, lines: f64) -> MeasuredTest {
        let mut features = Features::default();
        features.set(Feature::CoveredLines, Some(lines));
        MeasuredTest { project: "p".into(), test: test.into(), run, features }
    }

    fn known(test: &str, failures: u32) -> KnownTest {
        let baseline = Tally { runs: 5, failures };
        let outcomes = TestOutcomes { baseline, ..TestOutcomes::default() };
        KnownTest { project: "p".into(), test: test.into(), outcomes }
    }

    #[test]
    fn features_and_outcomes_meet_by_test() {
        let tests = [
            measured("b", 1, 4.0),
            measured("a", 1, 1.0),
            measured("a", 2, 2.0),
            measured("c", 1, 0.0),
        ];
        let data = Dataset::join(Problem::Nod, &tests, &[known("a", 2), known("b", 0)])
            .expect("two tests");
        assert_eq!(data.ids().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(data.labels(), [true, false]);
        assert_eq!(data.features, [Feature::CoveredLines]);
        assert_eq!(data.without_label, 1);
        let table = data.table(Sample::All).expect("small numbers");
        assert_eq!(table.columns()[0], [1.5, 4.0]);
    }

    #[test]
    fn drawn_runs_are_as_many_as_asked_for_and_the_same_for_the_same_seed() {
        let tests: Vec<_> = (1..=9)
            .flat_map(|run| [measured("a", run, f64::from(run)), measured("b", run, 0.0)])
            .collect();
        let data = Dataset::join(Problem::Nod, &tests, &[known("a", 2), known("b", 0)])
            .expect("two tests");
        let drawn = |seed| data.table(Sample::Drawn { runs: 1, seed: Seed(seed) }).expect("small");
        let values: Vec<f32> = (0..20).map(|seed| drawn(seed).columns()[0][0]).collect();
        assert!(values.iter().all(|value| value.fract() == 0.0), "one run each: {values:?}");
        assert!(values.iter().any(|value| *value != values[0]), "{values:?}");
        assert_eq!(drawn(3), drawn(3));
    }

    #[test]
    fn a_project_counts_where_an_answer_of_it_is_known() {
        let mut other = measured("a", 1, 1.0);
        other.project = "other".into();
        let tests = [other, measured("a", 1, 1.0), measured("b", 1, 4.0)];
        let data = Dataset::join(Problem::Nod, &tests, &[known("a", 2), known("b", 0)])
            .expect("two tests");
        assert_eq!(data.projects, ["p"]);
        assert_eq!(data.project_numbers(), [0, 0]);
    }

    #[test]
    fn what_is_missing_is_said() {
        let a = [measured("a", 1, 1.0)];
        let error = |problem, known: &[KnownTest]| {
            Dataset::join(problem, &a, known).expect_err("too little").to_string()
        };
        assert_eq!(
            error(Problem::Nod, &[]),
            "none of the 1 measured tests has outcomes (`a`, for example)"
        );
        assert_eq!(
            error(Problem::Victim, &[known("a", 1)]),
            "the outcomes of 1 tests do not tell how they fared in shuffled orders"
        );
        assert_eq!(
            error(Problem::Nod, &[known("a", 1)]),
            "1 of 1 tests are positive, and a model needs both kinds"
        );
    }
}
