//! iDFlakies's classification (CANNIER, section 2.1.2): is a test that failed in some order a victim
//! of that order, or does it fail in any?
//!
//! The order in which it failed and one in which it passed, both cut off after the test, are run again,
//! each until a sequential test decides. Where we differ: repeated runs instead of one, so that a noisy
//! test is no victim; tests that fail alone are brittle; tests that always fail in the suite's own
//! order but not alone are victims, too.

use std::ops::ControlFlow;

use flakeproof_core::{Decision, FlakyKind, Isolation};

use super::Hunt;
use super::ledger::{always_failed, always_passed};
use super::settings::{HuntStage, Strategy};
use super::trial::Trial;
use super::trial_scheduler::{Stop, last_failed};

/// The most further failures of a test that are checked again.
const MOST_RECHECKS: usize = 5;

/// What makes a test suspicious, with the orders that show it.
pub(super) struct Suspicion {
    test: u32,
    kind: FlakyKind,
    /// In this order it failed.
    failing: Vec<u32>,
    /// In this order it passed.
    passing: Vec<u32>,
}

impl Hunt<'_, '_> {
    /// Classify every test whose outcome depends on what ran before it.
    pub(super) fn classify(&mut self) -> Result<(), Stop> {
        if !self.takes_long_alone() {
            self.suspects_alone()?;
        }
        // Whether these are victims or brittle is not known.
        let unseen = self.unseen_alone();
        let mut tests = self.orders.original();
        tests.retain(|test| !unseen.contains(test));
        let suspicions: Vec<Suspicion> =
            tests.into_iter().filter_map(|test| self.suspicion(test)).collect();
        if suspicions.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Classification, suspicions.len());
        for suspicion in suspicions {
            let passed_alone = always_passed(self.ledger.test(suspicion.test).alone);
            match self.kind_of(&suspicion)? {
                // What passed alone before may do nothing but fail by now.
                Some(FlakyKind::Nod) if passed_alone => {
                    self.call_nod_unless_for_good(suspicion.test)?;
                }
                Some(kind) => {
                    if self.is_of_the_suites_process(&suspicion) {
                        self.inseparable.insert(suspicion.test);
                    }
                    self.failing_order.insert(suspicion.test, suspicion.failing);
                    self.passing_order.insert(suspicion.test, suspicion.passing);
                    self.call_one_flaky(suspicion.test, kind);
                }
                None => {
                    self.disturbed.insert(suspicion.test);
                }
            }
        }
        Ok(())
    }

    /// Whether only the suite's own process shows the one or the other outcome.
    fn is_of_the_suites_process(&self, suspicion: &Suspicion) -> bool {
        let orders = [&suspicion.failing, &suspicion.passing];
        orders.iter().any(|order| self.scheduler.isolation_for(order) == Isolation::Same)
    }

    /// Why a test may be flaky, if it has no kind yet.
    fn suspicion(&self, test: u32) -> Option<Suspicion> {
        let known = self.ledger.test(test);
        if known.kind.is_some() || self.is_answered(test) {
            return None;
        }
        let original = self.original_up_to(test);
        let other = self.ledger.failing_orders(test).first();
        let alone = vec![test];
        let (kind, failing, passing) = if always_failed(known.baseline) {
            // A test that never ran alone may be skipped there; nothing can be said then.
            if !always_passed(known.alone) {
                return None;
            }
            (FlakyKind::Victim, original, alone)
        } else if always_failed(known.alone) {
            (FlakyKind::Brittle, alone, original)
        } else {
            // Where each test has a process of its own, the suite's own process is no control.
            let is_apart = self.scheduler.isolation_for(&original) == Isolation::Same;
            let passing = if is_apart { alone } else { original };
            (FlakyKind::Victim, self.other_up_to(*other?, test), passing)
        };
        Some(Suspicion { test, kind, failing, passing })
    }

    /// What a test is; `None` if it fails only when environments run side by side.
    fn kind_of(&mut self, suspicion: &Suspicion) -> Result<Option<FlakyKind>, Stop> {
        let test = suspicion.test;
        if let Strategy::Cannier(candidates) = &self.settings.strategy
            && let Some(is_nod) = candidates.says_nod(test)
        {
            return Ok(Some(if is_nod { FlakyKind::Nod } else { suspicion.kind }));
        }
        let failing = self.scheduler.observe(&format!("fails/{test}"), &suspicion.failing)?;
        let passing = self.scheduler.observe(&format!("passes/{test}"), &suspicion.passing)?;
        let depends_on_order =
            (failing.decision, passing.decision) == (Decision::High, Decision::Low);
        if depends_on_order && self.fails_in_further_orders(test)? {
            let is_chance =
                suspicion.kind == FlakyKind::Brittle && !self.is_steady_alone(test, true)?;
            return Ok(Some(if is_chance { FlakyKind::Nod } else { suspicion.kind }));
        }
        let was_disturbed =
            self.scheduler.jobs > 1 && (failing.tally + passing.tally).failures == 0;
        Ok((!was_disturbed).then_some(FlakyKind::Nod))
    }

    /// Whether most of some further orders in which a test failed show it failing again.
    fn fails_in_further_orders(&mut self, test: u32) -> Result<bool, Stop> {
        let further = self.ledger.failing_orders(test).get(1..).unwrap_or_default().to_vec();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a small number"
        )]
        let wanted = (further.len() as f64 * self.settings.recheck).ceil() as usize;
        let isolation = self.scheduler.isolation();
        let trials: Vec<Trial> = further
            .into_iter()
            .take(wanted.min(MOST_RECHECKS))
            .map(|order| {
                let name = format!("recheck/{test}/{}/{}", order.kind.word(), order.number);
                Trial::order(name, self.other_up_to(order, test), isolation)
            })
            .collect();
        let (mut failures, mut passes) = (0, 0);
        self.scheduler.one_by_one(trials.into_iter(), &mut |_, record| {
            match last_failed(record) {
                Some(true) => failures += 1,
                Some(false) => passes += 1,
                None => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(failures >= passes)
    }
}
