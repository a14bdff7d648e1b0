//! An experiment for a coding agent: this very program, as a child.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use flakeproof_mcp::{Ended, Experiment, Stop};
use flakeproof_runner::Cancel;
use flakeproof_runner::process::OwnProgram;

use crate::cli;
use crate::problem::{self, Problem};
use crate::settings::StoreName;

/// An experiment, and what it needs to know of the project.
pub(super) struct Conducted<'e> {
    pub(super) experiment: &'e Experiment,
    pub(super) budget: Duration,
    pub(super) store: Option<&'e StoreName>,
    /// The command that the user named; empty if none.
    pub(super) named: &'e [String],
    /// The command that runs the suite.
    pub(super) suite: Vec<String>,
}

/// How much longer than its budget an experiment may take that keeps its budget itself: a test that hangs
/// must not keep a client waiting for ever.
const BEYOND_BUDGET: Duration = Duration::from_secs(120);

/// The variable that names the history.
const STORE: &str = "FLAKEPROOF_STORE";

impl Conducted<'_> {
    /// Run it to its end.
    pub(super) fn run(
        &self,
        program: &OwnProgram,
        folder: &Path,
        stop: &Stop,
        heard: Box<dyn FnMut(&str) + Send>,
    ) -> Result<Ended, Problem> {
        let place = tempfile::tempdir().map_err(|error| {
            Problem::broken(
                format!("there is no place for the report of the experiment: {error}"),
                "check free space and permissions of the temporary folder (TMPDIR)",
            )
        })?;
        let report = place.path().join("report.json");
        let (canceller, cancel) = Cancel::new();
        stop.when_stopped(move || canceller.cancel());
        let lines = Box::new(Lines { heard, begun: Vec::new() });
        let arguments = self.arguments(&report);
        let limit = Some(self.limit());
        let ended = program.run(&arguments, self.variables(), folder, limit, &cancel, lines);
        let ended = ended.map_err(problem::explain)?;
        let report = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
        Ok(Ended {
            exit_code: ended.death.code().unwrap_or(-1),
            report,
            text: ended.stdout,
            trouble: ended.stderr,
        })
    }

    /// When it is interrupted: `run` has no budget of its own.
    fn limit(&self) -> Duration {
        match self.experiment {
            Experiment::Run(_) => self.budget,
            Experiment::Hunt(_)
            | Experiment::Cause(_)
            | Experiment::Verify(_)
            | Experiment::Propose(_) => self.budget + BEYOND_BUDGET,
        }
    }

    /// Where the history is: a URL may hold a password, and arguments are for all users of the machine to see.
    fn variables(&self) -> BTreeMap<String, Option<String>> {
        let store = self.store.map(|name| name.secret().to_string_lossy().into_owned());
        store.map(|it| (STORE.to_owned(), Some(it))).into_iter().collect()
    }

    /// What would be typed for it.
    fn arguments(&self, report: &Path) -> Vec<String> {
        let mut words = Words::default();
        words.add(["--color", "never"]);
        let reporter = format!("json={}", report.display());
        let budget = format!("{}s", self.budget.as_secs().max(1));
        let command = match self.experiment {
            Experiment::Run(asked) => {
                words.add(["run"]);
                self.with_selected(&asked.select)
            }
            Experiment::Hunt(asked) => {
                words.add(["hunt", "--budget", &budget]);
                words.option("--victim", asked.victim.as_deref());
                words.option("--diff", asked.base.as_deref());
                self.with_selected(&asked.select)
            }
            Experiment::Cause(asked) => {
                words.add(["cause", "--budget", &budget]);
                let levers = asked.levers.join(",");
                words.option("--levers", Some(levers.as_str()).filter(|it| !it.is_empty()));
                words.add([asked.test.as_str()]);
                self.named.to_vec()
            }
            Experiment::Verify(asked) => {
                words.add(["verify", "--budget", &budget]);
                words.option("--was", asked.was.as_deref());
                words.add([asked.test.as_str()]);
                self.named.to_vec()
            }
            Experiment::Propose(asked) => {
                words.add(["fix"]);
                if cli::has("fix", Some("budget")) {
                    words.add(["--budget", &budget]);
                }
                if asked.apply {
                    words.add(["--apply"]);
                }
                words.add([asked.test.as_str()]);
                self.named.to_vec()
            }
        };
        words.add(["--reporter", &reporter]);
        if !command.is_empty() {
            words.add(["--"]);
            words.0.extend(command);
        }
        words.0
    }

    fn with_selected(&self, select: &[String]) -> Vec<String> {
        [self.suite.as_slice(), select].concat()
    }
}

/// Words of a command line.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(str::to_owned));
    }

    fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add([name, value]);
        }
    }
}

/// Passes on what is written, line by line.
struct Lines {
    heard: Box<dyn FnMut(&str) + Send>,
    begun: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            (self.heard)(String::from_utf8_lossy(&line).trim_end());
        }
        // Who writes no line at all must not fill the memory.
        const LONGEST: usize = 64 * 1024;
        if self.begun.len() > LONGEST {
            self.begun.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_mcp::{CauseInput, HuntInput, RunInput, VerifyInput};

    use super::*;

    fn conducted<'e>(
        experiment: &'e Experiment,
        store: &'e StoreName,
        named: &'e [String],
    ) -> Conducted<'e> {
        Conducted {
            experiment,
            budget: Duration::from_secs(90),
            store: Some(store),
            named,
            suite: vec!["pytest".to_owned(), "-q".to_owned()],
        }
    }

    fn arguments(experiment: &Experiment, named: &[String]) -> Vec<String> {
        let store = StoreName::Path("other.db".into());
        conducted(experiment, &store, named).arguments(Path::new("/tmp/report.json"))
    }

    #[test]
    fn a_password_is_no_argument() {
        let url = "postgres://me:geheim@db.example/flaky";
        let store = StoreName::from(std::ffi::OsString::from(url));
        let run = Experiment::Run(RunInput { select: Vec::new(), budget_seconds: None });
        let conducted = conducted(&run, &store, &[]);
        let words = conducted.arguments(Path::new("/tmp/report.json"));
        assert!(!words.iter().any(|it| it.contains("geheim")), "{words:?}");
        assert_eq!(conducted.variables()[STORE].as_deref(), Some(url));
    }

    #[test]
    fn every_experiment_is_something_that_a_person_could_type() {
        let test = "t.py::test_a[1]".to_owned();
        let budget_seconds = None;
        let experiments = [
            Experiment::Run(RunInput { select: vec!["t.py".into()], budget_seconds }),
            Experiment::Hunt(HuntInput { victim: Some(test.clone()), ..HuntInput::default() }),
            Experiment::Hunt(HuntInput { base: Some("main".into()), ..HuntInput::default() }),
            Experiment::Cause(CauseInput {
                test: test.clone(),
                levers: vec!["zone".into(), "locale".into()],
                budget_seconds,
            }),
            Experiment::Verify(VerifyInput { test, was: Some("1/30".into()), budget_seconds }),
        ];
        for experiment in &experiments {
            for named in [vec![], vec!["tox".to_owned()]] {
                let words = arguments(experiment, &named);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let understood = cli::understood(&words);
                assert!(understood.is_ok(), "{words:?}: {}", understood.unwrap_err());
            }
        }
    }

    #[test]
    fn what_is_selected_follows_the_users_own_command() {
        let run = Experiment::Run(RunInput { select: vec!["t.py".into()], budget_seconds: None });
        let words = arguments(&run, &[]);
        assert!(words.ends_with(&["--", "pytest", "-q", "t.py"].map(str::to_owned)), "{words:?}");
    }

    #[test]
    fn progress_is_passed_on_line_by_line() {
        let (sender, lines) = std::sync::mpsc::channel();
        let heard = Box::new(move |line: &str| drop(sender.send(line.to_owned())));
        let mut writer = Lines { heard, begun: Vec::new() };
        for piece in ["col", "lecting\r\nrun", "ning\nrest"] {
            writer.write_all(piece.as_bytes()).unwrap();
        }
        drop(writer);
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["collecting", "running"]);
    }
}
