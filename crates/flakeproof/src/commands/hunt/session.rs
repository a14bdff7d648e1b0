//! One session of a hunt: a new one, or one that goes on where another stopped.

use std::time::Duration;

use flakeproof_core::{HuntRecord, Notice, RunFacts, Seed};
use flakeproof_report::words;

use super::fingerprint::Fingerprint;
use super::priors;
use crate::cli::HuntArguments;
use crate::problem::Problem;
use crate::session::{Code, Recorder, Start};
use crate::settings::{Asked, FlakyResult, HuntSettings, StrategyOptions};

/// One session of a hunt.
#[derive(Debug)]
pub(super) struct Session {
    /// The hunt, as it is kept.
    pub(super) record: HuntRecord,
    pub(super) seed: Seed,
    pub(super) asked: Asked,
    is_resumed: bool,
}

const START_ANEW: &str = "start a new hunt without `--resume`";

impl Session {
    /// A new hunt, or the unfinished one if that was asked for.
    pub(super) fn begin(
        typed: &HuntArguments,
        settings: &HuntSettings,
        recorder: &mut Recorder,
    ) -> Result<Self, Problem> {
        if settings.is_resumed {
            return Self::resumed(typed, settings, recorder);
        }
        let start = Start::now();
        let seed = settings.seed.unwrap_or(start.seed());
        let mut asked = settings.asked.clone();
        if let StrategyOptions::Plan { rates, .. } = &mut asked.strategy {
            // A history that cannot be read knows no rates; that it cannot is told in the end.
            let known = recorder.shared().borrow().known_flaky().unwrap_or_default();
            *rates = priors::known_rates(&known);
        }
        let kept = serde_json::to_string(&asked).map_err(|error| {
            Problem::broken(format!("the settings cannot be kept: {error}"), "please report this")
        })?;
        let record = HuntRecord {
            id: start.id(),
            started: start.at.to_string(),
            command: settings.command.clone(),
            fingerprint: String::new(),
            seed: seed.to_string(),
            settings: kept,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(Self { record, seed, asked, is_resumed: false })
    }

    fn resumed(
        typed: &HuntArguments,
        settings: &HuntSettings,
        recorder: &mut Recorder,
    ) -> Result<Self, Problem> {
        let command = words::command(&settings.command);
        let Some(record) = recorder.unfinished_hunt(&settings.command) else {
            return Err(match recorder.hunt_notice() {
                Some(notice) => Problem::usage(notice.what, notice.next),
                None => Problem::usage(
                    format!("no unfinished hunt of `{command}` is known here"),
                    START_ANEW,
                ),
            });
        };
        let version = env!("CARGO_PKG_VERSION");
        if record.version != version {
            let other = &record.version;
            let what = format!("flakeproof {other} began that hunt, and this is {version}");
            return Err(Problem::usage(what, START_ANEW));
        }
        let damaged = || Problem::usage("the record of that hunt cannot be read", START_ANEW);
        let asked: Asked = serde_json::from_str(&record.settings).map_err(|_| damaged())?;
        let seed: Seed = record.seed.parse().map_err(|_| damaged())?;
        let other_seed = typed.seed.filter(|it| *it != seed).map(|_| "--seed");
        if let Some(option) = asked.contradicted_by(typed).or(other_seed) {
            let started = &record.started;
            let what = format!("`{option}` is not what the hunt of {started} was begun with");
            let next = format!("leave it out to go on with that hunt, or {START_ANEW}");
            return Err(Problem::usage(what, next));
        }
        Ok(Self { record, seed, asked, is_resumed: true })
    }

    /// This is what it runs on; a hunt that goes on must find what it left.
    pub(super) fn on(&mut self, fingerprint: &Fingerprint) -> Result<(), Problem> {
        if !self.is_resumed {
            self.record.fingerprint = fingerprint.text();
            return Ok(());
        }
        match fingerprint.changed_since(&self.record.fingerprint) {
            Some(what) => {
                let started = &self.record.started;
                let what = format!("{what} the hunt of {started}, which cannot go on");
                Err(Problem::usage(what, START_ANEW))
            }
            None => Ok(()),
        }
    }

    /// Another hunt that could go on instead of this new one.
    pub(super) fn other_unfinished(
        &self,
        settings: &HuntSettings,
        recorder: &mut Recorder,
    ) -> Option<Notice> {
        let other = recorder.unfinished_hunt(&settings.command)?;
        let can_go_on = other.fingerprint == self.record.fingerprint
            && other.version == self.record.version
            && !self.is_resumed;
        can_go_on.then(|| Notice {
            what: format!("the hunt of {} was not finished", other.started),
            next: "`--resume` goes on with it; this is a new one".into(),
        })
    }

    /// What is known of the hunt when it ends.
    pub(super) fn facts(
        &self,
        settings: &HuntSettings,
        runner: String,
        duration: Duration,
        code: &Code,
    ) -> RunFacts {
        RunFacts {
            id: self.record.id.clone(),
            command: settings.command.clone(),
            runner,
            started: self.record.started.clone(),
            duration,
            seed: self.seed,
            revision: code.tree.revision.clone(),
            version: self.record.version.clone(),
        }
    }

    /// The command that goes on with this hunt.
    pub(super) fn resume_command(&self, typed: &HuntArguments) -> String {
        let mut command = vec!["flakeproof".to_owned(), "hunt".to_owned(), "--resume".to_owned()];
        let mut option = |name: &str, value: Option<String>| {
            command.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
        option("--store", typed.store.as_ref().map(path));
        option("--config", typed.config.as_ref().map(path));
        let result = |result: FlakyResult| match result {
            FlakyResult::Pass => "pass".to_owned(),
            FlakyResult::Fail => "fail".to_owned(),
        };
        option("--flaky-result", typed.flaky_result.map(result));
        if !typed.command.is_empty() {
            command.push("--".to_owned());
            command.extend(typed.command.iter().cloned());
        }
        words::command(&command)
    }
}
