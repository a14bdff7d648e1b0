//! The features of a test from which a model learns (CANNIER, Table 1).
//!
//! The first eleven are measured while the test runs, the last seven are read from its source.
//! Several runs give several vectors, whose mean is what a model gets (Equation 2).

/// A feature of Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Times that a file system had to read.
    ReadCount,
    /// Times that a file system had to write.
    WriteCount,
    /// Seconds from set-up to the end of teardown.
    RunTime,
    /// Seconds spent waiting for input and output.
    WaitTime,
    /// Voluntary context switches.
    ContextSwitches,
    /// Lines of the project that ran.
    CoveredLines,
    /// Lines that ran in files without tests.
    SourceCoveredLines,
    /// Changes of all covered lines in the last 75 commits.
    CoveredChanges,
    /// The most threads at once.
    MaxThreads,
    /// The most child processes at once.
    MaxChildren,
    /// The most memory at once, in bytes.
    MaxMemory,
    /// The depth of nested statements in the test.
    AstDepth,
    /// Assertions in the test.
    Assertions,
    /// Modules used by the test that are not of the standard library.
    ExternalModules,
    /// Halstead's volume of the test.
    HalsteadVolume,
    /// `McCabe`'s number of branches in the test.
    CyclomaticComplexity,
    /// Lines of the test.
    TestLinesOfCode,
    /// The maintainability index of the test.
    Maintainability,
}

impl Feature {
    /// Every feature, in the order of Table 1.
    pub const ALL: [Self; 18] = [
        Self::ReadCount,
        Self::WriteCount,
        Self::RunTime,
        Self::WaitTime,
        Self::ContextSwitches,
        Self::CoveredLines,
        Self::SourceCoveredLines,
        Self::CoveredChanges,
        Self::MaxThreads,
        Self::MaxChildren,
        Self::MaxMemory,
        Self::AstDepth,
        Self::Assertions,
        Self::ExternalModules,
        Self::HalsteadVolume,
        Self::CyclomaticComplexity,
        Self::TestLinesOfCode,
        Self::Maintainability,
    ];

    /// The number of features that are measured; those read from the source come after them.
    pub const DYNAMIC: usize = 11;

    /// The feature as one word, as columns and model files name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Features::NAMES[self as usize]
    }
}

/// The features of one test: of one run, or the mean of several. Any may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Features {
    values: [Option<f64>; Feature::ALL.len()],
}

impl Features {
    /// The names, in the order of Table 1.
    pub const NAMES: [&'static str; Feature::ALL.len()] = [
        "read_count",
        "write_count",
        "run_time",
        "wait_time",
        "context_switches",
        "covered_lines",
        "source_covered_lines",
        "covered_changes",
        "max_threads",
        "max_children",
        "max_memory",
        "ast_depth",
        "assertions",
        "external_modules",
        "halstead_volume",
        "cyclomatic_complexity",
        "test_lines_of_code",
        "maintainability",
    ];

    /// The value of one feature, if it is known.
    #[must_use]
    pub fn get(&self, feature: Feature) -> Option<f64> {
        self.values[feature as usize]
    }

    /// Set one feature. What is not a finite number is missing.
    pub fn set(&mut self, feature: Feature, value: Option<f64>) {
        self.values[feature as usize] = value.filter(|value| value.is_finite());
    }

    /// All values, in the order of Table 1.
    #[must_use]
    pub fn values(&self) -> &[Option<f64>; Feature::ALL.len()] {
        &self.values
    }
}

/// The mean of the vectors of several runs (Equation 2), built up run by run.
///
/// A feature that is missing in some runs is the mean of the others.
///
/// ```
/// use flakeproof_core::{Feature, Features, MeanFeatures};
///
/// let mut mean = MeanFeatures::default();
/// for lines in [Some(10.0), None, Some(13.0)] {
///     let mut run = Features::default();
///     run.set(Feature::CoveredLines, lines);
///     mean.add(&run);
/// }
/// assert_eq!(mean.runs(), 3);
/// assert_eq!(mean.mean().get(Feature::CoveredLines), Some(11.5));
/// assert_eq!(mean.mean().get(Feature::RunTime), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanFeatures {
    runs: u32,
    sums: [f64; Feature::ALL.len()],
    known: [u32; Feature::ALL.len()],
}

impl MeanFeatures {
    /// Take in one run.
    pub fn add(&mut self, run: &Features) {
        self.runs += 1;
        let sums = self.sums.iter_mut().zip(&mut self.known);
        for ((sum, known), value) in sums.zip(run.values()) {
            if let Some(value) = value {
                *sum += value;
                *known += 1;
            }
        }
    }

    /// The number of runs taken in.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// The mean vector.
    #[must_use]
    pub fn mean(&self) -> Features {
        let mut mean = Features::default();
        for (feature, (sum, known)) in
            Feature::ALL.into_iter().zip(self.sums.iter().zip(&self.known))
        {
            mean.set(feature, (*known > 0).then(|| sum / f64::from(*known)));
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_are_in_the_order_of_table_1() {
        for (at, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, at);
            assert_eq!(feature.name(), Features::NAMES[at]);
        }
        assert_eq!(Feature::ALL[Feature::DYNAMIC - 1], Feature::MaxMemory);
    }

    #[test]
    fn what_is_not_a_number_is_missing() {
        let mut features = Features::default();
        for value in [f64::NAN, f64::INFINITY] {
            features.set(Feature::RunTime, Some(value));
            assert_eq!(features.get(Feature::RunTime), None);
        }
    }

    #[test]
    fn without_a_run_everything_is_missing() {
        assert_eq!(MeanFeatures::default().mean(), Features::default());
    }
}
