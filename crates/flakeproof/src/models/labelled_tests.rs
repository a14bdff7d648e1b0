//! Labelled tests, from wherever they are, with all that can be read of them: their text, the code
//! around them, and the paths of their graphs.
//!
//! The source of each project lies in a folder of its own, named as in the data. Projects are read
//! one after another, so that only one is in memory at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use flakeproof_core::{History, HistoryError, Notice};
use flakeproof_learn::ensemble::{ReadWords, Reading, Readings, SourceReader};
use flakeproof_learn::labelled::{self, LabelledTest};
use flakeproof_learn::network::{Methods, PathCorpus, PathWriter};
use flakeproof_store::Store;
use flakeproof_syntax::Language;
use flakeproof_syntax::dependence::{ContextualPath, Graph, PathLimits};
use flakeproof_syntax::perturbation::{Form, Perturber};
use flakeproof_syntax::project::ProjectIndex;
use rayon::prelude::*;

use crate::cli::LabelledSourcesArguments;
use crate::problem::Problem;
use crate::session::current_folder;
use crate::settings::{StoreName, locate};
use crate::source::files::FOR_TRAINING;
use crate::source::project_source::ProjectSource;
use crate::source::source_tests::{self, without_parameters};
use crate::view;

/// The first bytes of a Zstandard frame.
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The labelled tests of JSON Lines files, without those of some projects.
pub(crate) fn of_files(
    paths: &[PathBuf],
    without: &[String],
) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = Vec::new();
    for path in paths {
        let text = text_of(path)?;
        tests.extend(labelled::read_json_lines(&text).map_err(|error| {
            Problem::usage(
                format!("{}: {error}", path.display()),
                "each line is one JSON object: {\"source\": \"…\", \"flaky\": true, …}",
            )
        })?);
    }
    for project in without {
        if !tests.iter().any(|test| test.project == *project) {
            let mut known: Vec<&str> = tests.iter().map(|test| test.project.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            return Err(Problem::usage(
                format!("no test belongs to the project `{project}`"),
                format!("the projects are: {}", known.join(", ")),
            ));
        }
    }
    tests.retain(|test| !without.contains(&test.project));
    Ok(tests)
}

fn text_of(path: &Path) -> Result<String, Problem> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Problem::usage(
            format!("{} cannot be read: {cause}", path.display()),
            "name a file of JSON Lines, plain or compressed with Zstandard (.zst)",
        )
    };
    let mut bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    if bytes.starts_with(&ZSTANDARD) {
        let mut plain = Vec::new();
        // What the decoder says is about its own insides.
        let damaged = || unreadable(&"its compressed data is damaged or cut off");
        ruzstd::decoding::StreamingDecoder::new(&bytes[..])
            .map_err(|_| damaged())?
            .read_to_end(&mut plain)
            .map_err(|_| damaged())?;
        bytes = plain;
    }
    String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8"))
}

/// One test for each file of two folders.
pub(crate) fn of_folders(flaky: &Path, stable: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = Vec::new();
    for (folder, is_flaky) in [(flaky, true), (stable, false)] {
        let cannot = |error: std::io::Error| {
            Problem::usage(
                format!("the folder {} cannot be read: {error}", folder.display()),
                "name a folder with one test in each file",
            )
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(cannot)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        for path in files {
            let bytes = std::fs::read(&path).map_err(cannot)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            tests.push(LabelledTest {
                id: name.clone(),
                name,
                flaky: is_flaky,
                comments: Language::of_path(&path.to_string_lossy())
                    .map(Into::into)
                    .unwrap_or_default(),
                source: String::from_utf8_lossy(&bytes).into_owned(),
                ..LabelledTest::default()
            });
        }
    }
    Ok(tests)
}

/// The tests in the source of a folder, as the history of its runs knows them: flaky if a verdict, a hunt or
/// a proven cause ever said so, not flaky if they only ever passed. All others are left out. What `cause`
/// proved to make one fail is its category. `beside` are labelled tests from elsewhere.
pub(crate) fn of_history(
    store: Option<&StoreName>,
    folder: &Path,
    beside: &[LabelledTest],
) -> Result<Vec<LabelledTest>, Problem> {
    let place = locate(store, folder)?;
    if !place.may_be_there() {
        return Err(Problem::usage(
            format!("there is no history at {place}"),
            "run your tests with `flakeproof run` some times first, or name it with `--store`",
        ));
    }
    let history = Store::open(&place).map_err(|error| unreadable(&error))?;
    let labels = HistoryLabels::read(&*history).map_err(|error| unreadable(&error))?;
    let found = source_tests::read(&[PathBuf::from(".")], folder)?;
    let project = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let labelled: Vec<LabelledTest> = found
        .tests
        .into_iter()
        .filter_map(|test| {
            let label = labels.of(test.id.as_str())?;
            Some(LabelledTest {
                id: test.id.to_string(),
                project: project.clone(),
                class: test.class,
                name: String::new(),
                flaky: label.flaky,
                category: label.category.clone(),
                runs: None,
                comments: test.language.into(),
                source: test.source,
            })
        })
        .collect();
    labels.told(&labelled, beside)?;
    Ok(labelled)
}

fn unreadable(error: &HistoryError) -> Problem {
    Problem::usage(error.to_string(), "name the history with `--store`, or use `--data`")
}

/// What a history says of tests, by the id of their function: parameters are part of an id, but not of the
/// source, and one flaky case makes the test flaky.
#[derive(Default)]
struct HistoryLabels {
    tests: HashMap<String, HistoryLabel>,
    /// How many tests each kind of evidence calls flaky.
    verdicts: usize,
    hunts: usize,
    causes: usize,
}

#[derive(Default)]
struct HistoryLabel {
    flaky: bool,
    category: Option<String>,
}

impl HistoryLabels {
    fn read(history: &dyn History) -> Result<Self, HistoryError> {
        let mut labels = Self::default();
        for (test, record) in &history.timeline()?.track_records() {
            let is_flaky = record.flaky > 0;
            labels.verdicts += usize::from(is_flaky);
            if is_flaky || record.failures == 0 && record.passes > 0 {
                labels.at(test.as_str()).flaky |= is_flaky;
            }
        }
        for it in history.known_flaky()?.iter().filter(|it| it.test.kind.is_some()) {
            labels.hunts += 1;
            labels.at(it.test.id.as_str()).flaky = true;
        }
        for cause in history.causes()?.iter().filter_map(|it| it.found.as_ref()) {
            if let (true, Some(category)) = (cause.answer.is_cause(), &cause.category) {
                labels.causes += 1;
                let label = labels.at(cause.test.as_str());
                *label = HistoryLabel { flaky: true, category: Some(category.clone()) };
            }
        }
        Ok(labels)
    }

    fn at(&mut self, id: &str) -> &mut HistoryLabel {
        self.tests.entry(without_parameters(id).to_owned()).or_default()
    }

    /// The label of a test in the source. Runners for JavaScript put `::` between a file and a test, and
    /// their reports ` > `.
    fn of(&self, id: &str) -> Option<&HistoryLabel> {
        let id = without_parameters(id);
        self.tests.get(id).or_else(|| self.tests.get(&id.replacen(" > ", "::", 1)))
    }

    /// Say how many labels there are, and refuse where one kind is missing.
    fn told(&self, labelled: &[LabelledTest], beside: &[LabelledTest]) -> Result<(), Problem> {
        let flaky = labelled.iter().filter(|test| test.flaky).count();
        let stable = labelled.len() - flaky;
        let has = |flaky: bool| beside.iter().any(|test| test.flaky == flaky);
        let known = self.tests.len();
        let of_it = format!(
            "the history knows {known} tests ({} flaky by verdicts, {} by hunts, {} by causes); the source of \
             {} is here, {flaky} of them flaky and {stable} not",
            self.verdicts,
            self.hunts,
            self.causes,
            labelled.len()
        );
        let next = match (flaky > 0 || has(true), stable > 0 || has(false)) {
            (false, false) => "start it in the folder where the tests ran",
            (false, true) => {
                "flaky ones are missing: run `flakeproof hunt`, or `flakeproof run` on more days"
            }
            (true, false) => {
                "tests that only ever passed are missing: run the suite with `flakeproof run`"
            }
            (true, true) => {
                view::notices(&[Notice {
                    what: of_it,
                    next: "the more there are of both kinds, the more can be learned".to_owned(),
                }]);
                return Ok(());
            }
        };
        Err(Problem::usage(format!("there is too little to learn from: {of_it}"), next))
    }
}

/// Of so many tests at a time the graphs are drawn; more would only fill the memory.
const TOGETHER: usize = 512;

/// Labelled tests with what was read of them.
pub(crate) struct LabelledSources {
    /// The tests, sorted by project; after all of them each in its other form, if one was asked for.
    pub(crate) readings: Readings,
    /// How many tests there are, other forms left out.
    pub(crate) originals: usize,
    /// How many of them have another text in their other form.
    pub(crate) changed: usize,
    /// How many of them were found in the source of their projects.
    pub(crate) found: usize,
    /// How many of them have a path.
    pub(crate) with_path: usize,
    /// How long reading took.
    pub(crate) time: Duration,
}

/// The tests that are meant.
pub(crate) fn chosen(
    typed: &LabelledSourcesArguments,
    tests: Vec<LabelledTest>,
) -> Result<Vec<LabelledTest>, Problem> {
    match &typed.only_ids {
        Some(file) => only(tests, file),
        None => Ok(tests),
    }
}

/// Read what there is of tests, and say on the terminal what was found. Of `texts` only their own
/// text is read, whatever the sources are.
pub(crate) fn read_sources(
    typed: &LabelledSourcesArguments,
    mut tests: Vec<LabelledTest>,
    texts: Vec<LabelledTest>,
    form: Option<&Form>,
) -> Result<LabelledSources, Problem> {
    let begin = Instant::now();
    tests.sort_by(|a, b| a.project.cmp(&b.project));
    let root = match &typed.sources {
        Some(folder) => Some(checked(folder, &tests)?),
        None => None,
    };
    let mut gathered = Gathered::default();
    let mut forms = form.map(GatheredForms::new);
    let projects: Vec<&[LabelledTest]> = tests.chunk_by(|a, b| a.project == b.project).collect();
    let mut progress = view::Steps::start(projects.len(), "projects read");
    for tests in &projects {
        gathered.add(tests, root.as_deref())?;
        forms.iter_mut().try_for_each(|forms| forms.add(tests, root.as_deref()))?;
        progress.step();
    }
    progress.end();
    drop(projects);
    gathered.add_texts(&texts);
    tests.extend(texts);
    if let Some(folder) = &typed.sources {
        gathered.notices.extend(missing(&gathered.missing, folder));
    }
    view::notices(&gathered.notices);
    let read = gathered.finish(tests, forms, begin)?;
    view::read_sources(read.originals, read.found, read.with_path, read.time);
    Ok(read)
}

/// The tests whose ids stand in a file, one a line.
fn only(mut tests: Vec<LabelledTest>, file: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let what = format!("{} cannot be read: {error}", file.display());
        Problem::usage(what, "name a file with the id of a test on each line")
    })?;
    let wanted: BTreeSet<&str> = text.lines().map(str::trim).filter(|id| !id.is_empty()).collect();
    tests.retain(|test| wanted.contains(test.id.as_str()));
    if tests.is_empty() {
        return Err(Problem::usage(
            format!("none of the {} ids in {} is in the data", wanted.len(), file.display()),
            "write ids as the data has them, one a line",
        ));
    }
    Ok(tests)
}

/// The folder with the projects, if it has one at all.
fn checked(folder: &Path, tests: &[LabelledTest]) -> Result<PathBuf, Problem> {
    let next = "name a folder that has a folder for each project, named as in the data";
    let root = current_folder()?.join(folder);
    if !root.is_dir() {
        return Err(Problem::usage(format!("there is no folder {}", folder.display()), next));
    }
    let is_there = tests.iter().any(|test| folder_of(&root, &test.project).is_some());
    let nothing = || {
        let what = format!("{} has no folder for a project of the data", folder.display());
        Problem::usage(what, next)
    };
    is_there.then_some(root).ok_or_else(nothing)
}

/// Where a project is. A name that leads elsewhere is not followed.
fn folder_of(root: &Path, project: &str) -> Option<PathBuf> {
    let mut parts = Path::new(project).components();
    let is_a_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let folder = root.join(project);
    (is_a_name && folder.is_dir()).then_some(folder)
}

fn missing(projects: &[String], folder: &Path) -> Option<Notice> {
    (!projects.is_empty()).then(|| Notice {
        what: format!(
            "{} has no folder for {}: of those tests only their own text is read",
            folder.display(),
            projects.join(", ")
        ),
        next: "add the source of these projects, in folders named as in the data".to_owned(),
    })
}

/// What was read so far.
#[derive(Default)]
struct Gathered {
    readings: Vec<Reading>,
    paths: PathCorpus,
    methods: BTreeMap<String, Methods>,
    found: usize,
    missing: Vec<String>,
    notices: Vec<Notice>,
}

impl Gathered {
    /// Read the tests of one project, in their order.
    fn add(&mut self, tests: &[LabelledTest], root: Option<&Path>) -> Result<(), Problem> {
        let Some(name) = tests.first().map(|test| &test.project) else { return Ok(()) };
        let folder = root.and_then(|root| folder_of(root, name));
        let Some(folder) = folder else {
            self.missing.push(if name.is_empty() { "(no name)".into() } else { name.clone() });
            self.add_texts(tests);
            return Ok(());
        };
        let source = ProjectSource::read_within(FOR_TRAINING, &[PathBuf::from(".")], &folder)?;
        let notices = source.notices.iter().cloned();
        self.notices
            .extend(notices.map(|it| Notice { what: format!("{name}: {}", it.what), ..it }));
        self.draw(tests, source.index());
        self.methods.entry(name.clone()).or_default().push_project(source.index());
        Ok(())
    }

    /// Read the text of tests, and nothing around it.
    fn add_texts(&mut self, tests: &[LabelledTest]) {
        for test in tests {
            self.readings.push(of_text(test));
            self.paths.push_test::<[_; 0]>([]);
        }
    }

    /// Read the tests of a project whose source is there.
    fn draw(&mut self, tests: &[LabelledTest], project: &ProjectIndex) {
        let reader = SourceReader::new(project, ReadWords::Yes);
        let mut writer = PathWriter::new(project);
        for tests in tests.chunks(TOGETHER) {
            let read: Vec<TestRead> =
                tests.par_iter().map(|test| TestRead::read(test, project, &reader)).collect();
            for test in read {
                self.found += usize::from(test.is_found);
                self.readings.push(test.reading);
                writer.push(&test.graph, &test.paths);
            }
        }
        self.paths.append(&writer.into_corpus());
    }

    fn finish(
        mut self,
        mut tests: Vec<LabelledTest>,
        forms: Option<GatheredForms<'_>>,
        begin: Instant,
    ) -> Result<LabelledSources, Problem> {
        let count = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let with_path = (0..count).filter(|test| self.paths.path_count(*test) > 0).count();
        let originals = tests.len();
        let mut changed = 0;
        if let Some(GatheredForms { tests: forms, gathered, .. }) = forms {
            changed =
                forms.iter().zip(&tests).filter(|(it, test)| it.source != test.source).count();
            tests.extend(forms);
            self.readings.extend(gathered.readings);
            self.paths.append(&gathered.paths);
        }
        let readings = Readings::new(tests, self.readings, self.paths, self.methods)
            .map_err(|error| Problem::broken(error.to_string(), "please report this as a bug"))?;
        let (found, time) = (self.found, begin.elapsed());
        Ok(LabelledSources { readings, originals, changed, found, with_path, time })
    }
}

/// What was read so far of tests in another form.
struct GatheredForms<'f> {
    form: &'f Form,
    /// The tests, with their text in that form.
    tests: Vec<LabelledTest>,
    gathered: Gathered,
}

impl<'f> GatheredForms<'f> {
    fn new(form: &'f Form) -> Self {
        Self { form, tests: Vec::new(), gathered: Gathered::default() }
    }

    /// Read the tests of one project, in their order.
    fn add(&mut self, tests: &[LabelledTest], root: Option<&Path>) -> Result<(), Problem> {
        let name = tests.first().map_or("", |test| &test.project);
        let Some(folder) = root.and_then(|root| folder_of(root, name)) else {
            let forms = in_form(tests, self.form);
            self.gathered.add_texts(&forms);
            self.tests.extend(forms);
            return Ok(());
        };
        let here = [PathBuf::from(".")];
        let source = ProjectSource::read_in_form(self.form, FOR_TRAINING, &here, &folder)?;
        let index = source.index();
        let alone = in_form(tests, self.form);
        let written = tests.iter().zip(alone).map(|(test, alone)| {
            let declared = index.find_method(&test.class, &test.name);
            let place = declared.and_then(|it| Some((index.unit(it)?, index.function(it)?)));
            match place {
                Some((unit, function)) => {
                    let source = unit.text_of(function.span).to_owned();
                    LabelledTest { source, ..test.clone() }
                }
                None => alone,
            }
        });
        let forms: Vec<LabelledTest> = written.collect();
        self.gathered.draw(&forms, index);
        self.tests.extend(forms);
        Ok(())
    }
}

/// Tests with their text in another form, as far as it can be brought to it alone.
pub(crate) fn in_form(tests: &[LabelledTest], form: &Form) -> Vec<LabelledTest> {
    tests
        .par_iter()
        .map_init(
            || Perturber::new(form.clone()),
            |perturber, test| {
                let changed = perturber.method(&test.source, &test.id);
                LabelledTest {
                    source: changed.unwrap_or_else(|| test.source.clone()),
                    ..test.clone()
                }
            },
        )
        .collect()
}

/// What was read of one test of a project.
struct TestRead {
    reading: Reading,
    is_found: bool,
    graph: Graph,
    paths: Vec<ContextualPath>,
}

impl TestRead {
    fn read(test: &LabelledTest, project: &ProjectIndex, reader: &SourceReader<'_>) -> Self {
        let Some(declared) = project.find_method(&test.class, &test.name) else {
            let reading = of_text(test);
            return Self { reading, is_found: false, graph: Graph::default(), paths: Vec::new() };
        };
        let graph = Graph::new(project, declared, Some(&test.class));
        Self {
            reading: reader.read(declared, &test.class, &test.source, test.comments),
            is_found: true,
            paths: graph.paths(project, &PathLimits::default()),
            graph,
        }
    }
}

fn of_text(test: &LabelledTest) -> Reading {
    Reading::of_text(&test.source, &test.class, test.comments)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{
        Cause, CauseAnswer, CauseProgress, CauseRecord, History, LeverName, Tally, TestId,
        TriedLever,
    };

    use super::*;

    fn caused_by_the_zone(test: &TestId) -> CauseRecord {
        let lever = TriedLever {
            name: LeverName::Zone,
            value: "Asia/Kolkata".into(),
            answer: Some(CauseAnswer::CausedBy),
            plain: Tally { runs: 9, failures: 0 },
            with: Tally { runs: 9, failures: 9 },
            beside: None,
            remark: None,
        };
        CauseRecord {
            id: "1".into(),
            started: "2026-11-15T02:53:00Z".into(),
            command: vec!["pytest".into()],
            seed: "7".into(),
            test: test.clone(),
            found: Some(Cause {
                test: test.clone(),
                answer: CauseAnswer::CausedBy,
                plain: Tally { runs: 9, failures: 0 },
                levers: vec![lever],
                not_tried: Vec::new(),
                category: Some(LeverName::Zone.category().to_owned()),
                command: None,
                failure: None,
            }),
            progress: CauseProgress::default(),
        }
    }

    #[test]
    fn a_proven_cause_is_a_label_with_its_category() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = "def test_day():\n    assert today() == 14\n\ndef test_other():\n    pass\n";
        std::fs::write(folder.path().join("test_a.py"), source).expect("it is written");
        let store = folder.path().join("history.db");
        let mut history = flakeproof_store::SqliteHistory::open(&store).expect("it opens");
        let caused = caused_by_the_zone(&"test_a.py::test_day".into());
        history.keep_cause(&caused).expect("it is kept");
        let refused = of_history(Some(&StoreName::Path(store)), folder.path(), &[])
            .expect_err("nothing is known as stable");
        assert!(refused.what.contains("1 of them flaky and 0 not"), "{}", refused.what);
        let labels = HistoryLabels::read(&history).expect("it reads");
        assert!(labels.of("test_a.py::test_day[1]").is_some_and(|it| it.flaky));
        assert!(labels.of("test_a.py::test_other").is_none());
        assert_eq!((labels.verdicts, labels.hunts, labels.causes), (0, 0, 1));
    }

    #[test]
    fn an_id_of_a_javascript_report_is_the_one_of_its_runner() {
        let mut labels = HistoryLabels::default();
        labels.at("a.test.js::cart > adds").flaky = true;
        assert!(labels.of("a.test.js > cart > adds").is_some_and(|it| it.flaky));
    }
}
