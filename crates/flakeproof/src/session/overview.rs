//! All that is known about the project's tests, for reports and pages: their history, their
//! quarantine, and what models say about the source and the measured features of flaky tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{
    Cluster, Features, History, HistoryError, KnownFlaky, MeanFeatures, Overview, QuarantineEntry,
    Reason, Scores, Standing, TestDetail, TestId,
};
use flakeproof_learn::cannier;
use flakeproof_store::{Store, StoreLocation, project_folder};

use super::listed::find_shared;
use super::ownership::{Owned, Ownership};
use super::renames;
use crate::cli::{Naming, QuarantineFile, ThresholdChoice};
use crate::models::decision::Decision;
use crate::models::forest_data;
use crate::models::model::{self, ModelSource};

use crate::models::predictor::{self, Detail};
use crate::models::record::KnownTests;
use crate::models::test_reader::TestReader;
use crate::problem::Problem;
use crate::settings::{ConfigurationFile, StoreName, locate};
use crate::source::project_source::ProjectSource;
use crate::source::source_cache::SourceCache;
use crate::source::source_tests::SourceTest;

/// Whether models are asked about the source of tests that are not steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explain {
    /// They are.
    Suspects,
    /// They are not: the source is not here, or there is no time.
    Nothing,
}

/// Reads what is known about a project's tests.
#[derive(Debug, Clone)]
pub(crate) struct OverviewReader {
    store: StoreLocation,
    folder: PathBuf,
    explain: Explain,
    naming: Naming,
}

impl OverviewReader {
    /// A reader of the project's history, or of the one that was named, and that history. The file is
    /// brought up to date, and nothing is written after that.
    pub(crate) fn open(
        store: Option<&StoreName>,
        folder: &Path,
        explain: Explain,
    ) -> Result<(Self, Store), Problem> {
        let place = locate(store, folder)?;
        if !place.may_be_there() {
            return Err(Problem::usage(
                format!("there is no history at {place}"),
                "run your tests with `flakeproof run -- COMMAND`, or read reports of your CI with \
                 `flakeproof ingest FILES`",
            ));
        }
        let history = Store::open(&place).map_err(|error| unreadable(&error))?;
        history.make_digests().map_err(|error| unreadable(&error))?;
        let (folder, naming) = (folder.to_path_buf(), Naming::Current);
        Ok((Self { store: place, folder, explain, naming }, history))
    }

    /// The same with tests under these ids.
    pub(crate) fn with(self, naming: Naming) -> Self {
        Self { naming, ..self }
    }

    /// The folder of the history, where reports may lie.
    pub(crate) fn folder_of_history(&self) -> PathBuf {
        let folder = |file: PathBuf| file.parent().map(Path::to_path_buf);
        let own = || ConfigurationFile::find(None, &self.folder).ok().map(|it| it.project);
        let folder = match self.store.file() {
            Some(file) => folder(file),
            // Beside the project's own history, which keeps itself out of version control.
            None => own().and_then(|project| project_folder(&project).ok()),
        };
        folder.unwrap_or_else(|| self.folder.clone())
    }

    /// The files that what is known comes from: the history, what was written to it lately, and the
    /// project's quarantine.
    #[cfg(feature = "serve")]
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Problem> {
        let project = ConfigurationFile::find(None, &self.folder)?.project;
        let mut files = vec![QuarantineFile::read(&project)?.path];
        if let Some(file) = self.store.file() {
            let mut log = file.clone().into_os_string();
            log.push("-wal");
            files.extend([file, log.into()]);
        }
        Ok(files)
    }

    /// The history as it is now, for looking only.
    #[cfg(feature = "serve")]
    pub(crate) fn history(&self) -> Result<Store, Problem> {
        Store::look(&self.store).map_err(|error| unreadable(&error))
    }

    /// All that is known by a history.
    pub(crate) fn read(&self, history: &dyn History) -> Result<Overview, Problem> {
        let mut overview = self.of_history(history).map_err(|error| unreadable(&error))?;
        let project = ConfigurationFile::find(None, &self.folder)?.project;
        add_quarantine(&mut overview, &QuarantineFile::read(&project)?.entries);
        if self.explain == Explain::Suspects {
            let known = KnownTests::read(history).map_err(|error| unreadable(&error))?;
            add_explanations(&mut overview, &known, &self.folder)?;
        }
        Ok(overview)
    }

    /// Who owns every test that is known.
    fn owned(&self, scores: &Scores, known: &[KnownFlaky]) -> BTreeMap<TestId, Owned> {
        let files: BTreeMap<&TestId, &str> = known
            .iter()
            .filter_map(|it| Some((&it.test.id, it.test.location.as_ref()?.file.as_str())))
            .collect();
        let file = |test: &TestId| files.get(test).map(|file| (*file).to_owned());
        let tests = scores.tests.iter().map(|score| (&score.test, file(&score.test)));
        Ownership::read(&self.folder).of(tests)
    }

    fn of_history(&self, history: &dyn History) -> Result<Overview, HistoryError> {
        let timeline = history.timeline()?;
        let renames = renames::find(&timeline, &self.folder, self.naming);
        let timeline = renames.in_timeline(timeline);
        let known = renames.in_known(history.known_flaky()?);
        let scores = Scores::new(&timeline, &known);
        let mut clusters = Cluster::all(&timeline, &scores);
        let mut details: BTreeMap<TestId, TestDetail> = BTreeMap::new();
        for (test, findings) in renames.in_lists(history.past_findings()?) {
            details.entry(test).or_default().findings = findings;
        }
        let failures = renames.in_lists(history.past_failures(None)?);
        let owned = self.owned(&scores, &known);
        find_shared(&mut clusters, &owned, &failures);
        for (test, failures) in failures {
            details.entry(test).or_default().failures = failures;
        }
        for it in known {
            let detail = details.entry(it.test.id.clone()).or_default();
            detail.reproduce = it.test.reproduction.as_ref().map(|it| it.command.clone());
            detail.hunted = Some(it.test);
        }
        for cause in history.causes()?.into_iter().filter_map(|it| it.found) {
            if cause.answer.is_cause() {
                let detail = details.entry(cause.test.clone()).or_default();
                detail.reproduce = detail.reproduce.take().or_else(|| cause.command.clone());
                detail.cause = Some(cause);
            }
        }
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Overview {
            project: name.unwrap_or_else(|| "this project".to_owned()),
            made: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            timeline,
            scores,
            owners: owned.into_iter().map(|(test, it)| (test, it.owners)).collect(),
            formerly: renames.all().clone(),
            clusters,
            details,
            hunt: history.latest_hunt()?,
            notices: Vec::new(),
        })
    }
}

fn add_quarantine(overview: &mut Overview, entries: &[QuarantineEntry]) {
    for entry in entries {
        let covered = overview.scores.tests.iter().filter(|score| entry.covers(&score.test));
        for score in covered {
            let detail = overview.details.entry(score.test.clone()).or_default();
            detail.quarantine = Some(entry.clone());
        }
    }
}

/// The tests that a reader wants explained, the dearest first.
fn suspects(overview: &Overview) -> Vec<TestId> {
    let mut tests: Vec<_> = overview.scores.standing(Standing::Flaky).collect();
    tests.sort_by(|one, other| {
        other.cost.cmp(&one.cost).then(other.proven.failures.cmp(&one.proven.failures))
    });
    tests.into_iter().map(|score| score.test.clone()).collect()
}

fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name another history with `--store`")
}

/// So many tests are explained; nobody reads more.
const MOST: usize = 200;

/// Add what models say about the flaky tests whose source is in the folder.
fn add_explanations(
    overview: &mut Overview,
    known: &KnownTests,
    folder: &Path,
) -> Result<(), Problem> {
    let tests: BTreeSet<TestId> = suspects(overview).into_iter().take(MOST).collect();
    if tests.is_empty() {
        return Ok(());
    }
    add_predictions(overview, &tests, known, folder)?;
    add_features(overview, &tests, folder)
}

fn add_predictions(
    overview: &mut Overview,
    tests: &BTreeSet<TestId>,
    known: &KnownTests,
    folder: &Path,
) -> Result<(), Problem> {
    let paths = [PathBuf::from(".")];
    let wanted: BTreeSet<&str> = tests.iter().map(without_parameters).collect();
    let (sources, project) =
        ProjectSource::read_with_tests(&paths, folder, SourceCache::of(folder))?;
    let is_wanted = |test: &&SourceTest| wanted.contains(test.id.as_str());
    let found: Vec<SourceTest> = sources.tests.iter().filter(is_wanted).cloned().collect();
    if found.is_empty() {
        return Ok(());
    }
    let source = ModelSource::choose(None, folder)?;
    let model = source.open()?;
    let all = TestReader::new(&project, &sources.tests);
    let reader = TestReader::of_some(&all, &found);
    let balanced = ThresholdChoice::Balanced;
    let decision = Decision::in_project(&source, &model, &all, balanced, None);
    let said = predictor::predict(&source, &model, &reader, &decision, Detail::OfEveryTest);
    project.save();
    let by_id: BTreeMap<&str, _> = said.tests.iter().map(|it| (it.id.as_str(), it)).collect();
    for test in tests {
        if let Some(prediction) = by_id.get(without_parameters(test)) {
            let mut prediction = (*prediction).clone();
            known.add_to(&mut prediction);
            overview.details.entry(test.clone()).or_default().prediction = Some(prediction);
        }
    }
    Ok(())
}

/// A test made of parameters is written once.
fn without_parameters(test: &TestId) -> &str {
    test.as_str().split_once('[').map_or(test.as_str(), |(name, _)| name)
}

/// What the project's forest says about measured features, if it has one.
fn add_features(
    overview: &mut Overview,
    tests: &BTreeSet<TestId>,
    folder: &Path,
) -> Result<(), Problem> {
    let in_project = |question| model::forest_in(question, folder);
    let Some(path) = cannier::Problem::ALL.into_iter().find_map(in_project) else { return Ok(()) };
    if !locate(None, folder)?.may_be_there() {
        return Ok(());
    }
    let mut means: BTreeMap<TestId, MeanFeatures> = BTreeMap::new();
    for record in forest_data::features_of(None, folder)? {
        if tests.contains(&record.test) {
            means.entry(record.test).or_default().add(&record.features);
        }
    }
    let model = model::open_forest(&path)?;
    for (test, mean) in means {
        let features: Features = mean.mean();
        // A test that lacks what this forest needs is left without bars.
        let Ok(explanation) = model.explain(&features) else { continue };
        let reasons = explanation.contributions.into_iter().map(|(feature, value, weight)| {
            let what = match value {
                Some(value) => format!("{} = {value:.4}", feature.name()),
                None => format!("{} is not known", feature.name()),
            };
            Reason { what, weight }
        });
        overview.details.entry(test).or_default().features = reasons.collect();
    }
    Ok(())
}
