//! `flakeproof repro`: replay the order in which a test was seen to fail, or run it under the lever that
//! makes it fail.

mod bundle;

use std::path::Path;
use std::time::Instant;

use flakeproof_core::{
    CauseRecord, ExitCode, Failure, FlakyKind, ImplementationDependence, Isolation, KnownFlaky,
    LeverValue, Notice, Seed, Shuffle, Suite, TestId, foreign_text,
};
use flakeproof_detect::verify::replay;
use flakeproof_report::words;
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::levers::InForce;
use flakeproof_runner::{Adapter, Cancel, Orders, Waiting};

use self::bundle::Bundle;
use crate::cli::{LeverToPull, ReproArguments};
use crate::problem::{self, Problem};
use crate::session::known_cause::{known_cause, lever_to_pull, pulled};
use crate::session::{
    Start, code_in, current_folder, history, listen_for_interrupts, naming, reports,
};
use crate::settings::{ConfigurationFile, Isolate};
use crate::view::{self, Replays};

/// Run the command.
pub(crate) fn run(typed: &ReproArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    let folder = current_folder()?;
    let (case, from) = case_of(typed, &folder)?;
    let cancel = listen_for_interrupts(&Waiting::default());
    let code = code_in(&folder);
    let in_force = InForce::default();
    let adapter = adapter_for(typed, &case, &folder, &cancel, &in_force)?;
    let suite = adapter.discover().map_err(problem::explain)?;
    all_collected(&case, &suite)?;
    let under = case.lever.as_ref().map(|it| pulled(it, &*adapter, &in_force, &suite));
    let under = under.transpose()?;
    let here = Bundle::new(&case, &adapter.surroundings(), &code.wait().tree);
    let mut notices = from.as_ref().map(|from| from.differences(&here)).unwrap_or_default();
    let isolation = match under {
        Some(_) => Isolation::Spawn,
        None => isolation_of(typed.isolation, &*adapter, &suite, &case.order, &mut notices),
    };
    view::notices(&notices);

    let is_stdout_taken = typed.bundle.as_deref() == Some(Path::new("-"));
    let mut replays = Replays::new(&case.test, &case.order, isolation, is_stdout_taken);
    replays.failure = case.failure.clone();
    replays.shuffle.clone_from(&case.shuffle);
    replays.command = case.shell_command.clone();
    replays.lever.clone_from(&case.lever);
    view::replay_begins(&replays, typed.runs);
    let mut is_interrupted = false;
    for _ in 0..typed.runs {
        let replayed = match &under {
            Some(under) => under.replay(&*adapter, &case.test),
            None => replay(&*adapter, &case.order, isolation, case.shuffle.as_ref()),
        };
        match replayed {
            Ok(one) => {
                view::replayed(&replays, &one);
                replays.add(one);
            }
            Err(flakeproof_runner::Error::Cancelled) => is_interrupted = true,
            Err(error) => return Err(problem::explain_after_start(error, &adapter.output())),
        }
        if is_interrupted || cancel.is_cancelled() {
            is_interrupted = true;
            break;
        }
    }
    replays.time = begin.elapsed();
    view::replays_end(&replays);
    if let Some(path) = &typed.bundle {
        reports::put(path, &here.with(&replays).bytes()?)?;
    }
    Ok(match (is_interrupted, replays.tally()) {
        (true, _) => ExitCode::Interrupted,
        (false, tally) if tally.failures > 0 => ExitCode::Failures,
        (false, tally) if tally.runs == 0 => ExitCode::Inconclusive,
        (false, _) => ExitCode::Clean,
    })
}

/// What to replay: what a bundle holds, or what a hunt found.
fn case_of(typed: &ReproArguments, folder: &Path) -> Result<(Case, Option<Bundle>), Problem> {
    let (mut case, from) = match &typed.from {
        Some(path) => {
            let bundle = Bundle::read(path)?;
            (bundle.case(), Some(bundle))
        }
        None => {
            let test = typed.test.as_deref().unwrap_or_default();
            (Case::of_history(test, typed, folder)?, None)
        }
    };
    if let Some(lever) = &typed.lever {
        case.lever = match lever {
            LeverToPull::None => None,
            LeverToPull::This(lever) => Some(lever.clone()),
        };
    }
    if !typed.command.is_empty() {
        case.command.clone_from(&typed.command);
    } else if let (Some(path), false) = (&typed.from, typed.yes) {
        ask_for(&case.command, path)?;
    }
    Ok((case, from))
}

/// The command of a bundle is somebody else's: it is run only if the user says so.
fn ask_for(command: &[String], bundle: &Path) -> Result<(), Problem> {
    let command = words::command(command);
    let whose = format!("the bundle {}", bundle.display());
    match view::may_run(&command, &whose) {
        Some(true) => Ok(()),
        Some(false) => Err(Problem::usage("the command was not run", MISTRUST)),
        None => Err(Problem::usage(
            format!("{whose} wants to run `{}`", foreign_text::on_one_line(&command)),
            "if you trust it, say `--yes`; or give a command of your own after `--`",
        )),
    }
}

/// What to do with a bundle whose command is not to be run.
const MISTRUST: &str = "give a command of your own after `--` to replay its order with that";

fn adapter_for(
    typed: &ReproArguments,
    case: &Case,
    folder: &Path,
    cancel: &Cancel,
    in_force: &InForce,
) -> Result<Box<dyn Adapter>, Problem> {
    adapters::open(RunRequest {
        command: case.command.clone(),
        folder: folder.to_path_buf(),
        adapter: typed.adapter.clone(),
        timeout: typed.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
        run: Start::now().id(),
        seed: typed.seed.unwrap_or(case.seed),
        is_output_shown: typed.show_runner,
        profiles: ConfigurationFile::find(None, folder)?.runners(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: in_force.clone(),
    })
    .map_err(problem::explain)
}

/// Every test of the order must still be there.
fn all_collected(case: &Case, suite: &Suite) -> Result<(), Problem> {
    let known = suite.positions();
    let missing: Vec<&TestId> = case.order.iter().filter(|it| !known.contains_key(*it)).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let what = match missing.len() {
        1 => format!("`{first}` is part of the order and is not in the suite here"),
        many => format!("`{first}` and {} more of the order are not in the suite here", many - 1),
    };
    let revision = case.revision.as_ref().map(|it| format!("check out {it}, or "));
    let next = format!(
        "{}if it was renamed, removed or is not selected by the command, hunt again",
        revision.unwrap_or_default()
    );
    Err(Problem::usage(what, next))
}

/// How environments for an order are made here.
pub(super) fn isolation_of(
    wanted: Isolate,
    adapter: &dyn Adapter,
    suite: &Suite,
    order: &[TestId],
    notices: &mut Vec<Notice>,
) -> Isolation {
    // Its tests may share a process only there, see the hunt that wrote it down.
    if adapter.can().orders == Orders::Apart && order.len() > 1 && suite.begins_with(order) {
        return Isolation::Same;
    }
    match (wanted.isolation(), adapter.can().fork) {
        (Isolation::Fork, Err(why)) => {
            // Of a runner whose processes are never copied nobody expects it.
            if adapter.can().state {
                notices.push(Notice {
                    what: format!("environments are spawned, not forked: {why}"),
                    next: "nothing is lost but time".into(),
                });
            }
            Isolation::Spawn
        }
        (isolation, _) => adapter.can().judging(isolation),
    }
}

/// A failure to show again.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) test: TestId,
    pub(super) kind: Option<FlakyKind>,
    /// The tests, the failing one last.
    pub(super) order: Vec<TestId>,
    /// What decides the orders that the language leaves open, if not the runtime.
    pub(super) shuffle: Option<Shuffle>,
    /// The lever that makes it fail; then it runs alone.
    pub(super) lever: Option<LeverValue>,
    /// The command that runs the suite.
    pub(super) command: Vec<String>,
    /// The command that shows the failure without flakeproof.
    pub(super) shell_command: Option<String>,
    pub(super) seed: Seed,
    /// The failure as it was first seen.
    pub(super) failure: Option<Failure>,
    /// The code that it was seen on, if that is known.
    pub(super) revision: Option<String>,
}

impl Case {
    /// What the last hunt or experiment found about this test.
    pub(super) fn of_history(
        test: &str,
        typed: &ReproArguments,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let store = typed.store.as_ref();
        let known = history::flaky_tests(store, folder)?;
        let cause = known_cause(test, store, folder)?;
        let hunted = known.iter().find(|it| {
            let id = cause.as_ref().map_or(test, |cause| cause.test.as_str());
            it.test.id.as_str() == id
        });
        let lever = lever_to_pull(typed.lever.as_ref(), cause.as_ref(), hunted);
        if let (Some(cause), true) = (&cause, lever.is_some() || hunted.is_none()) {
            return Self::of_cause(cause, lever.map(|it| it.lever), hunted);
        }
        if let (Some(LeverToPull::This(lever)), [_, ..], false) = (
            &typed.lever,
            typed.command.as_slice(),
            known.iter().any(|it| it.test.id.as_str() == test),
        ) {
            return Ok(Self::of_lever(test, lever));
        }
        if known.is_empty() {
            let next = "`flakeproof hunt -- pytest` looks for them";
            return Err(Problem::usage("no flaky test is known in this project", next));
        }
        let ids: Vec<&TestId> = known.iter().map(|it| &it.test.id).collect();
        let list = "`flakeproof list` shows the flaky tests that are known";
        let at = naming::the_one(test, &ids, list)?;
        Self::of_known(&known[at])
    }

    /// A test of which nothing is known here, under a lever that somebody named. Its command is the user's.
    fn of_lever(test: &str, lever: &LeverValue) -> Self {
        Self {
            test: test.into(),
            kind: None,
            order: vec![test.into()],
            shuffle: None,
            lever: Some(lever.clone()),
            command: Vec::new(),
            shell_command: None,
            seed: Start::now().seed(),
            failure: None,
            revision: None,
        }
    }

    /// The test alone, under the lever.
    fn of_cause(
        cause: &CauseRecord,
        lever: Option<LeverValue>,
        hunted: Option<&KnownFlaky>,
    ) -> Result<Self, Problem> {
        let seed = cause.seed.parse().map_err(|_| {
            let next = "run `flakeproof cause` again";
            Problem::broken("the record of the experiment cannot be read", next)
        })?;
        let found = cause.found.as_ref();
        Ok(Self {
            test: cause.test.clone(),
            kind: hunted.and_then(|it| it.test.kind),
            order: vec![cause.test.clone()],
            shuffle: None,
            shell_command: found.filter(|_| lever.is_some()).and_then(|it| it.command.clone()),
            lever,
            command: cause.command.clone(),
            seed,
            failure: found.and_then(|it| it.failure.clone()),
            revision: None,
        })
    }

    fn of_known(known: &KnownFlaky) -> Result<Self, Problem> {
        let test = &known.test;
        let Some(reproduction) = &test.reproduction else {
            return Err(Problem::usage(
                format!("no order in which `{}` fails is on record", test.id),
                format!("`flakeproof hunt --victim {}` looks for one", test.id),
            ));
        };
        let seed =
            known.hunt.seed.parse().map_err(|_| {
                Problem::broken("the record of the hunt cannot be read", "hunt again")
            })?;
        Ok(Self {
            test: test.id.clone(),
            kind: test.kind,
            order: reproduction.order.clone(),
            lever: None,
            shuffle: test.implementation.as_ref().map(ImplementationDependence::shuffle),
            command: known.hunt.command.clone(),
            shell_command: Some(reproduction.command.clone()),
            seed,
            failure: test.failure.clone(),
            revision: None,
        })
    }
}
