//! From what was tried to what the failure is: the rules of evidence (DESIGN §4).

use std::collections::HashMap;

use flakeproof_core::statistics::pass_rate_not_ruled_out;
use flakeproof_core::{
    Evidence, Isolation, Kind, Outcome, Stage, Suite, TestFinding, TestId, Verdict,
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
    let fresh_failures = fresh_failures(case);
    if fresh_failures > 0 {
        evidence.push(Evidence::FailedFresh {
            attempts: fresh_failures,
            pass_rate_not_ruled_out: pass_rate_not_ruled_out(fresh_failures, 0.95),
        });
    }
    if case.passed_in(Stage::Fresh, Isolation::Spawn) {
        return Judgement { verdict: Verdict::Flaky, kind: kind(case), evidence };
    }
    let has_passed_in_fork = case.passed_in(Stage::Fresh, Isolation::Fork);
    let mut verdict = Verdict::Unknown;
    if fresh_failures > 0 && !has_passed_in_fork {
        let (said, fact) = intersect(case, change);
        verdict = said;
        evidence.push(fact);
    }
    evidence.extend(case.gave_up.clone());
    Judgement { verdict, kind: None, evidence }
}

/// INTERSECT: what a test that fails in every fresh environment says about the change.
fn intersect(case: &Case, change: &ChangeSince<'_>) -> (Verdict, Evidence) {
    let silent = |reason: String| (Verdict::Unknown, Evidence::Silent { reason });
    let Some(dependencies) = case.dependencies() else {
        return silent(match case.outcome().ends_environment() {
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

fn fresh_failures(case: &Case) -> u32 {
    let failed = case.attempts.iter().filter(|attempt| {
        attempt.stage == Stage::Fresh && attempt.execution.outcome.is_failure()
    });
    u32::try_from(failed.count()).unwrap_or(u32::MAX)
}

/// The first stage that passed names the kind.
fn kind(case: &Case) -> Option<Kind> {
    let first = case.attempts.iter().find(|it| it.execution.outcome == Outcome::Passed)?;
    let had_same_environment = case.attempts.iter().any(|it| {
        matches!(it.stage, Stage::Immediate | Stage::Postponed)
    });
    match first.stage {
        Stage::First => None,
        Stage::Immediate => Some(Kind::NotBursty),
        Stage::Postponed => Some(Kind::Bursty),
        // Without a failing rerun in the same environment, nothing says that its state matters.
        Stage::Fresh => had_same_environment.then_some(Kind::StateDependent),
    }
}
