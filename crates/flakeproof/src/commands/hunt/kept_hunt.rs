//! A hunt as the history keeps it: a new one, or one that goes on where another stopped; and its
//! fingerprint, which must be the same for it to go on: the code, the suite, what they run on, and
//! what models say about it.

use std::collections::HashSet;
use std::time::Duration;

use flakeproof_core::{HuntRecord, Notice, RunFacts, Seed, Suite, Surroundings};
use flakeproof_detect::hunt::Strategy;
use flakeproof_report::words;
use flakeproof_syntax::Language;

use super::priors;
use crate::cli::{Asked, HuntArguments, HuntSettings};
use crate::problem::Problem;
use crate::session::{Code, Recorder, Start};
use crate::settings::{FlakyResult, StoreName, StrategyOptions};

/// One session of a hunt.
#[derive(Debug)]
pub(super) struct KeptHunt {
    /// The hunt, as it is kept.
    pub(super) record: HuntRecord,
    pub(super) seed: Seed,
    pub(super) asked: Asked,
    is_resumed: bool,
}

const START_ANEW: &str = "start a new hunt without `--resume`";

impl KeptHunt {
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
        let session = Self { is_resumed: true, ..Self::of_record(record)? };
        let Self { record, seed, asked, .. } = &session;
        let other_seed = typed.seed.filter(|it| it != seed).map(|_| "--seed");
        if let Some(option) = asked.contradicted_by(typed).or(other_seed) {
            let started = &record.started;
            let what = format!("`{option}` is not what the hunt of {started} was begun with");
            let next = format!("leave it out to go on with that hunt, or {START_ANEW}");
            return Err(Problem::usage(what, next));
        }
        Ok(session)
    }

    /// A session of the hunt that was begun with this record.
    pub(super) fn of_record(record: HuntRecord) -> Result<Self, Problem> {
        let version = env!("CARGO_PKG_VERSION");
        if record.version != version {
            let other = &record.version;
            let what = format!("flakeproof {other} began that hunt, and this is {version}");
            return Err(Problem::usage(what, START_ANEW));
        }
        let damaged = || Problem::usage("the record of that hunt cannot be read", START_ANEW);
        let asked: Asked = serde_json::from_str(&record.settings).map_err(|_| damaged())?;
        let seed: Seed = record.seed.parse().map_err(|_| damaged())?;
        Ok(Self { record, seed, asked, is_resumed: false })
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
        option("--fleet", typed.fleet.as_ref().map(|name| name.as_str().to_owned()));
        option("--store", typed.store.as_ref().map(StoreName::shown));
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

/// Digests of the code, the suite and what they run on, and of the hunt's strategy if there is one
/// does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Fingerprint(Vec<String>);

impl Fingerprint {
    /// The fingerprint of what is about to run.
    ///
    /// Tests write files, and a hunt runs many: of what git does not track only code counts.
    pub(in crate::commands) fn take(
        code: &Code,
        suite: &Suite,
        surroundings: &Surroundings,
    ) -> Self {
        let tracked = code.repository.as_ref().ok().and_then(|it| it.tracked_files().ok());
        let tracked: HashSet<String> = tracked.unwrap_or_default();
        let is_code = |path: &str| tracked.contains(path) || Language::of_path(path).is_some();
        let mut of_code = vec![code.tree.revision.clone().unwrap_or_default()];
        for (path, content) in code.tree.edited.iter().filter(|(path, _)| is_code(path)) {
            of_code.extend([path.clone(), content.clone()]);
        }
        let of_suite = suite.tests.iter().map(|test| test.id.as_str());
        let runtime = surroundings.runtime.iter().map(String::as_str);
        Self(vec![
            digest(of_code.iter().map(String::as_str)),
            digest(of_suite),
            digest(runtime.chain([surroundings.packages.as_str()])),
        ])
    }

    /// The same for a hunt with this strategy.
    pub(super) fn with_strategy(mut self, strategy: &Strategy) -> Self {
        self.0.push(match strategy {
            Strategy::Off => String::new(),
            // Every digit of every number is in what it says about itself.
            Strategy::Cannier(_) | Strategy::Plan(_) => {
                digest([format!("{strategy:?}").as_str()].into_iter())
            }
        });
        self
    }

    /// As one word, to be kept.
    pub(in crate::commands) fn text(&self) -> String {
        self.0.join(":")
    }

    /// What is not as it was when the fingerprint was kept; `None` if everything is.
    pub(in crate::commands) fn changed_since(&self, kept: &str) -> Option<&'static str> {
        let names = [
            "the code changed since",
            "the suite has other tests since",
            "the runtime or the installed packages changed since",
            "the models, the measured features or the base of `--diff` changed since",
        ];
        let mut kept = kept.split(':');
        let mut parts = self.0.iter().zip(names);
        parts.find(|(now, _)| kept.next().unwrap_or_default() != now.as_str()).map(|(_, what)| what)
    }
}

fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flakeproof_core::{SuiteTest, TreeState};
    use flakeproof_detect::hunt::Candidates;

    use super::*;

    fn fingerprint(edited: &[(&str, &str)], tests: &[&str], packages: &str) -> Fingerprint {
        let pairs = edited.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned()));
        let tree = TreeState { edited: pairs.collect::<BTreeMap<_, _>>(), ..TreeState::default() };
        let beginning = Err(flakeproof_runner::git::NoBeginning::NoCommit);
        let code = Code { repository: Err("no git".into()), tree, beginning };
        let test = |id: &&str| SuiteTest { id: (*id).into(), location: None };
        let suite = Suite { tests: tests.iter().map(test).collect(), problems: Vec::new() };
        let surroundings = Surroundings { packages: packages.into(), ..Surroundings::default() };
        Fingerprint::take(&code, &suite, &surroundings)
    }

    #[test]
    fn what_changed_is_named() {
        let kept = fingerprint(&[("a.py", "1")], &["x", "y"], "p").text();
        let changed = |now: Fingerprint| now.changed_since(&kept);
        assert_eq!(changed(fingerprint(&[("a.py", "1")], &["x", "y"], "p")), None);
        let code = changed(fingerprint(&[("a.py", "2")], &["x", "y"], "p"));
        assert_eq!(code, Some("the code changed since"));
        let suite = changed(fingerprint(&[("a.py", "1")], &["xy"], "p"));
        assert_eq!(suite, Some("the suite has other tests since"));
        assert!(changed(fingerprint(&[("a.py", "1")], &["x", "y"], "q")).is_some());
    }

    #[test]
    fn a_hunt_with_other_models_is_another_hunt() {
        let chosen = |candidates| {
            Strategy::Cannier(Candidates { victims: candidates, ..Candidates::default() })
        };
        let now = |strategy: &Strategy| fingerprint(&[], &["x"], "p").with_strategy(strategy);
        let kept = now(&chosen(Some(vec![true]))).text();
        assert_eq!(now(&chosen(Some(vec![true]))).changed_since(&kept), None);
        let other = now(&chosen(Some(vec![false]))).changed_since(&kept);
        assert!(other.is_some_and(|what| what.contains("models")), "{other:?}");
        assert_eq!(
            fingerprint(&[], &["x"], "p").changed_since(&kept),
            None,
            "who asks only about code"
        );
        let without = fingerprint(&[], &["x"], "p").text();
        assert_eq!(now(&Strategy::Off).changed_since(&without), None);
    }

    #[test]
    fn what_tests_write_is_not_code() {
        let kept = fingerprint(&[], &["x"], "p").text();
        assert_eq!(fingerprint(&[("counter.txt", "1")], &["x"], "p").changed_since(&kept), None);
    }
}
