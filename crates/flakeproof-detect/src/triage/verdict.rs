//! From what was tried to what the failure is: the one rule of evidence (DESIGN §4), for every adapter.
//!
//! | it shows itself | and | verdict |
//! | --- | --- | --- |
//! | it may not be rerun | | real |
//! | passed and failed under the same conditions | does not touch the change, or failed like this before it | flaky |
//! | passed and failed under the same conditions | touches the change, and never failed like this before, or not as often | newly flaky |
//! | passed and failed under the same conditions | may touch the change, and nothing is known of before | unknown |
//! | fails in order, passes alone | was order-dependent before, on record or on the base | flaky |
//! | fails in order, passes alone | passes in order on the base | real |
//! | fails in order, passes alone | neither | unknown |
//! | fails alone each time | touches the change, or passes on the base | real |
//! | fails alone each time | fails on the base too, or nothing it uses has changed since it passed | unrelated |
//! | fails alone each time | neither | unknown |
//! | is not tried, because others are | fails like one that is real | real |
//! | anything else | | unknown |
//!
//! A test that failed among others only touches what any of them touches: each may disturb it. Where that is not
//! known, it may touch the change.
//!
//! Failures that look alike (thesis, chapter 8) are judged together at the end: one cause is not
//! many flaky tests.
//!
//! The same table, with the reasons, is in `docs/concepts/verdicts.md`; `tests/triage/rule.rs` has a test
//! for each row.

use std::collections::{HashMap, HashSet};

use flakeproof_core::statistics::pass_rate_not_ruled_out;
use flakeproof_core::{
    Attempt, ComparedWith, Conditions, Dependencies, Evidence, Execution, Failure, Group,
    GroupCause, Kind, Outcome, Signature, Stage, Suite, TestFinding, TestId, Verdict,
    plain_numbers,
};
use flakeproof_runner::Adapter;

use super::base_trials::{BaseTrials, Trials};
use super::case::{Case, Shown};
use super::rates;
use super::settings::{Experiments, Record};
use crate::intersect::{Contact, Facts, contact};

/// What was found out about one test.
pub(super) fn find(
    case: Case,
    suite: &Suite,
    positions: &HashMap<TestId, usize>,
    adapter: &dyn Adapter,
    experiments: &Experiments<'_>,
) -> TestFinding {
    let location = positions.get(&case.test).and_then(|at| suite.tests[*at].location.clone());
    let judgement = case.is_failure().then(|| judge(&case, experiments));
    let (verdict, kind, evidence) = match judgement {
        Some(Judgement { verdict, kind, evidence }) => (Some(verdict), kind, evidence),
        None => (None, None, Vec::new()),
    };
    let reproduce = verdict.map(|_| match case.shows() {
        Shown::OrderDependent | Shown::PassesAlone => adapter.command_for_all(),
        Shown::Flaky(Conditions::InOrder) => adapter.command_for_all(),
        Shown::Flaky(Conditions::Alone) | Shown::Broken | Shown::Nothing => {
            adapter.command_for(&case.test)
        }
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

/// Whether only the base can tell more about a case.
pub(super) fn needs_the_base(case: &Case, experiments: &Experiments<'_>) -> bool {
    case.is_open()
        && match case.shows() {
            Shown::OrderDependent => {
                let record = record_of(case, experiments);
                !record.is_order_dependent() || rates::may_be_more_often(case, &record)
            }
            Shown::Broken => match touch(case, experiments.since_pass) {
                Touch::Touches(..) => false,
                // Also where nothing it uses has changed: it may be chance after all, or the change
                // in a way that is not seen.
                Touch::Disjoint(..) | Touch::Silent(_) => true,
            },
            // Also one that is on record: the change may make it fail more often.
            Shown::Flaky(conditions) => match touch(case, experiments.since_base) {
                Touch::Touches(..) | Touch::Silent(_) => {
                    let record = record_of(case, experiments);
                    let is_as_before = conditions == Conditions::InOrder
                        && record.failures() > 0
                        && !rates::may_be_more_often(case, &record);
                    is_anything_changed(case, experiments) && !is_as_before
                }
                Touch::Disjoint(..) => false,
            },
            Shown::PassesAlone | Shown::Nothing => false,
        }
}

/// Whether a case is flaky only because a run of it that passed does not touch the change.
pub(super) fn rests_on_a_pass(case: &Case, experiments: &Experiments<'_>) -> bool {
    matches!(case.shows(), Shown::Flaky(_))
        && !case.has_measured_failure()
        && would_be_chance(case, experiments)
}

/// Whether a case would be flaky if it passed: something has changed, and nothing that it uses.
pub(super) fn would_be_chance(case: &Case, experiments: &Experiments<'_>) -> bool {
    is_anything_changed(case, experiments)
        && matches!(touch(case, experiments.since_base), Touch::Disjoint(..))
}

/// What a failure is, and why.
struct Judgement {
    verdict: Verdict,
    kind: Option<Kind>,
    evidence: Vec<Evidence>,
}

fn judge(case: &Case, experiments: &Experiments<'_>) -> Judgement {
    if let Some(rule) = &case.forbidden {
        let evidence = vec![Evidence::NotRerun { reason: rule.clone() }];
        return Judgement { verdict: Verdict::Real, kind: None, evidence };
    }
    let mut evidence = executions(case);
    let verdict = match (&case.gave_up, case.shows()) {
        (_, Shown::Flaky(_)) => judge_flaky(case, experiments, &mut evidence),
        (Some(why), _) => {
            evidence.push(why.clone());
            Verdict::Unknown
        }
        (None, Shown::OrderDependent) => judge_order(case, experiments, &mut evidence),
        (None, Shown::Broken) => judge_broken(case, experiments, &mut evidence),
        (None, Shown::PassesAlone | Shown::Nothing) => {
            evidence.extend(why_nothing_is_shown(case));
            Verdict::Unknown
        }
    };
    Judgement { verdict, kind: kind(case), evidence }
}

/// A test that passed and failed under the same conditions: was it so before the change?
fn judge_flaky(
    case: &Case,
    experiments: &Experiments<'_>,
    evidence: &mut Vec<Evidence>,
) -> Verdict {
    if let Some(why) = (experiments.hidden_change)() {
        evidence.push(Evidence::Undecided { reason: may_be_new(&why) });
        return Verdict::Unknown;
    }
    let touch = touch(case, experiments.since_base);
    if !is_anything_changed(case, experiments) {
        return Verdict::Flaky;
    }
    if matches!(touch, Touch::Disjoint(..)) {
        evidence.extend(touch.evidence());
        return Verdict::Flaky;
    }
    let record = record_of(case, experiments);
    let (passes, failures) = (record.passes, record.failures());
    if passes + failures > 0 {
        evidence.push(Evidence::OnRecord { passes, failures });
    }
    let base = case.base.as_ref();
    evidence.extend(base.into_iter().flat_map(on_base));
    let failed_there = base.map_or(0, |base| base.alone.failed + base.in_order.failed);
    let passed_there = base.map_or(0, |base| base.alone.passed + base.in_order.passed);
    let doubt = base.and_then(BaseTrials::doubt_of_chance);
    let is_chance_there = failed_there > 0 && doubt.is_none();
    if failures > 0 || is_chance_there {
        let Some(more_often) = rates::more_often(case, &record) else {
            let Some(why) = new_way_to_fail(case, &record, experiments) else {
                return Verdict::Flaky;
            };
            evidence.extend(touch.evidence());
            evidence.push(Evidence::Undecided { reason: may_be_new(&why) });
            return Verdict::Unknown;
        };
        let is_told_by_record =
            matches!(more_often, Evidence::MoreOften { compared_with: ComparedWith::Record, .. });
        evidence.push(more_often);
        evidence.extend(touch.evidence());
        return if is_told_by_record { Verdict::Unknown } else { Verdict::NewlyFlaky };
    }
    evidence.extend(touch.evidence());
    match touch {
        Touch::Touches(..) if passes + passed_there > 0 && doubt.is_none() => Verdict::NewlyFlaky,
        Touch::Touches(..) | Touch::Silent(_) | Touch::Disjoint(..) => {
            let doubt = doubt.or_else(|| case.undecided.clone());
            let why = doubt.unwrap_or_else(|| "it never failed like this before".to_owned());
            evidence.push(Evidence::Undecided { reason: may_be_new(&why) });
            Verdict::Unknown
        }
    }
}

/// What was seen of a way to fail that is neither the suite's failure nor known from before the change: it may be
/// the change's, however well known the other one is.
fn new_way_to_fail(case: &Case, record: &Record, experiments: &Experiments<'_>) -> Option<String> {
    if let Some(message) = new_number(case, record) {
        let said: Vec<&str> = message.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let said = said[..said.len().min(4)].join(" ");
        return Some(format!("before the change it never said: {said}"));
    }
    if case.base.as_ref().is_some_and(BaseTrials::fails_otherwise) {
        return None;
    }
    let fresh = case.fresh().map(|attempt| &attempt.execution);
    let others = fresh.chain(case.in_order()).filter(|it| it.outcome.is_failure());
    let failures = others.filter(|it| !case.fails_alike(it)).filter_map(|it| it.failure.as_ref());
    let is_new = |failure: &&Failure| {
        (experiments.record)(&case.test, Some(&failure.signature)).failures() == 0
    };
    let message =
        failures.filter(is_new).map(|it| it.message.lines().next().unwrap_or("")).next()?;
    Some(format!("it also fails in another way, which is not known from before: {message}"))
}

/// So many failures say the same before another number in their message says something.
const TOLD_ALIKE: usize = 3;

/// What a failure says whose numbers are others than those that it always had before the change: `500` where it
/// was `503`. Where they differ from failure to failure, they say nothing.
fn new_number<'c>(case: &'c Case, record: &'c Record) -> Option<&'c str> {
    let trials = case.base.iter().flat_map(|base| [&base.alone, &base.in_order]);
    let before = record.messages.iter().chain(trials.flat_map(|trials| &trials.messages));
    let before: Vec<Vec<&str>> = before.map(|it| plain_numbers(it)).collect();
    let (known, others) = before.split_first().filter(|_| TOLD_ALIKE <= before.len())?;
    if others.iter().any(|numbers| numbers != known) {
        return None;
    }
    let here = case.attempts.iter().map(|attempt| &attempt.execution);
    let here = here.filter(|it| case.fails_alike(it)).filter_map(|it| it.failure.as_ref());
    let mut messages = here.map(|failure| failure.message.as_str());
    messages.find(|it| plain_numbers(it) != *known)
}

fn may_be_new(why: &str) -> String {
    format!("it is flaky, and whether this change made it so is not known: {why}")
}

/// A test that the suite's order makes fail: did it before the change?
fn judge_order(
    case: &Case,
    experiments: &Experiments<'_>,
    evidence: &mut Vec<Evidence>,
) -> Verdict {
    let record = record_of(case, experiments);
    let more_often = rates::more_often(case, &record);
    let is_more_often = more_often.is_some();
    if record.is_order_dependent() {
        let (passes, failures) = (record.passes, record.failures());
        evidence.push(Evidence::OnRecord { passes, failures });
        if !is_more_often {
            return Verdict::Flaky;
        }
    }
    let Some(base) = &case.base else {
        evidence.extend(more_often.filter(|_| record.is_order_dependent()));
        let why = case.undecided.clone().unwrap_or_else(|| "the base was not run".to_owned());
        let reason = format!("whether the change makes the order matter is not known: {why}");
        evidence.push(Evidence::Undecided { reason });
        return Verdict::Unknown;
    };
    evidence.extend(on_base(base));
    evidence.extend(more_often);
    match &base.doubt {
        None if base.in_order.does_both() && is_more_often => Verdict::NewlyFlaky,
        None if base.in_order.failed > 0 && base.alone.passed > 0 => Verdict::Flaky,
        // One that does both alone there may have passed in order by chance.
        _ if base.in_order.only_passed() && !base.alone.does_both() => Verdict::Real,
        doubt => {
            let why = doubt.clone().unwrap_or_else(|| match base.in_order == Trials::default() {
                true => "its order could not be run there to the end".to_owned(),
                false if base.in_order.only_passed() => {
                    "it passes and fails there alone".to_owned()
                }
                false => "it fails there in another way".to_owned(),
            });
            let reason = format!("the base does not tell whose failure it is: {why}");
            evidence.push(Evidence::Undecided { reason });
            Verdict::Unknown
        }
    }
}

/// A test that fails alone each time.
fn judge_broken(
    case: &Case,
    experiments: &Experiments<'_>,
    evidence: &mut Vec<Evidence>,
) -> Verdict {
    let touch = touch(case, experiments.since_pass);
    if let Touch::Touches(..) = touch {
        evidence.extend(touch.evidence());
        return Verdict::Real;
    }
    evidence.extend(case.base.iter().flat_map(on_base));
    if let Some(base) = &case.base {
        if base.alone.only_passed() {
            return Verdict::Real;
        }
        let fails_there = base.alone.failed > 0 && base.alone.passed == 0 && base.doubt.is_none();
        // It passed before, and something that cannot be seen may have changed since.
        let is_open = matches!(touch, Touch::Silent(_)) && was_seen_to_pass(case, experiments);
        if fails_there && !is_open {
            evidence.extend(touch.evidence().filter(|_| matches!(touch, Touch::Disjoint(..))));
            return Verdict::Unrelated;
        }
    }
    evidence.extend(touch.evidence());
    match touch {
        Touch::Disjoint(facts, _) if facts.change.base.is_known_to_pass() => Verdict::Unrelated,
        Touch::Touches(..) | Touch::Disjoint(..) | Touch::Silent(_) => {
            let reason = case.undecided.clone();
            evidence.extend(reason.map(|reason| Evidence::Undecided { reason }));
            Verdict::Unknown
        }
    }
}

/// Whether a run on record has the test passing.
fn was_seen_to_pass(case: &Case, experiments: &Experiments<'_>) -> bool {
    facts(case, experiments.since_pass).is_ok_and(|facts| facts.change.base.is_known_to_pass())
}

/// Why a failure that was rerun shows nothing.
fn why_nothing_is_shown(case: &Case) -> Option<Evidence> {
    if let Some(reason) = &case.undecided {
        return Some(Evidence::Undecided { reason: reason.clone() });
    }
    let mut fresh = case.fresh().map(|attempt| attempt.execution.outcome);
    let reason = match () {
        () if fresh.any(|outcome| outcome == Outcome::Skipped) => {
            "it was skipped in a fresh environment"
        }
        () if case.passed_in_fork() && !case.passed_in_spawn() => {
            "it passed in a copy of the runtime, and in no new process"
        }
        () if case.alone().any(|it| it.outcome.is_failure()) => {
            "alone it passes, or fails in another way than in the suite"
        }
        () => return None,
    };
    Some(Evidence::NotRerun { reason: reason.to_owned() })
}

/// How a test and a change meet.
enum Touch {
    /// It depends on these changed files.
    Touches(Vec<String>, String),
    /// It depends on none of the changed files; so many files it depends on.
    Disjoint(Facts, usize),
    /// It cannot be said.
    Silent(String),
}

impl Touch {
    fn evidence(&self) -> Option<Evidence> {
        Some(match self {
            Self::Touches(files, base) => {
                Evidence::Intersects { files: files.clone(), base: base.clone() }
            }
            Self::Disjoint(facts, dependencies) => Evidence::Disjoint {
                changed: facts.change.files.iter().map(|file| file.path.clone()).collect(),
                dependencies: *dependencies,
                base: facts.change.base.revision().to_owned(),
                passed_at_base: facts.change.base.is_known_to_pass(),
            },
            Self::Silent(reason) => Evidence::Silent { reason: reason.clone() },
        })
    }
}

/// INTERSECT: how a test and a change meet.
fn touch(case: &Case, change: &super::ChangeLookup<'_>) -> Touch {
    match case.shows() {
        Shown::Broken => touch_of_a_failure(case, change),
        shown => touch_of_any_run(case, shown, change),
    }
}

/// Of a test that fails each time, only a failure says what it touches: a pass may have taken another path.
fn touch_of_a_failure(case: &Case, change: &super::ChangeLookup<'_>) -> Touch {
    let measured = case.measured_failure();
    let Some((execution, dependencies)) =
        measured.and_then(|it| Some((it, it.dependencies.as_ref()?)))
    else {
        return Touch::Silent(why_not_measured(case));
    };
    match meeting(case, dependencies, change) {
        // What is not the suite's failure says nothing about it: that one may touch the change.
        Touch::Disjoint(..) if !case.fails_alike(execution) => {
            Touch::Silent("it fails in another way in a fresh environment than in the suite".into())
        }
        touch => touch,
    }
}

/// Of any other test, every run that was measured counts: each may have taken another path. Of one that was
/// seen to fail among others only, what any of them touches counts as well: each may disturb it.
fn touch_of_any_run(case: &Case, shown: Shown, change: &super::ChangeLookup<'_>) -> Touch {
    let mut found = None;
    let is_disturbed = matches!(shown, Shown::Flaky(_)) && case.failed_among_others_only();
    let among_others = case.measured_in_order().map(|process| {
        // What cannot be seen of others is no reason to say nothing of this one.
        Dependencies { blind_spots: Vec::new(), ..process.clone() }
    });
    for process in among_others.filter(|_| is_disturbed) {
        match meeting(case, &process, change) {
            Touch::Disjoint(..) => {}
            touch @ Touch::Touches(..) => return touch,
            touch @ Touch::Silent(_) => found = found.or(Some(touch)),
        }
    }
    let mut disjoint = None;
    for dependencies in case.measured_alone() {
        match meeting(case, dependencies, change) {
            touch @ Touch::Disjoint(..) => disjoint = disjoint.or(Some(touch)),
            touch @ Touch::Touches(..) => return touch,
            touch @ Touch::Silent(_) => found = found.or(Some(touch)),
        }
    }
    let alone = found.or(disjoint).unwrap_or_else(|| Touch::Silent(why_not_measured(case)));
    match alone {
        Touch::Disjoint(facts, _)
            if is_disturbed && !case.are_others_measured() && !facts.is_for_people() =>
        {
            Touch::Silent(OTHERS_NOT_MEASURED.into())
        }
        alone => alone,
    }
}

/// Why nothing is said of a test that another one may have disturbed.
const OTHERS_NOT_MEASURED: &str =
    "it failed among other tests only, and what those touch was not measured";

fn why_not_measured(case: &Case) -> String {
    match case.fresh().any(|attempt| attempt.execution.outcome.ends_environment()) {
        true => "the process was gone before it could say what it touched".into(),
        false => "what it touches was not measured".into(),
    }
}

/// How what is touched and a change meet.
fn meeting(case: &Case, touched: &Dependencies, change: &super::ChangeLookup<'_>) -> Touch {
    let facts = match change(&case.test, touched) {
        Ok(facts) => facts,
        Err(why) => return Touch::Silent(why),
    };
    match contact(touched, &facts) {
        Contact::Touches(files) => Touch::Touches(files, facts.change.base.revision().to_owned()),
        Contact::Disjoint => Touch::Disjoint(facts, touched.files()),
        Contact::Silent(reason) => Touch::Silent(reason),
    }
}

/// Whether there is a change that could have made a test flaky. Outside a repository, nobody knows.
fn is_anything_changed(case: &Case, experiments: &Experiments<'_>) -> bool {
    facts(case, experiments.since_base).is_ok_and(|facts| !facts.change.files.is_empty())
}

/// What changed, also for a test of which nothing was measured.
fn facts(case: &Case, change: &super::ChangeLookup<'_>) -> Result<Facts, String> {
    let nothing = Dependencies::default();
    let dependencies = case.measured().and_then(|it| it.dependencies.as_ref());
    change(&case.test, dependencies.unwrap_or(&nothing))
}

/// How it fared before the change.
pub(super) fn record_of(case: &Case, experiments: &Experiments<'_>) -> Record {
    (experiments.record)(&case.test, case.signature())
}

/// What was tried, and how it ended.
fn executions(case: &Case) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    let again = case.reruns_in_same_environment();
    for attempt in again.filter(|it| it.execution.outcome == Outcome::Passed) {
        let fact = Evidence::Passed { stage: attempt.stage, isolation: attempt.isolation };
        if !evidence.contains(&fact) {
            evidence.push(fact);
        }
    }
    evidence.extend(case.stood_in().map(|test| Evidence::LikeAnother { test: test.to_string() }));
    evidence.extend(fresh(case));
    let (passed, failed) = count(case.in_order());
    if case.attempts.iter().any(|attempt| attempt.stage == Stage::Order) {
        evidence.push(Evidence::InOrder { passed, failed });
    }
    evidence
}

/// How it fared in fresh environments: one sentence, that cannot contradict another.
fn fresh(case: &Case) -> Option<Evidence> {
    let (passed, failed) = count(case.fresh().map(|attempt| &attempt.execution));
    match (passed, failed) {
        (0, 0) => None,
        (0, attempts) => {
            let pass_rate_not_ruled_out = pass_rate_not_ruled_out(attempts, 0.95);
            Some(Evidence::FailedFresh { attempts, pass_rate_not_ruled_out })
        }
        (passed, 0) if passed > 1 => Some(Evidence::Alone { passed, failed: 0 }),
        (_, 0) => {
            let mut passes = case.fresh().filter(|it| it.execution.outcome == Outcome::Passed);
            let isolation = if case.passed_in_spawn() {
                flakeproof_core::Isolation::Spawn
            } else {
                passes.next()?.isolation
            };
            Some(Evidence::Passed { stage: Stage::Fresh, isolation })
        }
        (passed, failed) => Some(Evidence::Alone { passed, failed }),
    }
}

fn count<'e>(executions: impl Iterator<Item = &'e Execution>) -> (u32, u32) {
    executions.fold((0, 0), |(passed, failed), execution| match execution.outcome {
        Outcome::Passed => (passed + 1, failed),
        outcome if outcome.is_failure() => (passed, failed + 1),
        _ => (passed, failed),
    })
}

/// How it fared on the base, under each of the conditions.
fn on_base(base: &BaseTrials) -> Vec<Evidence> {
    let under = [(Conditions::InOrder, &base.in_order), (Conditions::Alone, &base.alone)];
    let ran = |(_, trials): &(Conditions, &Trials)| **trials != Trials::default();
    let fact = |(conditions, trials): (Conditions, &Trials)| Evidence::OnBase {
        revision: base.revision.clone(),
        conditions,
        passed: trials.passed,
        failed: trials.failed,
        failed_otherwise: trials.failed_otherwise,
    };
    under.into_iter().filter(ran).map(fact).collect()
}

/// The first stage that passed names the kind. Where only a process of its own made it pass, the
/// state that other tests leave does.
fn kind(case: &Case) -> Option<Kind> {
    let alone = match case.shows() {
        Shown::OrderDependent => Some(Kind::StateDependent),
        Shown::Flaky(_) => None,
        Shown::PassesAlone | Shown::Broken | Shown::Nothing => return None,
    };
    let has_passed = |it: &&Attempt| it.execution.outcome == Outcome::Passed;
    match case.attempts.iter().find(has_passed)?.stage {
        Stage::Immediate => Some(Kind::NotBursty),
        Stage::Postponed => Some(Kind::Bursty),
        Stage::First | Stage::Fresh | Stage::Order => alone,
    }
}

/// Say of failures without an answer that one which looks the same is real. Those that were not tried
/// because others stood for them are, too: nothing speaks for chance.
pub(super) fn tell_what_is_alike(tests: &mut [TestFinding], not_tried: &HashSet<TestId>) {
    let signature = |test: &TestFinding| {
        let failure = test.first_failure()?.execution.failure.as_ref()?;
        Some(failure.signature.clone())
    };
    let real = tests.iter().filter(|test| test.verdict == Some(Verdict::Real));
    let real: HashMap<Signature, String> =
        real.rev().filter_map(|test| Some((signature(test)?, test.id.to_string()))).collect();
    for test in tests.iter_mut().filter(|test| test.verdict == Some(Verdict::Unknown)) {
        if let Some(other) = signature(test).and_then(|signature| real.get(&signature)) {
            test.evidence.push(Evidence::AlikeReal { test: other.clone() });
            if not_tried.contains(&test.id) {
                test.verdict = Some(Verdict::Real);
            }
        }
    }
}

/// Put failures with the same signature into groups, and name the cause of each.
pub(super) fn name_causes(tests: &mut [TestFinding]) -> Vec<Group> {
    let mut members: HashMap<Signature, Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate().filter(|(_, test)| test.verdict.is_some()) {
        let failure = test.first_failure().and_then(|attempt| attempt.execution.failure.as_ref());
        if let Some(failure) = failure {
            members.entry(failure.signature.clone()).or_default().push(at);
        }
    }
    let mut groups: Vec<(Signature, Vec<usize>)> =
        members.into_iter().filter(|(_, members)| members.len() > 1).collect();
    groups.sort_by_key(|(_, members)| members[0]);
    groups
        .into_iter()
        .enumerate()
        .map(|(number, (signature, members))| {
            for at in &members {
                tests[*at].group = Some(number);
            }
            let findings: Vec<&TestFinding> = members.iter().map(|at| &tests[*at]).collect();
            let ids = findings.iter().map(|finding| finding.id.clone()).collect();
            Group { cause: cause(&findings), tests: ids, signature }
        })
        .collect()
}

/// All healed after a while: an outage. All healed in fresh environments: shared state.
///
/// Tests that each passed at once when rerun had no common cause that lasted.
fn cause(members: &[&TestFinding]) -> GroupCause {
    let have_all_healed =
        |kind| members.iter().all(|it| it.verdict == Some(Verdict::Flaky) && it.kind == Some(kind));
    if have_all_healed(Kind::Bursty) {
        GroupCause::Outage
    } else if have_all_healed(Kind::StateDependent) {
        GroupCause::SharedState
    } else {
        GroupCause::SameFailure
    }
}
