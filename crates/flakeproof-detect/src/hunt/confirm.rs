//! The proof of what was seen in copies of a process: new ones show it, too.

use std::ops::ControlFlow;

use flakeproof_core::{Decision, FlakyKind, Isolation, Tally, TestId};
use flakeproof_runner::Likeness;

use super::Hunt;
use super::settings::HuntStage;
use super::trial::Trial;
use super::trial_scheduler::{Stop, last_failed};

/// So many tries has what was seen in copies to show itself in a new process; all but the first are
/// alone.
const MOST_CONFIRMATIONS: u32 = 4;
/// So often more a test that depends on others must do the same alone in new processes: where they showed
/// both outcomes at once, for a brittle test, which may lose a race when it comes first; and where they did not.
const ALONE_ONCE_MORE: u32 = 1;
const ALONE_AFTER_A_SURPRISE: u32 = 5;
/// Time for so many confirmations has to be left for that.
const CONFIRMATIONS_TO_COME: f64 = 40.0;
/// So many new processes start at the same time.
pub(super) const AT_ONCE: usize = 4;
/// So many tries have both outcomes of a test that fails by chance.
const FEWEST_FOR_BOTH: u32 = 8;
const MOST_FOR_BOTH: u32 = 60;

impl Hunt<'_, '_> {
    /// What was seen in copies must show itself in new processes, too.
    pub(super) fn confirm(&mut self, victims: &[u32], brittle: &[u32]) -> Result<(), Stop> {
        if self.scheduler.isolation() == Isolation::Spawn {
            return Ok(());
        }
        let mut seen: Vec<u32> = victims.iter().chain(brittle).copied().collect();
        seen.retain(|test| !self.confirmed.contains(test));
        if seen.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Confirmation, seen.len());
        for test in &seen {
            let alone = vec![*test];
            let (failing, passing) = match (self.ledger.test(*test).kind, self.influenced(*test)) {
                (Some(FlakyKind::Brittle), Some(order)) => (alone, order),
                (Some(FlakyKind::Brittle), None) => {
                    (alone, self.passing_order.get(test).cloned().unwrap_or_default())
                }
                (_, Some(order)) => (order, alone),
                (_, None) => (self.failing_order.get(test).cloned().unwrap_or_default(), alone),
            };
            let begin = (self.scheduler.workplace.clock)();
            let (mut fails, mut passes) = self.show_at_once(*test, &failing, &passing)?;
            let each = (self.scheduler.workplace.clock)().saturating_sub(begin).as_secs_f64();
            let is_brittle = self.ledger.test(*test).kind == Some(FlakyKind::Brittle);
            let runs = match (fails && passes, is_brittle) {
                (true, true) => ALONE_ONCE_MORE,
                (true, false) => 0,
                (false, _) => ALONE_AFTER_A_SURPRISE,
            };
            fails = fails || self.shows(*test, &failing, Decision::High)?;
            passes = passes || self.shows(*test, &passing, Decision::Low)?;
            if fails && passes {
                self.confirmed.insert(*test);
                // Where new processes are dear, others that none was asked about come first.
                let is_cheap = self.scheduler.fits(each * CONFIRMATIONS_TO_COME);
                if is_cheap && self.is_chance_alone(*test, runs)? {
                    continue;
                }
                self.confirm_further_sets(*test)?;
                continue;
            }
            self.confirmed.insert(*test);
            // It passed alone before: what makes it fail now is neither in the copies nor in the code.
            let stays = !passes
                && self.scheduler.decide(&format!("again/{test}"), &[*test])? == Decision::High;
            let is_victim = self.ledger.test(*test).kind == Some(FlakyKind::Victim);
            self.take_back(*test, fails, is_victim && stays);
        }
        Ok(())
    }

    /// Whether a test that depends on others, as it seems, passes and fails alone in new processes; then
    /// it is called so. A race that copies always win, or lose, looks like a dependence in them.
    fn is_chance_alone(&mut self, test: u32, runs: u32) -> Result<bool, Stop> {
        let fails_alone = self.ledger.test(test).kind == Some(FlakyKind::Brittle);
        let trials = (1..=runs).map(|number| {
            Trial::order(format!("alone anew/{test}/{number}"), vec![test], Isolation::Spawn)
        });
        let mut anew = Tally::default();
        self.scheduler.one_by_one(trials, &mut |_, record| {
            last_failed(record).into_iter().for_each(|has_failed| anew.count(has_failed));
            match last_failed(record) == Some(!fails_alone) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        let has_changed = match fails_alone {
            true => anew.failures < anew.runs,
            false => anew.failures > 0,
        };
        if !has_changed {
            return Ok(false);
        }
        self.first_influence.remove(&test);
        let known = self.ledger.test_mut(test);
        (known.kind, known.polluters, known.setters) = (None, Vec::new(), Vec::new());
        known.alone = known.alone + anew;
        self.call_nod_unless_for_good(test)?;
        Ok(true)
    }

    /// Whether what is seen in forked environments is a guess, however often it is seen.
    pub(super) fn is_guessing(&self) -> bool {
        let can = self.scheduler.adapter.can();
        self.scheduler.isolation() == Isolation::Fork && can.likeness == Likeness::Nearly
    }

    /// Forget further polluters or state-setters of a test that new processes do not show, where
    /// forked environments only guess.
    pub(super) fn confirm_further_sets(&mut self, test: u32) -> Result<(), Stop> {
        if !self.is_guessing() {
            return Ok(());
        }
        let known = self.ledger.test(test);
        let is_victim = known.kind == Some(FlakyKind::Victim);
        let sets = if is_victim { &known.polluters } else { &known.setters }.clone();
        let wanted = if is_victim { Decision::High } else { Decision::Low };
        let positions = self.positions_of(&sets);
        let first = self.first_influence.get(&test).cloned();
        let further = self.further_sets(test);
        let shown = self.shown(test, &further, wanted)?;
        let is_shown = |set: &Vec<u32>| first.as_ref() == Some(set) || shown.contains(set);
        let kept = sets.into_iter().zip(&positions).filter(|(_, set)| is_shown(set));
        let kept = kept.map(|(ids, _)| ids).collect();
        let known = self.ledger.test_mut(test);
        *(if is_victim { &mut known.polluters } else { &mut known.setters }) = kept;
        Ok(())
    }

    /// The polluters or state-setters of a test besides the first, where forked environments only guess.
    fn further_sets(&self, test: u32) -> Vec<Vec<u32>> {
        let known = self.ledger.test(test);
        let sets = match known.kind {
            _ if !self.is_guessing() => return Vec::new(),
            Some(FlakyKind::Victim) => &known.polluters,
            Some(FlakyKind::Brittle | FlakyKind::Nod | FlakyKind::Id) | None => &known.setters,
        };
        let mut sets = self.positions_of(sets);
        sets.retain(|set| self.first_influence.get(&test) != Some(set));
        sets
    }

    fn positions_of(&self, sets: &[Vec<TestId>]) -> Vec<Vec<u32>> {
        let positions = sets.iter().map(|ids| {
            let set: Option<Vec<u32>> = ids.iter().map(|it| self.scheduler.position(it)).collect();
            set.unwrap_or_default()
        });
        positions.collect()
    }

    /// Those of some beginnings after which new processes show an outcome of a test. Some start at the
    /// same time; who shows something else then has a few tries alone.
    pub(super) fn shown(
        &mut self,
        test: u32,
        beginnings: &[Vec<u32>],
        wanted: Decision,
    ) -> Result<Vec<Vec<u32>>, Stop> {
        let order = |before: &Vec<u32>| before.iter().copied().chain([test]).collect::<Vec<u32>>();
        let mut shown = Vec::new();
        for some in beginnings.chunks(AT_ONCE) {
            let trials = some.iter().map(|before| {
                Trial::order(format!("confirm/{test}/1"), order(before), Isolation::Spawn)
            });
            let mut seen = Vec::new();
            self.scheduler.in_turns(trials.collect(), &mut |_, record| {
                seen.push(last_failed(record) == Some(wanted == Decision::High));
                ControlFlow::Continue(())
            })?;
            for (at, before) in some.iter().enumerate() {
                if seen.get(at) == Some(&true) || self.shows(test, &order(before), wanted)? {
                    shown.push(before.clone());
                }
            }
        }
        Ok(shown)
    }

    /// Forget the tests that pass and fail by chance only where forked environments guess.
    pub(super) fn confirm_chance(&mut self) -> Result<(), Stop> {
        if !self.is_guessing() {
            return Ok(());
        }
        let mut seen = self.ledger.of_kind(FlakyKind::Nod);
        seen.retain(|test| !self.confirmed.contains(test));
        if seen.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Confirmation, seen.len());
        for test in seen {
            let order = self.order_of_chance(test);
            let known = self.ledger.test(test);
            let tally = if order.len() == 1 { known.alone } else { known.baseline };
            let trials = (1..=runs_for_both(tally)).map(|number| {
                Trial::order(format!("chance/{test}/{number}"), order.clone(), Isolation::Spawn)
            });
            let mut anew = Tally::default();
            self.scheduler.one_by_one(trials, &mut |_, record| {
                last_failed(record).into_iter().for_each(|has_failed| anew.count(has_failed));
                match anew.is_inconsistent() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            self.confirmed.insert(test);
            if !anew.is_inconsistent() {
                self.take_back(test, anew.failures > 0, false);
            }
        }
        Ok(())
    }

    /// The order that shows a test pass and fail by chance: seen in the suite's own order alone, it may
    /// need what runs before it there.
    pub(super) fn order_of_chance(&self, test: u32) -> Vec<u32> {
        let known = self.ledger.test(test);
        match known.baseline.failures > 0 && known.alone.failures == 0 {
            true => self.original_up_to(test),
            false => vec![test],
        }
    }

    /// Whether two new processes, which start at the same time, show a test to fail in the one order
    /// and to pass in the other.
    fn show_at_once(
        &mut self,
        test: u32,
        failing: &[u32],
        passing: &[u32],
    ) -> Result<(bool, bool), Stop> {
        let trial = |order: &[u32]| {
            Trial::order(format!("confirm/{test}/1"), order.to_vec(), Isolation::Spawn)
        };
        // Of further sets, as many as start at the same time: they are known then when they are asked about.
        let further = self.further_sets(test).into_iter().take(AT_ONCE - 2);
        let orders = [failing.to_vec(), passing.to_vec()].into_iter();
        let orders = orders.chain(further.map(|set| set.into_iter().chain([test]).collect()));
        let trials: Vec<Trial> = orders.map(|order| trial(&order)).collect();
        let mut seen = Vec::new();
        self.scheduler.in_turns(trials, &mut |_, record| {
            seen.push(last_failed(record));
            ControlFlow::Continue(())
        })?;
        Ok((seen.first() == Some(&Some(true)), seen.get(1) == Some(&Some(false))))
    }

    /// Whether a new process that has the machine to itself shows an outcome of the last test of an
    /// order, in some tries.
    fn shows(&mut self, test: u32, order: &[u32], wanted: Decision) -> Result<bool, Stop> {
        let trials = (2..=MOST_CONFIRMATIONS).map(|number| {
            let name = format!("confirm/{test}/{number}");
            Trial::order(name, order.to_vec(), Isolation::Spawn)
        });
        let mut is_shown = false;
        self.scheduler.one_by_one(trials, &mut |_, record| {
            is_shown = last_failed(record) == Some(wanted == Decision::High);
            if is_shown { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(is_shown)
    }

    fn take_back(&mut self, test: u32, fails: bool, stays: bool) {
        let known = self.ledger.test_mut(test);
        (known.kind, known.polluters, known.setters) = (None, Vec::new(), Vec::new());
        let (id, word) = (known.id.clone(), if fails { "passes" } else { "fails" });
        self.first_influence.remove(&test);
        self.taken_back.insert(test);
        if stays {
            self.remark_left_on_disk(test);
            return;
        }
        let (place, next) = match self.is_guessing() {
            true => ("where environments share a process", "hunts in new processes alone"),
            false => ("in copies of a process", "hunts without copies"),
        };
        self.ledger.remark(
            format!("`{id}` {word} only {place}, not in new ones"),
            &format!("it is not called flaky; `--isolation spawn` {next}"),
        );
    }
}

/// So many new processes show both outcomes of a test that failed so often, but for one case in fifty.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number between the two bounds"
)]
fn runs_for_both(seen: Tally) -> u32 {
    let rate = f64::from(seen.failures.max(1)) / f64::from(seen.runs.max(2));
    let rarer = rate.min(1.0 - rate).clamp(0.01, 0.5);
    let runs = (0.02_f64.ln() / (1.0 - rarer).ln()).ceil();
    (runs as u32).clamp(FEWEST_FOR_BOTH, MOST_FOR_BOTH)
}
