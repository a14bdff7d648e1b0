//! What to hunt for, and how long.

use std::time::Duration;

use flakeproof_core::{FlakyKind, TrialRecord};
use flakeproof_core::{
    Hidden, HuntCost, HuntEnd, HuntedTest, Isolation, Notice, OrderKind, Seed, TestId,
};
use flakeproof_runner::Result;

use super::strategy::Strategy;

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
    /// How fresh environments are made.
    pub isolation: Isolation,
    /// How long to go on.
    pub budget: Option<Duration>,
    /// How to look for polluters and state-setters.
    pub polluters: PolluterSearch,
    /// Look only at this test: who makes it fail?
    pub victim: Option<TestId>,
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
            isolation: Isolation::Fork,
            budget: None,
            polluters: PolluterSearch::Pairs,
            victim: None,
            strategy: Strategy::Off,
        }
    }
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
        }
    }
}

/// What a hunt tells while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum HuntEvent {
    /// A stage begins; so many trials are planned, as far as that is known.
    Stage(HuntStage, usize),
    /// A trial is done: its executions, and whether it was read from the history.
    Trial {
        /// Tests that ran in it.
        executions: u32,
        /// Whether an earlier session made it.
        is_recalled: bool,
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
