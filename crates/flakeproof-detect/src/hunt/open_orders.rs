//! Implementation-dependent tests: they rely on an order that the language leaves open, such as that of a
//! hash table (Shi et al., "Detecting assumptions on deterministic implementations of non-deterministic
//! specifications", ICST 2016: NonDex).
//!
//! The suite runs with other such orders, each decided by a seed. Whoever fails with one and passes with
//! another is asked in turns, in new processes, with both: first all of them together, then each alone.
//! Only one that fails every time with the one and never with the other is reported; a test that fails at
//! times in any order is not. Then the calls are halved until those are left whose order matters, as
//! NonDex's debugging does. Where we differ: an order stays the same as long as nothing changes, which any
//! real implementation promises, so that what is found could happen.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use flakeproof_core::{
    FlakyKind, ImplementationDependence, Isolation, Reproduction, Shuffle, Tally, TestId,
};
use flakeproof_runner::{Error, OpenOrders};

use super::Hunt;
use super::ledger::{Setting, always_failed, always_passed};
use super::settings::HuntStage;
use super::trial::Trial;
use super::trial_scheduler::{Stop, failed, last_failed};

/// So often a test has to fail with the one order and to pass with the other. By chance, a test does both
/// less than once in a thousand, however often it fails.
const TURNS: u32 = 5;
/// So many processes may be started to find the calls that one test relies on.
const MOST_TRIES: u32 = 60;
/// So often the calls that were found have to show the failure once more.
const CONFIRMATIONS: u32 = 1;

/// Who decides the orders: a seed, or the runtime as usual.
type Decider = Option<Shuffle>;

/// What tests did where one decider made them pass and another made them fail.
#[derive(Debug, Clone, Copy, Default)]
struct InTurns {
    passing: Tally,
    failing: Tally,
}

impl InTurns {
    /// Whether the orders alone explain what was seen so far.
    fn is_clear(self) -> bool {
        always_passed(self.passing) && always_failed(self.failing)
    }

    fn is_proven(self) -> bool {
        self.is_clear() && self.passing.runs >= TURNS && self.failing.runs >= TURNS
    }
}

impl Hunt<'_, '_> {
    /// Find the tests that rely on an order that the language leaves open.
    pub(super) fn find_implementation_dependent(&mut self) -> Result<(), Stop> {
        let deciders = match self.scheduler.adapter.open_orders() {
            OpenOrders::Fixed(why) => {
                self.ledger.remark(
                    format!(
                        "tests that rely on the order of hash tables were not looked for: {why}"
                    ),
                    "`--kinds id` is for JUnit and TestNG on Java 9 or newer, and for pytest",
                );
                return Ok(());
            }
            OpenOrders::Usual => self.deciders(Some(None)),
            OpenOrders::Drawn => self.deciders(None),
        };
        let suspects = self.suspects_of_open_orders(&deciders)?;
        let mut found = Vec::new();
        for ((passing, failing), tests) in suspects {
            let both = [deciders[passing].clone(), deciders[failing].clone()];
            found.extend(self.proven(&tests, &both)?);
        }
        self.find_calls(&found)
    }

    /// The orders to compare: the usual ones where there are any, and those of some seeds.
    fn deciders(&self, usual: Option<Decider>) -> Vec<Decider> {
        let more = u32::from(usual.is_none());
        let seeds = (1..=self.settings.shuffles.max(1) + more).map(|number| {
            let seed = self.settings.seed.split(&format!("open orders/{number}")).hash_seed();
            Some(Shuffle::all(seed))
        });
        usual.into_iter().chain(seeds).collect()
    }

    /// Run the suite with each of the orders; give the tests that pass with one and fail with another,
    /// by the two.
    fn suspects_of_open_orders(
        &mut self,
        deciders: &[Decider],
    ) -> Result<BTreeMap<(usize, usize), Vec<u32>>, Stop> {
        self.scheduler.begin(HuntStage::OpenOrders, deciders.len());
        let original = self.orders.original();
        let trials = deciders.iter().enumerate().map(|(number, decider)| {
            Trial::shuffled(format!("open orders/{number}"), original.clone(), decider.clone())
        });
        let mut seen: Vec<Vec<Option<bool>>> = Vec::new();
        let ledger = &mut self.ledger;
        self.scheduler.one_by_one(trials, &mut |trial, record| {
            if trial.shuffle.is_none() {
                ledger.enter(trial, record, Setting::Baseline);
            }
            let outcomes = record.outcomes.first().map(Vec::as_slice).unwrap_or_default();
            seen.push(outcomes.iter().map(|outcome| failed(*outcome)).collect());
            ControlFlow::Continue(())
        })?;
        let mut suspects: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        for test in original.into_iter().filter(|test| self.may_rely_on_order(*test)) {
            let with = |wanted: bool| {
                seen.iter()
                    .position(|all| all.get(test as usize).copied().flatten() == Some(wanted))
            };
            let passing = match deciders.first() {
                // A test that fails in the usual order is broken, whatever another one does.
                Some(None) => with(false).filter(|at| *at == 0),
                _ => with(false),
            };
            if let (Some(passing), Some(failing)) = (passing, with(true)) {
                suspects.entry((passing, failing)).or_default().push(test);
            }
        }
        Ok(suspects)
    }

    /// Whether nothing else is known to make a test fail. Where chance draws the orders, one that fails by
    /// chance may do so for that reason.
    fn may_rely_on_order(&self, test: u32) -> bool {
        let is_drawn = self.scheduler.adapter.open_orders() == OpenOrders::Drawn;
        match self.ledger.test(test).kind {
            None => true,
            Some(FlakyKind::Nod) => is_drawn,
            Some(FlakyKind::Victim | FlakyKind::Brittle | FlakyKind::Id) => false,
        }
    }

    /// Ask about tests in turns; give those that are proven to rely on the order.
    fn proven(&mut self, tests: &[u32], deciders: &[Decider; 2]) -> Result<Vec<u32>, Stop> {
        self.scheduler.begin(HuntStage::Confirmation, 2 * TURNS as usize);
        let together = self.in_turns_with("together", tests, deciders, TURNS)?;
        let mut found = Vec::new();
        let mut open = Vec::new();
        for (test, mut seen) in tests.iter().zip(together) {
            if tests.len() > 1 {
                // Together, one may fail for what another one leaves behind.
                let turns = if seen.is_proven() { 1 } else { TURNS };
                let alone = self.in_turns_with("alone", &[*test], deciders, turns)?[0];
                let is_same = alone.is_clear() && seen.is_proven();
                seen = match is_same {
                    true => InTurns {
                        passing: seen.passing + alone.passing,
                        failing: seen.failing + alone.failing,
                    },
                    false if turns == TURNS => alone,
                    false => self.in_turns_with("again", &[*test], deciders, TURNS)?[0],
                };
            }
            match seen.is_proven() {
                true => {
                    self.call_implementation_dependent(*test, seen, deciders);
                    found.push(*test);
                }
                false => open.push(*test),
            }
        }
        self.remark_on_some(
            &open,
            "failed with other orders of hash tables, but not again each time it ran alone with them: it \
             is not called implementation-dependent",
            "it may fail by chance; a hunt without `--kinds id` tells",
        );
        Ok(found)
    }

    /// Run tests one after another with the one order and with the other, in turns, each time in a new
    /// process, until nothing can be proven any more.
    fn in_turns_with(
        &mut self,
        name: &str,
        tests: &[u32],
        [passing, failing]: &[Decider; 2],
        turns: u32,
    ) -> Result<Vec<InTurns>, Stop> {
        let mut seen = vec![InTurns::default(); tests.len()];
        let trials = (1..=turns).flat_map(|turn| {
            [passing, failing].map(|decider| {
                let name = format!("{name} in open orders/{turn}");
                Trial::shuffled(name, tests.to_vec(), decider.clone())
            })
        });
        self.scheduler.one_by_one(trials, &mut |trial, record| {
            let outcomes = record.outcomes.first().map(Vec::as_slice).unwrap_or_default();
            for (seen, outcome) in seen.iter_mut().zip(outcomes) {
                let Some(has_failed) = failed(*outcome) else { continue };
                match trial.shuffle == *passing {
                    true => seen.passing.count(has_failed),
                    false => seen.failing.count(has_failed),
                }
            }
            let is_open = |seen: &InTurns| seen.passing.failures == 0 && !has_passed(seen.failing);
            match seen.iter().any(is_open) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        Ok(seen)
    }

    fn call_implementation_dependent(
        &mut self,
        test: u32,
        seen: InTurns,
        [passing, failing]: &[Decider; 2],
    ) {
        let Some(shuffle) = failing else { return };
        let id = self.ledger.test(test).id.clone();
        let command = self.scheduler.adapter.command_shuffled(&id, shuffle);
        let known = self.ledger.test_mut(test);
        known.implementation = Some(ImplementationDependence {
            fails_with: shuffle.seed,
            passes_with: passing.as_ref().map(|it| it.seed),
            failing: seen.failing,
            passing: seen.passing,
            calls: Vec::new(),
        });
        known.reproduction = Some(Reproduction {
            command: command.unwrap_or_else(|| format!("flakeproof repro '{id}'")),
            order: vec![id],
            isolation: Isolation::Spawn,
        });
        // Where chance draws the orders, it may have been called so before.
        (known.polluters, known.setters) = (Vec::new(), Vec::new());
        self.confirmed.insert(test);
        self.call_one_flaky(test, FlakyKind::Id);
    }

    /// Find the calls whose order tests rely on.
    fn find_calls(&mut self, tests: &[u32]) -> Result<(), Stop> {
        if tests.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Calls, tests.len());
        let mut known: BTreeSet<Vec<String>> = BTreeSet::new();
        for test in tests {
            let Some(shuffle) = self
                .ledger
                .test(*test)
                .implementation
                .as_ref()
                .map(ImplementationDependence::shuffle)
            else {
                continue;
            };
            let calls = self.calls_of(&self.ledger.test(*test).id.clone(), &shuffle)?;
            let mut search = CallSearch { hunt: self, test: *test, seed: shuffle.seed, tries: 0 };
            let found = search.smallest(calls, &known)?;
            if let Some(implementation) = &mut self.ledger.test_mut(*test).implementation {
                implementation.calls.clone_from(&found);
            }
            if !found.is_empty() {
                known.insert(found);
            }
        }
        Ok(())
    }

    /// The calls that get a shuffled order while a test runs. What cannot be told stays open.
    fn calls_of(&self, test: &TestId, shuffle: &Shuffle) -> Result<Vec<String>, Stop> {
        match self.scheduler.adapter.calls_shuffled(test, shuffle) {
            Err(Error::Cancelled) => Err(Stop::Interrupted),
            calls => Ok(calls.unwrap_or_default()),
        }
    }
}

fn has_passed(tally: Tally) -> bool {
    tally.failures < tally.runs
}

/// A search for the calls that one test relies on.
struct CallSearch<'h, 'a, 'j> {
    hunt: &'h mut Hunt<'a, 'j>,
    test: u32,
    seed: u32,
    tries: u32,
}

impl CallSearch<'_, '_, '_> {
    /// The smallest set of calls whose order makes the test fail, by halving; none if it cannot be shown.
    fn smallest(
        &mut self,
        all: Vec<String>,
        known: &BTreeSet<Vec<String>>,
    ) -> Result<Vec<String>, Stop> {
        let mut left = match self.known(&all, known)? {
            Some(set) => set,
            None if all.is_empty() || !self.fails_with(&all)? => return Ok(Vec::new()),
            None => all,
        };
        let mut parts = 2;
        while left.len() > 1 && self.tries < MOST_TRIES {
            let size = left.len().div_ceil(parts);
            match self.smaller(&left, size)? {
                Some(smaller) => {
                    parts = if smaller.len() <= size { 2 } else { (parts - 1).max(2) };
                    left = smaller;
                }
                None if size == 1 => break,
                None => parts = (2 * parts).min(left.len()),
            }
        }
        self.is_confirmed(&left).map(|is_confirmed| if is_confirmed { left } else { Vec::new() })
    }

    /// A set that explains another test, and this one, too, as is often so.
    fn known(
        &mut self,
        all: &[String],
        known: &BTreeSet<Vec<String>>,
    ) -> Result<Option<Vec<String>>, Stop> {
        for set in known.iter().filter(|set| set.iter().all(|call| all.contains(call))) {
            if self.fails_with(set)? {
                return Ok(Some(set.clone()));
            }
        }
        Ok(None)
    }

    /// One part of the calls that does it alone, or all but one part.
    fn smaller(&mut self, calls: &[String], size: usize) -> Result<Option<Vec<String>>, Stop> {
        for part in calls.chunks(size) {
            if self.fails_with(part)? {
                return Ok(Some(part.to_vec()));
            }
        }
        if calls.len() <= 2 * size {
            // The rest of one half is the other half.
            return Ok(None);
        }
        for part in calls.chunks(size) {
            let rest: Vec<String> =
                calls.iter().filter(|call| !part.contains(call)).cloned().collect();
            if self.fails_with(&rest)? {
                return Ok(Some(rest));
            }
        }
        Ok(None)
    }

    fn fails_with(&mut self, calls: &[String]) -> Result<bool, Stop> {
        self.tries += 1;
        self.run("calls".to_owned(), calls)
    }

    fn is_confirmed(&mut self, calls: &[String]) -> Result<bool, Stop> {
        for number in 1..=CONFIRMATIONS {
            if !self.run(format!("calls again/{number}"), calls)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn run(&mut self, name: String, calls: &[String]) -> Result<bool, Stop> {
        let shuffle = Shuffle::only(self.seed, calls.to_vec());
        let trial = Trial::shuffled(name, vec![self.test], Some(shuffle));
        let mut has_failed = false;
        self.hunt.scheduler.one_by_one(std::iter::once(trial), &mut |_, record| {
            has_failed = last_failed(record) == Some(true);
            ControlFlow::Continue(())
        })?;
        Ok(has_failed)
    }
}
