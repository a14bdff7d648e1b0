//! `cause`: change one thing at a time, and prove what makes a test fail.
//!
//! Every setting of every lever is an arm of one experiment. Runs with it are paired with plain runs, in
//! an order drawn by lot, so that drift and whatever the test remembers cancel; a plain run serves a few
//! arms at once. Each arm has an e-process ([`TwoSamples`](flakeproof_core::TwoSamples)), and one of `m`
//! arms is believed only at `m/α`; arms that show nothing are dropped by successive halving (Karnin, Koren
//! and Somekh 2013), settings that are left to chance later than those that are not. A failure of another
//! kind earns no credit, and a runner that does not work under a setting is no evidence about the test.
//!
//! What is believed is then proven by its opposite, in new processes and in turns: with the setting it
//! fails, with the control it passes, three times over, and the lot that drew the turns must be evidence
//! enough by itself. Last, the setting is cut down to the mildest that is enough.

mod arm;
mod experiment;
mod proof;
mod trial;

use std::time::Duration;

use flakeproof_core::{
    Cause, CauseEnd, CauseProgress, FailureTrace, LeverName, NotTried, Seed, Tally, TestId,
};
use flakeproof_runner::levers::{InForce, Lever, Setting};
use flakeproof_runner::{Adapter, Cancel, Result};

use self::experiment::Experiment;
pub use self::trial::UnderLever;

/// What to find out.
#[derive(Debug)]
pub struct Question {
    /// The test.
    pub test: TestId,
    /// The ids of the whole suite, in its order.
    pub suite: Vec<TestId>,
    /// What to change.
    pub tries: Vec<Tries>,
    /// What cannot be changed here, and why.
    pub not_tried: Vec<NotTried>,
    /// How the test is known to fail.
    pub known: Vec<FailureTrace>,
    /// The seed of the lots.
    pub seed: Seed,
    /// How long to go on.
    pub budget: Option<Duration>,
    /// When a run of a test is killed.
    pub timeout: Option<Duration>,
    /// An experiment to take up again.
    pub progress: CauseProgress,
}

/// A lever, and the settings of it to try.
#[derive(Debug)]
pub struct Tries {
    /// The lever.
    pub lever: Box<dyn Lever>,
    /// Its settings.
    pub settings: Vec<Setting>,
}

/// What was found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Why the test fails, as far as it is proven.
    pub cause: Cause,
    /// Tests run, those before it and beside it included.
    pub executions: u64,
    /// Why it ended.
    pub end: CauseEnd,
    /// Where to take it up again.
    pub progress: CauseProgress,
}

/// What is told while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum CauseEvent {
    /// A run ended.
    Ran {
        /// Plain runs so far.
        plain: Tally,
        /// Settings that are still under trial, and all of them.
        open: (usize, usize),
    },
    /// A setting is looked at more closely.
    Looking(LeverName, String),
    /// A setting is believed to matter, and has to be proven.
    Proving(LeverName, String),
    /// So much was learned.
    Learned(CauseProgress),
}

/// Find out what makes a test fail.
///
/// # Errors
/// When the runner itself breaks without anything changed; what tests do is never an error.
pub fn find_cause(
    adapter: &dyn Adapter,
    in_force: &InForce,
    question: &Question,
    clock: &dyn Fn() -> Duration,
    cancel: &Cancel,
    sink: &mut dyn FnMut(CauseEvent),
) -> Result<Found> {
    Experiment::new(adapter, in_force, question, clock, cancel, sink).find()
}
