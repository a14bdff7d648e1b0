//! Whether a flaky test fails more often since the change: what failed once in a hundred runs before it and
//! fails in two of three now is the change's failure, however flaky the test was.
//!
//! The strongest answer are runs alone here and on the base, in turns: the same minute, the same machine.
//! Of a test that fails in the suite's order only, the runs on record tell, which were in that order too.
//! The failure that began it all never counts: without it, nobody would ask.

use flakeproof_core::statistics::chance_of_as_many_more;
use flakeproof_core::{ComparedWith, Conditions, Evidence, Isolation, Stage, Tally};

use super::case::{Case, Shown};
use super::settings::Record;

/// How unlikely it must be that as many runs fail where nothing differs. To ask a person once too often
/// costs less than a regression that ends green.
const CHANCE_IN_TURNS: f64 = 0.05;
/// The same for the record, which is of other days, and maybe of other machines.
const CHANCE_BESIDE_THE_RECORD: f64 = 0.01;

/// So many turns tell a test that fails four times in twelve from one that never does.
const TURNS_IN_NEW_PROCESSES: u32 = 12;
/// The same where copies of a process are cheap.
const TURNS_IN_COPIES: u32 = 24;
/// After so many passes in a row it does not fail often enough to be told apart in the turns that are left.
const PASSES_THAT_END_IT: u32 = 6;

/// How a test fared alone, here and on the base, in turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct InTurns {
    pub(super) before: Tally,
    pub(super) now: Tally,
}

impl InTurns {
    /// How many turns are worth their time.
    pub(super) fn most(isolation: Isolation) -> u32 {
        match isolation {
            Isolation::Fork => TURNS_IN_COPIES,
            Isolation::Spawn | Isolation::Same => TURNS_IN_NEW_PROCESSES,
        }
    }

    /// Whether to run here, and whether then: in the order of Thue and Morse, which no period of the test's
    /// own can follow, so that neither side always comes at the same time of it.
    pub(super) fn order(turn: u32) -> [bool; 2] {
        let is_here_first = turn.count_ones().is_multiple_of(2);
        [is_here_first, !is_here_first]
    }

    /// Whether further turns would tell nothing.
    pub(super) fn is_hopeless(self) -> bool {
        self.now.failures == 0 && self.now.runs >= PASSES_THAT_END_IT
    }
}

/// What shows that a flaky test fails more often than before the change, if anything does.
pub(super) fn more_often(case: &Case, record: &Record) -> Option<Evidence> {
    match case.shows() {
        Shown::Flaky(Conditions::Alone) => {
            let base = case.base.as_ref().filter(|base| base.doubt.is_none())?;
            let InTurns { before, now } = base.in_turns;
            (chance_of_as_many_more(before, now) < CHANCE_IN_TURNS)
                .then(|| evidence(Conditions::Alone, ComparedWith::Base, before, now))
        }
        Shown::Flaky(Conditions::InOrder) | Shown::OrderDependent => {
            more_often_than_on_record(case, record)
        }
        Shown::PassesAlone | Shown::Broken | Shown::Nothing => None,
    }
}

/// The same for a test that was seen to fail in the suite's order only, unless it fails there on the base,
/// too, at the same time.
fn more_often_than_on_record(case: &Case, record: &Record) -> Option<Evidence> {
    let fails_there = case.base.as_ref().is_some_and(|base| base.in_order.failed > 0);
    let mut now = Tally::default();
    let again = case.attempts.iter().filter(|attempt| attempt.stage == Stage::Order);
    again.for_each(|attempt| now.count(case.fails_alike(&attempt.execution)));
    let failures = record.failures();
    let before = Tally { runs: record.passes + failures, failures };
    let is_chance = chance_of_as_many_more(before, now) >= CHANCE_BESIDE_THE_RECORD;
    (!fails_there && !is_chance)
        .then(|| evidence(Conditions::InOrder, ComparedWith::Record, before, now))
}

fn evidence(
    conditions: Conditions,
    compared_with: ComparedWith,
    before: Tally,
    now: Tally,
) -> Evidence {
    Evidence::MoreOften {
        conditions,
        compared_with,
        failed: now.failures,
        runs: now.runs,
        failed_before: before.failures,
        runs_before: before.runs,
    }
}
