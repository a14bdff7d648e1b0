//! Is this failure flaky? The technique of the rerun thesis, Figures 3.1 and 3.2.
//!
//! ```text
//! run the suite, rerun each failure at once             RERUN      (suite_run)
//! stop if too many tests fail                           THRESHOLD
//! rerun the failures at the end, same environment       POSTPONE   (postponed)
//! rerun each failure in a fresh environment             FORK       (fresh)
//! compare what it touches with what changed             INTERSECT  (crate::intersect)
//! ```
//!
//! Where this differs from the thesis, it is stricter (DESIGN §4). A pass in the environment that
//! saw the failure proves nothing, because the failure may have left a cached state behind: a
//! fresh environment must pass too. A pass in a forked environment is confirmed by a new process.
//! An untouched change proves something only if the test is known to have passed before it. And
//! failures that look alike are tried on one of them first (thesis, chapter 8).

mod case;
mod fresh;
mod groups;
mod postponed;
mod settings;
mod suite_run;
mod verdict;

use flakeproof_core::{
    Attempt, Dependencies, Evidence, ExitCode, Group, Notice, Policy, Stage, Suite, TestFinding, TestId,
    Verdict,
};
use flakeproof_runner::{Adapter, Cancel, Error, Result};

pub use self::settings::{RerunRules, RetryLimit, TriageSettings};
use crate::intersect::Facts;

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
    let mut run = suite_run::run(adapter, suite, settings, cancel, sink)?;
    let limit = settings.limit.of(suite.tests.len());
    let failed = run.cases.iter().filter(|case| case.is_failure()).count();
    let are_too_many = failed > limit;

    if !are_too_many && !run.is_interrupted {
        postponed::rerun(&mut run, settings, cancel, sink);
    }
    let mut notices = run.close();
    let mut is_interrupted = run.is_interrupted || cancel.is_cancelled();
    let mut cases = std::mem::take(&mut run.cases);
    if are_too_many {
        for case in cases.iter_mut().filter(|case| case.is_undecided()) {
            case.give_up(Evidence::TooManyFailures { failed, limit });
        }
    } else if !is_interrupted {
        match fresh::rerun(adapter, &mut cases, settings, cancel, sink) {
            Ok(more) => notices.extend(more),
            Err(Error::Cancelled) => is_interrupted = true,
            Err(error) => return Err(error),
        }
    }
    if is_interrupted {
        for case in cases.iter_mut().filter(|case| case.is_undecided()) {
            let reason = "the run was interrupted".to_owned();
            case.give_up(Evidence::NotRerun { reason });
        }
    }
    let positions = suite.positions();
    cases.sort_by_key(|case| positions.get(&case.test).copied());
    let mut tests: Vec<TestFinding> =
        cases.into_iter().map(|case| verdict::find(case, suite, &positions, adapter, change)).collect();
    let groups = groups::name_causes(&mut tests);
    Ok(Triaged { tests, groups, notices, is_interrupted })
}

/// How a run with these verdicts ends.
#[must_use]
pub fn exit_code(tests: &[TestFinding], is_interrupted: bool, policy: Policy) -> ExitCode {
    let has = |verdict| tests.iter().any(|test| test.verdict == Some(verdict));
    match policy {
        _ if is_interrupted => ExitCode::Interrupted,
        _ if has(Verdict::Real) || has(Verdict::Unknown) => ExitCode::Failures,
        Policy::Fail if has(Verdict::Flaky) => ExitCode::Flaky,
        Policy::Fail | Policy::Pass => ExitCode::Clean,
    }
}
