//! A process under way, and the one that waits for it to end.

use super::crowd::{Crowd, HeldCrowd};
use super::found::{Group, Place};
use super::measure::Measure;
use super::piece::{HeldPiece, Piece, PieceTest, TestResult};
use super::process::Foretold;
use super::session::CargoSession;
use super::switch::{Launch, Switch};
use crate::adapter::{Probe, Result};
use crate::process::{Death, Instructions, Peak, Usage};

/// What a process is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) launch: Launch,
    /// So many of them are wanted; the others run because they belong to how these run.
    pub(super) wanted: usize,
    /// How many tests run at the same time.
    pub(super) at_once: usize,
}

impl Start {
    /// One test and nothing else.
    pub(super) fn alone(place: Place, seed: Option<u64>) -> Self {
        Self { launch: Launch { places: vec![place], seed }, wanted: 1, at_once: 1 }
    }
}

/// A process that waits for the one before it to end: its guard takes longer to start than some tests do.
#[derive(Debug)]
pub(super) struct Ahead {
    pub(super) start: Start,
    pub(super) probe: Probe,
    pub(super) measure: Measure,
    pub(super) work: HeldWork,
}

impl Ahead {
    /// Start it; `switch` is how other orders than the harness's own are asked for.
    pub(super) fn go(self, switch: Option<Switch>) -> Result<Live> {
        let Self { start, measure, work, .. } = self;
        let work = match work {
            HeldWork::OneByOne(piece) => Work::OneByOne(piece.start()?),
            HeldWork::AtOnce(crowd) => Work::AtOnce(crowd.start()?),
        };
        let switch = start.launch.seed.and(switch);
        let is_allowed = switch.is_some_and(|switch| switch.needs_allowance);
        let (places, wanted) = (start.launch.places, start.wanted);
        Ok(Live { work, places, wanted, is_allowed, measure, is_rerun: false })
    }
}

/// A process that is under way.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) work: Work,
    /// All that it runs, in order.
    pub(super) places: Vec<Place>,
    pub(super) wanted: usize,
    /// Whether its tests see the variable that allows shuffled orders.
    pub(super) is_allowed: bool,
    pub(super) measure: Measure,
    /// Whether it runs a test again, after all that ran before it.
    pub(super) is_rerun: bool,
}

impl Live {
    /// Whether its order is another than the harness's own.
    pub(super) fn is_shuffled(&self) -> bool {
        !self.places.is_sorted_by(|first, second| first.index < second.index)
    }
}

/// The tests of a process that has not started yet.
#[derive(Debug)]
pub(super) enum HeldWork {
    OneByOne(HeldPiece),
    AtOnce(HeldCrowd),
}

impl HeldWork {
    pub(super) fn new(
        session: &CargoSession,
        instructions: &Instructions,
        group: &Group,
        start: &Start,
    ) -> Result<Self> {
        let listed = start.launch.places.iter().map(|place| &group.tests[place.index]);
        let tests = listed
            .map(|test| PieceTest { name: test.name.clone(), is_ignored: test.is_ignored })
            .collect();
        if start.at_once > 1 {
            return Ok(Self::AtOnce(HeldCrowd::new(session, instructions, tests, start.at_once)?));
        }
        let foretold = start.launch.seed.map_or(Foretold::Listed, |_| Foretold::Shuffled);
        Ok(Self::OneByOne(HeldPiece::new(session, instructions, tests, foretold)?))
    }
}

/// The tests of a process, one after the other or several at the same time.
#[derive(Debug)]
pub(super) enum Work {
    OneByOne(Piece),
    AtOnce(Crowd),
}

impl Work {
    /// Wait until it is known how a test ended.
    pub(super) fn result_of(&mut self, test: usize, session: &CargoSession) -> Result<TestResult> {
        match self {
            Self::OneByOne(piece) => piece.result_of(test, session),
            Self::AtOnce(crowd) => crowd.result_of(test, session),
        }
    }

    /// Wait until all tests ran.
    pub(super) fn finish(&mut self, session: &CargoSession) -> Result<()> {
        match self {
            Self::OneByOne(piece) => piece.finish(session),
            Self::AtOnce(crowd) => crowd.finish(session),
        }
    }

    /// What is wrong with the end of the process, where its tests do not explain it.
    pub(super) fn unexplained_end(&self) -> Option<String> {
        match self {
            Self::OneByOne(piece) => piece.unexplained_end(),
            Self::AtOnce(crowd) => crowd.unexplained_end(),
        }
    }

    /// How the process died, if nobody knows which of several tests ended it.
    pub(super) fn died_among(&self) -> Option<(Death, Vec<usize>)> {
        match self {
            Self::OneByOne(_) => None,
            Self::AtOnce(crowd) => crowd.died_among(),
        }
    }

    /// How those tests ended of which it is known.
    pub(super) fn known_results(&self) -> Vec<(usize, TestResult)> {
        let known = match self {
            Self::OneByOne(piece) => piece.known_results(),
            Self::AtOnce(crowd) => crowd.known_results(),
        };
        let is_result = |told: &TestResult| match told {
            TestResult::Passed(_)
            | TestResult::Failed(..)
            | TestResult::Ignored(_)
            | TestResult::TimedOut(..) => true,
            TestResult::Died(..)
            | TestResult::DiedAfter(..)
            | TestResult::Unclear
            | TestResult::NeverBegan
            | TestResult::Lost(..) => false,
        };
        known.into_iter().filter(|(_, told)| is_result(told)).collect()
    }

    /// Look from now on at what its process has at once.
    pub(super) fn watch(&mut self) {
        if let Self::OneByOne(piece) = self {
            piece.watch();
        }
    }

    /// What its process used, once it is over; of several tests at the same time nothing is told.
    pub(super) fn usage(&mut self) -> Option<(Usage, Peak)> {
        match self {
            Self::OneByOne(piece) => piece.usage(),
            Self::AtOnce(_) => None,
        }
    }
}
