//! One test of the run, and all that was tried on it.

use flakeproof_core::{
    Attempt, Conditions, Dependencies, Evidence, Execution, Isolation, Outcome, Signature, Stage,
    TestId,
};

use super::RerunRules;
use super::base_trials::BaseTrials;

/// One test of the run, and all that was tried on it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) test: TestId,
    pub(super) attempts: Vec<Attempt>,
    /// The rule that forbids to rerun its failure.
    pub(super) forbidden: Option<String>,
    /// Why the triage stopped before it had an answer.
    pub(super) gave_up: Option<Evidence>,
    /// The worker and the life of its environment in which the test ran first.
    pub(super) place: (usize, u32),
    /// A test that failed in the same way, and was rerun where this one was spared it.
    pub(super) like: Option<TestId>,
    /// What no other test could have influenced: the suite's own run of it is one of a process of
    /// its own.
    pub(super) conditions: Conditions,
    /// Who ran beside its process when the suite ran.
    pub(super) beside: Beside,
    /// How it fared on the code before the change.
    pub(super) base: Option<BaseTrials>,
    /// What an experiment would decide that was not made, and why.
    pub(super) undecided: Option<String>,
}

/// Who ran at the same time as the process of a test when the suite ran, as far as is steered from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nobody.
    Nobody,
    /// Other tests, in other processes.
    OtherTests,
}

/// What the executions of a case show, whatever changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// It passed and failed under these conditions, in new processes.
    Flaky(Conditions),
    /// It fails in the suite's order, and passes alone, each time.
    OrderDependent,
    /// It passes alone, and how it fares in the suite's order is known from one run only.
    PassesAlone,
    /// It fails alone each time.
    Broken,
    /// None of this.
    Nothing,
}

impl Case {
    pub(super) fn new(test: TestId, place: (usize, u32)) -> Self {
        Self {
            test,
            attempts: Vec::new(),
            forbidden: None,
            gave_up: None,
            place,
            like: None,
            conditions: Conditions::InOrder,
            beside: Beside::Nobody,
            base: None,
            undecided: None,
        }
    }

    /// Add an attempt. What may not be rerun away stays, in whichever attempt it shows itself.
    pub(super) fn add(&mut self, attempt: Attempt, rules: &RerunRules) {
        self.attempts.push(attempt);
        if self.is_failure() && self.forbidden.is_none() {
            let executions = self.attempts.iter().map(|attempt| &attempt.execution);
            self.forbidden = executions.filter_map(|it| rules.forbids(it)).next();
        }
    }

    /// The failure in the suite's own run. An id that the suite has twice fails if one of them does.
    pub(super) fn first_failure(&self) -> Option<&Execution> {
        let own = self.attempts.iter().filter(|attempt| attempt.stage == Stage::First);
        own.map(|attempt| &attempt.execution).find(|it| it.outcome.is_failure())
    }

    /// How the suite's own run of it ended.
    pub(super) fn outcome(&self) -> Outcome {
        let first = self.attempts.first().map(|attempt| &attempt.execution);
        self.first_failure().or(first).map_or(Outcome::Skipped, |execution| execution.outcome)
    }

    pub(super) fn is_failure(&self) -> bool {
        self.first_failure().is_some()
    }

    /// Whether it failed, and reruns could still tell something.
    pub(super) fn is_undecided(&self) -> bool {
        self.is_failure()
            && self.forbidden.is_none()
            && self.gave_up.is_none()
            && self.fresh().next().is_none()
    }

    /// Whether it failed, was rerun, and is not called real or left alone for that already.
    pub(super) fn is_open(&self) -> bool {
        self.is_failure() && self.forbidden.is_none() && self.gave_up.is_none()
    }

    /// Stop without an answer, unless there is a reason already.
    pub(super) fn give_up(&mut self, why: Evidence) {
        self.gave_up.get_or_insert(why);
    }

    /// What its first failure looks like.
    pub(super) fn signature(&self) -> Option<&Signature> {
        Some(&self.first_failure()?.failure.as_ref()?.signature)
    }

    /// Whether an execution failed as the suite's own run of the test did.
    pub(super) fn fails_alike(&self, execution: &Execution) -> bool {
        let signature = execution.failure.as_ref().map(|failure| &failure.signature);
        execution.outcome.is_failure()
            && match (signature, self.signature()) {
                (None, None) => self.outcome() == execution.outcome,
                (one, other) => one == other,
            }
    }

    /// The attempts in fresh environments.
    pub(super) fn fresh(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| attempt.stage == Stage::Fresh)
    }

    /// The executions in new processes of its own.
    pub(super) fn alone(&self) -> impl Iterator<Item = &Execution> {
        let own = self.first_failure().filter(|_| self.conditions == Conditions::Alone);
        let fresh = self.fresh().filter(|attempt| attempt.isolation == Isolation::Spawn);
        own.into_iter().chain(fresh.map(|attempt| &attempt.execution))
    }

    /// The executions in the suite's order, each in processes of its own.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Execution> {
        let own = self.first_failure().filter(|_| self.conditions == Conditions::InOrder);
        let again = self.attempts.iter().filter(|attempt| attempt.stage == Stage::Order);
        own.into_iter().chain(again.map(|attempt| &attempt.execution))
    }

    /// What the executions show. Only those under the same conditions are compared.
    pub(super) fn shows(&self) -> Shown {
        let has_passed = |it: &Execution| it.outcome == Outcome::Passed;
        let passed_alone = self.alone().any(has_passed);
        let failed_alone = self.alone().any(|it| self.fails_alike(it));
        let only_failed_alone = !passed_alone && self.alone().any(|it| it.outcome.is_failure());
        let passed_in_order = self.in_order().any(has_passed);
        let failed_in_order = self.in_order().filter(|it| it.outcome.is_failure()).count();
        let always_failed_alone = self.fresh().next().is_some()
            && self.fresh().all(|attempt| attempt.execution.outcome.is_failure());
        match () {
            () if passed_alone && failed_alone => Shown::Flaky(Conditions::Alone),
            () if always_failed_alone => Shown::Broken,
            // A pass in order may rest on what an earlier run left on disk.
            () if only_failed_alone => Shown::Nothing,
            () if passed_in_order && failed_in_order > 0 => Shown::Flaky(Conditions::InOrder),
            () if passed_alone && failed_in_order > 1 => Shown::OrderDependent,
            () if passed_alone => Shown::PassesAlone,
            () => Shown::Nothing,
        }
    }

    /// The reruns in the environment that saw it fail.
    pub(super) fn reruns_in_same_environment(&self) -> impl Iterator<Item = &Attempt> {
        let is_one = |stage| matches!(stage, Stage::Immediate | Stage::Postponed);
        self.attempts.iter().filter(move |attempt| is_one(attempt.stage))
    }

    /// The test whose reruns in the same environment stand for this one's, which has none.
    pub(super) fn stood_in(&self) -> Option<&TestId> {
        self.like.as_ref().filter(|_| self.reruns_in_same_environment().next().is_none())
    }

    /// Whether it passed again in the environment that saw it fail.
    pub(super) fn passed_in_same_environment(&self) -> bool {
        self.reruns_in_same_environment().any(|it| it.execution.outcome == Outcome::Passed)
    }

    /// Whether it passed in a copy of the runtime from before the first test.
    pub(super) fn passed_in_fork(&self) -> bool {
        self.passed_fresh_in(Isolation::Fork)
    }

    /// Whether it passed in a process of its own.
    pub(super) fn passed_in_spawn(&self) -> bool {
        self.passed_fresh_in(Isolation::Spawn)
    }

    /// A skip is not a pass: nothing was run.
    fn passed_fresh_in(&self, isolation: Isolation) -> bool {
        let passed = self.fresh().filter(|it| it.execution.outcome == Outcome::Passed);
        passed.map(|attempt| attempt.isolation).any(|it| it == isolation)
    }

    /// The number of the next attempt.
    pub(super) fn next_number(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The failure whose dependencies were measured from the start of its process, if any was.
    ///
    /// Only a failing execution counts: a passing one may have taken another path. A fork does not
    /// count: what it imported before it was made is not seen.
    pub(super) fn measured_failure(&self) -> Option<&Execution> {
        self.alone().find(|it| it.outcome.is_failure() && it.dependencies.is_some())
    }

    /// What the processes touched in which the test ran in the suite's order.
    pub(super) fn measured_in_order(&self) -> impl Iterator<Item = &Dependencies> {
        self.in_order().filter_map(|it| it.dependencies.as_ref())
    }

    /// Whether every failure seen is one among other tests, each of which may have disturbed it.
    pub(super) fn failed_among_others_only(&self) -> bool {
        let is_apart = self.conditions == Conditions::Alone && self.beside == Beside::Nobody;
        let mut apart = self.fresh().filter(|attempt| attempt.isolation == Isolation::Spawn);
        !is_apart && !apart.any(|attempt| self.fails_alike(&attempt.execution))
    }

    /// Whether what the others touch is known that a failure was seen among.
    pub(super) fn are_others_measured(&self) -> bool {
        self.beside == Beside::Nobody && self.measured_in_order().next().is_some()
    }

    /// What the test touched each time it was measured alone.
    pub(super) fn measured_alone(&self) -> impl Iterator<Item = &Dependencies> {
        self.alone().filter_map(|it| it.dependencies.as_ref())
    }

    /// Whether what it touches is known of an execution that failed as in the suite. Among others, what
    /// the process touched is not the test's alone.
    pub(super) fn has_measured_failure(&self) -> bool {
        let is_one = |it: &Execution| it.dependencies.is_some() && self.fails_alike(it);
        let fails_among_others_only = self.shows() == Shown::Flaky(Conditions::InOrder);
        self.alone().any(is_one) || (fails_among_others_only && self.in_order().any(is_one))
    }

    /// The first execution whose dependencies were measured from the start of its process.
    pub(super) fn measured(&self) -> Option<&Execution> {
        self.alone().find(|it| it.dependencies.is_some())
    }
}
