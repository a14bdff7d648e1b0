//! From executions and source to features: one vector per run, and their mean per test. What the
//! source tells, without a run, is the same in every run (CANNIER, Table 1, 12 to 18).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{
    Covered, Execution, Feature, Features, Lines, MeanFeatures, Measured, Notice, Outcome, Suite,
    TestId,
};
use flakeproof_learn::cannier::MeasuredTest;
use flakeproof_runner::git::Churn;
use flakeproof_syntax::metrics::StaticFeatures;

use crate::source::source_tests;
use crate::view::FeatureRow;

/// The features of all tests, built up execution by execution.
#[derive(Default)]
pub(super) struct Vectors {
    /// Each complete run: its tests in their order.
    runs: Vec<Vec<(TestId, Features)>>,
    /// The run that goes on.
    current: Vec<(TestId, Features)>,
    /// Files that hold a test.
    test_files: HashSet<PathBuf>,
    churn: Option<Churn>,
    /// Why something is missing.
    missing: BTreeSet<(&'static str, String)>,
    without_features: BTreeMap<Outcome, BTreeSet<TestId>>,
}

impl Vectors {
    /// Say how often lines were modified, or why that is not known.
    pub(super) fn set_churn(&mut self, churn: Result<Churn, String>) {
        match churn {
            Ok(churn) => self.churn = Some(churn),
            Err(why) => drop(self.missing.insert(("covered changes are", why))),
        }
    }

    /// A run of this suite begins.
    pub(super) fn begin_run(&mut self, suite: &Suite, root: &Path) {
        self.test_files = test_files(suite, root);
    }

    /// Take in one execution. A test that was skipped or whose process died has no features.
    pub(super) fn add(&mut self, execution: &Execution) {
        let measured = match execution.outcome {
            Outcome::Skipped => None,
            _ => execution.measured.as_deref(),
        };
        match measured {
            Some(measured) => {
                let vector = self.vector(measured);
                self.current.push((execution.test.clone(), vector));
            }
            None => {
                let tests = self.without_features.entry(execution.outcome).or_default();
                tests.insert(execution.test.clone());
            }
        }
    }

    /// The run is over: what the source tells completes its vectors, which come back.
    pub(super) fn end_run(
        &mut self,
        from_source: &HashMap<TestId, StaticFeatures>,
    ) -> &[(TestId, Features)] {
        let mut run = std::mem::take(&mut self.current);
        for (test, features) in &mut run {
            if let Some(source) = from_source.get(test) {
                set_static(features, source);
            }
        }
        self.runs.push(run);
        self.runs.last().map_or(&[], Vec::as_slice)
    }

    fn vector(&mut self, measured: &Measured) -> Features {
        let mut vector = Features::default();
        let mut set = |feature, value| vector.set(feature, value);
        set(Feature::ReadCount, Some(real(measured.read_count)));
        set(Feature::WriteCount, Some(real(measured.write_count)));
        set(Feature::RunTime, Some(measured.run_time.as_secs_f64()));
        set(Feature::WaitTime, measured.wait_time.map(|time| time.as_secs_f64()));
        set(Feature::ContextSwitches, Some(real(measured.context_switches)));
        set(Feature::MaxThreads, Some(f64::from(measured.max_threads)));
        set(Feature::MaxChildren, measured.max_children.map(f64::from));
        set(Feature::MaxMemory, Some(real(measured.max_memory)));
        match &measured.covered {
            Covered::Lines(files) => {
                let all: u64 = files.values().map(Lines::count).sum();
                let source = files
                    .iter()
                    .filter(|(file, _)| !self.test_files.contains(Path::new(file)))
                    .map(|(_, lines)| lines.count())
                    .sum();
                set(Feature::CoveredLines, Some(real(all)));
                set(Feature::SourceCoveredLines, Some(real(source)));
                set(Feature::CoveredChanges, self.changes(files).map(real));
            }
            Covered::Unknown { reason } => {
                self.missing.insert(("covered lines and their changes are", reason.clone()));
            }
        }
        if measured.wait_time.is_none() {
            let why = "the kernel does not account for it (`sysctl kernel.task_delayacct=1` does)";
            self.missing.insert(("the wait time is", why.to_owned()));
        }
        vector
    }

    fn changes(&self, files: &BTreeMap<String, Lines>) -> Option<u64> {
        let churn = self.churn.as_ref()?;
        Some(files.iter().map(|(file, lines)| churn.count(Path::new(file), lines)).sum())
    }

    /// What the reader should know about what is missing.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let missing = self.missing.iter().map(|(what, why)| Notice {
            what: format!("{what} missing: {why}"),
            next: "a model does without; measure where it can be known to have it".into(),
        });
        let known: HashSet<&TestId> = self.runs.iter().flatten().map(|(test, _)| test).collect();
        let is_without = |test: &&TestId| !known.contains(*test);
        let without = self.without_features.iter().filter_map(|(outcome, tests)| {
            let count = tests.iter().filter(is_without).count();
            (count > 0).then(|| Notice {
                what: format!("{count} of the tests {outcome} and have no features"),
                next: match outcome {
                    Outcome::Skipped => "a test that does not run has nothing to measure".into(),
                    Outcome::Passed => {
                        "its process is not its own: documentation, or a harness of the \
                                        project's"
                            .into()
                    }
                    _ => "what a process used is lost when it dies; mend the test first".into(),
                },
            })
        });
        missing.chain(without).collect()
    }

    /// The mean features of each test, in the order in which they first ran.
    pub(super) fn rows(&self) -> Vec<FeatureRow> {
        let mut means: HashMap<&TestId, MeanFeatures> = HashMap::new();
        let mut order = Vec::new();
        for (test, features) in self.runs.iter().flatten() {
            let mean = means.entry(test).or_insert_with(|| {
                order.push(test);
                MeanFeatures::default()
            });
            mean.add(features);
        }
        let row = |test: &TestId| {
            let mean = means.get(test).copied().unwrap_or_default();
            FeatureRow { test: test.clone(), runs: mean.runs(), features: mean.mean() }
        };
        order.into_iter().map(row).collect()
    }

    /// Every vector, with the number of its run.
    pub(super) fn measured(&self, project: &str) -> Vec<MeasuredTest> {
        let runs = (1u32..).zip(&self.runs);
        runs.flat_map(|(run, tests)| {
            tests.iter().map(move |(test, features)| MeasuredTest {
                project: project.to_owned(),
                test: test.to_string(),
                run,
                features: *features,
            })
        })
        .collect()
    }
}

/// Files that hold a collected test: where it is written, and where it was collected.
fn test_files(suite: &Suite, root: &Path) -> HashSet<PathBuf> {
    let mut names: HashSet<&str> = HashSet::new();
    for test in &suite.tests {
        names.extend(test.location.as_ref().map(|place| place.file.as_str()));
        names.extend(test.id.as_str().split("::").next());
    }
    names.into_iter().filter_map(|name| root.join(name).canonicalize().ok()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn real(count: u64) -> f64 {
    count as f64
}

/// What the source of each test tells. A test without an entry was not found in its file.
///
/// `root` is the folder that the places of the tests are relative to.
pub(super) fn static_features(suite: &Suite, root: &Path) -> HashMap<TestId, StaticFeatures> {
    let files = source_tests::files_of(suite, root);
    // Source that cannot be read leaves features missing; the run itself is measured.
    let found = source_tests::measure(&files, root).unwrap_or_default();
    let places = source_tests::places_of(suite, &found.tests);
    let measured = suite.tests.iter().zip(places).filter_map(|(test, place)| {
        let source = &found.tests[place?];
        Some((test.id.clone(), source.features?))
    });
    measured.collect()
}

/// Put what the source tells into a vector.
pub(super) fn set_static(features: &mut Features, source: &StaticFeatures) {
    let values = [
        f64::from(source.depth),
        f64::from(source.assertions),
        f64::from(source.external_modules),
        source.halstead_volume,
        f64::from(source.cyclomatic_complexity),
        f64::from(source.lines),
        source.maintainability,
    ];
    for (feature, value) in Feature::ALL[Feature::DYNAMIC..].iter().zip(values) {
        features.set(*feature, Some(value));
    }
}
