//! What comes out for each project at one point of the grid: a line of CANNIER's tables 8 to 10.

/// What comes out for a project, or for all: the mean over the repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectTrade {
    /// The project.
    pub project: String,
    /// What is found.
    pub found: Found,
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
pub enum Found {
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

/// The mean; 0 of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / crate::real(values.len().max(1))
}

/// The mean, if every value is there.
pub(super) fn mean_if_all(values: &[Option<f64>]) -> Option<f64> {
    let all: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    (!all.is_empty()).then(|| mean(&all))
}
