//! Whether what allows shuffled orders changes what a test does.
//!
//! A harness of a stable toolchain shuffles where `RUSTC_BOOTSTRAP` is set, and a test that starts
//! cargo or a compiler sees it. Such a test would fail in every shuffled process and in no other,
//! and look like a victim of those before it. So an outcome that no plain process has shown is
//! doubted: the test runs alone, with the variable and without, and if that makes the difference
//! again and again, what shuffled processes say of it does not count.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use flakeproof_core::Outcome;

use super::found::Place;
use crate::adapter::Result;
use crate::lock::locked;

/// So often the variable must make the difference.
const ROUNDS: usize = 3;

/// What a test was seen to do in processes without the variable.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    passed: bool,
    failed: bool,
}

/// What is known about tests and the variable.
#[derive(Debug, Default)]
pub(super) struct Controls {
    plain: Mutex<HashMap<Place, Seen>>,
    /// Tests that do the same with it and without.
    do_not_mind: Mutex<BTreeSet<Place>>,
    mind: Mutex<BTreeSet<Place>>,
}

impl Controls {
    /// Note what a process without the variable showed.
    pub(super) fn note(&self, test: Place, outcome: Outcome) {
        let mut plain = locked(&self.plain);
        let seen = plain.entry(test).or_default();
        match has_failed(outcome) {
            Some(true) => seen.failed = true,
            Some(false) => seen.passed = true,
            None => {}
        }
    }

    /// Whether an outcome in a process with the variable may be the variable's doing, as runs of the
    /// test alone tell: with the variable if `alone` is given true, else without.
    pub(super) fn is_the_variables_doing(
        &self,
        test: Place,
        outcome: Outcome,
        alone: &mut dyn FnMut(bool) -> Result<Outcome>,
    ) -> Result<bool> {
        let Some(failed) = has_failed(outcome) else { return Ok(false) };
        let seen = locked(&self.plain).get(&test).copied().unwrap_or_default();
        let is_known = if failed { seen.failed } else { seen.passed || !seen.failed };
        if is_known || locked(&self.do_not_mind).contains(&test) {
            return Ok(false);
        }
        if locked(&self.mind).contains(&test) {
            return Ok(true);
        }
        for _ in 0..ROUNDS {
            let (with, without) = (has_failed(alone(true)?), has_failed(alone(false)?));
            // Something that lies on disk may make both of them fail now, and not later.
            if with == without && !(failed && with == Some(true)) {
                locked(&self.do_not_mind).insert(test);
            }
            if with != Some(failed) || without == Some(failed) {
                return Ok(false);
            }
        }
        locked(&self.mind).insert(test);
        Ok(true)
    }

    /// The tests that mind.
    pub(super) fn that_mind(&self) -> Vec<Place> {
        locked(&self.mind).iter().copied().collect()
    }
}

fn has_failed(outcome: Outcome) -> Option<bool> {
    match outcome {
        Outcome::Skipped => None,
        outcome => Some(outcome.is_failure()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Place = Place { group: 0, index: 3 };

    fn judged(controls: &Controls, outcome: Outcome, with: Outcome, without: Outcome) -> bool {
        let mut alone = |is_with| Ok(if is_with { with } else { without });
        controls.is_the_variables_doing(TEST, outcome, &mut alone).expect("nothing breaks")
    }

    #[test]
    fn a_test_that_the_variable_alone_makes_fail_is_no_victim() {
        let controls = Controls::default();
        controls.note(TEST, Outcome::Passed);
        assert!(judged(&controls, Outcome::Failed, Outcome::Failed, Outcome::Passed));
        assert_eq!(controls.that_mind(), [TEST]);
        assert!(judged(&controls, Outcome::Failed, Outcome::Passed, Outcome::Passed), "once found");
    }

    #[test]
    fn a_victim_passes_alone_with_the_variable_and_is_asked_once() {
        let controls = Controls::default();
        assert!(!judged(&controls, Outcome::Failed, Outcome::Passed, Outcome::Passed));
        let mut nobody = |_| panic!("it was asked before");
        let again = controls.is_the_variables_doing(TEST, Outcome::Failed, &mut nobody);
        assert!(!again.expect("nothing breaks"));
    }

    #[test]
    fn what_lies_on_disk_is_not_the_variables_doing() {
        let controls = Controls::default();
        controls.note(TEST, Outcome::Passed);
        assert!(!judged(&controls, Outcome::Failed, Outcome::Failed, Outcome::Failed));
        assert!(
            judged(&controls, Outcome::Failed, Outcome::Failed, Outcome::Passed),
            "asked again"
        );
    }

    #[test]
    fn a_test_that_the_variable_alone_makes_pass_is_not_brittle() {
        let controls = Controls::default();
        controls.note(TEST, Outcome::Failed);
        assert!(judged(&controls, Outcome::Passed, Outcome::Passed, Outcome::Failed));
        assert!(!judged(&controls, Outcome::Failed, Outcome::Failed, Outcome::Failed));
    }
}
