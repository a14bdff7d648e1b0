//! The steps of the technique, one after the other, as in Figure 3.1 of the thesis.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use flakeproof_core::{
    Attempt, Conditions, Evidence, ExitCode, Group, Notice, Policies, Policy, Signature, Stage,
    Suite, TestFinding, TestId, Verdict,
};
use flakeproof_runner::{Adapter, Cancel, Error, Orders, Result};

use super::base::{self, BaseStage};
use super::case::{Beside, Case, Shown};
use super::in_order::OrderStage;
use super::rates;
use super::settings::Experiments;
use super::suite_run::{self, SuiteRun};
use super::{TriageSettings, failing_path, fresh, postponed, verdict};
use crate::side_by_side;

/// Where more tests fail than are rerun, so many of them stand for all.
const REPRESENTATIVES: usize = 10;

/// Why the suite's order is not run once more for a test that passes alone.
const ONLY_SOME_PASS_ALONE: &str =
    "it passes alone, and others fail there: mend those first, or raise `--threshold`";

/// Something that happens while the triage runs.
#[derive(Debug)]
pub enum Event {
    /// A stage begins, with this many tests to run in it.
    Stage(Stage, usize),
    /// The code before the change is run, for this many tests.
    Base(usize),
    /// An execution ended.
    Attempt(Box<Attempt>),
}

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

impl Triaged {
    /// What passed and failed on code that changed meanwhile shows nothing.
    pub fn doubt(&mut self, changed: &str) {
        for test in &mut self.tests {
            if test.verdict.is_some_and(Verdict::is_shown_flaky) {
                test.verdict = Some(Verdict::Unknown);
                let reason =
                    format!("{changed} changed while the tests ran: it is not the same code");
                test.evidence.push(Evidence::Undecided { reason });
            }
        }
        self.notices.push(Notice {
            what: format!("{changed} changed while the tests ran"),
            next: "run again: this run proves nothing about either version".into(),
        });
    }
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
    experiments: &Experiments<'_>,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<Triaged> {
    let (jobs, too_many) = side_by_side::environments_that_fit(adapter, settings.jobs);
    let settings = &TriageSettings { jobs, ..settings.clone() };
    let begin = (experiments.clock)();
    let mut run = suite_run::run(adapter, suite, settings, cancel, sink)?;
    let suite_took = (experiments.clock)().saturating_sub(begin);
    let positions = suite.positions();
    run.cases.sort_by_key(|case| positions.get(&case.test).copied());
    name_conditions(&mut run, adapter, settings.jobs);

    let limit = settings.limit.resolve(suite.tests.len());
    let failed = run.cases.iter().filter(|case| case.is_failure()).count();
    let are_too_many = failed > limit;
    let mut is_interrupted = run.is_interrupted;
    if !are_too_many && !is_interrupted {
        is_interrupted = was_interrupted(postponed::rerun(&mut run, settings, cancel, sink))?;
    }
    let shares = std::mem::take(&mut run.shares);
    let (mut cases, mut notices) = run.close();
    notices.extend(too_many);
    if are_too_many {
        leave_representatives(&mut cases, &Evidence::TooManyFailures { failed, limit });
    }
    if !is_interrupted {
        let head = OrderStage {
            adapter,
            settings,
            cancel,
            clock: experiments.clock,
            shares: &shares,
            suite_took,
        };
        let mut reruns = || {
            let clock = experiments.clock;
            let at = clock() + settings.evidence.lasting(suite_took);
            let deadline = fresh::Deadline { clock, at };
            fresh::rerun(adapter, &mut cases, settings, deadline, cancel, &mut notices, sink)?;
            let needs_the_base = |case: &Case| verdict::needs_the_base(case, experiments);
            if are_too_many {
                if do_all_pass_alone(&cases) {
                    head.rerun(&mut cases, sink)?;
                }
                if still_fails(&cases) {
                    for case in cases.iter_mut().filter(|it| it.shows() == Shown::PassesAlone) {
                        case.undecided.get_or_insert_with(|| ONLY_SOME_PASS_ALONE.to_owned());
                    }
                    // One tells for all that fail like it, where none is known to be real without.
                    let mut tried: Vec<&mut Case> =
                        cases.iter_mut().filter(|it| it.is_open()).collect();
                    tried.truncate(usize::from(tried.iter().all(|case| needs_the_base(case))));
                    compare_with_base(&head, tried, experiments, sink)?;
                }
                if still_fails(&cases) {
                    return Ok(());
                }
                // Something came and went, and the others may be well by now.
                let at = clock() + settings.evidence.order(suite_took);
                let deadline = fresh::Deadline { clock, at };
                while !deadline.is_over() && take_up(&mut cases, limit) {
                    fresh::rerun(
                        adapter,
                        &mut cases,
                        settings,
                        deadline,
                        cancel,
                        &mut notices,
                        sink,
                    )?;
                }
            }
            head.rerun(&mut cases, sink)?;
            let rests_on_a_pass = |case: &&mut Case| verdict::rests_on_a_pass(case, experiments);
            let mut resting: Vec<&mut Case> = cases.iter_mut().filter(rests_on_a_pass).collect();
            let deadline = clock() + settings.evidence.lasting(suite_took);
            failing_path::look_for(&head, &mut resting, deadline, sink)?;
            let open = cases.iter_mut().filter(|case| needs_the_base(case)).collect();
            compare_with_base(&head, open, experiments, sink)
        };
        is_interrupted = was_interrupted(reruns())?;
    }
    if is_interrupted {
        give_up(&mut cases, &Evidence::NotRerun { reason: "the run was interrupted".into() });
    }
    let not_tried: HashSet<TestId> =
        cases.iter().filter(|case| was_not_tried(case)).map(|case| case.test.clone()).collect();
    let mut tests: Vec<TestFinding> = cases
        .into_iter()
        .map(|case| verdict::find(case, suite, &positions, adapter, experiments))
        .collect();
    verdict::tell_what_is_alike(&mut tests, &not_tried);
    let groups = verdict::name_causes(&mut tests);
    Ok(Triaged { tests, groups, notices, is_interrupted })
}

/// Say of each case whether the suite's own run of it was one of a process of its own, and who was beside it.
fn name_conditions(run: &mut SuiteRun, adapter: &dyn Adapter, jobs: usize) {
    if jobs > 1 && run.shares.len() > 1 {
        run.cases.iter_mut().for_each(|case| case.beside = Beside::OtherTests);
    }
    let is_apart = match adapter.can().orders {
        Orders::Any | Orders::Seeded | Orders::Own => false,
        Orders::AnyFresh | Orders::ByFile | Orders::Apart => run.shares.len() > 1,
    };
    let is_only_one = run.shares.iter().map(Vec::len).sum::<usize>() == 1;
    if is_apart || is_only_one {
        run.cases.iter_mut().for_each(|case| case.conditions = Conditions::Alone);
    }
}

/// Run what is still open on the code from before the change.
fn compare_with_base(
    head: &OrderStage<'_>,
    mut open: Vec<&mut Case>,
    experiments: &Experiments<'_>,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    if open.is_empty() {
        return Ok(());
    }
    let base = (experiments.base)();
    let now: Duration = (experiments.clock)();
    let deadline = now + head.settings.evidence.base(head.suite_took);
    let lasting = now + head.settings.evidence.lasting(head.suite_took);
    match base {
        Ok(base) => {
            let reborrowed = open.iter_mut().map(|case| &mut **case).collect();
            BaseStage { head, base: &base, deadline, lasting }.compare(reborrowed, sink)?;
        }
        Err(why) => {
            for case in &mut open {
                case.undecided.get_or_insert_with(|| why.clone());
            }
            let may_be_chance = |case: &&mut &mut Case| verdict::would_be_chance(case, experiments);
            let hopeful = open.iter_mut().filter(may_be_chance).map(|case| &mut **case).collect();
            base::until_they_pass(head, hopeful, lasting, sink)?;
        }
    }
    let record = |case: &Case| verdict::record_of(case, experiments);
    rates::look_again(head, &mut open, &record, deadline, sink)
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

/// Leave all but a few without an answer: one for each way to fail, the commonest ways first, so that
/// as many as possible fail like one that is tried.
fn leave_representatives(cases: &mut [Case], why: &Evidence) {
    let mut ways: HashMap<Option<Signature>, (usize, usize)> = HashMap::new();
    for (at, case) in cases.iter().enumerate().filter(|(_, case)| case.is_undecided()) {
        ways.entry(case.signature().cloned()).or_insert((0, at)).0 += 1;
    }
    let mut ways: Vec<(usize, usize)> = ways.into_values().collect();
    ways.sort_by_key(|(count, first)| (Reverse(*count), *first));
    let tried: HashSet<usize> =
        ways.into_iter().take(REPRESENTATIVES).map(|(_, first)| first).collect();
    for (at, case) in cases.iter_mut().enumerate().filter(|(_, case)| case.is_undecided()) {
        if !tried.contains(&at) {
            case.give_up(why.clone());
        }
    }
}

/// Whether a case was left alone because others were tried instead.
fn was_not_tried(case: &Case) -> bool {
    match &case.gave_up {
        Some(Evidence::TooManyFailures { .. }) => true,
        Some(Evidence::NotRerun { reason }) => reason == fresh::NO_MORE_TIME,
        _ => false,
    }
}

/// Whether every failure that was tried passed in a process of its own.
fn do_all_pass_alone(cases: &[Case]) -> bool {
    let mut tried = cases.iter().filter(|case| case.is_failure() && case.gave_up.is_none());
    tried.all(|case| case.forbidden.is_none() && case.passed_in_spawn())
}

/// Whether a failure that was tried is there as before: alone, or in the suite's order.
fn still_fails(cases: &[Case]) -> bool {
    let mut tried = cases.iter().filter(|case| case.is_failure() && case.gave_up.is_none());
    tried.any(|case| case.forbidden.is_some() || !matches!(case.shows(), Shown::Flaky(_)))
}

/// Try some more of those for which others stood; whether there are any.
fn take_up(cases: &mut [Case], at_a_time: usize) -> bool {
    let is_left = |case: &&mut Case| matches!(case.gave_up, Some(Evidence::TooManyFailures { .. }));
    let mut some = 0;
    for case in cases.iter_mut().filter(is_left).take(at_a_time.max(REPRESENTATIVES)) {
        case.gave_up = None;
        some += 1;
    }
    some > 0
}

/// How a run with these verdicts ends.
#[must_use]
pub fn exit_code(tests: &[TestFinding], is_interrupted: bool, policies: Policies) -> ExitCode {
    let counts = |test: &&TestFinding| !test.is_excused();
    let has = |verdict| tests.iter().filter(counts).any(|it| it.verdict == Some(verdict));
    let fails = |policy| policy == Policy::Fail;
    match () {
        () if is_interrupted => ExitCode::Interrupted,
        () if has(Verdict::Real) || has(Verdict::Unknown) => ExitCode::Failures,
        () if fails(policies.unrelated) && has(Verdict::Unrelated) => ExitCode::Failures,
        () if fails(policies.newly_flaky) && has(Verdict::NewlyFlaky) => ExitCode::Failures,
        () if fails(policies.flaky) && has(Verdict::Flaky) => ExitCode::Flaky,
        () => ExitCode::Clean,
    }
}
