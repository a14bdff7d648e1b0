//! `flakeproof cause`: find out what makes a test fail.
//!
//! What is learned is kept after every few runs, so that an interrupted experiment can be taken up again.
//! The answer is kept, too, for `explain` to show.

use std::path::Path;
use std::time::{Duration, Instant};

use flakeproof_core::{
    Cause, CauseEnd, CauseFindings, CauseProgress, CauseRecord, ExitCode, FailureTrace, KnownFlaky,
    LeverName, NotTried, Notice, RunFacts, Suite, TestId,
};
use flakeproof_detect::cause::{CauseEvent, Found, Question, Tries, find_cause};
use flakeproof_report::words;
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::levers::{self, InForce, Lever, Machine, Setting};
use flakeproof_runner::{Adapter, Cancel, Waiting};

use crate::cli::{CauseArguments, LeverChoice};
use crate::problem::{self, Problem};
use crate::session::history::KeptHistory;
use crate::session::reports::report_cause;
use crate::session::{Start, code_in, current_folder, history, listen_for_interrupts, naming};
use crate::settings::{ConfigurationFile, ReporterKind, locate};
use crate::view::CauseProgressBar;

/// Run the command.
pub(crate) fn run(typed: &CauseArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    only_json(typed)?;
    let folder = current_folder()?;
    let known = known(typed, &folder)?;
    let mut facts = facts(typed, known.as_ref(), &folder);
    let cancel = listen_for_interrupts(&Waiting::default());
    let code = code_in(&folder);
    let mut progress = CauseProgressBar::start();
    let in_force = InForce::default();
    let adapter = adapter_for(typed, &facts, &folder, &cancel, &in_force)?;
    let suite = adapter.discover().map_err(problem::explain)?;
    let test = the_test(&typed.test, known.as_ref(), &suite, &*adapter)?;
    let mut kept = KeptCause::open(typed, &folder, &facts, &test);
    let machine = Machine::probe_for(&*adapter);
    let question = question(typed, &kept, &*adapter, &machine, test, suite, known.as_ref())?;

    progress.plan(&question);
    // Collecting, compiling and looking around are no part of the budget: nothing would be left of it.
    let asked = Instant::now();
    let clock = || asked.elapsed();
    let mut sink = |event: CauseEvent| {
        if let CauseEvent::Learned(learned) = &event {
            kept.learn(learned);
        }
        progress.show(&event);
    };
    let found = find_cause(&*adapter, &in_force, &question, &clock, &cancel, &mut sink);
    progress.end();
    let found = found.map_err(|error| problem::explain_after_start(error, &adapter.output()))?;
    facts = RunFacts {
        runner: adapter.can().runner,
        revision: code.wait().tree.revision,
        duration: begin.elapsed(),
        ..facts
    };
    let found = with_command(found, &facts.command);
    kept.finish(&found);
    let mut notices = adapter.notices();
    notices.extend(kept.into_notices());
    notices.extend(remarks(&found, typed));
    let findings = CauseFindings {
        run: facts,
        exit: exit_of(&found.cause, found.end),
        executions: found.executions,
        end: found.end,
        notices,
        cause: found.cause,
    };
    report_cause(&findings, &typed.reporter)?;
    Ok(findings.exit)
}

/// There is one test with one answer: other reports have nothing to show.
fn only_json(typed: &CauseArguments) -> Result<(), Problem> {
    match typed.reporter.iter().any(|it| it.kind != ReporterKind::Json) {
        true => Err(Problem::usage("`cause` writes JSON only", "write `--reporter json=FILE`")),
        false => Ok(()),
    }
}

/// What hunts know about the test; `None` if they do not know it.
fn known(typed: &CauseArguments, folder: &Path) -> Result<Option<KnownFlaky>, Problem> {
    // A history that is to be made need not be there.
    let is_there = locate(typed.store.as_ref(), folder)?.may_be_there();
    let known = match is_there {
        true => history::flaky_tests(typed.store.as_ref(), folder)?,
        false => Vec::new(),
    };
    let mut meant: Vec<KnownFlaky> =
        known.into_iter().filter(|it| it.test.id.as_str().ends_with(&typed.test)).collect();
    let exact = meant.iter().position(|it| it.test.id.as_str() == typed.test);
    Ok(match (exact, meant.len()) {
        (Some(at), _) => Some(meant.swap_remove(at)),
        (None, 1) => meant.pop(),
        (None, _) => None,
    })
}

/// What is known before anything runs.
fn facts(typed: &CauseArguments, known: Option<&KnownFlaky>, folder: &Path) -> RunFacts {
    let start = Start::now();
    RunFacts {
        id: start.id(),
        command: match (typed.command.as_slice(), known) {
            ([], Some(known)) => known.hunt.command.clone(),
            ([], None) => adapters::usual_command(folder),
            (command, _) => command.to_vec(),
        },
        runner: String::new(),
        started: start.at.to_string(),
        duration: Duration::ZERO,
        seed: typed.seed.unwrap_or(start.seed()),
        revision: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn adapter_for(
    typed: &CauseArguments,
    facts: &RunFacts,
    folder: &Path,
    cancel: &Cancel,
    in_force: &InForce,
) -> Result<Box<dyn Adapter>, Problem> {
    adapters::open(RunRequest {
        command: facts.command.clone(),
        folder: folder.to_path_buf(),
        adapter: typed.adapter.clone(),
        timeout: limit(typed.timeout.0),
        run: facts.id.clone(),
        seed: facts.seed,
        is_output_shown: typed.show_runner,
        profiles: ConfigurationFile::find(None, folder)?.runners(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: in_force.clone(),
    })
    .map_err(problem::explain)
}

fn limit(time: Duration) -> Option<Duration> {
    Some(time).filter(|time| !time.is_zero())
}

/// The test that is meant.
fn the_test(
    typed: &str,
    known: Option<&KnownFlaky>,
    suite: &Suite,
    adapter: &dyn Adapter,
) -> Result<TestId, Problem> {
    let ids: Vec<&TestId> = suite.tests.iter().map(|test| &test.id).collect();
    if let Some(known) = known.filter(|known| ids.contains(&&known.test.id)) {
        return Ok(known.test.id.clone());
    }
    let list = naming::how_to_list(adapter);
    let at = naming::the_one(typed, &ids, &list).map_err(|problem| {
        let is_there = ids.iter().any(|id| id.as_str().ends_with(typed));
        let exit = if is_there { problem.exit } else { ExitCode::NoTests };
        Problem { exit, ..problem }
    })?;
    Ok(ids[at].clone())
}

/// What the detector is asked.
fn question(
    typed: &CauseArguments,
    kept: &KeptCause,
    adapter: &dyn Adapter,
    machine: &Machine,
    test: TestId,
    suite: Suite,
    known: Option<&KnownFlaky>,
) -> Result<Question, Problem> {
    let (mut tries, mut not_tried) = (Vec::new(), Vec::new());
    for lever in levers::all() {
        let name = lever.name();
        let chosen = chosen(&typed.levers, name);
        let settings = match (&chosen, adapter.obstacle_to(name)) {
            (Chosen::No, _) => continue,
            (_, Some(obstacle)) => Err(obstacle),
            (_, None) => lever.settings(machine),
        };
        match (settings, chosen) {
            (Ok(_), Chosen::Values(values)) => {
                let settings = these(&*lever, &values, machine)?;
                tries.push(Tries { lever, settings });
            }
            (Ok(settings), Chosen::All | Chosen::No) => tries.push(Tries { lever, settings }),
            (Err(why), _) => not_tried.push(NotTried { name, why }),
        }
    }
    let failure = known.and_then(|known| known.test.failure.as_ref());
    Ok(Question {
        test,
        suite: suite.tests.into_iter().map(|test| test.id).collect(),
        tries,
        not_tried,
        known: failure.map(FailureTrace::of_failure).into_iter().collect(),
        seed: kept.seed,
        budget: limit(typed.budget.0),
        timeout: limit(typed.timeout.0),
        progress: kept.record.progress.clone(),
    })
}

/// Whether a lever is to be tried.
enum Chosen {
    No,
    All,
    Values(Vec<String>),
}

fn chosen(choices: &[LeverChoice], name: LeverName) -> Chosen {
    let of_lever: Vec<&LeverChoice> = choices.iter().filter(|it| it.name == name).collect();
    if choices.is_empty() || of_lever.iter().any(|it| it.value.is_none()) {
        Chosen::All
    } else if of_lever.is_empty() {
        Chosen::No
    } else {
        Chosen::Values(of_lever.into_iter().filter_map(|it| it.value.clone()).collect())
    }
}

/// The settings with these values.
fn these(lever: &dyn Lever, values: &[String], machine: &Machine) -> Result<Vec<Setting>, Problem> {
    let setting = |value: &String| {
        lever.setting(value, machine).map_err(|why| {
            Problem::usage(format!("the lever `{}` has no value {value}", lever.name()), why)
        })
    };
    values.iter().map(setting).collect()
}

/// An experiment in the history of the project; in memory if it cannot be kept on disk.
struct KeptCause {
    history: KeptHistory,
    record: CauseRecord,
    seed: flakeproof_core::Seed,
    notices: Vec<Notice>,
}

impl KeptCause {
    fn open(typed: &CauseArguments, folder: &Path, facts: &RunFacts, test: &TestId) -> Self {
        let mut notices = Vec::new();
        let history = history::open_or_create(typed.store.as_ref(), folder);
        let history = history.unwrap_or_else(|problem| {
            notices.push(Notice { what: problem.what, next: problem.next });
            KeptHistory::in_memory()
        });
        let fresh = CauseRecord {
            id: facts.id.clone(),
            started: facts.started.clone(),
            command: facts.command.clone(),
            seed: facts.seed.to_string(),
            test: test.clone(),
            found: None,
            progress: CauseProgress::default(),
        };
        let before = match typed.resume {
            true => history.unfinished_cause(test, &facts.command).ok().flatten(),
            false => None,
        };
        if typed.resume && before.is_none() {
            notices.push(Notice {
                what: "no experiment with this test and this command was interrupted".into(),
                next: "it was begun from the start".into(),
            });
        }
        let record = before.unwrap_or(fresh);
        Self { history, record, seed: facts.seed, notices }
    }

    fn learn(&mut self, progress: &CauseProgress) {
        self.record.progress.clone_from(progress);
        self.keep();
    }

    fn finish(&mut self, found: &Found) {
        self.record.progress.clone_from(&found.progress);
        let is_over = match found.end {
            CauseEnd::Decided | CauseEnd::NotReached => true,
            CauseEnd::BudgetSpent | CauseEnd::Interrupted => found.cause.answer.is_cause(),
        };
        self.record.found = is_over.then(|| found.cause.clone());
        self.keep();
    }

    fn keep(&mut self) {
        if let (Err(error), true) = (self.history.keep_cause(&self.record), self.notices.is_empty())
        {
            let next = "the answer stands; `explain` will not know it".to_owned();
            self.notices.push(Notice { what: error.to_string(), next });
        }
    }

    /// What the user should know about where it is kept.
    fn into_notices(self) -> Vec<Notice> {
        let unsent = self.history.unsent_notice();
        self.notices.into_iter().chain(unsent).collect()
    }
}

/// Where nothing in a shell does what a lever does, this program does.
fn with_command(mut found: Found, command: &[String]) -> Found {
    let lever = found.cause.failing_under().map(|(lever, _)| lever);
    if let (None, Some(lever)) = (&found.cause.command, lever) {
        let replay = ["flakeproof", "repro", found.cause.test.as_str(), "--lever"];
        let replay: Vec<String> = replay.into_iter().map(str::to_owned).collect();
        let all = [replay, vec![lever.to_string(), "--".to_owned()], command.to_vec()].concat();
        found.cause.command = Some(words::command(&all));
    }
    found
}

/// What to do where there is no answer.
fn remarks(found: &Found, typed: &CauseArguments) -> Option<Notice> {
    let what = match found.end {
        CauseEnd::BudgetSpent => "the budget is spent before everything was tried",
        CauseEnd::Interrupted => "interrupted before everything was tried",
        CauseEnd::NotReached => "the test is skipped, or never reached",
        CauseEnd::Decided => return None,
    };
    let next = match found.end {
        CauseEnd::NotReached => "run it by hand to see why".to_owned(),
        _ => format!("`flakeproof cause {} --resume` goes on", typed.test),
    };
    Some(Notice { what: what.to_owned(), next })
}

fn exit_of(cause: &Cause, end: CauseEnd) -> ExitCode {
    match end {
        CauseEnd::Interrupted => ExitCode::Interrupted,
        _ if cause.answer.is_cause() || cause.always_fails() => ExitCode::Failures,
        _ => ExitCode::Inconclusive,
    }
}
