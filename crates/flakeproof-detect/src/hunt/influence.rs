//! From victims and brittle tests to those who make them fail or pass.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use flakeproof_core::{
    Decision, FlakyKind, HuntedTest, Isolation, LeftBehind, OrderKind, Reproduction, Signature,
    TestId,
};

use super::Hunt;
use super::confirm::AT_ONCE;
use super::ledger::always_passed;
use super::settings::{HuntEvent, HuntStage, PolluterSearch, Strategy};
use super::trial::Trial;
use super::trial_scheduler::{Stop, last_failed};
use crate::pollution::cleaning;
use crate::pollution::polluters::{self, PairOutcome};

/// More pairs than this are not all tried.
pub(super) const MOST_PAIRS: usize = 250_000;
/// So many sets that make one test fail are tried before others.
const MOST_KNOWN_SETS: usize = 3;
/// So many tests are tried as cleaners of one victim, those nearest to it first.
const MOST_CLEANERS: usize = 300;
/// So many are looked for where forked environments only guess, and new processes have to be asked: as many
/// as start at the same time.
const MOST_CLEANERS_SHOWN: usize = AT_ONCE;
/// So many tests are tried one by one before a single victim: those of its class, and, if a walk past
/// all tests does not show who makes it fail, those nearest to it.
const MOST_SIBLINGS: usize = 50;
const MOST_NEIGHBOURS: usize = 100;

impl Hunt<'_, '_> {
    /// Find polluters, state-setters and cleaners, and confirm them.
    pub(super) fn find_influences(&mut self) -> Result<(), Stop> {
        let search = self.settings.polluters;
        let is_planned = matches!(self.settings.strategy, Strategy::Plan(_));
        // A plan has tried the pairs that may tell something before it called anybody a victim.
        if search == PolluterSearch::All || search == PolluterSearch::Pairs && !is_planned {
            self.try_pairs(search)?;
        }
        let victims = self.ledger.of_kind(FlakyKind::Victim);
        let brittle = self.ledger.of_kind(FlakyKind::Brittle);
        if search != PolluterSearch::Off {
            self.search_orders(&victims, &brittle)?;
            self.try_known_sets()?;
        }
        let victims = self.ledger.of_kind(FlakyKind::Victim);
        self.confirm(&victims, &brittle)?;
        self.confirm_chance()?;
        if matches!(search, PolluterSearch::All | PolluterSearch::Pairs) {
            self.find_cleaners()?;
        }
        self.look_at_what_is_left()
    }

    /// Every test before every one that is looked at.
    fn try_pairs(&mut self, search: PolluterSearch) -> Result<(), Stop> {
        let all = self.orders.original();
        let targets: Vec<(u32, bool)> =
            all.iter().filter_map(|test| Some((*test, self.fails_alone(*test, search)?))).collect();
        let count = all.len() * targets.len();
        if targets.is_empty() {
            return Ok(());
        }
        if count > MOST_PAIRS && search == PolluterSearch::Pairs {
            self.ledger.remark(
                format!("{count} pairs are too many to try; each test has one set of polluters"),
                "`--polluters all` tries them all the same; `--victim TEST` looks at one test",
            );
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Pollution, all.len());
        let strategy = &self.settings.strategy;
        let is_tried = |first, second| match strategy {
            Strategy::Cannier(candidates) => candidates.is_pair(first, second),
            Strategy::Off | Strategy::Plan(_) => true,
        };
        let pairs = polluters::surprising_pairs(&mut self.scheduler, &all, &targets, &is_tried)?;
        let mut found = Vec::new();
        for pair in pairs {
            if polluters::fails_after(&mut self.scheduler, &[pair.first], pair.second)?
                == pair.has_failed
            {
                self.note_pair(pair);
                found.push(pair);
            }
        }
        self.try_alike(&found, &targets)
    }

    /// Try the first test of each pair before those, too, that fail like the second.
    ///
    /// All that comes after one test runs in copies of one environment, and what lies on disk is theirs
    /// together: the first copy may take the file away that all of them need, or stumble over.
    pub(super) fn try_alike(
        &mut self,
        found: &[PairOutcome],
        targets: &[(u32, bool)],
    ) -> Result<(), Stop> {
        for pair in found {
            let wanted = self.message_of(pair.second);
            let alike = targets.iter().filter(|(test, fails)| {
                let is_new = !found.iter().any(|it| (it.first, it.second) == (pair.first, *test));
                let is_other = *test != pair.first && *fails != pair.has_failed;
                is_new && is_other && wanted.is_some() && self.message_of(*test) == wanted
            });
            for (test, _) in alike.copied().collect::<Vec<_>>() {
                let order = [pair.first];
                if polluters::fails_after(&mut self.scheduler, &order, test)? == pair.has_failed {
                    self.note_pair(PairOutcome { second: test, ..*pair });
                }
            }
        }
        Ok(())
    }

    /// What a test said when it failed, wherever that was.
    fn message_of(&self, test: u32) -> Option<Signature> {
        let failure = self.scheduler.told.get(&test)?;
        Some(Signature::compute(&failure.message, None))
    }

    /// Whether a test fails alone; `None` if it is not looked at, or not steady.
    fn fails_alone(&self, test: u32, search: PolluterSearch) -> Option<bool> {
        let known = self.ledger.test(test);
        match known.kind {
            _ if self.inseparable.contains(&test) => None,
            Some(FlakyKind::Victim) => Some(false),
            Some(FlakyKind::Brittle) => Some(true),
            None if search == PolluterSearch::All && !known.alone.is_inconsistent() => {
                (known.alone.runs > 0).then_some(known.alone.failures > 0)
            }
            Some(FlakyKind::Nod | FlakyKind::Id) | None => None,
        }
    }

    /// A test that was not suspicious becomes flaky by the first pair that changes its outcome.
    pub(super) fn note_pair(&mut self, pair: PairOutcome) {
        let PairOutcome { first, second, has_failed } = pair;
        if self.ledger.test(second).kind.is_none() {
            let kind = if has_failed { FlakyKind::Victim } else { FlakyKind::Brittle };
            self.call_one_flaky(second, kind);
        }
        self.note_influence(vec![first], second);
    }

    /// Sets of tests, for whom no single one was found.
    fn search_orders(&mut self, victims: &[u32], brittle: &[u32]) -> Result<(), Stop> {
        let nobody = |hunt: &Self, test: &u32| {
            let known = hunt.ledger.test(*test);
            let is_explained = !known.polluters.is_empty() || !known.setters.is_empty();
            !is_explained && !hunt.inseparable.contains(test)
        };
        let victims: Vec<u32> = victims.iter().copied().filter(|it| nobody(self, it)).collect();
        let brittle: Vec<u32> = brittle.iter().copied().filter(|it| nobody(self, it)).collect();
        if victims.is_empty() && brittle.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Pollution, victims.len() + brittle.len());
        for test in victims {
            if self.is_explained_by_a_known_set(test)? {
                continue;
            }
            let before = without_last(self.failing_order.get(&test));
            if let Some(set) = polluters::polluting_set(&mut self.scheduler, &before, test)? {
                self.note_influence(set, test);
            }
        }
        for test in brittle {
            let before = without_last(self.passing_order.get(&test));
            if let Some(set) = polluters::setters(&mut self.scheduler, &before, test)? {
                self.note_influence(set, test);
            }
        }
        Ok(())
    }

    /// Sets of at least so many tests that make a victim fail together, those of most victims first.
    fn known_sets(&self, fewest: usize) -> Vec<Vec<u32>> {
        let mut victims_of: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for victim in self.ledger.of_kind(FlakyKind::Victim) {
            for set in &self.ledger.test(victim).polluters {
                let set: Option<Vec<u32>> =
                    set.iter().map(|it| self.scheduler.position(it)).collect();
                if let Some(set) = set.filter(|set| set.len() >= fewest) {
                    *victims_of.entry(set).or_default() += 1;
                }
            }
        }
        let mut sets: Vec<Vec<u32>> = victims_of.keys().cloned().collect();
        sets.sort_by_key(|set| (Reverse(victims_of[set]), set.clone()));
        sets.truncate(MOST_KNOWN_SETS);
        sets
    }

    /// Whether a victim fails after what makes another one fail: that is far cheaper to try than to find.
    fn is_explained_by_a_known_set(&mut self, test: u32) -> Result<bool, Stop> {
        // Where environments are copied, every pair was tried.
        let fewest = if self.scheduler.can_copy() { 2 } else { 1 };
        for set in self.known_sets(fewest) {
            if !set.contains(&test) && polluters::fails_after(&mut self.scheduler, &set, test)? {
                self.note_influence(set, test);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What makes one test fail often does so to others, which no order has shown yet.
    fn try_known_sets(&mut self) -> Result<(), Stop> {
        let isolation = self.scheduler.isolation();
        for set in self.known_sets(2) {
            let healthy = |test: &HuntedTest| test.kind.is_none() && always_passed(test.alone);
            let mut tests = self.ledger.all(healthy);
            tests.retain(|test| !set.contains(test) && !self.is_answered(*test));
            let after = |test: u32| set.iter().copied().chain([test]).collect::<Vec<u32>>();
            let trials = tests
                .iter()
                .map(|test| Trial::order(format!("known set/{test}"), after(*test), isolation));
            let trials: Vec<Trial> = trials.collect();
            let mut failing = Vec::new();
            self.scheduler.one_by_one(trials.into_iter(), &mut |trial, record| {
                if last_failed(record) == Some(true) {
                    failing.extend(trial.branches().next().and_then(|it| it.last().copied()));
                }
                ControlFlow::Continue(())
            })?;
            for test in failing {
                if polluters::fails_after(&mut self.scheduler, &set, test)?
                    && self.is_steady_alone(test, false)?
                {
                    self.failing_order.insert(test, after(test));
                    self.passing_order.insert(test, vec![test]);
                    self.call_one_flaky(test, FlakyKind::Victim);
                    self.note_influence(set.clone(), test);
                }
            }
        }
        Ok(())
    }

    pub(super) fn note_influence(&mut self, set: Vec<u32>, test: u32) {
        let ids: Vec<TestId> = set.iter().map(|it| self.ledger.test(*it).id.clone()).collect();
        let known = self.ledger.test_mut(test);
        let sets = match known.kind {
            Some(FlakyKind::Brittle) => &mut known.setters,
            Some(FlakyKind::Victim | FlakyKind::Nod | FlakyKind::Id) | None => &mut known.polluters,
        };
        if sets.contains(&ids) {
            return;
        }
        sets.push(ids.clone());
        let id = known.id.clone();
        self.first_influence.entry(test).or_insert(set);
        self.scheduler.tell(HuntEvent::Influence(ids, id));
    }

    /// Tests that go between the first polluters of a victim and the victim, and heal it.
    fn find_cleaners(&mut self) -> Result<(), Stop> {
        let victims: Vec<u32> = self.ledger.of_kind(FlakyKind::Victim);
        let known: Vec<(u32, Vec<u32>)> = victims
            .into_iter()
            .filter_map(|victim| Some((victim, self.first_influence.get(&victim)?.clone())))
            .collect();
        if known.is_empty() {
            return Ok(());
        }
        self.scheduler.begin(HuntStage::Cleaning, known.len());
        for (victim, polluters) in known {
            let mut candidates = match self.settings.strategy {
                Strategy::Plan(_) => self.may_clean(victim, &polluters),
                Strategy::Off | Strategy::Cannier(_) => self.orders.original(),
            };
            let guilty = self.single_polluters(victim);
            let may_heal = |test: &u32| *test != victim && !polluters.contains(test);
            candidates.retain(|test| may_heal(test) && !guilty.contains(test));
            candidates.sort_by_key(|test| (test.abs_diff(victim), *test));
            candidates.truncate(MOST_CLEANERS);
            let found = match self.is_guessing() {
                true => self.nearest_cleaners(&polluters, victim, &candidates)?,
                false => {
                    candidates.sort_unstable();
                    cleaning::cleaners(&mut self.scheduler, &polluters, victim, &candidates)?
                }
            };
            let ids = found.iter().map(|test| self.ledger.test(*test).id.clone()).collect();
            self.ledger.test_mut(victim).cleaners = ids;
        }
        Ok(())
    }

    /// The cleaners nearest to a victim, as far as they heal in a new process, too. One is enough to know
    /// what heals, and so only some are looked for.
    fn nearest_cleaners(
        &mut self,
        polluters: &[u32],
        victim: u32,
        candidates: &[u32],
    ) -> Result<Vec<u32>, Stop> {
        let mut found = cleaning::nearest_cleaners(
            &mut self.scheduler,
            polluters,
            victim,
            candidates,
            MOST_CLEANERS_SHOWN,
        )?;
        found.sort_unstable();
        let after = |cleaner: &u32| polluters.iter().copied().chain([*cleaner]).collect();
        let beginnings: Vec<Vec<u32>> = found.iter().map(after).collect();
        let shown = self.shown(victim, &beginnings, Decision::Low)?;
        Ok(shown.iter().filter_map(|before| before.last().copied()).collect())
    }

    /// What the first polluters of each victim, or the first state-setters, leave behind.
    fn look_at_what_is_left(&mut self) -> Result<(), Stop> {
        let mut known: BTreeMap<Vec<u32>, Vec<LeftBehind>> = BTreeMap::new();
        for (test, set) in &self.first_influence {
            if !self.looked_into.insert(*test) {
                continue;
            }
            let left = match known.get(set) {
                Some(left) => left.clone(),
                None => {
                    let ids: Vec<TestId> =
                        set.iter().map(|it| self.ledger.test(*it).id.clone()).collect();
                    cleaning::left_behind(&self.scheduler, &ids)?
                }
            };
            known.insert(set.clone(), left.clone());
            self.ledger.test_mut(*test).left_behind = left;
        }
        Ok(())
    }

    /// The first influence on a test, and the test.
    pub(super) fn influenced(&self, test: u32) -> Option<Vec<u32>> {
        let set = self.first_influence.get(&test)?;
        Some(set.iter().copied().chain([test]).collect())
    }

    /// Only one test: does it fail because of others, and which?
    pub(super) fn one_victim(&mut self, test: u32) -> Result<(), Stop> {
        self.scheduler.begin(HuntStage::Classification, 1);
        let alone = self.scheduler.observe("alone", &[test])?;
        let known = self.ledger.test_mut(test);
        known.alone = alone.tally;
        let is_found = match alone.decision {
            Decision::High => self.passes_in_order(test)?,
            Decision::Low => self.fails_after_others(test)?,
        };
        if is_found { self.find_influences() } else { Ok(()) }
    }

    /// Whether a test that fails alone passes in the suite's own order.
    fn passes_in_order(&mut self, test: u32) -> Result<bool, Stop> {
        let order = self.original_up_to(test);
        let seen = self.scheduler.observe("in order", &order)?;
        self.ledger.test_mut(test).baseline = seen.tally;
        if seen.decision == Decision::High {
            self.remark_on(
                test,
                "fails alone and in the suite's own order: no order makes it pass",
            );
            return Ok(false);
        }
        self.failing_order.insert(test, vec![test]);
        self.passing_order.insert(test, order);
        self.call_one_flaky(test, FlakyKind::Brittle);
        Ok(true)
    }

    /// Whether a test that passes alone fails after others, and who makes it fail.
    fn fails_after_others(&mut self, test: u32) -> Result<bool, Stop> {
        let found = match self.polluter_nearby(test)? {
            Some(set) => Some(set),
            None => self.polluters_in_an_order(test)?,
        };
        match found {
            Some(set) => self.note_victim(test, set)?,
            None => self.remark_on(test, "passes alone and in every order that was tried"),
        }
        Ok(self.ledger.test(test).kind.is_some())
    }

    /// Who makes a test fail, among those that most likely have to do with it. A walk meets each of
    /// them once, but others may heal what one did; pairs see that, and take a start each.
    fn polluter_nearby(&mut self, test: u32) -> Result<Option<Vec<u32>>, Stop> {
        if self.is_guessing() && self.settings.polluters != PolluterSearch::Prefix {
            // Every pair is asked for sooner or later, and costs next to nothing where processes are
            // kept: a walk would take longer, and decide nothing that the pairs do not.
            if let Some(one) = self.first_of_all_pairs(test)? {
                return Ok(Some(vec![one]));
            }
        }
        let near = self.orders.nearest(test);
        let siblings = self.orders.siblings(test).min(MOST_SIBLINGS);
        let mut tried = 0;
        if self.scheduler.can_copy() || self.is_guessing() {
            tried = siblings;
            if let Some(one) = polluters::first_polluter(&mut self.scheduler, &near[..tried], test)?
            {
                return Ok(Some(vec![one]));
            }
        }
        if let Some(set) = polluters::polluting_set_on_the_way(&mut self.scheduler, &near, test)? {
            return Ok(Some(set));
        }
        let rest = near.get(tried..near.len().min(MOST_NEIGHBOURS)).unwrap_or_default();
        Ok(polluters::first_polluter(&mut self.scheduler, rest, test)?.map(|one| vec![one]))
    }

    /// The first test of the suite after which, alone, a test fails; all are tried.
    fn first_of_all_pairs(&mut self, test: u32) -> Result<Option<u32>, Stop> {
        let all = self.orders.original();
        let target = [(test, false)];
        let pairs = polluters::surprising_pairs(&mut self.scheduler, &all, &target, &|_, _| true)?;
        for pair in pairs {
            if polluters::fails_after(&mut self.scheduler, &[pair.first], test)? {
                return Ok(Some(pair.first));
            }
        }
        Ok(None)
    }

    /// The same in whole orders: the suite's own, which is what it does to its last test, and shuffled
    /// ones.
    fn polluters_in_an_order(&mut self, test: u32) -> Result<Option<Vec<u32>>, Stop> {
        let shuffled = (0..self.settings.orders).map(Some);
        for number in std::iter::once(None).chain(shuffled) {
            let mut others = match number {
                None => self.orders.original(),
                Some(number) => self.orders.order(OrderKind::Tests, number),
            };
            others.retain(|other| *other != test);
            if let Some(set) =
                polluters::polluting_set_on_the_way(&mut self.scheduler, &others, test)?
            {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    fn note_victim(&mut self, test: u32, set: Vec<u32>) -> Result<(), Stop> {
        let order: Vec<u32> = set.iter().copied().chain([test]).collect();
        let seen = self.scheduler.observe("after", &order)?;
        let known = self.ledger.test_mut(test);
        known.shuffled = seen.tally;
        self.failing_order.insert(test, order);
        self.call_one_flaky(test, FlakyKind::Victim);
        if self.settings.polluters == PolluterSearch::Prefix {
            self.note_influence(set, test);
        }
        Ok(())
    }

    fn remark_on(&mut self, test: u32, what: &str) {
        let id = self.ledger.test(test).id.clone();
        let next = "hunt without `--victim`, or with more `--orders`";
        self.ledger.remark(format!("`{id}` {what}"), next);
    }

    /// How to see each flaky test fail.
    pub(super) fn write_reproductions(&mut self) {
        for test in self.ledger.all(|test| test.kind.is_some()) {
            let known = self.ledger.test(test);
            let order = match known.kind {
                // It was written down with the seed that shows it.
                Some(FlakyKind::Id) => continue,
                Some(FlakyKind::Brittle) => vec![test],
                Some(FlakyKind::Victim) => self
                    .influenced(test)
                    .or_else(|| self.failing_order.get(&test).cloned())
                    .unwrap_or_else(|| vec![test]),
                Some(FlakyKind::Nod) | None => self.order_of_chance(test),
            };
            let isolation = self.scheduler.isolation_for(&order);
            let isolation = self.scheduler.adapter.can().judging(isolation);
            let order: Vec<TestId> =
                order.iter().map(|test| self.ledger.test(*test).id.clone()).collect();
            let command = match isolation {
                Isolation::Same => self.scheduler.adapter.command_for_all(),
                Isolation::Fork | Isolation::Spawn => self.scheduler.command_for_order(&order),
            };
            let known = self.ledger.test_mut(test);
            known.reproduction = Some(Reproduction { order, isolation, command });
        }
    }
}

/// An order without the test that it is about.
fn without_last(order: Option<&Vec<u32>>) -> Vec<u32> {
    let order = order.map(Vec::as_slice).unwrap_or_default();
    order.split_last().map(|(_, before)| before.to_vec()).unwrap_or_default()
}
