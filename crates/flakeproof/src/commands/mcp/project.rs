//! The project as coding agents see it: what is known, in the words of the terminal.

use std::path::PathBuf;
use std::time::Duration;

use flakeproof_core::{Cause, FlakyKind, Overview, Scores, TestId, Timeline};
use flakeproof_mcp::{
    Answered, Ended, Experiment, Explained, ListAnswer, ListInput, ListedTest, PredictInput,
    Predicted, Project, ReproAnswer, Stop, Trouble, UntrustedText,
};
use flakeproof_report::words;
use flakeproof_runner::adapters::usual_command;
use flakeproof_runner::process::OwnProgram;

use super::experiment::Conducted;
use crate::cli::{
    self, Command, ExplainArguments, McpArguments, Naming, PredictArguments, ReproArguments,
};
use crate::commands::predict::{ExplainedTest, KnownTests, PredictedTests, meaning};
use crate::commands::repro::Case;
use crate::problem::{self, Problem};
use crate::session::history;
use crate::session::listed::ListedHistory;
use crate::session::overview::{Explain, OverviewReader};
use crate::settings::{StoreName, locate};
use crate::view;

/// The project in a folder.
pub(super) struct LiveProject {
    folder: PathBuf,
    store: Option<StoreName>,
    /// The user's command; empty if none was named.
    command: Vec<String>,
    program: OwnProgram,
}

impl LiveProject {
    /// The project that the server was started in.
    pub(super) fn open(typed: &McpArguments, folder: PathBuf) -> Result<Self, Problem> {
        let program = OwnProgram::prepare().map_err(problem::explain)?;
        let (store, command) = (typed.store.clone(), typed.command.clone());
        Ok(Self { folder, store, command, program })
    }

    /// The command that runs the tests: the user's own, that of a hunt, or what the project looks like.
    fn suite_command(&self) -> Result<Vec<String>, Problem> {
        if !self.command.is_empty() {
            return Ok(self.command.clone());
        }
        let mut known = history::flaky_tests(self.store.as_ref(), &self.folder)?;
        known.sort_by(|one, other| one.hunt.started.cmp(&other.hunt.started));
        let hunted = known.pop().map(|known| known.hunt.command);
        Ok(hunted.unwrap_or_else(|| usual_command(&self.folder)))
    }

    /// What is known without a history: nothing.
    fn nothing_known(&self) -> Overview {
        let name = self.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Overview {
            project: name.unwrap_or_else(|| "this project".to_owned()),
            made: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            timeline: Timeline::default(),
            scores: Scores::default(),
            owners: std::collections::BTreeMap::new(),
            formerly: std::collections::BTreeMap::new(),
            clusters: Vec::new(),
            details: std::collections::BTreeMap::new(),
            hunt: None,
            notices: Vec::new(),
        }
    }

    /// A path of the project, or of nothing.
    fn inside(&self, path: &str) -> Result<(), Trouble> {
        let whole = self.folder.join(path).canonicalize();
        let root = self.folder.canonicalize();
        match (whole, root) {
            (Ok(whole), Ok(root)) if whole.starts_with(&root) => Ok(()),
            _ => Err(Trouble::new(
                format!("`{path}` is no file or folder of this project"),
                "name paths relative to the folder that the server was started in",
            )),
        }
    }
}

impl Project for LiveProject {
    fn overview(&self) -> Result<Overview, Trouble> {
        let store = self.store.as_ref();
        if !locate(store, &self.folder).map_err(told)?.may_be_there() {
            return Ok(self.nothing_known());
        }
        let opened = OverviewReader::open(store, &self.folder, Explain::Nothing);
        opened.and_then(|(reader, history)| reader.read(&*history)).map_err(told)
    }

    fn flaky(
        &self,
        _: &ListInput,
        from: usize,
        most: usize,
    ) -> Result<Answered<ListAnswer>, Trouble> {
        let listed = match history::find(self.store.as_ref(), &self.folder) {
            Ok(Some(history)) => ListedHistory::read(&*history, &self.folder, Naming::Current)
                .map_err(|error| history::unreadable(&error)),
            Ok(None) => Ok(ListedHistory::default()),
            Err(problem) => Err(problem),
        }
        .map_err(told)?;
        let list = view::List::new(&listed, None);
        let ((), text) = view::as_text(|| {
            view::known_flaky_part(&list, from..from.saturating_add(most));
        });
        let (broken, flaky, latent) = (list.broken.len(), list.flaky.len(), list.latent.len());
        let rows = list.broken.iter().map(|score| broken_test(score));
        let rows = rows.chain(list.flaky.iter().map(flaky_test));
        let rows = rows.chain(list.latent.iter().map(|cause| latent_test(cause)));
        let tests = rows.skip(from).take(most).collect();
        let total = broken + flaky + latent;
        let content = ListAnswer { tests, total, flaky, broken, latent, next_cursor: None };
        Ok(Answered { text, content })
    }

    fn explained(&self, test: &str) -> Result<Explained, Trouble> {
        if let Some(meaning) = meaning(test) {
            let (text, known) = (meaning.clone(), Vec::new());
            return Ok(Explained { text, meaning: Some(meaning), known, predictions: None });
        }
        let explained =
            ExplainedTest::find(&explain_arguments(test)?, self.store.as_ref(), &self.folder);
        let explained = explained.map_err(told)?;
        let (printed, text) = view::as_text(|| explained.print(&self.folder));
        printed.map_err(told)?;
        Ok(Explained {
            text,
            meaning: None,
            known: explained.known.ids(),
            predictions: explained.source.ok().map(|source| source.predictions),
        })
    }

    fn known(&self, test: &str) -> Result<(Vec<TestId>, String), Trouble> {
        let known = KnownTests::find(test, self.store.as_ref(), &self.folder).map_err(told)?;
        let ((), text) = view::as_text(|| known.print());
        Ok((known.ids(), text))
    }

    fn reproduction(&self, test: &str) -> Result<Answered<ReproAnswer>, Trouble> {
        let typed = repro_arguments(test, self.store.as_ref())?;
        let case = Case::of_history(test, &typed, &self.folder).map_err(told)?;
        let replay = ["flakeproof".to_owned(), "repro".to_owned(), case.test.to_string()];
        let replay = words::command(&replay);
        let mut text = String::new();
        if let Some(command) = &case.shell_command {
            text += &format!("reproduce: {command}\n");
        }
        text += &format!("replay, each time in a fresh environment: {replay}\n");
        let content = ReproAnswer {
            test: UntrustedText::id(&case.test),
            command: case.shell_command.map(UntrustedText::whole),
            replay: UntrustedText::whole(replay),
            order_length: case.order.len(),
            order: last(&case.order, MOST_OF_ORDER).iter().map(UntrustedText::id).collect(),
            lever: case.lever.map(|lever| lever.to_string()),
            failure: case.failure.map(|failure| UntrustedText::line(&failure.message)),
        };
        Ok(Answered { text, content })
    }

    fn predicted(&self, asked: &PredictInput) -> Result<Predicted, Trouble> {
        asked.paths.iter().try_for_each(|path| self.inside(path))?;
        let typed = predict_arguments(asked)?;
        let store = self.store.as_ref();
        let find = || PredictedTests::find(&typed, store, &self.folder);
        let (found, notices) = view::as_text(find);
        let found = found.map_err(|problem| told(problem.with_details(notices)))?;
        let ((), text) = view::as_text(|| found.print(&typed));
        Ok(Predicted { text, predictions: found.predictions })
    }

    fn run(
        &self,
        experiment: &Experiment,
        budget: Duration,
        stop: &Stop,
        heard: Box<dyn FnMut(&str) + Send>,
    ) -> Result<Ended, Trouble> {
        let conducted = Conducted {
            experiment,
            budget,
            store: self.store.as_ref(),
            named: &self.command,
            suite: self.suite_command().map_err(told)?,
        };
        conducted.run(&self.program, &self.folder, stop, heard).map_err(told)
    }
}

/// Tests of an order that are named, the failing one among them.
const MOST_OF_ORDER: usize = 50;

fn last(order: &[TestId], most: usize) -> &[TestId] {
    &order[order.len().saturating_sub(most)..]
}

fn broken_test(score: &flakeproof_core::TestScore) -> ListedTest {
    ListedTest {
        test: UntrustedText::id(&score.test),
        what: flakeproof_mcp::ListedAs::Broken,
        kind: None,
        rate: words::since(score).unwrap_or_default(),
        last_failed: Some(view::last_failed(score).to_owned()),
        cause: None,
        reproduce: None,
    }
}

fn flaky_test(line: &view::Line<'_>) -> ListedTest {
    let hunted = line.hunted.map(|known| &known.test);
    let reproduce = hunted.and_then(|test| test.reproduction.as_ref()).map(|it| &it.command);
    let reproduce = reproduce.or(line.cause.and_then(|cause| cause.command.as_ref()));
    let kind: Option<FlakyKind> = hunted.and_then(|test| test.kind);
    ListedTest {
        test: UntrustedText::id(&line.score.test),
        what: flakeproof_mcp::ListedAs::Flaky,
        kind,
        rate: words::rate(line.score),
        last_failed: Some(view::last_failed(line.score).to_owned()),
        cause: line.cause.map(words::cause),
        reproduce: reproduce.map(UntrustedText::whole),
    }
}

fn latent_test(cause: &Cause) -> ListedTest {
    ListedTest {
        test: UntrustedText::id(&cause.test),
        what: flakeproof_mcp::ListedAs::Latent,
        kind: None,
        rate: String::new(),
        last_failed: None,
        cause: Some(words::cause(cause)),
        reproduce: cause.command.as_ref().map(UntrustedText::whole),
    }
}

fn explain_arguments(test: &str) -> Result<ExplainArguments, Trouble> {
    match understood(&["explain", test])? {
        Command::Explain(typed) => Ok(typed),
        _ => Err(not_understood("explain")),
    }
}

fn repro_arguments(test: &str, store: Option<&StoreName>) -> Result<ReproArguments, Trouble> {
    let store = store.map(|name| name.secret().to_string_lossy().into_owned());
    let mut words = vec!["repro"];
    if let Some(store) = &store {
        words.extend(["--store", store]);
    }
    words.push(test);
    match understood(&words)? {
        Command::Repro(typed) => Ok(typed),
        _ => Err(not_understood("repro")),
    }
}

fn predict_arguments(asked: &PredictInput) -> Result<PredictArguments, Trouble> {
    let mut words = vec!["predict"];
    if let Some(base) = &asked.base {
        words.extend(["--diff", base]);
    }
    words.extend(asked.paths.iter().map(String::as_str));
    match understood(&words)? {
        Command::Predict(typed) => Ok(typed),
        _ => Err(not_understood("predict")),
    }
}

/// What would be meant by these words at a terminal.
fn understood(words: &[&str]) -> Result<Command, Trouble> {
    cli::understood(words).map_err(|error| {
        let said = error.to_string();
        let what = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Trouble::new(what, "look at the tool's input schema")
    })
}

fn not_understood(what: &str) -> Trouble {
    Trouble::new(format!("`{what}` is not understood"), "report this as a bug")
}

fn told(problem: Problem) -> Trouble {
    Trouble { what: problem.what, details: problem.details, next: problem.next }
}
