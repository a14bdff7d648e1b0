//! The steps of the technique, one after the other, as in Figure 3.1 of the thesis.

use flakeproof_core::{
    Attempt, Dependencies, Evidence, ExitCode, Group, Notice, Policy, Stage, Suite, TestFinding,
    TestId, Verdict,
};
use flakeproof_runner::{Adapter, Cancel, Error, Result};

use super::case::Case;
use super::{TriageSettings, fresh, groups, postponed, suite_run, verdict};
use crate::intersect::Facts;
use crate::room;

/// Something that happens while the triage runs.
#[derive(Debug)]
pub enum Event {
    /// A stage begins, with this many tests to run in it.
    Stage(Stage, usize),
    /// An execution ended.
    Attempt(Box<Attempt>),
}

/// Gives the change since a test last passed, or says why it is not known.
pub type ChangeSince<'a> =
    dyn Fn(&TestId, &Dependencies) -> std::result::Result<Facts, String> + 'a;

/// What the triage found out.
#[derive(Debug)]
pub struct Triaged {
    /// Every test that ran, in the suite's order.
    pub tests: Vec<TestFinding>,
    /// Failures that share a signature.
    pub groups: Vec<Group>,
    /// What the reader should know about the run.
    pub notices: Vec<Notice>,
    /// Whether the user interrupted.
    pub is_interrupted: bool,
}

/// Run a suite and find out what its failures are.
///
/// `sink` hears of every execution as soon as it ended.
///
/// # Errors
/// When the runner breaks. What was found until then went to the sink.
pub fn triage(
    adapter: &dyn Adapter,
    suite: &Suite,
    settings: &TriageSettings,
    change: &ChangeSince<'_>,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<Triaged> {
    let (jobs, too_many) = room::jobs(adapter, settings.jobs);
    let settings = &TriageSettings { jobs, ..settings.clone() };
    let mut run = suite_run::run(adapter, suite, settings, cancel, sink)?;
    let positions = suite.positions();
    run.cases.sort_by_key(|case| positions.get(&case.test).copied());

    let limit = settings.limit.of(suite.tests.len());
    let failed = run.cases.iter().filter(|case| case.is_failure()).count();
    let are_too_many = failed > limit;
    let mut is_interrupted = run.is_interrupted;
    if !are_too_many && !is_interrupted {
        is_interrupted = was_interrupted(postponed::rerun(&mut run, settings, cancel, sink))?;
    }
    let (mut cases, mut notices) = run.close();
    notices.extend(too_many);
    if are_too_many {
        give_up(&mut cases, &Evidence::TooManyFailures { failed, limit });
    } else if !is_interrupted {
        let rerun = fresh::rerun(adapter, &mut cases, settings, cancel, &mut notices, sink);
        is_interrupted = was_interrupted(rerun)?;
    }
    if is_interrupted {
        give_up(&mut cases, &Evidence::NotRerun { reason: "the run was interrupted".into() });
    }
    let mut tests: Vec<TestFinding> = cases
        .into_iter()
        .map(|case| verdict::find(case, suite, &positions, adapter, change))
        .collect();
    let groups = groups::name_causes(&mut tests);
    Ok(Triaged { tests, groups, notices, is_interrupted })
}

/// Whether a stage ended because the user wanted it to.
fn was_interrupted(stage: Result<()>) -> Result<bool> {
    match stage {
        Ok(()) => Ok(false),
        Err(Error::Cancelled) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Leave every open case without an answer.
fn give_up(cases: &mut [Case], why: &Evidence) {
    for case in cases.iter_mut().filter(|case| case.is_undecided()) {
        case.give_up(why.clone());
    }
}

/// How a run with these verdicts ends.
#[must_use]
pub fn exit_code(tests: &[TestFinding], is_interrupted: bool, policy: Policy) -> ExitCode {
    let counts = |test: &&TestFinding| !test.is_excused();
    let has = |verdict| tests.iter().filter(counts).any(|it| it.verdict == Some(verdict));
    match policy {
        _ if is_interrupted => ExitCode::Interrupted,
        _ if has(Verdict::Real) || has(Verdict::Unknown) => ExitCode::Failures,
        Policy::Fail if has(Verdict::Flaky) => ExitCode::Flaky,
        Policy::Fail | Policy::Pass => ExitCode::Clean,
    }
}
