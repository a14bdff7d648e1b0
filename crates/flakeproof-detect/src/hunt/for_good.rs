//! Tests that do nothing but fail from some moment on, or from the start.
//!
//! Chance does not do that. Something that outlives every process has changed, most often a file that a
//! test left; or the test is broken; or the copies that stand for new processes are the cause, because
//! they inherit a clock, a token or a connection that has grown old. New processes tell these apart.

use std::ops::ControlFlow;

use flakeproof_core::{FlakyKind, Isolation, Tally};

use super::Hunt;
use super::ledger::{always_failed, always_passed};
use super::settings::HuntStage;
use super::trial::Trial;
use super::trial_scheduler::{Stop, failed, last_failed};

/// A test that failed and then fails so often again does not fail by chance.
const FAILURES_FOR_GOOD: u32 = 6;

/// What repeated runs of an order come to.
enum Course {
    /// Its last test passed, at least once.
    Passes,
    /// It did nothing but fail.
    FailsForGood,
}

impl Hunt<'_, '_> {
    /// Call the tests NOD that passed and failed in the suite's own order, unless they turned: passed at
    /// first and did nothing but fail then.
    pub(super) fn call_nod_unless_turned(&mut self) -> Result<(), Stop> {
        let changed =
            self.ledger.all(|test| test.kind.is_none() && test.baseline.is_inconsistent());
        for test in changed {
            if self.ledger.has_turned(test) && !self.is_answered(test) {
                self.call_nod_unless_for_good(test)?;
            } else {
                self.call_one_flaky(test, FlakyKind::Nod);
            }
        }
        Ok(())
    }

    /// Call a test NOD that passed and failed, unless it does nothing but fail from now on.
    pub(super) fn call_nod_unless_for_good(&mut self, test: u32) -> Result<(), Stop> {
        let mut order = vec![test];
        let mut course = self.course(test, &order)?;
        if matches!(course, Course::Passes) && self.ledger.has_turned(test) {
            // It may need what runs before it in the suite.
            order = self.original_up_to(test);
            course = self.course(test, &order)?;
        }
        match course {
            Course::Passes => self.call_one_flaky(test, FlakyKind::Nod),
            Course::FailsForGood => self.say_why_for_good(test, &order)?,
        }
        Ok(())
    }

    /// Run an order until its last test passes, or has failed often enough.
    fn course(&mut self, test: u32, order: &[u32]) -> Result<Course, Stop> {
        let isolation = self.scheduler.isolation_for(order);
        let trials = (1..=FAILURES_FOR_GOOD).map(|number| {
            Trial::order(format!("for good/{test}/{number}"), order.to_vec(), isolation)
        });
        let mut seen = Tally::default();
        self.scheduler.one_by_one(trials, &mut |_, record| match last_failed(record) {
            Some(has_failed) => {
                seen.count(has_failed);
                if has_failed { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
            None => ControlFlow::Break(()),
        })?;
        let known = self.ledger.test_mut(test);
        match order {
            [_] => known.alone = known.alone + seen,
            _ => known.baseline = known.baseline + seen,
        }
        let is_for_good = seen.failures == FAILURES_FOR_GOOD;
        Ok(if is_for_good { Course::FailsForGood } else { Course::Passes })
    }

    fn say_why_for_good(&mut self, test: u32, order: &[u32]) -> Result<(), Stop> {
        if self.scheduler.isolation() == Isolation::Fork {
            let anew = self.scheduler.observe_anew(&format!("anew/{test}"), order)?;
            if anew.is_inconsistent() {
                self.call_one_flaky(test, FlakyKind::Nod);
                return Ok(());
            }
            if always_passed(anew) {
                self.set_aside_old_copies(&[(test, anew)]);
                return Ok(());
            }
        }
        self.taken_back.insert(test);
        self.remark_left_on_disk(test);
        Ok(())
    }

    /// Ask new processes about the tests that always failed in copies of one, once.
    pub(super) fn ask_anew_about_the_broken(&mut self) -> Result<(), Stop> {
        if self.scheduler.isolation() != Isolation::Fork || self.has_asked_anew {
            return Ok(());
        }
        self.has_asked_anew = true;
        let tests = &self.ledger.tests;
        let broken = self
            .ledger
            .all_at(|at| always_failed(tests[at].baseline) && !always_passed(tests[at].alone));
        let Some(last) = broken.last() else { return Ok(()) };
        self.scheduler.begin(HuntStage::Confirmation, 1);
        let order = self.original_up_to(*last);
        let trial = Trial::order("anew".into(), order, Isolation::Spawn);
        let mut passing = Vec::new();
        self.scheduler.one_by_one(std::iter::once(trial), &mut |_, record| {
            let outcomes = record.outcomes.first().map(Vec::as_slice).unwrap_or_default();
            let passes = |test: &u32| failed(outcomes.get(*test as usize).copied().flatten());
            passing = broken.iter().copied().filter(|it| passes(it) == Some(false)).collect();
            ControlFlow::Continue(())
        })?;
        let mut old = Vec::new();
        for test in passing {
            let anew = self.scheduler.observe_anew(&format!("anew/{test}"), &[test])?;
            if always_passed(anew) {
                old.push((test, anew));
            }
        }
        self.set_aside_old_copies(&old);
        Ok(())
    }

    /// What copies show of these tests says nothing; what new processes showed stands.
    fn set_aside_old_copies(&mut self, tests: &[(u32, Tally)]) {
        self.seen_anew.extend(tests.iter().copied());
        self.taken_back.extend(tests.iter().map(|(test, _)| *test));
    }

    /// Say so, and forget what copies showed.
    pub(super) fn name_the_old_copies(&mut self) {
        let tests: Vec<u32> = self.seen_anew.keys().copied().collect();
        self.remark_on_some(
            &tests,
            "fails only in copies of a process that is no longer young, not in new ones: something in it \
             grows old, such as a time that is taken when the file is loaded",
            "it is not called flaky; `--isolation spawn` hunts without copies",
        );
        for (test, anew) in std::mem::take(&mut self.seen_anew) {
            let known = self.ledger.test_mut(test);
            (known.alone, known.baseline, known.shuffled) =
                (anew, Tally::default(), Tally::default());
            known.failure = None;
        }
    }

    /// Say that a test that passed now fails, which no state inside a process explains.
    pub(super) fn remark_left_on_disk(&mut self, test: u32) {
        let id = self.ledger.test(test).id.clone();
        self.ledger.remark(
            format!("`{id}` passed and fails every time now: a test left something on disk"),
            "remove what `git status` shows that is not yours, and hunt with `--tidy`",
        );
    }
}
