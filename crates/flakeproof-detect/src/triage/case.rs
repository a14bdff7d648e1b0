//! One test of the run, and all that was tried on it.

use flakeproof_core::{
    Attempt, Dependencies, Evidence, Execution, Isolation, Outcome, Signature, Stage, TestId,
};

/// One test of the run, and all that was tried on it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) test: TestId,
    pub(super) attempts: Vec<Attempt>,
    /// The rule that forbids to rerun its failure.
    pub(super) forbidden: Option<String>,
    /// Why the triage stopped before it had an answer.
    pub(super) gave_up: Option<Evidence>,
    /// The worker and the life of its environment in which the test failed first.
    pub(super) place: (usize, u32),
}

impl Case {
    pub(super) fn new(test: TestId, place: (usize, u32)) -> Self {
        Self { test, attempts: Vec::new(), forbidden: None, gave_up: None, place }
    }

    /// How the suite's own run of it ended.
    pub(super) fn outcome(&self) -> Outcome {
        self.attempts.first().map_or(Outcome::Skipped, |first| first.execution.outcome)
    }

    pub(super) fn is_failure(&self) -> bool {
        self.outcome().is_failure()
    }

    /// Whether reruns could still tell something.
    pub(super) fn is_undecided(&self) -> bool {
        self.is_failure()
            && self.forbidden.is_none()
            && self.gave_up.is_none()
            && !self.passed_in(Stage::Fresh, Isolation::Spawn)
            && !self.attempts.iter().any(|attempt| attempt.stage == Stage::Fresh)
    }

    /// Stop without an answer, unless there is a reason already.
    pub(super) fn give_up(&mut self, why: Evidence) {
        self.gave_up.get_or_insert(why);
    }

    /// What its first failure looks like.
    pub(super) fn signature(&self) -> Option<&Signature> {
        Some(&self.attempts.first()?.execution.failure.as_ref()?.signature)
    }

    pub(super) fn passed_in(&self, stage: Stage, isolation: Isolation) -> bool {
        self.attempts.iter().any(|attempt| {
            attempt.stage == stage
                && attempt.isolation == isolation
                && attempt.execution.outcome == Outcome::Passed
        })
    }

    /// Whether it passed again in the environment that saw it fail.
    pub(super) fn passed_in_same_environment(&self) -> bool {
        self.passed_in(Stage::Immediate, Isolation::Same)
            || self.passed_in(Stage::Postponed, Isolation::Same)
    }

    /// Whether it passed where no test had run before.
    pub(super) fn passed_in_fresh_environment(&self) -> bool {
        self.passed_in(Stage::Fresh, Isolation::Spawn)
            || self.passed_in(Stage::Fresh, Isolation::Fork)
    }

    /// The number of the next attempt.
    pub(super) fn next_number(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// An attempt at this test, not yet added to it.
    pub(super) fn attempt(
        &self,
        stage: Stage,
        isolation: Isolation,
        execution: Execution,
    ) -> Attempt {
        Attempt { stage, isolation, number: self.next_number(), position: None, execution }
    }

    /// What the failing test touches, if it was measured.
    ///
    /// Only a failing execution counts: a passing one may have taken another path.
    pub(super) fn dependencies(&self) -> Option<&Dependencies> {
        self.attempts
            .iter()
            .filter(|attempt| attempt.execution.outcome.is_failure())
            .find_map(|attempt| attempt.execution.dependencies.as_ref())
    }
}
