//! `flakeproof features`: run a suite under measurement and give the features of its tests; or read
//! their source, in any language that is measured, and give those that need no run.

mod suite_run;
mod vectors;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, Features, Notice, Seed, Suite, TestId, TreeState};
use flakeproof_learn::cannier::{MeasuredTest, write_features};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::git::{Churn, Repository};
use flakeproof_runner::{Adapter, Cancel, Error, Probe, Waiting};
use flakeproof_syntax::metrics::StaticFeatures;

use self::suite_run::{End, KeptRuns, run_suite};
use self::vectors::Vectors;
use crate::cli::{FeaturesArguments, FeaturesFormat, FeaturesSettings};
use crate::problem::{self, Problem};
use crate::session::{Start, current_folder, listen_for_interrupts, reports};
use crate::source::source_tests;
use crate::view::{self, FeatureRow, FeatureTable, FeaturesProgress};

/// How far back changes of covered lines are counted (CANNIER, Table 1).
const COMMITS: u32 = 75;

/// Run the command.
pub(crate) fn run(typed: &FeaturesArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let settings = FeaturesSettings::resolve(typed, &folder)?;
    if let Some(paths) = &typed.source {
        return measure_source(paths, &settings);
    }
    let seed = settings.seed.unwrap_or(Start::now().seed());
    let cancel = listen_for_interrupts(&Waiting::default());
    let code = code_history_in(&folder);
    let mut progress = FeaturesProgress::start();
    let mut measurement = Measurement::new(&settings, seed, &cancel);

    if settings.is_compared {
        measurement.plain = Some(measurement.run_plainly(&mut progress)?);
    }
    let mut code = Some(code);
    for number in 1..=settings.runs {
        let begin = Instant::now();
        let adapter = measurement.adapter(number).map_err(problem::explain)?;
        let discovered = adapter.discover();
        if let Some(code) = code.take() {
            let code =
                code.join().unwrap_or_else(|_| CodeHistory::unknown("git could not be asked"));
            measurement.vectors.set_churn(code.churn);
            measurement.kept.set_tree(code.tree);
        } else {
            // Somebody may have edited the code since the last run.
            measurement.kept.set_tree(tree_in(&folder));
        }
        match measurement.run_once(&*adapter, discovered, number, &mut progress)? {
            End::Complete => measurement.times.push(begin.elapsed()),
            End::Stopped => measurement.is_incomplete = true,
            End::Interrupted => measurement.is_interrupted = true,
        }
        if measurement.is_interrupted {
            break;
        }
    }
    progress.end();
    let exit = measurement.exit();
    let measured = measurement.vectors.measured(&settings.project);
    show(&measurement.into_table(), &settings);
    if let Some(path) = &settings.export {
        reports::put(path, &table_bytes(path, &measured)?)?;
    }
    Ok(exit)
}

/// What git knows about the code under test.
struct CodeHistory {
    tree: TreeState,
    churn: Result<Churn, String>,
}

impl CodeHistory {
    fn unknown(why: &str) -> Self {
        Self { tree: TreeState::default(), churn: Err(why.to_owned()) }
    }
}

/// Ask git while the tests are being collected.
fn code_history_in(folder: &Path) -> JoinHandle<CodeHistory> {
    let folder = folder.to_path_buf();
    std::thread::spawn(move || match Repository::containing(&folder) {
        Ok(repository) => CodeHistory {
            tree: repository.tree_state(),
            churn: repository.churn(COMMITS, &["*.py"]).map_err(|why| why.to_string()),
        },
        Err(why) => CodeHistory::unknown(&why.to_string()),
    })
}

fn tree_in(folder: &Path) -> TreeState {
    Repository::containing(folder).map(|it| it.tree_state()).unwrap_or_default()
}

/// What the source of each test tells, read while the tests run.
type FromSource = JoinHandle<HashMap<TestId, StaticFeatures>>;

/// What is measured, and how far it is.
struct Measurement<'a> {
    settings: &'a FeaturesSettings,
    seed: Seed,
    cancel: &'a Cancel,
    vectors: Vectors,
    kept: KeptRuns,
    runner: String,
    notices: Vec<Notice>,
    /// How long each complete run took.
    times: Vec<Duration>,
    /// How long the suite took without measuring.
    plain: Option<Duration>,
    is_incomplete: bool,
    is_interrupted: bool,
}

impl<'a> Measurement<'a> {
    fn new(settings: &'a FeaturesSettings, seed: Seed, cancel: &'a Cancel) -> Self {
        Self {
            settings,
            seed,
            cancel,
            vectors: Vectors::default(),
            kept: KeptRuns::open(settings, seed),
            runner: String::new(),
            notices: Vec::new(),
            times: Vec::new(),
            plain: None,
            is_incomplete: false,
            is_interrupted: false,
        }
    }

    /// A new start of the user's command: each run has an interpreter of its own.
    fn adapter(&self, number: u32) -> Result<Box<dyn Adapter>, Error> {
        let seed = self.seed.split(&format!("run-{number}"));
        adapters::open(RunRequest {
            command: self.settings.command.clone(),
            folder: self.settings.folder.clone(),
            adapter: self.settings.adapter.clone(),
            timeout: self.settings.timeout,
            run: format!("features-{}-{number}", self.seed),
            seed,
            is_output_shown: self.settings.is_runner_shown,
            profiles: self.settings.runners.clone(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel: self.cancel.clone(),
            in_force: flakeproof_runner::levers::InForce::default(),
        })
    }

    /// Run the suite once as it is; gives how long it took.
    fn run_plainly(&self, progress: &mut FeaturesProgress) -> Result<Duration, Problem> {
        let begin = Instant::now();
        let adapter = self.adapter(0).map_err(problem::explain)?;
        let suite = adapter.discover().map_err(problem::explain)?;
        progress.enter("running without measuring", suite.tests.len());
        let ended =
            run_suite(&*adapter, &suite, Probe::attempt(1), self.cancel, |_| progress.step());
        ended.map_err(|error| problem::explain_after_start(error, &adapter.output()))?;
        Ok(begin.elapsed())
    }

    /// Run the suite once under measurement.
    fn run_once(
        &mut self,
        adapter: &dyn Adapter,
        discovered: flakeproof_runner::Result<Suite>,
        number: u32,
        progress: &mut FeaturesProgress,
    ) -> Result<End, Problem> {
        let suite = match discovered {
            Err(Error::Cancelled) if number > 1 => return Ok(End::Interrupted),
            other => other.map_err(problem::explain)?,
        };
        if suite.tests.is_empty() {
            return Err(problem::no_tests(&self.settings.command));
        }
        let can = adapter.can();
        if !can.features {
            let what = format!("{} cannot measure what tests use and cover", can.runner);
            return Err(Problem::usage(what, "measure a pytest suite"));
        }
        self.runner = can.runner;
        let root = adapter.root().unwrap_or_default();
        self.vectors.begin_run(&suite, &root);
        self.kept.begin(number, adapter.surroundings());
        let from_source = read_source(&suite, root);
        let what = match self.settings.runs {
            1 => "measuring".to_owned(),
            runs => format!("measuring, run {number} of {runs},"),
        };
        progress.enter(&what, suite.tests.len());
        let (vectors, kept) = (&mut self.vectors, &mut self.kept);
        let ended = run_suite(adapter, &suite, Probe::features(), self.cancel, |execution| {
            vectors.add(&execution);
            kept.execution(execution);
            progress.step();
        });
        let from_source = from_source.join().unwrap_or_default();
        self.kept.features(self.vectors.end_run(&from_source));
        let (end, notices) =
            ended.map_err(|error| problem::explain_after_start(error, &adapter.output()))?;
        self.kept.end(&self.runner, end);
        self.notices.extend(notices);
        Ok(end)
    }

    fn exit(&self) -> ExitCode {
        match (self.is_interrupted, self.is_incomplete) {
            (true, _) => ExitCode::Interrupted,
            (false, true) => ExitCode::Inconclusive,
            (false, false) => ExitCode::Clean,
        }
    }

    fn into_table(self) -> FeatureTable {
        let mut notices = self.notices;
        notices.extend(self.vectors.notices());
        notices.extend(self.kept.notices());
        FeatureTable {
            project: self.settings.project.clone(),
            runner: self.runner,
            seed: Some(self.seed),
            rows: self.vectors.rows(),
            times: self.times,
            plain: self.plain,
            notices,
        }
    }
}

fn read_source(suite: &Suite, root: PathBuf) -> FromSource {
    let suite = suite.clone();
    std::thread::spawn(move || vectors::static_features(&suite, &root))
}

fn show(table: &FeatureTable, settings: &FeaturesSettings) {
    let is_stdout_taken = settings.export.as_deref() == Some(Path::new("-"));
    match settings.format {
        FeaturesFormat::Json => view::features_json(table, is_stdout_taken),
        FeaturesFormat::Text => view::features(table, is_stdout_taken),
    }
}

/// Read the tests in files and folders, and give the features of their source.
fn measure_source(paths: &[PathBuf], settings: &FeaturesSettings) -> Result<ExitCode, Problem> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let found = source_tests::measure(paths, &settings.folder)?;
    if found.tests.is_empty() {
        return Err(source_tests::no_tests(paths));
    }
    let row = |test: source_tests::SourceTest| {
        let mut features = Features::default();
        if let Some(source) = &test.features {
            vectors::set_static(&mut features, source);
        }
        FeatureRow { test: test.id, runs: 1, features }
    };
    let table = FeatureTable {
        project: settings.project.clone(),
        runner: "nothing was run".to_owned(),
        seed: None,
        rows: found.tests.into_iter().map(row).collect(),
        times: Vec::new(),
        plain: None,
        notices: found.notices,
    };
    show(&table, settings);
    match &settings.export {
        Some(path) => export_table(path, &table),
        None => Ok(()),
    }?;
    Ok(ExitCode::Clean)
}

fn export_table(path: &Path, table: &FeatureTable) -> Result<(), Problem> {
    let measured = |row: &FeatureRow| MeasuredTest {
        project: table.project.clone(),
        test: row.test.to_string(),
        run: 1,
        features: row.features,
    };
    let tests: Vec<MeasuredTest> = table.rows.iter().map(measured).collect();
    reports::put(path, &table_bytes(path, &tests)?)
}

/// The bytes of the table: a line for each run of each test.
fn table_bytes(path: &Path, tests: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => parquet_bytes(tests),
        _ => Ok(write_features(tests).into_bytes()),
    }
}

/// A column for each of project, test, run and every feature; what is missing is null.
#[cfg(feature = "parquet")]
fn parquet_bytes(tests: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    columns::written(tests).map_err(|error| {
        Problem::broken(
            format!("the features cannot be written as Parquet: {error}"),
            "export them as CSV; what was measured is in the history",
        )
    })
}

/// This program was built without Parquet.
#[cfg(not(feature = "parquet"))]
fn parquet_bytes(_: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    Err(Problem::usage(
        "this flakeproof was built without Parquet",
        "export to a file that ends in `.csv`, or build with `--features parquet`",
    ))
}

#[cfg(feature = "parquet")]
mod columns {
    use std::sync::Arc;

    use flakeproof_core::{Feature, Features};
    use flakeproof_learn::cannier::MeasuredTest;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    pub(super) fn written(tests: &[MeasuredTest]) -> Result<Vec<u8>, ParquetError> {
        let features = Features::NAMES.map(|name| format!("OPTIONAL DOUBLE {name};")).join(" ");
        let schema = parse_message_type(&format!(
            "message features {{ REQUIRED BINARY project (UTF8); REQUIRED BINARY test (UTF8); \
             REQUIRED INT32 run; {features} }}"
        ))?;
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED);
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
        let mut rows = file.next_row_group()?;
        let texts = |text: fn(&MeasuredTest) -> &str| -> Vec<ByteArray> {
            tests.iter().map(|test| ByteArray::from(text(test))).collect()
        };
        for column in [texts(|test| &test.project), texts(|test| &test.test)] {
            if let Some(mut writer) = rows.next_column()? {
                writer.typed::<ByteArrayType>().write_batch(&column, None, None)?;
                writer.close()?;
            }
        }
        let runs: Vec<i32> =
            tests.iter().map(|test| i32::try_from(test.run).unwrap_or(i32::MAX)).collect();
        if let Some(mut writer) = rows.next_column()? {
            writer.typed::<Int32Type>().write_batch(&runs, None, None)?;
            writer.close()?;
        }
        for feature in Feature::ALL {
            let values = tests.iter().map(|test| test.features.get(feature));
            let is_there: Vec<i16> =
                values.clone().map(|value| i16::from(value.is_some())).collect();
            let known: Vec<f64> = values.flatten().collect();
            if let Some(mut writer) = rows.next_column()? {
                writer.typed::<DoubleType>().write_batch(&known, Some(&is_there), None)?;
                writer.close()?;
            }
        }
        rows.close()?;
        file.into_inner()
    }
}
