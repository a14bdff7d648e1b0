//! What the triage may ask of the world outside: the change, the record, the base, the time.

use std::time::Duration;

use flakeproof_core::{Dependencies, Kind, Signature, TestId};
use flakeproof_runner::Adapter;

use crate::intersect::Facts;

/// Gives a change, or says why it is not known.
pub type ChangeSince<'a> =
    dyn Fn(&TestId, &Dependencies) -> std::result::Result<Facts, String> + 'a;

/// What the triage may ask of the world outside.
pub struct Experiments<'a> {
    /// What changed since a test last passed.
    pub since_pass: &'a ChangeSince<'a>,
    /// What changed since the work that is to be judged began.
    pub since_base: &'a ChangeSince<'a>,
    /// How a test fared before that work began, as far as it failed like this.
    pub record: &'a dyn Fn(&TestId, Option<&Signature>) -> Record,
    /// The code from before that work, checked out beside the project; or why it cannot be had.
    pub base: &'a dyn Fn() -> std::result::Result<BaseProject, String>,
    /// The time since the run began.
    pub clock: &'a dyn Fn() -> Duration,
}

/// How a test fared before the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Runs in which it passed.
    pub passes: u32,
    /// How it was flaky in each run in which it failed like this and was shown to be flaky.
    pub flaky: Vec<Option<Kind>>,
}

impl Record {
    /// Runs in which it failed like this and was shown to be flaky.
    #[must_use]
    pub fn failures(&self) -> u32 {
        u32::try_from(self.flaky.len()).unwrap_or(u32::MAX)
    }

    /// Whether the suite's order made it fail like this before.
    #[must_use]
    pub fn is_order_dependent(&self) -> bool {
        self.flaky.contains(&Some(Kind::StateDependent))
    }
}

/// Says which of the code that was used is not the base's.
pub type ForeignCode = dyn Fn(Option<&Dependencies>) -> Option<String>;

/// The code from before the change, checked out beside the project.
pub struct BaseProject {
    /// Runs its tests.
    pub adapter: Box<dyn Adapter>,
    /// Its revision, for people.
    pub revision: String,
    /// Its tests, in its own order.
    pub order: Vec<TestId>,
    /// Says which code that an execution there used is not the base's, if there may be any. What was
    /// used is not always known.
    pub foreign_code: Box<ForeignCode>,
    /// Removes the checkout when it is dropped.
    pub checkout: Box<dyn std::any::Any>,
}
