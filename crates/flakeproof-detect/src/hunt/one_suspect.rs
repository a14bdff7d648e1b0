//! One suspect after the other, each up to its confirmation, where the pairs of all of them would take
//! longer than there is time.
//!
//! A budget that is spread over all suspects ends with many that are half explained, and says of none what
//! it is. So whoever is explained soonest comes first, and what explains one is tried before all
//! others on the next: in most suites few polluters have many victims.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flakeproof_core::{FlakyKind, Isolation};

use super::Hunt;
use super::settings::HuntStage;
use super::trial_scheduler::Stop;
use crate::pollution::polluters;

/// So much of the rest of a budget may go into suspects one by one; the rest is for those that fail by chance.
const BUDGET_FOR_SUSPECTS: f64 = 0.8;
/// So many sets that explain other suspects are tried before anything else.
const MOST_KNOWN_SETS: usize = 5;
/// So many suspects are asked what they do alone before the first of them is explained.
const LOOKED_AT_TOGETHER: usize = 8;
/// Such a part of the pairs that are left is not needed after another order: it clears half of the
/// candidates of most suspects, and three of four pairs would not be tried anyway, as the likeliest come
/// first.
const SAVED_BY_AN_ORDER: f64 = 0.125;
/// So many orders, some with either outcome, say who is why: chance agrees with one of a hundred candidates in
/// all of them once in three times if its rate is one half, and then has to pass five more runs.
const ORDERS_THAT_SPEAK: usize = 8;
const FEWEST_OF_EITHER: usize = 2;
/// A set is searched in an order by running about so many whole ones.
const ORDERS_OF_A_SEARCH: f64 = 4.0;

impl Hunt<'_, '_> {
    /// Explain suspects one by one, and show in new processes what was found before the next one.
    ///
    /// Who did not run alone yet does so with the few that are looked at next: what all of them do alone
    /// may take longer than there is time.
    pub(super) fn explain_in_turn(&mut self) -> Result<(), Stop> {
        let end = self.scheduler.after_part_of_the_rest(BUDGET_FOR_SUSPECTS);
        let mut waiting = self.suspicious();
        waiting.sort_by_cached_key(|test| (self.pairs_of(*test), *test));
        self.scheduler.begin(HuntStage::Pollution, waiting.len());
        for some in waiting.chunks(LOOKED_AT_TOGETHER) {
            if self.scheduler.is_past(end) {
                return Ok(());
            }
            self.run_alone_to_time(some)?;
            self.scheduler.begin(HuntStage::Pollution, 0);
            let suspects = some
                .iter()
                .filter_map(|it| Some(self.suspect(*it, self.suspect_fails_alone(*it)?)));
            let mut suspects: Vec<Suspect> = suspects.collect();
            suspects.sort_by(|one, other| {
                one.seconds.total_cmp(&other.seconds).then(one.test.cmp(&other.test))
            });
            for suspect in suspects {
                if self.scheduler.is_past(end) {
                    return Ok(());
                }
                if self.explain(&suspect)? {
                    self.confirm(&[suspect.test], &[])?;
                    self.scheduler.begin(HuntStage::Pollution, 0);
                }
            }
        }
        Ok(())
    }

    /// Whether another order is worth its time: it tells of every suspect at once whom it does not depend
    /// on, and so saves pairs of all of them.
    pub(super) fn saves_pairs(&self) -> bool {
        if self.scheduler.budget.is_none() || self.scheduler.can_copy() {
            return false;
        }
        let order = self.seconds_of_an_order();
        let pairs = |test: &u32| {
            let candidates = self.fewest_candidates(*test);
            let pairs: f64 = candidates.iter().map(|it| self.seconds_of_a_pair(*it, *test)).sum();
            pairs.min(ORDERS_OF_A_SEARCH * order)
        };
        self.suspicious().iter().map(pairs).sum::<f64>() * SAVED_BY_AN_ORDER > order
    }

    /// So many pairs explain a suspect at most, if it depends on one other test. Without candidates it depends
    /// on several, or others came in between that undid what one of them did.
    fn pairs_of(&self, test: u32) -> usize {
        match self.fewest_candidates(test).len() {
            0 => self.orders.tests(),
            pairs => pairs,
        }
    }

    /// The candidates of a suspect. Of one that did not run alone yet nobody knows whether to ask who makes it
    /// fail or who makes it pass; the question with fewer answers is taken.
    fn fewest_candidates(&self, test: u32) -> Vec<u32> {
        if let Some(fails_alone) = self.suspect_fails_alone(test) {
            return self.candidates(test, fails_alone);
        }
        let both = [false, true].map(|fails_alone| self.candidates(test, fails_alone));
        let some = both.into_iter().filter(|it| !it.is_empty());
        some.min_by_key(Vec::len).unwrap_or_default()
    }

    /// Tests that ran before a suspect when its outcome changed, and never when it did not; the likeliest
    /// first.
    fn candidates(&self, test: u32, fails_alone: bool) -> Vec<u32> {
        let may = self.may_change(test, fails_alone);
        let ran = self.ran_before(test, fails_alone);
        let mut candidates = self.orders.nearest(test);
        candidates.retain(|other| may[*other as usize] && ran[*other as usize]);
        candidates
    }

    /// A suspect with those that may change its outcome, the likeliest first.
    fn suspect(&self, test: u32, fails_alone: bool) -> Suspect {
        let past = self.past_orders(test, fails_alone);
        let mut candidates = self.candidates(test, fails_alone);
        candidates.sort_by_key(|other| past.iter().filter(|it| !it.agrees_with(&[*other])).count());
        let mut undone = always_close_before(&past);
        undone.retain(|other| !candidates.contains(other));
        let some = if candidates.is_empty() { &undone } else { &candidates };
        let pairs: f64 = some.iter().map(|other| self.seconds_of_a_pair(*other, test)).sum();
        let seconds = pairs.min(ORDERS_OF_A_SEARCH * self.seconds_of_an_order());
        let is_shown_anew = self.scheduler.isolation() != Isolation::Spawn;
        Suspect { test, fails_alone, candidates, undone, past, is_shown_anew, seconds }
    }

    /// The orders that ran in one environment up to a test, and whether it did in them what it does alone.
    fn past_orders(&self, test: u32, fails_alone: bool) -> Vec<PastOrder> {
        let failing = self.ledger.failing_orders(test);
        let past = |before: Vec<u32>, has_failed: bool| {
            let mut places = vec![None; self.orders.tests()];
            (0..).zip(&before).for_each(|(at, other)| places[*other as usize] = Some(at));
            PastOrder { length: before.len(), places, has_changed: has_failed != fails_alone }
        };
        let others = self.ledger.whole_orders(test).into_iter();
        let mut all: Vec<PastOrder> = others
            .map(|order| past(self.other_up_to(order, test), failing.contains(&order)))
            .collect();
        let own = self.ledger.test(test).baseline;
        if self.ledger.is_baseline_whole && own.runs > 0 && !own.is_inconsistent() {
            all.push(past(self.original_up_to(test), own.failures > 0));
        }
        all
    }

    /// What two tests in one environment take: of what a test takes alone, most is the start of its process.
    fn seconds_of_a_pair(&self, first: u32, second: u32) -> f64 {
        let known = self.seconds_alone.iter().copied().filter(|it| *it > 0.0);
        let (count, sum) = known.fold((0_u32, 0.0), |(count, sum), it| (count + 1, sum + it));
        let alone = |test: u32| match self.seconds_alone.get(test as usize) {
            Some(seconds) if *seconds > 0.0 => *seconds,
            // Who did not run alone yet takes as long as the others.
            _ => sum / f64::from(count.max(1)),
        };
        alone(first).max(alone(second))
    }

    /// Find tests after which a suspect does not do as it does alone; whether there are any.
    fn explain(&mut self, suspect: &Suspect) -> Result<bool, Stop> {
        let Suspect { test, fails_alone, .. } = *suspect;
        let set = match self.known_influence(suspect)? {
            Some(set) => Some(set),
            None => self.new_influence(suspect)?,
        };
        let Some(set) = set else { return Ok(false) };
        if !suspect.is_borne_out(&set) && !self.is_steady_alone(test, fails_alone)? {
            return Ok(false);
        }
        let order: Vec<u32> = set.iter().copied().chain([test]).collect();
        let (kind, failing, passing) = match fails_alone {
            true => (FlakyKind::Brittle, vec![test], order),
            false => (FlakyKind::Victim, order, vec![test]),
        };
        self.failing_order.insert(test, failing);
        self.passing_order.insert(test, passing);
        self.call_one_flaky(test, kind);
        self.note_influence(set, test);
        Ok(true)
    }

    /// A set that explains other suspects and this one, too.
    fn known_influence(&mut self, suspect: &Suspect) -> Result<Option<Vec<u32>>, Stop> {
        let Suspect { test, fails_alone, .. } = *suspect;
        let kind = if fails_alone { FlakyKind::Brittle } else { FlakyKind::Victim };
        let mut tests_of: BTreeMap<&Vec<u32>, usize> = BTreeMap::new();
        // Who ran before it without any effect explains nothing, unless all of them did: then somebody heals.
        let may_explain = |other: &u32| match suspect.candidates.is_empty() {
            true => suspect.undone.contains(other),
            false => suspect.candidates.contains(other),
        };
        for (other, set) in &self.first_influence {
            let is_alike = self.ledger.test(*other).kind == Some(kind);
            if is_alike && set.iter().all(may_explain) {
                *tests_of.entry(set).or_default() += 1;
            }
        }
        let mut sets: Vec<(usize, Vec<u32>)> =
            tests_of.into_iter().map(|(set, tests)| (tests, set.clone())).collect();
        sets.sort_by_key(|(tests, set)| (Reverse(*tests), set.clone()));
        for (_, set) in sets.into_iter().take(MOST_KNOWN_SETS) {
            if polluters::fails_once_after(&mut self.scheduler, &set, test)? != fails_alone
                && (suspect.is_borne_out(&set)
                    || polluters::fails_after(&mut self.scheduler, &set, test)? != fails_alone)
            {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    /// One of the candidates, or of those whose work was undone, as far as they cost less than a search for
    /// several; else such a search.
    fn new_influence(&mut self, suspect: &Suspect) -> Result<Option<Vec<u32>>, Stop> {
        let Suspect { test, fails_alone, .. } = *suspect;
        let search = ORDERS_OF_A_SEARCH * self.seconds_of_an_order();
        for likely in [&suspect.candidates, &suspect.undone] {
            let mut seconds = 0.0;
            let is_cheap = |first: &&u32| {
                seconds += self.seconds_of_a_pair(**first, test);
                seconds < search
            };
            let likely: Vec<u32> = likely.iter().take_while(is_cheap).copied().collect();
            let needs_no_more = |first: u32| suspect.is_borne_out(&[first]);
            let scheduler = &mut self.scheduler;
            let first =
                polluters::first_influence(scheduler, &likely, test, fails_alone, &needs_no_more)?;
            if let Some(first) = first {
                return Ok(Some(vec![first]));
            }
        }
        if !self.scheduler.fits(search) {
            return Ok(None);
        }
        let before = self.shortest_changing_order(test, fails_alone);
        match fails_alone {
            true => polluters::setters(&mut self.scheduler, &before, test),
            false => polluters::polluting_set(&mut self.scheduler, &before, test),
        }
    }

    /// Those before a test in the shortest beginning of an order in which it did not do as it does alone.
    fn shortest_changing_order(&self, test: u32, fails_alone: bool) -> Vec<u32> {
        let known = self.ledger.test(test);
        let own = if fails_alone {
            known.baseline.failures < known.baseline.runs
        } else {
            known.baseline.failures > 0
        };
        let failing = self.ledger.failing_orders(test);
        let others = self.ledger.whole_orders(test).into_iter();
        let others = others.filter(|order| failing.contains(order) != fails_alone);
        let mut orders: Vec<Vec<u32>> = others.map(|it| self.other_up_to(it, test)).collect();
        if own || orders.is_empty() {
            orders.push(self.original_up_to(test));
        }
        let mut shortest = orders.into_iter().min_by_key(Vec::len).unwrap_or_default();
        shortest.retain(|other| *other != test);
        shortest
    }
}

/// A test whose outcome changed, and who may be why.
struct Suspect {
    test: u32,
    fails_alone: bool,
    /// Tests that ran before it when its outcome changed, and never when it did not; those that explain
    /// most orders first.
    candidates: Vec<u32>,
    /// Tests that always ran before it when its outcome changed, and others may have undone what they did when
    /// it did not; those first that were always close.
    undone: Vec<u32>,
    /// The orders that say something of it.
    past: Vec<PastOrder>,
    /// Whether new processes are asked about what is found.
    is_shown_anew: bool,
    /// What a pair with each of the candidates takes.
    seconds: f64,
}

impl Suspect {
    /// Whether its outcome changed in just those orders in which some tests ran before it, often enough that
    /// chance does not explain it: then one run after them is not asked for again, and new processes decide.
    fn is_borne_out(&self, set: &[u32]) -> bool {
        let changed = self.past.iter().filter(|it| it.has_changed).count();
        self.is_shown_anew
            && self.past.len() >= ORDERS_THAT_SPEAK
            && (FEWEST_OF_EITHER..=self.past.len() - FEWEST_OF_EITHER).contains(&changed)
            && self.past.iter().all(|it| it.agrees_with(set))
    }
}

/// The tests that ran before a suspect in all orders that changed its outcome, those first that were close to it
/// where they were farthest: whoever undid their work in other orders did not come in between in these.
fn always_close_before(past: &[PastOrder]) -> Vec<u32> {
    let changed: Vec<&PastOrder> = past.iter().filter(|order| order.has_changed).collect();
    let Some(some) = changed.first() else { return Vec::new() };
    let farthest = |test: u32| {
        changed
            .iter()
            .map(|order| order.distance(test))
            .collect::<Option<Vec<usize>>>()?
            .into_iter()
            .max()
    };
    let tests = (0..).zip(&some.places).map(|(test, _)| test);
    let mut close: Vec<(usize, u32)> =
        tests.filter_map(|test| Some((farthest(test)?, test))).collect();
    close.sort_unstable();
    close.into_iter().map(|(_, test)| test).collect()
}

/// An order that ran in one environment up to a suspect.
struct PastOrder {
    /// So many tests ran before the suspect.
    length: usize,
    /// Where each test stood that ran before the suspect.
    places: Vec<Option<u32>>,
    /// Whether the suspect did something else than alone.
    has_changed: bool,
}

impl PastOrder {
    /// So many places before the suspect a test ran.
    fn distance(&self, test: u32) -> Option<usize> {
        let place = self.places[test as usize]?;
        self.length.checked_sub(place as usize)
    }

    /// Whether its outcome is what it is to be if these tests, in their order, are why it changes.
    fn agrees_with(&self, set: &[u32]) -> bool {
        let places: Option<Vec<u32>> = set.iter().map(|it| self.places[*it as usize]).collect();
        places.is_some_and(|it| it.is_sorted()) == self.has_changed
    }
}
