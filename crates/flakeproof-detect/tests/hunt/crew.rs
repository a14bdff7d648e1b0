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
    chance: Cell<Seed>,
}

impl Machines<'_> {
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
    let machines = Machines {
        adapter,
        size,
        out: RefCell::default(),
        ran: Cell::new(0),
        chance: Cell::new(Seed(size as u64)),
    };
    let (canceller, cancel) = Cancel::new();
    let crew = Crew {
        size: &|| size,
        ask: &|trials| {
            machines.out.borrow_mut().extend(trials.iter().cloned());
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
    let found = adapter.discover().expect("a suite");
    let hunted = hunt(adapter, &found, settings, &mut journal, workplace, &cancel, &mut |_| {});
    (hunted.expect("a hunt"), machines.ran.get())
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
