//! A hunt with a journal in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeproof_core::{HuntedTest, Seed, TestId, TrialRecord};
use flakeproof_detect::hunt::{Forecast, HuntSettings, Hunted, Journal, Strategy, Workplace, hunt};
use flakeproof_detect::plan::FailureRates;
use flakeproof_runner::{Adapter, Cancel, Canceller, Result};
use flakeproof_testkit::scripted::Scripted;

/// What several sessions of one hunt share.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) trials: RefCell<BTreeMap<String, TrialRecord>>,
    /// The time, in seconds, and what passes between two looks at it.
    pub(crate) ticks: AtomicU64,
    pub(crate) tick: u64,
}

/// Settings that keep tests short.
pub(crate) fn settings() -> HuntSettings {
    HuntSettings { seed: Seed(7), runs: 3, orders: 12, max_reruns: 5, ..HuntSettings::default() }
}

/// Hunt to the end.
pub(crate) fn hunted(suite: &Scripted, settings: &HuntSettings) -> Hunted {
    session(suite, settings, &Kept::default(), &Cancel::never(), &mut |_| {}).expect("a hunt")
}

/// One session of a hunt; `after` hears of every trial that is kept.
pub(crate) fn session(
    suite: &Scripted,
    settings: &HuntSettings,
    kept: &Kept,
    cancel: &Cancel,
    after: &mut dyn FnMut(usize),
) -> Result<Hunted> {
    let count = Cell::new(0);
    let recall = |key: &str| kept.trials.borrow().get(key).cloned();
    let mut keep = |key: &str, trial: &TrialRecord| {
        kept.trials.borrow_mut().insert(key.to_owned(), trial.clone());
        count.set(count.get() + 1);
        after(count.get());
    };
    let mut journal = Journal { recall: &recall, keep: &mut keep };
    let found = suite.discover()?;
    let (ticks, tick) = (&kept.ticks, kept.tick);
    let clock = || Duration::from_secs(ticks.fetch_add(tick, Ordering::Relaxed));
    let workplace = Workplace { clock: &clock, tidy: None, crew: None };
    hunt(suite, &found, settings, &mut journal, workplace, cancel, &mut |_| {})
}

/// Hunt to the end, with every trial taking a second at least.
pub(crate) fn hunted_slowly(suite: &Scripted, settings: &HuntSettings) -> Hunted {
    let kept = Kept { tick: 1, ..Kept::default() };
    session(suite, settings, &kept, &Cancel::never(), &mut |_| {}).expect("a hunt")
}

/// Cut a hunt off after so many trials of this session.
pub(crate) fn cut_off(canceller: &Canceller, after: usize) -> impl FnMut(usize) {
    let canceller = canceller.clone();
    move |count| {
        if count >= after {
            canceller.cancel();
        }
    }
}

/// What was found about one test.
pub(crate) fn of<'a>(hunted: &'a Hunted, id: &str) -> &'a HuntedTest {
    hunted.tests.iter().find(|test| test.id.as_str() == id).expect("a test of the suite")
}

/// Sets of tests by their ids.
pub(crate) fn sets(sets: &[&[&str]]) -> Vec<Vec<TestId>> {
    sets.iter().map(|set| set.iter().map(|id| TestId::from(*id)).collect()).collect()
}

/// A plan for a suite of so many tests of which nothing is known.
pub(crate) fn forecast(tests: usize, may_stay_hidden: f64) -> Strategy {
    Strategy::Plan(Forecast {
        flaky: vec![0.1; tests],
        victim: vec![0.1; tests],
        kin: vec![Vec::new(); tests],
        rates: FailureRates::known(),
        may_stay_hidden,
    })
}
