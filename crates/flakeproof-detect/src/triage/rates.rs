//! Whether a flaky test fails more often since the change: what failed once in a hundred runs before it and
//! fails in two of three now is the change's failure, however flaky the test was.
//!
//! The strongest answer are runs here and on the base, in turns: the same minute, the same machine. They are
//! alone, or in the suite's order where it fails only there and is short enough. Else the runs on record tell, which
//! were in that order too, and so they do where the base cannot be had, or may not have run its own code.
//! The failure that began it all never counts: without it, nobody would ask.

use std::time::Duration;

use flakeproof_core::statistics::chance_of_as_many_more;
use flakeproof_core::{ComparedWith, Conditions, Evidence, Isolation, Stage, Tally};
use flakeproof_runner::{Error, Result};

use super::Event;
use super::base::{self, run_here};
use super::base_trials::BaseTrials;
use super::case::{Case, Shown};
use super::in_order::OrderStage;
use super::settings::Record;

/// How unlikely it must be that as many runs fail where nothing differs. To ask a person once too often
/// costs less than a regression that ends green.
const CHANCE_IN_TURNS: f64 = 0.05;
/// The same for the record, which is of other days, and maybe of other machines.
const CHANCE_BESIDE_THE_RECORD: f64 = 0.01;

/// Below this, the record alone does not excuse a test: the base is asked, or it is run again.
const CHANCE_WORTH_A_LOOK: f64 = 0.1;

/// So many turns tell a test that fails four times in twelve from one that never does.
const TURNS_IN_NEW_PROCESSES: u32 = 12;
/// The same where copies of a process are cheap.
const TURNS_IN_COPIES: u32 = 24;
/// So many turns are made in any case.
const TURNS_AT_LEAST: u32 = 5;
/// After so many passes in a row it does not fail often enough to be told apart in the turns that are left.
const PASSES_THAT_END_IT: u32 = 6;

/// So often the suite's order is run again for what is excused by few failures on record.
const ORDERS_MORE: u32 = 3;

/// How a test fared here and on the base, in turns.
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

    /// Whether it is plain already that it fails more often.
    pub(super) fn is_plain(self) -> bool {
        let chance = chance_of_as_many_more(self.before, self.now);
        self.now.runs >= TURNS_AT_LEAST && chance < CHANCE_IN_TURNS / 10.0
    }

    /// Whether time was left for as many as tell something.
    fn is_enough(self) -> bool {
        self.is_hopeless() || self.now.runs.min(self.before.runs) >= TURNS_IN_NEW_PROCESSES
    }
}

/// How often a test fails now, and how often it did before the change.
struct Comparison {
    conditions: Conditions,
    with: ComparedWith,
    before: Tally,
    now: Tally,
}

impl Comparison {
    /// With the runs on record, which were in the suite's order, and maybe on another day and machine.
    fn with_record(conditions: Conditions, now: Tally, record: &Record) -> Self {
        let failures = record.failures();
        let before = Tally { runs: record.passes + failures, failures };
        Self { conditions, with: ComparedWith::Record, before, now }
    }

    fn chance(&self) -> f64 {
        chance_of_as_many_more(self.before, self.now)
    }

    fn shows_more(&self) -> bool {
        self.chance()
            < match self.with {
                ComparedWith::Base => CHANCE_IN_TURNS,
                ComparedWith::Record => CHANCE_BESIDE_THE_RECORD,
            }
    }

    fn into_evidence(self) -> Evidence {
        Evidence::MoreOften {
            conditions: self.conditions,
            compared_with: self.with,
            failed: self.now.failures,
            runs: self.now.runs,
            failed_before: self.before.failures,
            runs_before: self.before.runs,
        }
    }
}

/// What shows that a flaky test fails more often than before the change, if anything does.
pub(super) fn more_often(case: &Case, record: &Record) -> Option<Evidence> {
    let in_turns = in_turns(case).filter(Comparison::shows_more);
    let on_record = || beside_the_record(case, record).filter(Comparison::shows_more);
    in_turns.or_else(on_record).map(Comparison::into_evidence)
}

/// Whether a few runs more may show that a test fails more often than on record.
pub(super) fn may_be_more_often(case: &Case, record: &Record) -> bool {
    beside_the_record(case, record).is_some_and(|it| it.chance() < CHANCE_WORTH_A_LOOK)
}

/// A test that was run here and on the base.
fn in_turns(case: &Case) -> Option<Comparison> {
    let InTurns { before, now } = sound_base(case)?.in_turns;
    let conditions = match case.shows() {
        Shown::Flaky(conditions) => conditions,
        Shown::OrderDependent => Conditions::InOrder,
        Shown::PassesAlone | Shown::Broken | Shown::Nothing => return None,
    };
    Some(Comparison { conditions, with: ComparedWith::Base, before, now })
}

/// The record tells where the base does not: of a test that fails in the suite's order only, unless it
/// fails in that of the base, too, and of one that fails alone, unless there were turns enough.
fn beside_the_record(case: &Case, record: &Record) -> Option<Comparison> {
    let base = sound_base(case);
    let (conditions, is_told_by_base) = match case.shows() {
        Shown::Flaky(Conditions::Alone) => {
            (Conditions::Alone, base.is_some_and(|base| base.in_turns.is_enough()))
        }
        Shown::Flaky(Conditions::InOrder) | Shown::OrderDependent => {
            (Conditions::InOrder, base.is_some_and(|base| base.in_order.failed > 0))
        }
        Shown::PassesAlone | Shown::Broken | Shown::Nothing => return None,
    };
    let now = || Comparison::with_record(conditions, runs_under(case, conditions), record);
    (!is_told_by_base).then(now)
}

/// How it fared on the base, if that tells of the base's code and of chance.
fn sound_base(case: &Case) -> Option<&BaseTrials> {
    case.base.as_ref().filter(|base| base.doubt_of_chance().is_none())
}

/// How a case fared in new processes, under some conditions.
fn runs_under(case: &Case, conditions: Conditions) -> Tally {
    let stage = match conditions {
        Conditions::Alone => Stage::Fresh,
        Conditions::InOrder => Stage::Order,
    };
    let mut runs = Tally::default();
    let attempts = case.attempts.iter().filter(|attempt| attempt.stage == stage);
    attempts.for_each(|attempt| runs.count(case.fails_alike(&attempt.execution)));
    runs
}

/// Run what a record would excuse more often here, where the base does not tell how often it failed:
/// until it is told apart from the record, or as often as a comparison in turns would.
pub(super) fn look_again(
    head: &OrderStage<'_>,
    cases: &mut [&mut Case],
    record: &dyn Fn(&Case) -> Record,
    deadline: Duration,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    for _ in 0..ORDERS_MORE {
        let may_be = |case: &&mut &mut Case| {
            let (runs, record) = (runs_under(case, Conditions::InOrder), record(case));
            let is_asked = case.shows() != Shown::Flaky(Conditions::Alone) && runs.runs > 0;
            let is_open = is_asked && record.failures() > 0 && may_be_more_often(case, &record);
            is_open && more_often(case, &record).is_none()
        };
        let open: Vec<&mut Case> =
            cases.iter_mut().filter(may_be).map(|case| &mut **case).collect();
        if open.is_empty() || (head.clock)() >= deadline {
            break;
        }
        head.rerun_once(open, sink)?;
    }
    for case in cases.iter_mut() {
        let record = record(case);
        while case.shows() == Shown::Flaky(Conditions::Alone)
            && record.failures() > 0
            && beside_the_record(case, &record).is_some_and(|it| !it.shows_more())
            && runs_under(case, Conditions::Alone).runs < TURNS_IN_NEW_PROCESSES
            && (head.clock)() < deadline
        {
            if head.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            match run_here(head, case, Isolation::Spawn, base::next(case), sink) {
                Ok(_) => {}
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(_) => break,
            }
        }
    }
    Ok(())
}
