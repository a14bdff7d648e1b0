//! `hunt`: find the flaky tests of a suite, their kinds, and who makes whom fail.
//!
//! The stages of iDFlakies (set-up, running, classification), RERUN and PAIRWISE as CANNIER describes
//! them in section 2.1, each test once alone for brittle tests, and delta debugging where a single
//! polluter does not explain a failure. Written against [`Adapter`] and
//! [`Environment`](flakeproof_runner::Environment) only.
//!
//! A hunt is a fixed sequence of trials that follows from the suite, the settings and the outcomes. Every
//! trial is kept as soon as it is done, and read back instead of run again, so that a hunt that was
//! killed ends as if it had not been. And so that other machines may run them ([`Crew`]): what a trial is and
//! what comes of it travels, and the hunt does not know how.

mod classify;
mod confirm;
pub(crate) mod crew;
mod for_good;
mod influence;
mod ledger;
mod one_suspect;
mod open_orders;
mod planned;
mod settings;
mod stages;
mod suspects;
pub(crate) mod trial;
pub(crate) mod trial_scheduler;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use flakeproof_core::{
    FlakyKind, Hidden, HuntCost, HuntEnd, HuntedTest, Isolation, Notice, OrderBlocks, Suite,
    SuiteOrders, Tally, TestId,
};
use flakeproof_runner::{Adapter, Cancel, Error, Likeness, Orders, Result};
use ledger::Ledger;
use trial_scheduler::{Stop, TrialScheduler};

use crate::side_by_side;

pub use crew::{CollectTrials, Crew};
pub use settings::{Candidates, Forecast, Strategy};
pub use settings::{
    HuntEvent, HuntSettings, HuntStage, Hunted, Journal, PolluterSearch, Sought, Workplace,
};
pub use trial::{Trial, run_trial};

/// Find the flaky tests of a suite.
///
/// # Errors
/// When the runner itself breaks; what tests do is never an error.
pub fn hunt(
    adapter: &dyn Adapter,
    suite: &Suite,
    settings: &HuntSettings,
    journal: &mut Journal<'_>,
    workplace: Workplace<'_>,
    cancel: &Cancel,
    sink: &mut dyn FnMut(HuntEvent),
) -> Result<Hunted> {
    let tests = suite.ids();
    let mut ledger = Ledger::new(suite);
    let is_said = !adapter.find_orders()?.is_empty();
    let isolation = isolation(adapter, settings, &mut ledger);
    let (jobs, too_many) = side_by_side::environments_that_fit(adapter, settings.jobs);
    if let Some(notice) = too_many {
        ledger.remark(notice.what, &notice.next);
    }
    let scheduler = TrialScheduler {
        adapter,
        tests: &tests,
        jobs: if workplace.tidy.is_some() || workplace.crew.is_some() { 1 } else { jobs },
        most_at_once: side_by_side::environments_that_fit(adapter, settings.most_at_once).0,
        budget: settings.budget,
        workplace,
        cancel,
        journal,
        sink,
        cost: HuntCost::default(),
        counted: HashSet::new(),
        counted_until: Duration::ZERO,
        told: BTreeMap::new(),
        isolation,
    };
    let mut hunt = Hunt {
        scheduler,
        ledger,
        orders: SuiteOrders::new(suite, settings.seed).in_blocks(suite, blocks(adapter)),
        settings,
        failing_order: BTreeMap::new(),
        passing_order: BTreeMap::new(),
        first_influence: BTreeMap::new(),
        disturbed: BTreeSet::new(),
        steady: BTreeMap::new(),
        confirmed: BTreeSet::new(),
        taken_back: BTreeSet::new(),
        inseparable: BTreeSet::new(),
        seen_anew: BTreeMap::new(),
        has_asked_anew: false,
        looked_into: BTreeSet::new(),
        progress: Progress::default(),
        set_up_ends: None,
        hidden: None,
        seconds_alone: vec![0.0; tests.len()],
        seconds_in_order: 0.0,
        first_notices: adapter.notices(),
    };
    if !hunt.can_reorder() && !is_said {
        hunt.ledger.remark(
            "tests run only in the suite's own order, and so no other order is tried".to_owned(),
            "a test that only another order makes fail is not found",
        );
    }
    let victim = settings.victim.as_ref().map(|victim| position(&tests, victim)).transpose()?;
    let usual = |hunt: &mut Hunt<'_, '_>| match victim {
        Some(victim) => hunt.one_victim(victim),
        None => match &settings.strategy {
            Strategy::Plan(forecast) => hunt.planned_stages(forecast),
            Strategy::Off | Strategy::Cannier(_) => hunt.stages(),
        },
    };
    let stages = match settings.sought {
        Sought::Usual => usual(&mut hunt),
        Sought::ImplementationDependent => hunt.find_implementation_dependent(),
        Sought::All => usual(&mut hunt).and_then(|()| hunt.find_implementation_dependent()),
    };
    hunt.end(stages)
}

/// How fresh environments are made.
fn isolation(adapter: &dyn Adapter, settings: &HuntSettings, ledger: &mut Ledger) -> Isolation {
    match (settings.isolation, adapter.can().fork) {
        (Isolation::Fork, Ok(())) => Isolation::Fork,
        (Isolation::Fork, Err(why)) => {
            // Of a runner whose processes are never copied nobody expects it.
            let can = adapter.can();
            if can.state || can.likeness == Likeness::Nearly {
                ledger.remark(
                    format!("fresh environments are spawned, not forked: {why}"),
                    "nothing is lost but time; `--isolation spawn` says that you know",
                );
            }
            Isolation::Spawn
        }
        // The suite's own environment is never fresh.
        (Isolation::Spawn | Isolation::Same, _) => Isolation::Spawn,
    }
}

/// What stays together in every order, because environments would bring it together anyway.
fn blocks(adapter: &dyn Adapter) -> OrderBlocks {
    match adapter.can().orders {
        Orders::Any | Orders::Seeded | Orders::Own | Orders::Apart => OrderBlocks::None,
        Orders::AnyFresh => OrderBlocks::Groups,
        Orders::ByFile => OrderBlocks::FilesAndGroups,
    }
}

fn position(tests: &[TestId], wanted: &TestId) -> Result<u32> {
    let found = (0..).zip(tests).find(|(_, test)| *test == wanted).map(|(position, _)| position);
    found.ok_or_else(|| Error::UnknownTest { test: wanted.clone() })
}

/// A hunt under way.
struct Hunt<'a, 'j> {
    scheduler: TrialScheduler<'a, 'j>,
    ledger: Ledger,
    orders: SuiteOrders,
    settings: &'a HuntSettings,
    /// For each classified test, an order in which it fails, and one in which it passes.
    failing_order: BTreeMap<u32, Vec<u32>>,
    passing_order: BTreeMap<u32, Vec<u32>>,
    /// The first set of tests that was found to make a test fail, or pass.
    first_influence: BTreeMap<u32, Vec<u32>>,
    /// Tests that failed only while environments ran side by side.
    disturbed: BTreeSet<u32>,
    /// Tests that were asked whether they pass, or fail, alone every time, with the answer.
    steady: BTreeMap<(u32, bool), bool>,
    /// Tests that new processes were asked about.
    confirmed: BTreeSet<u32>,
    /// Tests that new processes did not show to be flaky.
    taken_back: BTreeSet<u32>,
    /// Tests that do in the suite's own process what they do not do alone, where no other order can
    /// run in such a process.
    inseparable: BTreeSet<u32>,
    /// What new processes showed of tests that fail only in old copies of one.
    seen_anew: BTreeMap<u32, Tally>,
    /// Whether new processes were asked about the tests that always fail.
    has_asked_anew: bool,
    /// Tests whose influences were asked what they leave behind.
    looked_into: BTreeSet<u32>,
    /// How far the stages are that can be gone on with.
    progress: Progress,
    /// When the runs in the suite's own order give way.
    set_up_ends: Option<Duration>,
    /// What a plan believes that it missed.
    hidden: Option<Hidden>,
    /// What one run of each test took alone, and one of the suite, in seconds.
    seconds_alone: Vec<f64>,
    seconds_in_order: f64,
    /// What the adapter had to say before the first test ran.
    first_notices: Vec<Notice>,
}

/// How far the stages are that a budget may cut short, and that are gone on with as long as there is some.
#[derive(Debug, Default)]
struct Progress {
    /// Tests that ran alone, of those that are to.
    alone: usize,
    /// Other orders of the suite.
    orders: usize,
    /// Orders in which every test comes after every other one.
    neighbours: u32,
    /// Rounds of reruns.
    rounds: u32,
    /// The suspects whom nobody could explain when other orders last gave way to them.
    open_suspects: Option<usize>,
    /// Whether nothing is left to do but to run tests alone, as far as the time allows.
    is_rest_for_single_tests: bool,
}

/// Whether a stage had the time it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// It is done.
    Whole,
    /// It gave way to those after it.
    Cut,
}

impl Extent {
    fn and(self, other: Self) -> Self {
        if self == Self::Cut { self } else { other }
    }
}

impl Hunt<'_, '_> {
    fn stages(&mut self) -> Result<(), Stop> {
        self.set_up()?;
        let all = self.orders.original();
        self.as_long_as_there_is_time(|hunt| {
            let mut extent = hunt.alone_of(&all)?;
            hunt.ask_anew_about_the_broken()?;
            extent = extent.and(hunt.running()?);
            hunt.classify()?;
            extent = extent.and(hunt.rerun()?);
            hunt.find_influences()?;
            Ok(extent)
        })
    }

    /// Look and explain what was seen, and look again, until nothing is cut short or the budget is spent.
    fn as_long_as_there_is_time(
        &mut self,
        mut look_and_explain: impl FnMut(&mut Self) -> Result<Extent, Stop>,
    ) -> Result<(), Stop> {
        loop {
            let before = self.scheduler.cost.executions;
            if look_and_explain(self)? == Extent::Whole {
                return Ok(());
            }
            if self.scheduler.cost.executions > before {
                continue;
            }
            // What is left of the time is too short for what is left to do.
            if self.progress.is_rest_for_single_tests {
                return Err(Stop::BudgetSpent);
            }
            self.progress.is_rest_for_single_tests = true;
        }
    }

    /// What the adapter has to say only now.
    fn add_late_notices(&mut self) {
        for notice in self.scheduler.adapter.notices() {
            if !self.first_notices.contains(&notice) {
                self.ledger.remark(notice.what, &notice.next);
            }
        }
    }

    fn end(mut self, stages: Result<(), Stop>) -> Result<Hunted> {
        let end = match stages {
            Ok(()) => HuntEnd::Finished,
            Err(Stop::Interrupted) => HuntEnd::Interrupted,
            Err(Stop::BudgetSpent) => HuntEnd::BudgetSpent,
            Err(Stop::Trouble(error)) => return Err(error),
        };
        self.scheduler.count_the_time();
        self.ledger.notices.extend(self.scheduler.adapter.find_orders()?);
        for (test, failure) in std::mem::take(&mut self.scheduler.told) {
            self.ledger.test_mut(test).failure = Some(failure);
        }
        self.name_the_old_copies();
        self.write_reproductions();
        self.name_the_unconfirmed();
        self.name_the_disturbed();
        self.name_the_unclassified();
        self.name_the_inseparable();
        self.add_late_notices();
        let (tests, notices) = (self.ledger.tests, self.ledger.notices);
        Ok(Hunted { tests, cost: self.scheduler.cost, end, hidden: self.hidden, notices })
    }

    /// Tests that were seen to depend on others in copies alone, because the hunt ended before.
    fn name_the_unconfirmed(&mut self) {
        if self.scheduler.isolation() == Isolation::Spawn {
            return;
        }
        let depends =
            |test: &HuntedTest| matches!(test.kind, Some(FlakyKind::Victim | FlakyKind::Brittle));
        let is_guessing = self.is_guessing();
        let mut tests = match is_guessing {
            true => self.ledger.all(|test| test.kind.is_some()),
            false => self.ledger.all(depends),
        };
        tests.retain(|test| !self.confirmed.contains(test));
        if is_guessing {
            for test in &tests {
                let known = self.ledger.test_mut(*test);
                (known.kind, known.polluters, known.setters) = (None, Vec::new(), Vec::new());
                known.cleaners.clear();
                known.reproduction = None;
                self.taken_back.insert(*test);
            }
            self.remark_on_some(
                &tests,
                "was seen to be flaky where environments share a process, and new ones were not asked \
                 yet: it is not called flaky",
                "go on with `--resume` to have it confirmed, or give a longer `--budget`",
            );
            return;
        }
        self.remark_on_some(
            &tests,
            "was seen in copies of a process, and not yet in new ones",
            "go on with `--resume` to have it confirmed",
        );
    }

    /// Tests that are not called flaky, because the hunt itself may have made them fail.
    fn name_the_disturbed(&mut self) {
        let tests: Vec<u32> = self.disturbed.iter().copied().collect();
        self.remark_on_some(
            &tests,
            "failed only while environments ran side by side, and not when it ran again alone",
            "they may share files, ports or databases; `-j 1` hunts without that",
        );
    }

    /// Tests that changed their outcome before there was time to say what they are.
    fn name_the_unclassified(&mut self) {
        let changed = |test: &HuntedTest| test.kind.is_none() && test.all().is_inconsistent();
        let mut tests = self.ledger.all(changed);
        tests.retain(|test| !self.disturbed.contains(test) && !self.taken_back.contains(test));
        self.remark_on_some(
            &tests,
            "passed and failed, and there was no time to say why",
            "go on with `--resume`, or give a longer `--budget`",
        );
    }

    /// Tests that depend on others in ways that only the suite's own process shows.
    fn name_the_inseparable(&mut self) {
        let tests: Vec<u32> = self.inseparable.iter().copied().collect();
        self.remark_on_some(
            &tests,
            "does something else in the suite than alone; who makes it so is not known, because this \
             runner cannot be told to run its tests in another order in one process",
            "look at what the tests before it in its file or group leave behind",
        );
    }

    /// Say something about some tests, by the name of the first.
    fn remark_on_some(&mut self, tests: &[u32], what: &str, next: &str) {
        let [first, rest @ ..] = tests else { return };
        let id = &self.ledger.test(*first).id;
        let who = match rest.len() {
            0 => format!("`{id}`"),
            others => format!("`{id}` and {others} more"),
        };
        self.ledger.remark(format!("{who} {what}"), next);
    }
}
