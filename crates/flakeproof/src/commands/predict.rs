//! `flakeproof predict`: which tests look flaky, from their source alone; and `flakeproof explain`:
//! what is known about one test, by hunts and runs, by its source and by the project's forests, or what a
//! word of the output means, as the book's glossary explains it.

use std::collections::BTreeMap;
#[cfg(feature = "mcp")]
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flakeproof_core::{
    CauseRecord, ExitCode, Features, History, HistoryError, KnownFlaky, MeanFeatures, Notice,
    Predictions, TestDetail, TestId, TestScore,
};
use flakeproof_learn::cannier::{self, Explanation, ForestModel};
use flakeproof_report::{Error, GithubAnnotations, GithubSummary, Json, Renderer, Sarif};
use serde_json::{Value, json};

use crate::cli::{ExplainArguments, ModelArguments, Naming, PredictArguments, PredictionFormat};
use crate::models::decision::Decision;
use crate::models::forest_data;
use crate::models::kept_answer::Question;
use crate::models::model::{self, Model, ModelSource};
use crate::models::predictor::{self, Detail};
use crate::models::test_reader::TestReader;
use crate::models::{record, rule_check};
use crate::problem::Problem;
use crate::session::listed::ListedHistory;
use crate::session::{current_folder, history, naming, reports};
use crate::settings::{StoreName, locate};
use crate::source::changed_tests::ChangedTests;
use crate::source::project_source::ProjectSource;
use crate::source::source_cache::SourceCache;
use crate::source::source_tests::{self, SourceTest};
use crate::view;

/// `flakeproof predict`.
pub(crate) fn run(typed: &PredictArguments) -> Result<ExitCode, Problem> {
    let predicted = PredictedTests::find(typed, None, &current_folder()?)?;
    // The terminal comes first: a report that cannot be written loses nothing.
    match typed.output_format {
        PredictionFormat::Text => predicted.print(typed),
        other => view::data(&rendered(&predicted.predictions, other)?),
    }
    for reporter in &typed.reporter {
        reports::put(&reporter.path, &rendered(&predicted.predictions, reporter.format)?)?;
    }
    let has_suspects = predicted.predictions.tests.iter().any(|test| test.flaky);
    let fails = has_suspects && typed.fail_on_suspects;
    // The program ends here: taking a large project apart piece by piece would take a while.
    std::mem::forget(predicted);
    Ok(if fails { ExitCode::Failures } else { ExitCode::Clean })
}

/// Tests, and what a model says about them.
pub(super) struct PredictedTests {
    pub(super) predictions: Predictions,
    tests: Vec<SourceTest>,
    is_model_shipped: bool,
    /// Kept for as long as what was read of it.
    _project: ProjectSource,
}

impl PredictedTests {
    /// Ask the model about the tests that are meant.
    pub(super) fn find(
        typed: &PredictArguments,
        store: Option<&StoreName>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let rules = rule_check::chosen(&typed.rules, folder)?;
        let cache = cache(typed.no_cache, folder);
        let source = ModelSource::choose(typed.model.model.as_deref(), folder);
        let opened = OnceLock::new();
        let open = || {
            if let (Ok(source), false) = (&source, typed.rules_only) {
                let _ = opened.set(source.open());
            }
        };
        let paths = &typed.paths;
        let read = ProjectSource::read_with_tests_beside(paths, folder, cache, &open);
        let (found, project) = read?;
        if found.tests.is_empty() {
            project.save();
            view::notices(&found.notices);
            return Err(source_tests::no_tests(&typed.paths));
        }
        let changed = match &typed.diff {
            Some(base) => {
                let changed = ChangedTests::since(base, folder)?;
                let tests = found.tests.iter().filter(|test| changed.holds(test));
                Some(tests.cloned().collect::<Vec<SourceTest>>())
            }
            None => None,
        };
        let source = source.as_ref().map_err(Problem::clone)?;
        let all = TestReader::new(&project, &found.tests);
        let of_changed = changed.as_ref().map(|tests| TestReader::of_some(&all, tests));
        let reader = of_changed.as_ref().unwrap_or(&all);
        let mut predictions = if typed.rules_only {
            let mut predictions = rule_check::without_model(reader.tests);
            predictions.notices.extend(project.notices.iter().cloned());
            predictions
        } else {
            predictions(typed, source, opened.into_inner(), [&all, reader])?
        };
        if source.is_shipped() && !typed.rules_only {
            rule_check::rules_only_where_unseen(&mut predictions, reader.tests);
        }
        rule_check::add(&mut predictions, reader, &rules);
        project.save();
        record::add_known(&mut predictions, store, folder)?;
        predictions.notices.extend(found.notices);
        let tests = changed.unwrap_or(found.tests);
        let is_model_shipped = source.is_shipped();
        Ok(Self { predictions, tests, is_model_shipped, _project: project })
    }

    /// For people.
    pub(super) fn print(&self, typed: &PredictArguments) {
        let shown = view::Shown {
            sources: self.tests.iter().map(|test| test.source.as_str()).collect(),
            most: typed.show,
            is_model_shipped: self.is_model_shipped,
            is_rules_only: typed.rules_only,
            is_stdout_taken: typed.reporter.iter().any(|it| it.path == Path::new("-")),
        };
        view::predictions(&self.predictions, &shown);
    }
}

/// Where what is read of the source is kept, unless that is not wanted.
fn cache(is_unwanted: bool, folder: &Path) -> Option<SourceCache> {
    if is_unwanted { None } else { SourceCache::of(folder) }
}

/// What the model says of some of all tests, as it was kept, or asked now.
fn predictions(
    typed: &PredictArguments,
    source: &ModelSource,
    opened: Option<Result<Model<'_>, Problem>>,
    [all, reader]: [&TestReader<'_>; 2],
) -> Result<Predictions, Problem> {
    let ModelArguments { threshold: choice, max_suspects: most, .. } = typed.model;
    let question = Question { choice, most, detail: detail_of(typed) };
    if reader.has_all()
        && let Some(kept) = question.kept(source, reader)
    {
        return Ok(kept.in_project(reader.source));
    }
    let model = opened.unwrap_or_else(|| source.open())?;
    let decision = decision(&typed.model, source, &model, all);
    let answer = predictor::answer(source, &model, reader, &decision, question.detail);
    question.keep(source, reader, &answer);
    Ok(answer.in_project(reader.source))
}

/// When a test is called flaky, given all tests of its project.
fn decision(
    typed: &ModelArguments,
    source: &ModelSource,
    model: &Model<'_>,
    project: &TestReader<'_>,
) -> Decision {
    Decision::in_project(source, model, project, typed.threshold, typed.max_suspects)
}

/// What is asked of tests that are no suspects: only documents with every test have a place for it.
fn detail_of(typed: &PredictArguments) -> Detail {
    let lists_all = |format: PredictionFormat| matches!(format, PredictionFormat::Json);
    let is_listed = lists_all(typed.output_format)
        || typed.reporter.iter().any(|reporter| lists_all(reporter.format));
    if is_listed { Detail::OfSuspects } else { Detail::SuspectsAlone }
}

/// The predictions in a format for programs.
pub(super) fn rendered(
    predictions: &Predictions,
    format: PredictionFormat,
) -> Result<Vec<u8>, Problem> {
    let rendered: Result<Vec<u8>, Error> = match format {
        PredictionFormat::Json | PredictionFormat::Text => Json.render(predictions),
        PredictionFormat::Sarif => Sarif.render(predictions),
        PredictionFormat::Github => {
            GithubAnnotations { folder: reports::below_workspace() }.render(predictions)
        }
        PredictionFormat::Markdown => GithubSummary.render(predictions),
    };
    rendered.map_err(|error| reports::cannot_render(&error))
}

/// `flakeproof explain`.
pub(crate) fn explain(typed: &ExplainArguments) -> Result<ExitCode, Problem> {
    if let Some(meaning) = meaning(&typed.test) {
        view::data(format!("{meaning}\n").as_bytes());
        return Ok(ExitCode::Clean);
    }
    let folder = current_folder()?;
    let explained = ExplainedTest::find(typed, None, &folder)?;
    match typed.output_format {
        PredictionFormat::Text => explained.print(&folder)?,
        PredictionFormat::Json => {
            let document = rendered(&explained.source?.predictions, PredictionFormat::Json)?;
            view::data(&with_history(&document, &explained.known));
        }
        other => view::data(&rendered(&explained.source?.predictions, other)?),
    }
    Ok(ExitCode::Clean)
}

/// All that is known about one test.
pub(super) struct ExplainedTest {
    pub(super) known: KnownTests,
    /// What its source says, or why that cannot be said.
    pub(super) source: Result<ExplainedSource, Problem>,
}

/// What a model says about the source of one test.
pub(super) struct ExplainedSource {
    test: SourceTest,
    pub(super) predictions: Predictions,
    is_model_shipped: bool,
}

impl ExplainedTest {
    /// Ask the history and the source.
    pub(super) fn find(
        typed: &ExplainArguments,
        store: Option<&StoreName>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let source = ModelSource::choose(typed.model.model.as_deref(), folder)?;
        let model = source.open()?;
        let known = KnownTests::find(&typed.test, store, folder)?;
        let cache = cache(typed.no_cache, folder);
        let (found, project) = ProjectSource::read_with_tests(&typed.paths, folder, cache)?;
        let written = match naming::the_one_written(&typed.test, &found.tests) {
            Ok(test) => {
                let one = std::slice::from_ref(test);
                let all = TestReader::new(&project, &found.tests);
                let decision = decision(&typed.model, &source, &model, &all);
                let (reader, detail) = (TestReader::of_some(&all, one), Detail::OfEveryTest);
                let mut predictions =
                    predictor::predict(&source, &model, &reader, &decision, detail);
                let is_model_shipped = source.is_shipped();
                if is_model_shipped {
                    rule_check::rules_only_where_unseen(&mut predictions, one);
                }
                let rules = rule_check::chosen(&typed.rules, folder)?;
                rule_check::add(&mut predictions, &reader, &rules);
                project.save();
                record::add_known(&mut predictions, store, folder)?;
                predictions.notices.extend(found.notices);
                Ok(ExplainedSource { test: test.clone(), predictions, is_model_shipped })
            }
            Err(problem) => Err(match nearest_word(&typed.test) {
                Some(word) => Problem {
                    next: format!("`flakeproof explain {word}` says what that word means"),
                    ..problem
                },
                None if found.tests.is_empty() => source_tests::no_tests(&typed.paths),
                None => problem,
            }),
        };
        Ok(Self { known, source: written })
    }

    /// For people. Tests can be made at run time, or have run elsewhere: then the history knows them, and the
    /// source does not.
    pub(super) fn print(&self, folder: &Path) -> Result<(), Problem> {
        match &self.source {
            Ok(source) => {
                self.known.print();
                view::explanation(
                    &source.predictions,
                    &source.test.source,
                    source.is_model_shipped,
                );
                print_forests(&source.test.id, folder)
            }
            Err(_) if !self.known.is_empty() => {
                self.known.print();
                Ok(())
            }
            Err(problem) => Err(problem.clone()),
        }
    }
}

/// What the history knows of a test; of each of its cases if none was named.
#[derive(Debug, Default)]
pub(super) struct KnownTests {
    /// By hunts.
    hunted: Vec<KnownFlaky>,
    /// By runs in which it failed, with who owns it, what it was called before, and what fails with it.
    failed: Vec<(TestScore, TestDetail, Vec<String>)>,
    /// By experiments with it.
    causes: Vec<CauseRecord>,
}

impl KnownTests {
    /// What the history knows of the test that is meant.
    pub(super) fn find(
        typed: &str,
        store: Option<&StoreName>,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let Some(history) = history::find(store, folder)? else { return Ok(Self::default()) };
        Self::read(typed, &*history, folder).map_err(|error| history::unreadable(&error))
    }

    fn read(typed: &str, history: &dyn History, folder: &Path) -> Result<Self, HistoryError> {
        let listed = ListedHistory::read(history, folder, Naming::Current)?;
        let is_meant = |test: &TestId| {
            let formerly = listed.renames.formerly(test);
            is_meant(typed, test) || formerly.iter().any(|former| is_meant(typed, former))
        };
        let scores = listed.scores.tests.iter();
        let scores = scores.filter(|it| it.last_failed.is_some() && is_meant(&it.test));
        let scores: Vec<TestScore> = scores.cloned().collect();
        let mut findings = listed.renames.in_lists(history.past_findings()?);
        let mut failures = listed.renames.in_lists(history.past_failures(None)?);
        let failed = scores.into_iter().map(|score| {
            let findings = findings.remove(&score.test).unwrap_or_default();
            let failures = failures.remove(&score.test).unwrap_or_default();
            let besides = listed.besides(&score.test);
            (score, TestDetail { findings, failures, ..TestDetail::default() }, besides)
        });
        let failed = failed.collect();
        let mut causes = history.causes()?;
        causes.retain(|it| is_meant(&it.test));
        let hunted = listed.hunted.iter().filter(|it| is_meant(&it.test.id)).cloned().collect();
        Ok(Self { failed, hunted, causes })
    }

    fn is_empty(&self) -> bool {
        self.hunted.is_empty() && self.failed.is_empty() && self.causes.is_empty()
    }

    /// The tests that are meant, each once.
    #[cfg(feature = "mcp")]
    pub(super) fn ids(&self) -> Vec<TestId> {
        let hunted = self.hunted.iter().map(|it| &it.test.id);
        let failed = self.failed.iter().map(|(score, ..)| &score.test);
        let caused = self.causes.iter().map(|it| &it.test);
        let ids: BTreeSet<&TestId> = hunted.chain(failed).chain(caused).collect();
        ids.into_iter().cloned().collect()
    }

    /// For people.
    pub(super) fn print(&self) {
        self.hunted.iter().for_each(view::known_test);
        self.failed
            .iter()
            .for_each(|(score, detail, besides)| view::failed_test(score, detail, besides));
        for record in &self.causes {
            record.found.iter().for_each(|found| view::known_cause(found, &record.started));
        }
    }
}

/// Whether a test has this id, or one that ends so.
fn is_meant(typed: &str, test: &TestId) -> bool {
    let id = test.as_str();
    let test = if typed.contains('[') { id } else { id.split_once('[').map_or(id, |it| it.0) };
    let before = test.strip_suffix(typed);
    before
        .is_some_and(|before| before.is_empty() || before.ends_with(['/', ':', '#', '.', ' ', '>']))
}

/// The document with what hunts found about the test and its cases, and what makes it fail.
fn with_history(document: &[u8], known: &KnownTests) -> Vec<u8> {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(document) else {
        return document.to_vec();
    };
    let hunted: Vec<Value> = known.hunted.iter().map(view::known_as_json).collect();
    members.insert("hunted".to_owned(), json!(hunted));
    let causes: Vec<_> = known.causes.iter().filter_map(|it| it.found.as_ref()).collect();
    members.insert("causes".to_owned(), json!(causes));
    format!("{:#}\n", Value::Object(members)).into_bytes()
}

/// Print what each forest of the project says about the test. Without a forest there is nothing to
/// say; with one, but without features of the test, how to get them.
fn print_forests(test: &TestId, folder: &Path) -> Result<(), Problem> {
    let in_project = |question| model::forest_in(question, folder);
    let models: Vec<PathBuf> = cannier::Problem::ALL.into_iter().filter_map(in_project).collect();
    if models.is_empty() {
        return Ok(());
    }
    let cases = measured_cases(test, folder)?;
    if cases.is_empty() {
        view::notices(&[Notice {
            what: "the project has a forest, but the features of this test are not known".into(),
            next: "measure them: `flakeproof features -- pytest …`".into(),
        }]);
        return Ok(());
    }
    for path in models {
        let model = model::open_forest(&path)?;
        let (case, explanation) = most_suspicious(&model, &cases)?;
        view::forest_explanation(&model.about, case, &explanation);
    }
    Ok(())
}

/// The mean features of the test, of each of its cases if it has parameters.
fn measured_cases(test: &TestId, folder: &Path) -> Result<BTreeMap<TestId, Features>, Problem> {
    if !locate(None, folder)?.may_be_there() {
        return Ok(BTreeMap::new());
    }
    let is_case = |id: &TestId| {
        id == test
            || id.as_str().strip_prefix(test.as_str()).is_some_and(|rest| rest.starts_with('['))
    };
    let mut cases: BTreeMap<TestId, MeanFeatures> = BTreeMap::new();
    for record in forest_data::features_of(None, folder)? {
        if is_case(&record.test) {
            cases.entry(record.test).or_default().add(&record.features);
        }
    }
    Ok(cases.into_iter().map(|(id, mean)| (id, mean.mean())).collect())
}

/// The case with the highest probability, explained.
fn most_suspicious<'c>(
    model: &ForestModel,
    cases: &'c BTreeMap<TestId, Features>,
) -> Result<(&'c TestId, Explanation), Problem> {
    let mut most: Option<(&TestId, Explanation)> = None;
    for (id, features) in cases {
        let explanation = model.explain(features).map_err(|error| {
            Problem::usage(error.to_string(), "measure the features of the test again")
        })?;
        if most.as_ref().is_none_or(|(_, it)| explanation.answer > it.answer) {
            most = Some((id, explanation));
        }
    }
    most.ok_or_else(|| Problem::broken("no case of the test was measured", "please report this"))
}

/// The page of the book.
const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/glossary.md"));

/// What a word means, as `word: meaning`; `None` where it is none of the program's.
pub(super) fn meaning(word: &str) -> Option<String> {
    rows().find_map(|(words, meaning)| {
        let is_asked = |it: &str| it.eq_ignore_ascii_case(word);
        let is_here = is_asked(words) || words.split(", ").any(is_asked);
        is_here.then(|| format!("{words}: {}", without_links(meaning)))
    })
}

/// The word of the program's that was perhaps meant.
fn nearest_word(typed: &str) -> Option<&'static str> {
    const ALIKE: f64 = 0.88;
    let alike = |word: &str| strsim::jaro_winkler(&word.to_lowercase(), &typed.to_lowercase());
    let words = rows().flat_map(|(words, _)| words.split(", ")).map(|word| (alike(word), word));
    let nearest = words.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (nearest.0 >= ALIKE).then_some(nearest.1)
}

/// The words of each row, which mean the same or belong together, and their meaning.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.lines().filter_map(|line| {
        let (words, meaning) = line.strip_prefix("| **")?.split_once("** | ")?;
        Some((words, meaning.strip_suffix(" |")?))
    })
}

/// `[text](page)` as `text`, and nothing in italics or code.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, after)) = link.split_once("](") else { break };
        plain = plain + before + name;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    (plain + rest).replace(['*', '`'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Vec<&'static str> {
        let all = ["t/a.py::test_x", "t/a.py::test_y[1]", "t/a.py::test_y[2]", "t/b.py::my_test_x"];
        all.into_iter().filter(|id| is_meant(typed, &(*id).into())).collect()
    }

    #[test]
    fn a_case_is_one_and_a_test_is_all_its_cases() {
        assert_eq!(found("t/a.py::test_y"), ["t/a.py::test_y[1]", "t/a.py::test_y[2]"]);
        assert_eq!(found("test_y[2]"), ["t/a.py::test_y[2]"]);
        assert_eq!(found("test_x"), ["t/a.py::test_x"]);
    }

    #[test]
    fn the_words_of_the_output_are_explained() {
        for word in ["NOD", "bursty", "polluter", "brittle", "victim", "flip", "unknown", "verdict"]
        {
            assert!(meaning(word).is_some(), "{word}");
        }
        assert_eq!(meaning("nod"), meaning("NOD"));
        assert_eq!(meaning("test_total"), None);
        assert_eq!(nearest_word("britle"), Some("brittle"));
        assert_eq!(nearest_word("test_total"), None);
    }

    #[test]
    fn nothing_of_the_page_s_form_is_left() {
        for (words, _) in rows() {
            let text = meaning(words).expect("each row has a meaning");
            assert!(!text.contains("](") && !text.contains('*'), "{text}");
        }
    }
}
