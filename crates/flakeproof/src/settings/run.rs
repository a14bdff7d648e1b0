//! `flakeproof run`, as it is meant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::{Policies, Policy, Seed};
use flakeproof_detect::change::CompareBase;
use flakeproof_detect::triage::{EvidenceBudget, RerunRules, RetryLimit, TriageSettings};
use flakeproof_runner::Granularity;
use flakeproof_runner::adapters::command::Profiles;

use super::{
    ConfigurationFile, Dependencies, FlakyResult, Isolate, Limit, QuarantineFile, RawSettings,
    Reporter,
};
use crate::cli::RunArguments;
use crate::problem::Problem;

/// Everything that a run needs to know.
#[derive(Debug)]
pub(crate) struct RunSettings {
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) adapter: Option<String>,
    /// Runners that the project describes itself.
    pub(crate) runners: Profiles,
    pub(crate) timeout: Option<Duration>,
    pub(crate) triage: TriageSettings,
    pub(crate) base: Option<String>,
    pub(crate) compare_base: CompareBase,
    pub(crate) policies: Policies,
    pub(crate) reporters: Vec<Reporter>,
    pub(crate) store: Store,
    pub(crate) quarantine: QuarantineFile,
    pub(crate) is_runner_shown: bool,
    pub(crate) seed: Option<Seed>,
}

/// Where the history is.
#[derive(Debug)]
pub(crate) enum Store {
    /// In the project's own folder for it.
    Project(PathBuf),
    /// In a file that was named.
    File(PathBuf),
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
        let quarantine = QuarantineFile::of(&file.project)?;
        Ok(Self {
            command: typed.command.clone(),
            folder: folder.to_path_buf(),
            adapter: settings.adapter.clone(),
            runners: file.runners(),
            timeout: settings.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
            base: settings.base,
            compare_base: compare_base(settings.compare_base.as_deref()),
            policies,
            reporters: settings.reporter.unwrap_or_default(),
            store: match settings.store {
                Some(path) => Store::File(folder.join(path)),
                None => Store::Project(file.project),
            },
            is_runner_shown: settings.show_runner.unwrap_or(false),
            seed: typed.seed,
            quarantine,
            triage,
        })
    }
}

fn triage(settings: &RawSettings) -> TriageSettings {
    let default = TriageSettings::default();
    let patterns = |given: &Option<Vec<super::Pattern>>| {
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
        jobs: settings.jobs.map_or(default.jobs, |jobs| jobs.max(1) as usize),
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
