//! `flakeproof hunt`: find the flaky tests, their kinds, and who makes whom fail.

pub(super) mod fingerprint;
mod reports;
mod session;
mod tidy;

use std::time::Instant;

use flakeproof_core::{
    ExitCode, HuntEnd, HuntFindings, Notice, RunFacts, Suite, TestId, TrialRecord,
};
use flakeproof_detect::hunt::{self, HuntEvent, Hunted, Journal, Workplace};
use flakeproof_runner::adapters::pytest::{PytestAdapter, PytestSettings};
use flakeproof_runner::{Adapter, Cancel, Error};

use self::fingerprint::Fingerprint;
use self::session::Session;
use self::tidy::Broom;
use super::code::code_in;
use super::naming;
use super::run::{Recorder, interrupt, last_line, trouble};
use crate::cli::HuntArguments;
use crate::problem::Problem;
use crate::settings::HuntSettings;
use crate::view::{self, HuntProgress};

/// Run the command.
pub(crate) fn run(typed: &HuntArguments) -> Result<ExitCode, Problem> {
    let begin = Instant::now();
    let folder = super::current_folder()?;
    let settings = HuntSettings::resolve(typed, &folder)?;
    let mut recorder = Recorder::open(&settings.store);
    let mut session = Session::begin(typed, &settings, &mut recorder)?;
    let cancel = interrupt::listen();
    let code = code_in(&folder);
    let adapter = adapter_for(&settings, &session, &cancel).map_err(trouble::explain)?;
    let mut progress = HuntProgress::start();
    let suite = match adapter.discover() {
        Err(Error::CollectOnly { output }) => {
            view::verbatim(&output);
            return Ok(ExitCode::Clean);
        }
        other => other.map_err(trouble::explain)?,
    };
    if suite.tests.is_empty() {
        return Err(trouble::no_tests(&settings.command));
    }
    let code = code.wait();
    session.on(&Fingerprint::of(&code, &suite, &adapter.surroundings()))?;
    let plan = plan(&settings, &session, &suite)?;
    let broom = Broom::of(&session, &settings)?;
    if let Some(notice) = session.other_unfinished(&settings, &mut recorder) {
        progress.note(&notice);
    }
    recorder.begin_hunt(&session.record);

    let clock = move || begin.elapsed();
    let tidy = || broom.tidy();
    let workplace = Workplace { clock: &clock, tidy: broom.is_used().then_some(&tidy) };
    let hunted = hunt_on(&adapter, &suite, &plan, &mut recorder, workplace, &cancel, &mut progress);
    progress.end();
    let hunted = hunted.map_err(|error| trouble::explain_after_start(error, &adapter.output()))?;

    let facts = session.facts(&settings, adapter.can().runner, begin.elapsed(), &code);
    let mut findings = findings(hunted, &suite, facts, plan.victim.as_ref());
    findings.notices.extend(broom.notices());
    recorder.finish_hunt(&findings);
    let is_kept = recorder.hunt_notice().is_none();
    findings.notices.extend(recorder.hunt_notice());
    let resume =
        (is_kept && findings.end != HuntEnd::Finished).then(|| session.resume_command(typed));
    reports::write(&findings, &settings, &plan, resume)?;
    Ok(findings.exit)
}

fn adapter_for(
    settings: &HuntSettings,
    session: &Session,
    cancel: &Cancel,
) -> Result<PytestAdapter, Error> {
    PytestAdapter::new(PytestSettings {
        command: settings.command.clone(),
        folder: settings.folder.clone(),
        timeout: session.asked.timeout,
        run: session.record.id.clone(),
        seed: session.seed,
        is_output_shown: settings.is_runner_shown,
        cancel: cancel.clone(),
    })
}

/// What the detector is asked for.
fn plan(
    settings: &HuntSettings,
    session: &Session,
    suite: &Suite,
) -> Result<hunt::HuntSettings, Problem> {
    let asked = &session.asked;
    let ids: Vec<&TestId> = suite.tests.iter().map(|test| &test.id).collect();
    let list = "the suite's own runner lists every id: `pytest --collect-only -q`";
    let victim = asked.victim.as_ref().map(|typed| naming::the_one(typed, &ids, list));
    Ok(hunt::HuntSettings {
        seed: session.seed,
        runs: asked.runs,
        orders: asked.orders_of(suite, session.seed),
        kinds: asked.kinds.clone(),
        max_reruns: asked.max_reruns,
        recheck: asked.recheck,
        jobs: settings.jobs,
        isolation: asked.isolation,
        budget: settings.budget,
        polluters: asked.search(),
        victim: victim.transpose()?.map(|at| ids[at].clone()),
        steer: hunt::Steer::Off,
    })
}

/// Hunt, and keep every trial as it comes.
fn hunt_on(
    adapter: &PytestAdapter,
    suite: &Suite,
    plan: &hunt::HuntSettings,
    recorder: &mut Recorder,
    workplace: Workplace<'_>,
    cancel: &Cancel,
    progress: &mut HuntProgress,
) -> flakeproof_runner::Result<Hunted> {
    let history = recorder.shared();
    let recall = |key: &str| history.borrow().trial(key).ok().flatten();
    let mut keep = |key: &str, trial: &TrialRecord| recorder.trial(key, trial);
    let mut journal = Journal { recall: &recall, keep: &mut keep };
    let mut sink = |event: HuntEvent| progress.show(&event);
    hunt::hunt(adapter, suite, plan, &mut journal, workplace, cancel, &mut sink)
}

fn findings(hunted: Hunted, suite: &Suite, run: RunFacts, victim: Option<&TestId>) -> HuntFindings {
    let mut tests = hunted.tests;
    if let Some(victim) = victim {
        // The others ran for its sake; about themselves that says nothing.
        tests.retain(|test| test.id == *victim);
    }
    let mut notices = hunted.notices;
    notices.extend(suite.problems.iter().map(|problem| Notice {
        what: format!("{} could not be collected: {}", problem.place, last_line(&problem.text)),
        next: "its tests were not looked at; mend the import".into(),
    }));
    let has_flaky = tests.iter().any(|test| test.kind.is_some());
    let is_whole = suite.problems.is_empty();
    let exit = exit_of(hunted.end, has_flaky, is_whole);
    HuntFindings {
        run,
        tests,
        cost: hunted.cost,
        end: hunted.end,
        hidden: hunted.hidden,
        notices,
        exit,
    }
}

fn exit_of(end: HuntEnd, has_flaky: bool, is_whole: bool) -> ExitCode {
    match (end, has_flaky) {
        (HuntEnd::Interrupted, _) => ExitCode::Interrupted,
        (HuntEnd::Finished | HuntEnd::BudgetSpent, true) => ExitCode::Failures,
        (HuntEnd::BudgetSpent, false) => ExitCode::Inconclusive,
        (HuntEnd::Finished, false) if is_whole => ExitCode::Clean,
        (HuntEnd::Finished, false) => ExitCode::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_ends_as_it_is_documented() {
        let exit = |end, has_flaky| exit_of(end, has_flaky, true).number();
        assert_eq!(exit(HuntEnd::Finished, false), 0);
        assert_eq!(exit(HuntEnd::Finished, true), 1);
        assert_eq!(exit(HuntEnd::BudgetSpent, false), 5);
        assert_eq!(exit(HuntEnd::BudgetSpent, true), 1);
        assert_eq!(exit(HuntEnd::Interrupted, true), 130);
        assert_eq!(exit_of(HuntEnd::Finished, false, false).number(), 5);
    }
}
