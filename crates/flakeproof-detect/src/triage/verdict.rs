//! From what was tried to what the failure is: the rules of evidence (DESIGN §4).

use std::collections::HashMap;

use flakeproof_core::statistics::pass_rate_not_ruled_out;
use flakeproof_core::{
    Attempt, Evidence, Execution, Kind, Outcome, Stage, Suite, TestFinding, TestId, Verdict,
};
use flakeproof_runner::Adapter;

use super::ChangeSince;
use super::case::Case;
use crate::intersect::{Contact, contact};

/// What was found out about one test.
pub(super) fn find(
    case: Case,
    suite: &Suite,
    positions: &HashMap<TestId, usize>,
    adapter: &dyn Adapter,
    change: &ChangeSince<'_>,
) -> TestFinding {
    let location = positions.get(&case.test).and_then(|at| suite.tests[*at].location.clone());
    let judgement = case.is_failure().then(|| judge(&case, change));
    let (verdict, kind, evidence) = match judgement {
        Some(Judgement { verdict, kind, evidence }) => (Some(verdict), kind, evidence),
        None => (None, None, Vec::new()),
    };
    let reproduce = verdict.map(|verdict| match (verdict, kind) {
        (Verdict::Flaky, Some(Kind::StateDependent)) => adapter.command_for_all(),
        _ => adapter.command_for(&case.test),
    });
    TestFinding {
        outcome: case.outcome(),
        location,
        verdict,
        kind,
        evidence,
        reproduce,
        group: None,
        quarantine: None,
        id: case.test,
        attempts: case.attempts,
    }
}

/// What a failure is, and why.
struct Judgement {
    verdict: Verdict,
    kind: Option<Kind>,
    evidence: Vec<Evidence>,
}

fn judge(case: &Case, change: &ChangeSince<'_>) -> Judgement {
    if let Some(rule) = &case.forbidden {
        let evidence = vec![Evidence::NotRerun { reason: rule.clone() }];
        return Judgement { verdict: Verdict::Real, kind: None, evidence };
    }
    let mut evidence = passes(case);
    evidence.extend(case.stood_in().map(|test| Evidence::LikeAnother { test: test.to_string() }));
    evidence.extend(fresh_failures(case));
    if case.passed_in_spawn() {
        let kind = kind(case);
        let doubt = pollution_by_the_change(case, kind, change);
        let verdict = if doubt.is_some() { Verdict::Unknown } else { Verdict::Flaky };
        evidence.extend(doubt);
        return Judgement { verdict, kind, evidence };
    }
    let (verdict, fact) = judge_without_a_pass(case, change);
    evidence.extend(fact);
    Judgement { verdict, kind: None, evidence }
}

/// That the change may be what pollutes the state of this test.
///
/// It passed in the suite before the change, now it fails there every time and only there, and it
/// touches the change: a fault that needs state to show itself looks just like that. The thesis
/// would call it flaky.
fn pollution_by_the_change(
    case: &Case,
    kind: Option<Kind>,
    change: &ChangeSince<'_>,
) -> Option<Evidence> {
    if kind != Some(Kind::StateDependent) {
        return None;
    }
    let touched = case.fresh().find_map(|attempt| attempt.execution.dependencies.as_ref())?;
    let facts = change(&case.test, touched).ok()?;
    let base = facts.change.base.revision().to_owned();
    match contact(touched, &facts) {
        Contact::Touches(files) if facts.change.base.is_known_to_pass() => {
            Some(Evidence::Intersects { files, base })
        }
        Contact::Touches(_) | Contact::Disjoint | Contact::Silent(_) => None,
    }
}

/// What a failure is that no new process made go away.
fn judge_without_a_pass(case: &Case, change: &ChangeSince<'_>) -> (Verdict, Option<Evidence>) {
    if let Some(why) = &case.gave_up {
        return (Verdict::Unknown, Some(why.clone()));
    }
    if case.passed_in_fork() {
        return (Verdict::Unknown, None);
    }
    if case.fresh().any(|attempt| !attempt.execution.outcome.is_failure()) {
        let reason = "it was skipped in a fresh environment".to_owned();
        return (Verdict::Unknown, Some(Evidence::NotRerun { reason }));
    }
    let (verdict, fact) = intersect(case, change);
    (verdict, Some(fact))
}

/// INTERSECT: what a test that fails in every fresh environment says about the change.
fn intersect(case: &Case, change: &ChangeSince<'_>) -> (Verdict, Evidence) {
    let silent = |reason: String| (Verdict::Unknown, Evidence::Silent { reason });
    let measured = case.measured_failure();
    let Some((failed, dependencies)) =
        measured.and_then(|it| Some((it, it.dependencies.as_ref()?)))
    else {
        let is_gone = case.fresh().any(|attempt| attempt.execution.outcome.ends_environment());
        return silent(match is_gone {
            true => "the process was gone before it could say what it touched".into(),
            false => "what it touches was not measured".into(),
        });
    };
    let facts = match change(&case.test, dependencies) {
        Ok(facts) => facts,
        Err(why) => return silent(why),
    };
    let base = facts.change.base.revision().to_owned();
    match contact(dependencies, &facts) {
        Contact::Touches(files) => (Verdict::Real, Evidence::Intersects { files, base }),
        // What is not the suite's failure says nothing about it: that one may touch the change.
        Contact::Disjoint if !is_the_suites_failure(case, failed) => {
            silent("it fails in another way in a fresh environment than in the suite".into())
        }
        Contact::Disjoint => {
            let passed_at_base = facts.change.base.is_known_to_pass();
            let changed = facts.change.files.into_iter().map(|file| file.path).collect();
            let dependencies = dependencies.files();
            let verdict = if passed_at_base { Verdict::Flaky } else { Verdict::Unknown };
            (verdict, Evidence::Disjoint { changed, dependencies, base, passed_at_base })
        }
        Contact::Silent(reason) => silent(reason),
    }
}

fn is_the_suites_failure(case: &Case, failed: &Execution) -> bool {
    let signature = failed.failure.as_ref().map(|failure| &failure.signature);
    signature.is_some() && signature == case.signature()
}

/// Every pass after the failure, the first of each place.
fn passes(case: &Case) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    let passed = case.attempts.iter().filter(|it| it.execution.outcome == Outcome::Passed);
    for attempt in passed {
        let fact = Evidence::Passed { stage: attempt.stage, isolation: attempt.isolation };
        if !evidence.contains(&fact) {
            evidence.push(fact);
        }
    }
    evidence
}

/// That it failed in fresh environments, if it did.
fn fresh_failures(case: &Case) -> Option<Evidence> {
    let failed = case.fresh().filter(|attempt| attempt.execution.outcome.is_failure());
    let attempts = u32::try_from(failed.count()).unwrap_or(u32::MAX);
    let pass_rate_not_ruled_out = pass_rate_not_ruled_out(attempts, 0.95);
    (attempts > 0).then_some(Evidence::FailedFresh { attempts, pass_rate_not_ruled_out })
}

/// The first stage that passed names the kind.
fn kind(case: &Case) -> Option<Kind> {
    let first = case.attempts.iter().find(|it| it.execution.outcome == Outcome::Passed)?;
    match first.stage {
        Stage::First => None,
        Stage::Immediate => Some(Kind::NotBursty),
        Stage::Postponed => Some(Kind::Bursty),
        Stage::Fresh => needs_the_suites_state(case).then_some(Kind::StateDependent),
    }
}

/// Whether it failed again, itself or another for it, where other tests had run, and only there.
fn needs_the_suites_state(case: &Case) -> bool {
    let is_failure = |attempt: &Attempt| attempt.execution.outcome.is_failure();
    let has_failed_again = case.reruns_in_same_environment().any(is_failure);
    (has_failed_again || case.stood_in().is_some()) && !case.fresh().any(is_failure)
}
