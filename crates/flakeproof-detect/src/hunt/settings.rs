//! What to hunt for, for how long, and by which strategy the time is spent.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use flakeproof_core::{
    FlakyKind, Hidden, HuntCost, HuntEnd, HuntedTest, Isolation, Notice, OrderKind, Region, Seed,
    TestId, TrialRecord,
};
use flakeproof_runner::Result;

use super::crew::Crew;
use crate::plan::FailureRates;

/// How a hunt goes about.
#[derive(Debug, Clone, PartialEq)]
pub struct HuntSettings {
    /// The seed of all orders.
    pub seed: Seed,
    /// Runs in the suite's own order (the set-up stage).
    pub runs: u32,
    /// Runs in other orders (the running stage).
    pub orders: u32,
    /// Which other orders, in turns.
    pub kinds: Vec<OrderKind>,
    /// How often a test that always did the same is run alone, at most (RERUN).
    pub max_reruns: u32,
    /// The share of further failures that are checked again in the classification (γ).
    pub recheck: f64,
    /// Environments side by side.
    pub jobs: usize,
    /// Environments side by side where they are only nearly fresh, so that what they show is looked at again
    /// alone, and would take long one after the other.
    pub most_at_once: usize,
    /// How fresh environments are made.
    pub isolation: Isolation,
    /// How long to go on.
    pub budget: Option<Duration>,
    /// How to look for polluters and state-setters.
    pub polluters: PolluterSearch,
    /// Look only at this test: who makes it fail?
    pub victim: Option<TestId>,
    /// What to look for.
    pub sought: Sought,
    /// Runs with other orders where the language leaves them open.
    pub shuffles: u32,
    /// Where to spend the time.
    pub strategy: Strategy,
}

impl Default for HuntSettings {
    fn default() -> Self {
        Self {
            seed: Seed(0),
            runs: 10,
            orders: 20,
            kinds: vec![OrderKind::Tests],
            max_reruns: 20,
            recheck: 0.2,
            jobs: 1,
            most_at_once: 1,
            isolation: Isolation::Fork,
            budget: None,
            polluters: PolluterSearch::Pairs,
            victim: None,
            sought: Sought::Usual,
            shuffles: 5,
            strategy: Strategy::Off,
        }
    }
}

/// Which kinds of flaky tests are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// Those that fail by chance, and those that depend on other tests.
    Usual,
    /// Those that rely on an order that the language leaves open.
    ImplementationDependent,
    /// All of them.
    All,
}

/// How to look for polluters and state-setters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolluterSearch {
    /// Every test before every other one, whether that one is suspicious or not (PAIRWISE).
    All,
    /// Every test before every victim, and sets of several where none does it alone.
    Pairs,
    /// One minimal set for each victim, out of the order in which it failed (delta debugging).
    Prefix,
    /// Not at all.
    Off,
}

/// A part of a hunt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HuntStage {
    /// Runs in the suite's own order.
    SetUp,
    /// Each test alone.
    Alone,
    /// Runs in other orders.
    Running,
    /// Victim, or not order-dependent?
    Classification,
    /// Again and again, alone.
    Rerun,
    /// Who makes whom fail.
    Pollution,
    /// Who heals it again.
    Cleaning,
    /// What was found in copies, once more in new processes.
    Confirmation,
    /// Runs with other orders where the language leaves them open.
    OpenOrders,
    /// Which calls give those orders.
    Calls,
}

impl HuntStage {
    /// The stage in a few words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SetUp => "runs in the suite's own order",
            Self::Alone => "each test alone",
            Self::Running => "runs in other orders",
            Self::Classification => "victim, or not order-dependent?",
            Self::Rerun => "reruns of single tests",
            Self::Pollution => "polluters",
            Self::Cleaning => "cleaners",
            Self::Confirmation => "confirmation in new processes",
            Self::OpenOrders => "other orders of hash tables",
            Self::Calls => "calls whose order matters",
        }
    }
}

/// What a hunt tells while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum HuntEvent {
    /// A stage begins; so many trials are planned, as far as that is known.
    Stage(HuntStage, usize),
    /// What is planned takes about so long, as far as that is known.
    Left(Duration),
    /// A trial is done, in this session or in an earlier one.
    Trial {
        /// Tests that ran in it.
        executions: u32,
    },
    /// A test is found to be flaky.
    Flaky(TestId, FlakyKind),
    /// Tests that make a test fail, or pass if it is brittle.
    Influence(Vec<TestId>, TestId),
}

/// Where trials are kept, and found again.
pub struct Journal<'a> {
    /// The trial with a key.
    pub recall: &'a dyn Fn(&str) -> Option<TrialRecord>,
    /// Keep a trial under its key.
    pub keep: &'a mut dyn FnMut(&str, &TrialRecord),
}

/// What a hunt is given from outside.
#[derive(Clone, Copy)]
pub struct Workplace<'a> {
    /// The time that has passed.
    pub clock: &'a (dyn Fn() -> Duration + Sync),
    /// Removes what tests left on disk, after every environment. There are no copies of live
    /// environments then, because they would share what those before them leave.
    pub tidy: Option<&'a (dyn Fn() -> Result<()> + Sync)>,
    /// Who runs the trials, if not this machine.
    pub crew: Option<&'a Crew<'a>>,
}

/// What a hunt found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Hunted {
    /// Every test of the suite, in its order.
    pub tests: Vec<HuntedTest>,
    /// What it took.
    pub cost: HuntCost,
    /// Why it ended.
    pub end: HuntEnd,
    /// What it may have missed, where a plan kept count.
    pub hidden: Option<Hidden>,
    /// What the reader should know.
    pub notices: Vec<Notice>,
}

/// Where a hunt spends its time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Strategy {
    /// Every test gets the same.
    #[default]
    Off,
    /// Models say which tests are rerun, which are classified, and which pairs are tried.
    Cannier(Candidates),
    /// The next execution goes where it is worth most.
    Plan(Forecast),
}

/// What models say about each test of the suite, in its order (CANNIER, sections 3.2 and 3.3).
///
/// Where no model was asked, everything is ambiguous and everybody a candidate, as without CANNIER.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidates {
    /// NOD or not: only ambiguous tests are rerun.
    pub reruns: Option<Vec<Region>>,
    /// NOD or victim, for tests that failed in some order: only ambiguous ones are classified by
    /// running them.
    pub kinds: Option<Vec<Region>>,
    /// Candidate victims of PAIRWISE.
    pub victims: Option<Vec<bool>>,
    /// Candidate polluters of PAIRWISE.
    pub polluters: Option<Vec<bool>>,
}

/// What is believed about each test of the suite, in its order, before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// How likely it is flaky in any order. Zero for tests that nobody asks about.
    pub flaky: Vec<f64>,
    /// How likely its outcome depends on the order. Zero for tests that nobody asks about.
    pub victim: Vec<f64>,
    /// Its groups, the outermost first.
    pub kin: Vec<Vec<String>>,
    /// How often flaky tests fail.
    pub rates: FailureRates,
    /// The share of what is hidden at first that may stay hidden when the hunt ends.
    pub may_stay_hidden: f64,
}

impl Forecast {
    /// A flaky test that fails less often than this is not waited for.
    pub const OFTEN: f64 = 0.05;

    /// Whether anybody asks about the test at this place.
    pub(super) fn is_asked(&self, at: usize) -> bool {
        let likely = |chances: &[f64]| chances.get(at).is_some_and(|chance| *chance > 0.0);
        likely(&self.flaky) || likely(&self.victim)
    }
}

impl Candidates {
    /// Whether RERUN runs a test.
    pub(super) fn is_rerun(&self, test: u32) -> bool {
        let region = self.reruns.as_ref().and_then(|it| it.get(test as usize));
        region.is_none_or(|region| *region == Region::Ambiguous)
    }

    /// Whether a model is sure that a test that failed in some order is NOD, or that it is not.
    pub(super) fn says_nod(&self, test: u32) -> Option<bool> {
        match self.kinds.as_ref()?.get(test as usize)? {
            Region::Above => Some(true),
            Region::Below => Some(false),
            Region::Ambiguous => None,
        }
    }

    /// Whether PAIRWISE runs one test before another.
    pub(super) fn is_pair(&self, first: u32, second: u32) -> bool {
        let is_one = |all: &Option<Vec<bool>>, test: u32| {
            all.as_ref().and_then(|it| it.get(test as usize)).is_none_or(|is| *is)
        };
        is_one(&self.polluters, first) && is_one(&self.victims, second)
    }
}
