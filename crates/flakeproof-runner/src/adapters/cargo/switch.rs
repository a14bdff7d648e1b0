//! The harness's switch for shuffled orders: whether this toolchain's harness has it, what allows
//! it, and how it is thrown.
//!
//! `--shuffle-seed` is an unstable option. A stable toolchain's harness takes it where
//! `RUSTC_BOOTSTRAP` is set for the test binary; it is set for nothing else, and only where an
//! order needs it, because a test that itself starts cargo or a compiler sees it, too.
//!
//! With `--bench`, the harness passes over all that is no benchmark, calls it `ignored`, and still
//! goes through it in the order of the seed. So what is foretold is compared with what each binary
//! prints, and no test runs for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, OnceLock};

use super::discovery;
use super::found::{Binary, Found, Group, LISTING, Place, Way};
use super::session::{CargoSession, Variables};
use super::shuffle::{FEW, SEEDS, Shuffle};
use crate::adapter::{Error, Result};
use crate::lock::locked;
use crate::process::{Death, End};

/// What allows the switch for a harness of a stable toolchain.
pub(super) const ALLOWANCE: &str = "RUSTC_BOOTSTRAP";
/// So many tests of a binary are asked for; all of them could be more than a command line holds.
const MOST_ASKED: usize = 64;
/// Chance agrees once in so many cases at most.
const SURE: u64 = 10_000;

/// The switch of a toolchain's harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Switch {
    /// Whether the harness takes it only where the variable is set.
    pub(super) needs_allowance: bool,
}

impl Switch {
    /// The arguments that give the order of a seed.
    pub(super) fn arguments(seed: u64) -> [String; 4] {
        let words = ["-Z", "unstable-options", "--shuffle-seed"];
        let [first, second, third] = words.map(str::to_owned);
        [first, second, third, seed.to_string()]
    }

    /// The variables that allow it.
    pub(super) fn variables(self) -> Variables {
        let allowance = self.needs_allowance.then(|| (ALLOWANCE.to_owned(), Some("1".to_owned())));
        allowance.into_iter().collect()
    }

    /// Find out what the harnesses of these groups take, and whether they do as foretold. The error
    /// says in words why no other order can be run.
    fn find(session: &CargoSession, found: &Found) -> Result<std::result::Result<Self, String>> {
        let mut switch = Self { needs_allowance: false };
        for group in found.groups.iter().filter(|group| group.tests.len() > 1) {
            let Way::Harness(binary) = &group.way else { continue };
            let names = tests_of(session, group, binary)?;
            if names.len() < group.tests.len() {
                // Their names are padded, and would run where tests are only gone through.
                return Ok(Err("benchmarks are among its tests".to_owned()));
            }
            let names = &names[..names.len().min(MOST_ASKED)];
            let mut printed = printed_order(session, binary, names, 0, switch)?;
            if printed.is_err() && !switch.needs_allowance {
                switch.needs_allowance = true;
                printed = printed_order(session, binary, names, 0, switch)?;
            }
            if let Err(refusal) = printed {
                return Ok(Err(format!("its test harness takes no `--shuffle-seed`: {refusal}")));
            }
            if !is_foretold(session, binary, names, switch)? {
                let why = "its test harness shuffles in another way than is known here";
                return Ok(Err(why.to_owned()));
            }
        }
        Ok(Ok(switch))
    }
}

/// The tests of a group, as the harness lists them, without benchmarks.
fn tests_of(session: &CargoSession, group: &Group, binary: &Binary) -> Result<Vec<String>> {
    let listed = discovery::listed_tests(session, binary)?;
    let known: BTreeSet<&str> = group.tests.iter().map(|test| test.name.as_str()).collect();
    let names = listed.into_iter().filter(|name| known.contains(name.as_str()));
    Ok(names.collect())
}

/// Whether what is foretold for some seeds is what the harness prints, so often that it is no chance.
fn is_foretold(
    session: &CargoSession,
    binary: &Binary,
    names: &[String],
    switch: Switch,
) -> Result<bool> {
    let shuffle = Shuffle::of(names.iter().map(String::as_str));
    let orders: u64 = (1..=names.len() as u64).try_fold(1, u64::checked_mul).unwrap_or(u64::MAX);
    let mut chance: u64 = 1;
    for seed in 0..SEEDS {
        let foretold: Vec<&String> = shuffle.order(seed).iter().map(|at| &names[*at]).collect();
        match printed_order(session, binary, names, seed, switch)? {
            Ok(printed) if printed.iter().eq(foretold.iter().copied()) => {}
            Ok(_) | Err(_) => return Ok(false),
        }
        chance = chance.saturating_mul(orders);
        // Two seeds at least: one might not have been read at all.
        if chance >= SURE && seed > 0 {
            break;
        }
    }
    Ok(true)
}

/// The order in which the harness goes through some tests for a seed, without running any; or its
/// words where it does not take the switch.
fn printed_order(
    session: &CargoSession,
    binary: &Binary,
    names: &[String],
    seed: u64,
    switch: Switch,
) -> Result<std::result::Result<Vec<String>, String>> {
    let mut command = vec![binary.path.clone(), "--bench".to_owned(), "--exact".to_owned()];
    command.extend(names.iter().cloned());
    command.extend(Switch::arguments(seed));
    command.extend(["--test-threads=1", "--color=never", "--format=pretty"].map(str::to_owned));
    let mut variables = binary.variables.clone();
    variables.extend(session.variables_for_tests(1));
    variables.extend(switch.variables());
    let instructions = session.instructions(command, &binary.folder, variables);
    let ended = session.to_end(&instructions, Some(LISTING))?;
    if ended.how != End::Died(Death::Exit(0)) {
        let words = ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it fails");
        return Ok(Err(words.trim_start_matches("error: ").to_owned()));
    }
    let name = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        result.starts_with("ignored").then(|| name.trim_end().to_owned())
    };
    Ok(Ok(ended.stdout.lines().filter_map(name).collect()))
}

/// How a process of the harness comes to run tests in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// All that the process runs, in order; what was wanted is its beginning.
    pub(super) places: Vec<Place>,
    /// The seed, unless it is the harness's own order.
    pub(super) seed: Option<u64>,
}

/// The orders that the harnesses of a session can be brought to run.
#[derive(Debug, Default)]
pub(super) struct Launches {
    switch: OnceLock<std::result::Result<Switch, String>>,
    /// Orders of many tests that were given out, with their seeds.
    given: Mutex<BTreeMap<Vec<Place>, u64>>,
    /// What was given out for an order that was wanted.
    nearest: Mutex<HashMap<Vec<Place>, Vec<Place>>>,
}

impl Launches {
    /// The switch, if it was asked for and is there.
    pub(super) fn known(&self) -> Option<Switch> {
        self.switch.get()?.as_ref().ok().copied()
    }

    /// The switch, or why there is none.
    pub(super) fn switch(
        &self,
        session: &CargoSession,
    ) -> Result<&std::result::Result<Switch, String>> {
        if self.switch.get().is_none() {
            let found = Switch::find(session, session.found()?)?;
            // Whoever came first has found the same.
            let _ = self.switch.set(found);
        }
        self.switch.get().ok_or_else(|| Error::Agent("nobody asked for the switch".into()))
    }

    /// How to run tests of one group in this order.
    ///
    /// # Errors
    /// [`Error::NotPossible`] where the harness cannot be brought to it.
    pub(super) fn launch(&self, session: &CargoSession, wanted: &[Place]) -> Result<Launch> {
        if is_listed_so(wanted) {
            return Ok(Launch { places: wanted.to_vec(), seed: None });
        }
        let found = session.found()?;
        if let Err(why) = self.switch(session)? {
            return Err(not_possible(found, wanted, why));
        }
        if let Some(launch) = self.given_out(found, wanted) {
            return Ok(launch);
        }
        let alone = Selection::of(found, wanted);
        if let Some(seed) = alone.seed_of(wanted) {
            return Ok(Launch { places: wanted.to_vec(), seed: Some(seed) });
        }
        let whole = Selection::whole(found, wanted);
        match whole.seed_of(wanted).filter(|_| wanted.len() < whole.places.len()) {
            Some(seed) => Ok(Launch { places: whole.order(seed), seed: Some(seed) }),
            None => Err(not_possible(found, wanted, "no seed of its shuffle gives this order")),
        }
    }

    /// The order itself where it can be run, or one of the same tests with the same last one.
    pub(super) fn nearest(&self, found: &Found, wanted: &[Place]) -> Vec<Place> {
        let is_few = wanted.len() <= FEW;
        if is_few || is_listed_so(wanted) || self.given_out(found, wanted).is_some() {
            return wanted.to_vec();
        }
        if let Some(known) = locked(&self.nearest).get(wanted) {
            return known.clone();
        }
        let selection = Selection::of(found, wanted);
        let Some(seed) = selection.seed_near(wanted) else { return wanted.to_vec() };
        let order = selection.order(seed);
        locked(&self.given).insert(order.clone(), seed);
        locked(&self.nearest).insert(wanted.to_vec(), order.clone());
        order
    }

    /// An order that was given out, or a beginning of one of a whole binary.
    fn given_out(&self, found: &Found, wanted: &[Place]) -> Option<Launch> {
        let given = locked(&self.given);
        if let Some(seed) = given.get(wanted) {
            return Some(Launch { places: wanted.to_vec(), seed: Some(*seed) });
        }
        let whole = found.groups[wanted.first()?.group].tests.len();
        let alike =
            given.range(wanted.to_vec()..).take_while(|(order, _)| order.starts_with(wanted));
        let (order, seed) = alike.into_iter().find(|(order, _)| order.len() == whole)?;
        Some(Launch { places: order.clone(), seed: Some(*seed) })
    }
}

/// Tests of one group that are selected together.
struct Selection {
    /// As the harness lists them.
    places: Vec<Place>,
    shuffle: Shuffle,
}

impl Selection {
    fn of(found: &Found, tests: &[Place]) -> Self {
        let mut places = tests.to_vec();
        places.sort_unstable_by_key(|place| place.index);
        let name = |place: &Place| found.groups[place.group].tests[place.index].name.as_str();
        let shuffle = Shuffle::of(places.iter().map(name));
        Self { places, shuffle }
    }

    /// All tests of the group that these belong to.
    fn whole(found: &Found, tests: &[Place]) -> Self {
        let group = tests.first().map_or(0, |place| place.group);
        let count = found.groups.get(group).map_or(0, |group| group.tests.len());
        let places: Vec<Place> = (0..count).map(|index| Place { group, index }).collect();
        Self::of(found, &places)
    }

    fn order(&self, seed: u64) -> Vec<Place> {
        self.shuffle.order(seed).into_iter().map(|at| self.places[at]).collect()
    }

    fn seed_of(&self, wanted: &[Place]) -> Option<u64> {
        let at = |place: &Place| self.places.binary_search_by_key(&place.index, |it| it.index).ok();
        let wanted: Option<Vec<usize>> = wanted.iter().map(at).collect();
        self.shuffle.seed_of(&wanted?)
    }

    /// A seed of an order with the same last test. Which one of them follows from the whole order, so
    /// that another order has another one.
    fn seed_near(&self, wanted: &[Place]) -> Option<u64> {
        let last = wanted.last()?.index;
        let last = self.places.binary_search_by_key(&last, |it| it.index).ok()?;
        let bytes: Vec<u8> = wanted.iter().flat_map(|it| it.index.to_le_bytes()).collect();
        let digest = blake3::hash(&bytes);
        let first = digest.as_bytes().first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
        self.shuffle.seed_with_last(last, first % SEEDS)
    }
}

/// Whether the harness lists tests of one group in this order.
fn is_listed_so(order: &[Place]) -> bool {
    order.is_sorted_by(|first, second| first.index < second.index)
}

fn not_possible(found: &Found, order: &[Place], why: &str) -> Error {
    let id = |place: &Place| {
        let group = &found.groups[place.group];
        group.id(&group.tests[place.index])
    };
    let odd = order.windows(2).find(|two| two[0].index >= two[1].index);
    let what = match odd {
        Some(two) => format!("`{}` after `{}` in one process", id(&two[1]), id(&two[0])),
        None => "this order".to_owned(),
    };
    Error::NotPossible { what, why: why.to_owned() }
}
