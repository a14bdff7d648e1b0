//! Hunts whose trials other machines run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use flakeproof_core::{HuntEnd, Seed, TrialRecord};
use flakeproof_detect::hunt::{
    Crew, HuntSettings, Hunted, Journal, Strategy, Trial, Workplace, hunt, run_trial,
};
use flakeproof_runner::{Adapter, Cancel, Result};
use flakeproof_testkit::scripted::{Scripted, suite};

use crate::hunting::{Kept, forecast, hunted, of, settings};

fn flaky_suite() -> Scripted {
    suite(["a", "b", "c", "d", "e", "f", "g", "h"])
        .with_polluter("c", "g")
        .brittle("f", "b")
        .always_fails("d")
}

/// Machines that take whichever trial chance says, and are done with some of what they took.
struct Machines<'a> {
    adapter: &'a Scripted,
    size: usize,
    out: RefCell<VecDeque<Trial>>,
    ran: Cell<usize>,
    /// The most runs in the suite's own order that were asked for at once.
    own_orders: Cell<usize>,
    chance: Cell<Seed>,
}

impl<'a> Machines<'a> {
    fn new(adapter: &'a Scripted, size: usize) -> Self {
        Self {
            adapter,
            size,
            out: RefCell::default(),
            ran: Cell::new(0),
            own_orders: Cell::new(0),
            chance: Cell::new(Seed(size as u64)),
        }
    }

    fn draw(&self, below: usize) -> usize {
        let next = self.chance.get().split("next");
        self.chance.set(next);
        usize::try_from(next.0 % below.max(1) as u64).expect("a small number")
    }

    fn collect(&self, kept: &Kept) -> Result<Vec<(String, TrialRecord)>> {
        let tests = self.adapter.discover()?.ids();
        let mut done = Vec::new();
        for _ in 0..=self.draw(self.size) {
            let at = self.draw(self.out.borrow().len());
            let Some(trial) = self.out.borrow_mut().remove(at) else { break };
            let record = run_trial(self.adapter, &tests, &|| Duration::ZERO, &trial)?;
            self.ran.set(self.ran.get() + 1);
            kept.trials.borrow_mut().insert(trial.key(), record.clone());
            done.push((trial.key(), record));
        }
        Ok(done)
    }
}

/// A hunt on so many machines, interrupted when so many trials are done.
fn on_machines(
    adapter: &Scripted,
    settings: &HuntSettings,
    size: usize,
    kept: &Kept,
    most: usize,
) -> (Hunted, usize) {
    let machines = Machines::new(adapter, size);
    let hunted = hunt_on(&machines, settings, kept, most);
    (hunted, machines.ran.get())
}

fn hunt_on(machines: &Machines<'_>, settings: &HuntSettings, kept: &Kept, most: usize) -> Hunted {
    let (canceller, cancel) = Cancel::new();
    let crew = Crew {
        // They join when there is something to do.
        size: &|| if machines.ran.get() == 0 { 0 } else { machines.size },
        ask: &|trials| {
            let mut out = machines.out.borrow_mut();
            out.extend(trials.iter().cloned());
            let own = out.iter().filter(|trial| trial.key().contains("baseline/")).count();
            machines.own_orders.set(own.max(machines.own_orders.get()));
            Ok(())
        },
        collect: &|_, _| {
            if machines.ran.get() >= most {
                canceller.cancel();
            }
            machines.collect(kept)
        },
        withdraw: &|keys| {
            machines.out.borrow_mut().retain(|trial| !keys.contains(&trial.key()));
            Ok(())
        },
    };
    let recall = |key: &str| kept.trials.borrow().get(key).cloned();
    let mut keep = |key: &str, _: &TrialRecord| unreachable!("{key} is kept by who ran it");
    let mut journal = Journal { recall: &recall, keep: &mut keep };
    let workplace = Workplace { clock: &|| Duration::ZERO, tidy: None, crew: Some(&crew) };
    let found = machines.adapter.discover().expect("a suite");
    hunt(machines.adapter, &found, settings, &mut journal, workplace, &cancel, &mut |_| {})
        .expect("a hunt")
}

#[test]
fn machines_that_join_late_share_the_first_runs() {
    let settings = HuntSettings { runs: 12, ..settings() };
    let adapter = flaky_suite();
    let machines = Machines::new(&adapter, 4);
    hunt_on(&machines, &settings, &Kept::default(), usize::MAX);
    assert_eq!(machines.own_orders.get(), 4);
}

#[test]
fn any_number_of_machines_finds_what_one_finds() {
    for strategy in [Strategy::Off, forecast(8, 0.1)] {
        let settings = HuntSettings { strategy, ..settings() };
        let expected = hunted(&flaky_suite(), &settings);
        assert!(of(&expected, "c").kind.is_some());
        for size in [1, 2, 3, 8, 40] {
            let kept = Kept::default();
            let (found, _) = on_machines(&flaky_suite(), &settings, size, &kept, usize::MAX);
            assert_eq!(found.tests, expected.tests, "{size} machines");
            assert_eq!(found.end, expected.end);
        }
    }
}

#[test]
fn a_hunt_on_machines_that_is_cut_off_runs_nothing_twice() {
    let expected = hunted(&flaky_suite(), &settings());
    for most in [1, 2, 5, 9, 14, 20, 27] {
        let kept = Kept::default();
        let (half, first) = on_machines(&flaky_suite(), &settings(), 3, &kept, most);
        assert_eq!(half.end, HuntEnd::Interrupted);
        let (rest, second) = on_machines(&flaky_suite(), &settings(), 2, &kept, usize::MAX);
        assert_eq!(rest.tests, expected.tests, "cut off after {most} trials");
        assert_eq!(first + second, kept.trials.borrow().len(), "each trial ran once");
    }
}
