//! `flakeproof run`: what can be typed, and what is meant by it and by the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use flakeproof_core::{Policies, Policy, Seed, Shard};
use flakeproof_detect::change::CompareBase;
use flakeproof_detect::triage::{EvidenceBudget, RerunRules, RetryLimit, TriageSettings};
use flakeproof_runner::Granularity;
use flakeproof_runner::adapters::command::Profiles;

use super::{QuarantineFile, ShardChoice};
use crate::problem::Problem;
use crate::settings::{
    ConfigurationFile, Dependencies, FlakyResult, HumanDuration, Isolate, Limit, Pattern,
    RawSettings, Reporter, StoreName, if_any,
};
use flakeproof_store::StoreLocation;

/// Run a test suite, rerun what fails, and say of each failure what it is.
///
/// The command after `--` is run as it is: `flakeproof run -- pytest -q tests`. Every option can
/// also be set in `flakeproof.toml` and, in capitals, as `FLAKEPROOF_…`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Reruns of a failing test at once, in the same environment [default: 1].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_RETRIES", help_heading = RERUNS)]
    retries: Option<u32>,
    /// Reruns of a failing test after the last test, in the same environment [default: 1].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_POSTPONED", help_heading = RERUNS)]
    postponed: Option<u32>,
    /// Reruns of a failing test in a fresh environment [default: 2].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_FRESH", help_heading = RERUNS)]
    fresh: Option<u32>,
    /// Share of failing tests above which nothing is rerun; never below 10 tests [default: 5%].
    #[arg(long, value_name = "N%", env = "FLAKEPROOF_THRESHOLD", help_heading = RERUNS)]
    threshold: Option<Limit>,
    /// The same as a number or a share, with no lower bound [default: `--threshold`].
    #[arg(long, value_name = "N|N%", env = "FLAKEPROOF_MAX_TESTS_TO_RETRY", help_heading = RERUNS)]
    max_tests_to_retry: Option<Limit>,
    /// How closely to measure what a failing test touches [default: file].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_DEPENDENCIES", help_heading = RERUNS)]
    dependencies: Option<Dependencies>,
    /// How fresh environments are made; no verdict rests on a fork alone [default: fork].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_ISOLATION", help_heading = RERUNS)]
    isolation: Option<Isolate>,
    /// Rerun only failures whose text matches; all others are real [default: all]. Repeatable.
    #[arg(long, value_name = "REGEX", env = "FLAKEPROOF_ONLY_RERUN", help_heading = RERUNS)]
    only_rerun: Vec<Pattern>,
    /// Never rerun failures whose text matches; they are real [default: none]. Repeatable.
    #[arg(long, value_name = "REGEX", env = "FLAKEPROOF_RERUN_EXCEPT", help_heading = RERUNS)]
    rerun_except: Vec<Pattern>,
    /// Wait this long before each rerun [default: 0s].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_RERUN_DELAY", help_heading = RERUNS)]
    rerun_delay: Option<HumanDuration>,
    /// A revision at which the tests passed, to compare the code with [default: what git knows].
    #[arg(long, value_name = "REV", env = "FLAKEPROOF_BASE", help_heading = RERUNS)]
    base: Option<String>,

    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    adapter: Option<String>,
    /// Kill a test that runs longer than this [default: never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    timeout: Option<HumanDuration>,
    /// Environments side by side [default: 1, or `-n` of pytest-xdist].
    #[arg(short, long, value_name = "N", env = "FLAKEPROOF_JOBS")]
    jobs: Option<u32>,
    /// How long the suite's order, and the base, may be run for evidence [default: by the suite's time].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_EVIDENCE_BUDGET", help_heading = RERUNS)]
    evidence_budget: Option<HumanDuration>,
    /// Run what is still open on the code from before the change [default: auto].
    #[arg(long, value_name = "auto|off|REV", env = "FLAKEPROOF_COMPARE_BASE", help_heading = RERUNS)]
    compare_base: Option<String>,
    /// Run one shard of the suite, such as `2/4`; `auto` asks the variables of CI [default: all].
    #[arg(long, value_name = "I/N|auto", env = "FLAKEPROOF_SHARD")]
    shard: Option<ShardChoice>,
    /// What a run with only flaky failures is [default: pass].
    #[arg(long, value_name = "WHAT", env = "FLAKEPROOF_FLAKY_RESULT")]
    flaky_result: Option<FlakyResult>,
    /// What failures of tests are that are flaky since this change [default: fail].
    #[arg(long, value_name = "WHAT", env = "FLAKEPROOF_NEW_FLAKY_RESULT")]
    new_flaky_result: Option<FlakyResult>,
    /// What failures are that have nothing to do with the change [default: fail].
    #[arg(long, value_name = "WHAT", env = "FLAKEPROOF_UNRELATED_RESULT")]
    unrelated_result: Option<FlakyResult>,
    /// Write a report: `json=FILE`, `junit=FILE`, `markdown=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH", env = "FLAKEPROOF_REPORTER")]
    reporter: Vec<Reporter>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    show_runner: bool,
    /// The seed of all chance, to repeat a run [default: a new one].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,
    /// Use this profile of the configuration file.
    #[arg(short = 'P', long, value_name = "NAME", env = "FLAKEPROOF_PROFILE")]
    pub(crate) profile: Option<String>,
    /// The configuration file [default: `flakeproof.toml` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The command that runs your tests.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const RERUNS: &str = "Reruns and evidence";

impl RunArguments {
    /// The options as one layer of settings.
    pub(crate) fn layer(&self) -> RawSettings {
        RawSettings {
            retries: self.retries,
            postponed: self.postponed,
            fresh: self.fresh,
            threshold: self.threshold,
            max_tests_to_retry: self.max_tests_to_retry,
            dependencies: self.dependencies,
            isolation: self.isolation,
            only_rerun: if_any(&self.only_rerun),
            rerun_except: if_any(&self.rerun_except),
            rerun_delay: self.rerun_delay,
            base: self.base.clone(),
            adapter: self.adapter.clone(),
            timeout: self.timeout,
            jobs: self.jobs,
            flaky_result: self.flaky_result,
            new_flaky_result: self.new_flaky_result,
            unrelated_result: self.unrelated_result,
            evidence_budget: self.evidence_budget,
            compare_base: self.compare_base.clone(),
            reporter: if_any(&self.reporter),
            store: self.store.clone(),
            show_runner: self.show_runner.then_some(true),
            ..RawSettings::default()
        }
    }
}

/// Everything that a run needs to know.
#[derive(Debug)]
pub(crate) struct RunSettings {
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) adapter: Option<String>,
    /// Runners that the project describes itself.
    pub(crate) runners: Profiles,
    pub(crate) timeout: Option<Duration>,
    /// Environments side by side, where a number was given.
    pub(crate) jobs: Option<usize>,
    /// The part of the suite that is run, where it is not all of it.
    pub(crate) shard: Option<Shard>,
    pub(crate) triage: TriageSettings,
    pub(crate) base: Option<String>,
    pub(crate) compare_base: CompareBase,
    pub(crate) policies: Policies,
    pub(crate) reporters: Vec<Reporter>,
    pub(crate) store: StoreLocation,
    pub(crate) quarantine: QuarantineFile,
    pub(crate) is_runner_shown: bool,
    pub(crate) seed: Option<Seed>,
}

fn compare_base(typed: Option<&str>) -> CompareBase {
    match typed {
        None | Some("auto") => CompareBase::Auto,
        Some("off") => CompareBase::Off,
        Some(revision) => CompareBase::Revision(revision.to_owned()),
    }
}

fn policies(settings: &RawSettings) -> Policies {
    let policy = |typed: Option<FlakyResult>, default| match typed {
        Some(FlakyResult::Fail) => Policy::Fail,
        Some(FlakyResult::Pass) => Policy::Pass,
        None => default,
    };
    let default = Policies::default();
    Policies {
        flaky: policy(settings.flaky_result, default.flaky),
        newly_flaky: policy(settings.new_flaky_result, default.newly_flaky),
        unrelated: policy(settings.unrelated_result, default.unrelated),
    }
}

impl RunSettings {
    /// Lay the layers over each other.
    pub(crate) fn resolve(typed: &RunArguments, folder: &Path) -> Result<Self, Problem> {
        let file = ConfigurationFile::find(typed.config.as_deref(), folder)?;
        let settings = typed.layer().over(file.layer(typed.profile.as_deref())?);
        let triage = triage(&settings);
        let policies = policies(&settings);
        let quarantine = QuarantineFile::read(&file.project)?;
        Ok(Self {
            command: typed.command.clone(),
            folder: folder.to_path_buf(),
            adapter: settings.adapter.clone(),
            runners: file.runners(),
            timeout: settings.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
            jobs: settings.jobs.map(|jobs| jobs.max(1) as usize),
            shard: shard(typed)?,
            base: settings.base,
            compare_base: compare_base(settings.compare_base.as_deref()),
            policies,
            reporters: settings.reporter.unwrap_or_default(),
            store: match settings.store {
                Some(name) => name.locate(folder)?,
                None => StoreLocation::Project(file.project),
            },
            is_runner_shown: settings.show_runner.unwrap_or(false),
            seed: typed.seed,
            quarantine,
            triage,
        })
    }
}

fn shard(typed: &RunArguments) -> Result<Option<Shard>, Problem> {
    let resolved = |choice: ShardChoice| choice.resolve(&std::env::vars().collect());
    typed.shard.map(resolved).transpose()
}

fn triage(settings: &RawSettings) -> TriageSettings {
    let default = TriageSettings::default();
    let patterns = |given: &Option<Vec<Pattern>>| {
        given.iter().flatten().map(|pattern| pattern.0.clone()).collect()
    };
    TriageSettings {
        immediate: settings.retries.unwrap_or(default.immediate),
        postponed: settings.postponed.unwrap_or(default.postponed),
        fresh: settings.fresh.unwrap_or(default.fresh),
        limit: limit(settings.threshold, settings.max_tests_to_retry).unwrap_or(default.limit),
        dependencies: match settings.dependencies {
            Some(Dependencies::Off) => Granularity::Off,
            Some(Dependencies::File) => Granularity::File,
            Some(Dependencies::Function) => Granularity::Function,
            None => default.dependencies,
        },
        isolation: settings.isolation.map_or(default.isolation, Isolate::isolation),
        delay: settings.rerun_delay.map_or(default.delay, |delay| delay.0),
        evidence: match settings.evidence_budget {
            Some(budget) => EvidenceBudget::Fixed(budget.0),
            None => default.evidence,
        },
        rerun: RerunRules {
            only: patterns(&settings.only_rerun),
            except: patterns(&settings.rerun_except),
        },
        ..default
    }
}

/// The number of tests to retry is meant literally; the threshold leaves room for small suites.
fn limit(threshold: Option<Limit>, most: Option<Limit>) -> Option<RetryLimit> {
    const SMALL_SUITE: usize = 10;
    match (most, threshold) {
        (Some(Limit::Tests(tests)), _) => Some(RetryLimit::Tests(tests)),
        (Some(Limit::Share(share)), _) => Some(RetryLimit::Share { share, at_least: 0 }),
        (None, Some(Limit::Tests(tests))) => Some(RetryLimit::Tests(tests.max(SMALL_SUITE))),
        (None, Some(Limit::Share(share))) => {
            Some(RetryLimit::Share { share, at_least: SMALL_SUITE })
        }
        (None, None) => None,
    }
}
