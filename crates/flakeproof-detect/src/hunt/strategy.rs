//! Where a hunt spends its time.

use flakeproof_core::Region;

use crate::plan::FailureRates;

/// Where a hunt spends its time.
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq, Default)]
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
#[derive(Debug, Clone, PartialEq)]
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
