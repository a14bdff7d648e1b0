//! How a failing test fared on the code from before the change.

use flakeproof_core::{Execution, Outcome};

use super::case::Case;
use super::rates::InTurns;

/// So often both sides are run once more where it passes on the base: four failures here (the suite's
/// own, the first alone, and one in each turn) and three passes there happen once in 35 times where
/// nothing differs (Fisher's exact test), whatever the rate.
const TURNS_IF_PASSED: u32 = 2;
/// The same where it fails there too: a test that passes half of the time then passes once with 99 %.
pub(super) const TURNS_IF_FAILED: u32 = 3;
/// The same where it is a time limit that it reaches, which is dear and seldom chance.
pub(super) const TURNS_IF_HUNG: u32 = 1;
/// The same where it does both there: it is flaky, and will pass here too.
const TURNS_IF_BOTH: u32 = 8;

/// How a case fared on the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BaseTrials {
    /// The revision, for people.
    pub(super) revision: String,
    pub(super) alone: Trials,
    pub(super) in_order: Trials,
    /// How often it failed, here and there, in turns: alone, or in order where it fails only there.
    pub(super) in_turns: InTurns,
    /// Why what ran there may not have been the base's code.
    pub(super) doubt: Option<String>,
}

impl BaseTrials {
    /// Whether it failed there in another way than the suite's, too.
    pub(super) fn fails_otherwise(&self) -> bool {
        self.alone.failed_otherwise + self.in_order.failed_otherwise > 0
    }

    /// Why what failed there may have failed for another reason than chance: it was not the base's code, or it
    /// lacks something there.
    pub(super) fn doubt_of_chance(&self) -> Option<String> {
        let failed = self.alone.failed + self.in_order.failed;
        let passed = self.alone.passed + self.in_order.passed;
        let lacks = || "it fails there each time, which may have another reason".to_owned();
        self.doubt.clone().or_else(|| (failed > 0 && passed == 0).then(lacks))
    }
}

/// How often a case passed and failed under some conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trials {
    pub(super) passed: u32,
    /// It failed as it does on the head.
    pub(super) failed: u32,
    /// It failed in another way.
    pub(super) failed_otherwise: u32,
    /// What it said where it failed as it does on the head.
    pub(super) messages: Vec<String>,
}

impl Trials {
    /// Whether it ran, and always passed.
    pub(super) fn only_passed(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.failed_otherwise == 0
    }

    /// Whether it passed, and failed as it does here.
    pub(super) fn does_both(&self) -> bool {
        self.passed > 0 && self.failed > 0
    }

    /// Whether it never passed, and failed in another way than here: what it needs may not be there.
    pub(super) fn lacks_something(&self) -> bool {
        self.passed == 0 && self.failed_otherwise > 0
    }

    /// How often both sides are run once more.
    pub(super) fn turns(&self) -> u32 {
        match (self.passed, self.failed + self.failed_otherwise) {
            (0, 0) => 0,
            (0, _) => TURNS_IF_FAILED,
            (_, 0) => TURNS_IF_PASSED,
            _ => TURNS_IF_BOTH,
        }
    }

    /// Count a run.
    pub(super) fn count(&mut self, case: &Case, execution: &Execution) {
        match execution.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped => {}
            _ if case.fails_alike(execution) => {
                self.failed += 1;
                self.messages.extend(execution.failure.as_ref().map(|it| it.message.clone()));
            }
            _ => self.failed_otherwise += 1,
        }
    }
}
