//! What comes out for each project at one point of the grid: a line of CANNIER's tables 8 to 10.
//!
//! [`Technique`] names the three techniques that CANNIER makes cheaper. Two of them are a
//! [`Delegation`] of single tests, whose lines are made here; the third is
//! [`pairwise`](crate::pairwise).

use flakeproof_core::{Region, Thresholds};
use flakeproof_learn::cannier::{AskedTest, Delegation, Problem};
use flakeproof_learn::evaluate::Confusion;

use crate::real;

/// A way to find flaky tests by running them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Technique {
    /// Run a test until its outcome changes.
    Rerun,
    /// Classify a test that failed in some order, as iDFlakies does.
    Classification,
    /// Run each test before each other.
    Pairwise,
}

/// What comes out for a project, or for all: the mean over the repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectTrade {
    /// The project.
    pub project: String,
    /// What is found.
    pub found: FoundCounts,
    /// MCC, or the share of pairs that are found. As in the paper, `None` where it is not defined
    /// in every repetition; for all projects together it then counts 0 there, as on the grid.
    pub performance: Option<f64>,
    /// Seconds at the point, collecting the features included.
    pub cost: f64,
    /// Seconds of the technique without a model.
    pub original: f64,
}

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FoundCounts {
    /// Tests, by what is said and what is true.
    Tests {
        /// Negative and said so.
        true_negatives: f64,
        /// Positive and missed.
        false_negatives: f64,
        /// Negative and accused.
        false_positives: f64,
        /// Positive and found.
        true_positives: f64,
    },
    /// Pairs of victims and polluters.
    Pairs {
        /// Those among the candidates.
        found: f64,
        /// All.
        all: usize,
    },
}

impl Technique {
    /// Every technique, in the order of the paper.
    pub const ALL: [Self; 3] = [Self::Rerun, Self::Classification, Self::Pairwise];

    /// The technique as it is typed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Classification => "idfclass",
            Self::Pairwise => "pairwise",
        }
    }

    /// The technique as the paper calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rerun => "RERUN",
            Self::Classification => "iDFClass",
            Self::Pairwise => "PAIRWISE",
        }
    }

    /// How its performance is measured: by correlation, or by the share of pairs that are found.
    #[must_use]
    pub fn measure(self) -> &'static str {
        match self {
            Self::Rerun | Self::Classification => "MCC",
            Self::Pairwise => "TPR",
        }
    }

    /// The problems whose models it needs.
    #[must_use]
    pub fn problems(self) -> &'static [Problem] {
        match self {
            Self::Rerun => &[Problem::Nod],
            Self::Classification => &[Problem::NodVsVictim],
            Self::Pairwise => &[Problem::Victim, Problem::Polluter],
        }
    }
}

/// A delegation at one point of the grid: its thresholds, and over how many runs features are
/// averaged.
#[derive(Debug, Clone, Copy)]
pub struct DelegationPoint<'a> {
    /// The delegation.
    pub delegation: &'a Delegation<'a>,
    /// The thresholds.
    pub thresholds: Thresholds,
    /// The number of runs; 0 where no model is asked.
    pub runs: u32,
}

impl DelegationPoint<'_> {
    /// Each project with a test to ask about, then all of them as `all`.
    #[must_use]
    pub fn by_project(&self) -> Vec<ProjectTrade> {
        let Delegation { projects, names, suite_seconds, .. } = self.delegation;
        let mut lines: Vec<ProjectTrade> = (0..names.len())
            .filter(|project| projects.binary_search(project).is_ok())
            .map(|project| {
                let counts = |row: usize| projects[row] == project;
                self.line(&names[project], &counts, suite_seconds[project])
            })
            .collect();
        let all = self.line("all", &|_| true, suite_seconds.iter().sum());
        // As on the grid, so that the line says what the point says.
        let performance = all.performance.or_else(|| Some(self.mcc_of_all()));
        lines.push(ProjectTrade { performance, ..all });
        lines
    }

    /// The line of the tests that count, whose suites take so many seconds together.
    fn line(&self, name: &str, counts: &dyn Fn(usize) -> bool, suite_seconds: f64) -> ProjectTrade {
        let prices = &self.delegation.prices;
        let rows: Vec<usize> = (0..prices.len()).filter(|row| counts(*row)).collect();
        let certain = [vec![0.0; prices.len()]];
        let repeats = match self.delegation.answers.repeats_of(self.runs) {
            // Without a model, whatever it says lies in the ambiguous region.
            [] => &certain[..],
            repeats => repeats,
        };
        let ends: Vec<(Confusion, f64)> = repeats.iter().map(|it| self.decide(&rows, it)).collect();
        let mean_of = |count: fn(&Confusion) -> usize| {
            mean(&ends.iter().map(|(it, _)| real(count(it))).collect::<Vec<_>>())
        };
        let mcc: Vec<Option<f64>> = ends.iter().map(|(it, _)| it.defined_mcc()).collect();
        let delegated = mean(&ends.iter().map(|(_, cost)| *cost).collect::<Vec<_>>());
        ProjectTrade {
            project: name.to_owned(),
            found: FoundCounts::Tests {
                true_negatives: mean_of(|it| it.true_negatives),
                false_negatives: mean_of(|it| it.false_negatives),
                false_positives: mean_of(|it| it.false_positives),
                true_positives: mean_of(|it| it.true_positives),
            },
            performance: mean_if_all(&mcc),
            cost: f64::from(self.runs) * suite_seconds + delegated,
            original: rows.iter().map(|row| prices[*row]).sum(),
        }
    }

    /// The mean MCC over all tests, 0 in a repetition where it is not defined.
    fn mcc_of_all(&self) -> f64 {
        let rows: Vec<usize> = (0..self.delegation.prices.len()).collect();
        let repeats = self.delegation.answers.repeats_of(self.runs);
        let mcc = |said: &Vec<f64>| self.decide(&rows, said).0.mcc();
        mean(&repeats.iter().map(mcc).collect::<Vec<_>>())
    }

    /// What is said of some tests, and what the ambiguous ones among them cost.
    fn decide(&self, rows: &[usize], said: &[f64]) -> (Confusion, f64) {
        let (mut confusion, mut cost) = (Confusion::default(), 0.0);
        for row in rows {
            let AskedTest { is_positive, .. } = self.delegation.answers.asked()[*row];
            let predicted = match self.thresholds.region(said[*row]) {
                Region::Below => false,
                Region::Above => true,
                Region::Ambiguous => {
                    cost += self.delegation.prices[*row];
                    is_positive
                }
            };
            confusion.count(predicted, is_positive);
        }
        (confusion, cost)
    }
}

/// The mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len().max(1))
}

/// The mean, if every value is there.
fn mean_if_all(values: &[Option<f64>]) -> Option<f64> {
    let all: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    (!all.is_empty()).then(|| mean(&all))
}
