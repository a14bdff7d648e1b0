//! `flakeproof features`: run a suite under measurement and give the features of its tests.

mod export;
mod from_source;
mod suite_run;
mod vectors;

use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{ExitCode, Notice, Seed};
use flakeproof_runner::adapters::pytest::{PytestAdapter, PytestSettings};
use flakeproof_runner::git::{Churn, Repository};
use flakeproof_runner::{Adapter, Cancel, Error, Probe};

use self::suite_run::{End, run_suite};
use self::vectors::Vectors;
use super::run::{entropy, interrupt, trouble};
use crate::cli::{FeaturesArguments, FeaturesFormat};
use crate::problem::Problem;
use crate::settings::FeaturesSettings;
use crate::view::{self, FeatureTable, FeaturesProgress};

/// How far back changes of covered lines are counted (CANNIER, Table 1).
const COMMITS: u32 = 75;

/// Run the command.
pub(crate) fn run(typed: &FeaturesArguments) -> Result<ExitCode, Problem> {
    let folder = super::current_folder()?;
    let settings = FeaturesSettings::resolve(typed, &folder)?;
    let now = jiff::Timestamp::now();
    let seed = settings.seed.unwrap_or(Seed(entropy(&now) % 1_000_000_000));
    let cancel = interrupt::listen();
    let churn = churn_in(&folder);
    let mut progress = FeaturesProgress::start();
    let mut measurement = Measurement::new(&settings, seed, &cancel);

    if settings.is_compared {
        measurement.plain = Some(measurement.run_plainly(&mut progress)?);
    }
    let mut churn = Some(churn);
    for number in 1..=settings.runs {
        let begin = Instant::now();
        let adapter = measurement.adapter(number).map_err(trouble::explain)?;
        let discovered = adapter.discover();
        if let Some(churn) = churn.take() {
            let unknown = |_| Err("git could not be asked".to_owned());
            measurement.vectors.set_churn(churn.join().unwrap_or_else(unknown));
        }
        match measurement.run_once(&adapter, discovered, number, &mut progress)? {
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
    show(&measurement.into_table(), &settings)?;
    Ok(exit)
}

/// Ask git while the tests are being collected.
fn churn_in(folder: &Path) -> std::thread::JoinHandle<Result<Churn, String>> {
    let folder = folder.to_path_buf();
    std::thread::spawn(move || {
        let repository = Repository::containing(&folder).map_err(|why| why.to_string())?;
        repository.churn(COMMITS, &["*.py"]).map_err(|why| why.to_string())
    })
}

/// What is measured, and how far it is.
struct Measurement<'a> {
    settings: &'a FeaturesSettings,
    seed: Seed,
    cancel: &'a Cancel,
    vectors: Vectors,
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
            runner: String::new(),
            notices: Vec::new(),
            times: Vec::new(),
            plain: None,
            is_incomplete: false,
            is_interrupted: false,
        }
    }

    /// A new start of the user's command: each run has an interpreter of its own.
    fn adapter(&self, number: u32) -> Result<PytestAdapter, Error> {
        let seed = self.seed.split(&format!("run-{number}"));
        PytestAdapter::new(PytestSettings {
            command: self.settings.command.clone(),
            folder: self.settings.folder.clone(),
            timeout: self.settings.timeout,
            run: format!("features-{}-{number}", self.seed),
            seed,
            is_output_shown: self.settings.is_runner_shown,
            cancel: self.cancel.clone(),
        })
    }

    /// Run the suite once as it is; gives how long it took.
    fn run_plainly(&self, progress: &mut FeaturesProgress) -> Result<Duration, Problem> {
        let begin = Instant::now();
        let adapter = self.adapter(0).map_err(trouble::explain)?;
        let suite = adapter.discover().map_err(trouble::explain)?;
        progress.enter("running without measuring", suite.tests.len());
        let ended =
            run_suite(&adapter, &suite, Probe::attempt(1), self.cancel, |_| progress.step());
        ended.map_err(|error| trouble::explain_after_start(error, &adapter.output()))?;
        Ok(begin.elapsed())
    }

    /// Run the suite once under measurement.
    fn run_once(
        &mut self,
        adapter: &PytestAdapter,
        discovered: flakeproof_runner::Result<flakeproof_core::Suite>,
        number: u32,
        progress: &mut FeaturesProgress,
    ) -> Result<End, Problem> {
        let suite = match discovered {
            Err(Error::Cancelled) if number > 1 => return Ok(End::Interrupted),
            other => other.map_err(trouble::explain)?,
        };
        if suite.tests.is_empty() {
            return Err(trouble::no_tests(&self.settings.command));
        }
        let can = adapter.can();
        if !can.features {
            let what = format!("{} cannot measure what tests use and cover", can.runner);
            return Err(Problem::usage(what, "measure a pytest suite"));
        }
        self.runner = can.runner;
        self.vectors.begin_run(&suite, adapter.root().as_deref());
        let what = match self.settings.runs {
            1 => "measuring".to_owned(),
            runs => format!("measuring, run {number} of {runs},"),
        };
        progress.enter(&what, suite.tests.len());
        let vectors = &mut self.vectors;
        let ended = run_suite(adapter, &suite, Probe::features(), self.cancel, |execution| {
            vectors.add(&execution);
            progress.step();
        });
        let (end, notices) =
            ended.map_err(|error| trouble::explain_after_start(error, &adapter.output()))?;
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
        FeatureTable {
            project: self.settings.project.clone(),
            runner: self.runner,
            seed: self.seed,
            rows: self.vectors.into_rows(),
            times: self.times,
            plain: self.plain,
            notices,
        }
    }
}

fn show(table: &FeatureTable, settings: &FeaturesSettings) -> Result<(), Problem> {
    let is_stdout_taken = settings.export.as_deref() == Some(Path::new("-"));
    match settings.format {
        FeaturesFormat::Json => view::features_json(table, is_stdout_taken),
        FeaturesFormat::Text => view::features(table, is_stdout_taken),
    }
    match &settings.export {
        Some(path) => super::files::put(path, export::csv(table).as_bytes()),
        None => Ok(()),
    }
}
