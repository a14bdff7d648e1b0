//! Why a test fails: what was changed about its surroundings, how often it failed then, and what is
//! proven by that.
//!
//! A [lever](LeverName) is one thing that is changed on purpose, and a cause is a lever whose effect is
//! proven. What was changed and had no effect is part of the answer, and so is what could not be tried.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::statistics::failure_rate;
use crate::{ExitCode, Failure, Notice, RunFacts, Tally, TestId};

/// At least so often a test fails under what causes it to fail.
const NEARLY_ALWAYS: f64 = 0.8;
/// At most so often it fails without it.
const HARDLY_EVER: f64 = 0.1;
/// At most this share of its failures is left under what stabilises it.
const LEFT: f64 = 0.25;

/// All that was found out about why a test fails.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseFindings {
    /// What was run, when and how.
    pub run: RunFacts,
    /// What was found, as it is kept.
    pub cause: Cause,
    /// Tests run, those before it and beside it included.
    pub executions: u64,
    /// Why it ended.
    pub end: CauseEnd,
    /// What the reader should know.
    pub notices: Vec<Notice>,
    /// How the program ends.
    pub exit: ExitCode,
}

/// Why a test fails, as far as it is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The test.
    pub test: TestId,
    /// The strongest thing that can be said.
    pub answer: CauseAnswer,
    /// The runs in which nothing was changed.
    pub plain: Tally,
    /// Every value of every lever that was tried, those that matter first.
    pub levers: Vec<TriedLever>,
    /// Levers that were not tried, and why.
    pub not_tried: Vec<NotTried>,
    /// What makes it flaky, in the words of the data sets that predictors learn from.
    pub category: Option<String>,
    /// A command that makes it fail.
    pub command: Option<String>,
    /// How it fails.
    pub failure: Option<Failure>,
}

impl Cause {
    /// The lever that the answer is about.
    #[must_use]
    pub fn lever(&self) -> Option<&TriedLever> {
        self.levers.iter().find(|it| it.answer == Some(self.answer))
    }

    /// What to pull to see it fail, and how often it did: where a lever makes it fail, not where one makes
    /// it pass.
    #[must_use]
    pub fn failing_under(&self) -> Option<(LeverValue, Tally)> {
        let lever = self.lever().filter(|_| self.answer != CauseAnswer::StabilisedBy)?;
        Some((LeverValue { name: lever.name, value: lever.value.clone() }, lever.with))
    }

    /// Whether the test failed whenever nothing was changed, often enough to call it broken.
    #[must_use]
    pub fn always_fails(&self) -> bool {
        self.plain.runs >= crate::ALWAYS && self.plain.always_fails()
    }
}

/// The strongest thing that can be said about why a test fails, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CauseAnswer {
    /// It fails nearly always with the lever, and hardly ever without.
    #[serde(rename = "caused by")]
    CausedBy,
    /// It fails more often with the lever.
    #[serde(rename = "raised by")]
    RaisedBy,
    /// The lever makes it pass.
    #[serde(rename = "stabilised by")]
    StabilisedBy,
    /// It fails, and none of the levers tried matters.
    #[serde(rename = "none")]
    None,
    /// It never failed, with or without a lever.
    #[serde(rename = "not reproduced")]
    NotReproduced,
}

impl CauseAnswer {
    /// The answer as people and documents write it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::CausedBy => "caused by",
            Self::RaisedBy => "raised by",
            Self::StabilisedBy => "stabilised by",
            Self::None => "none",
            Self::NotReproduced => "not reproduced",
        }
    }

    /// What two tallies say, if they differ for certain: whether with the lever it fails nearly always
    /// and hardly ever without, or more often, or hardly ever any more. `None` where a difference is
    /// there and says nothing worth printing.
    #[must_use]
    pub fn of_tallies(plain: Tally, with: Tally) -> Option<Self> {
        let (without, with) = (failure_rate(plain).mean, failure_rate(with).mean);
        if with >= NEARLY_ALWAYS && without <= HARDLY_EVER {
            Some(Self::CausedBy)
        } else if with > without {
            Some(Self::RaisedBy)
        } else if with <= without * LEFT {
            Some(Self::StabilisedBy)
        } else {
            None
        }
    }

    /// Whether it names a lever.
    #[must_use]
    pub fn is_cause(self) -> bool {
        match self {
            Self::CausedBy | Self::RaisedBy | Self::StabilisedBy => true,
            Self::None | Self::NotReproduced => false,
        }
    }
}

impl fmt::Display for CauseAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One value of one lever, and what happened under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedLever {
    /// The lever.
    pub name: LeverName,
    /// What it was set to.
    pub value: String,
    /// What is proven about it; `None` where nothing is.
    pub answer: Option<CauseAnswer>,
    /// The plain runs beside it, or those with another value that makes the test pass.
    pub plain: Tally,
    /// The runs with it.
    pub with: Tally,
    /// What the runs of the other side had, if not nothing.
    pub beside: Option<String>,
    /// Why it proves nothing although something happened: another failure, a runner that does not start.
    pub remark: Option<String>,
}

/// One value of one lever, as people type it: `zone=Asia/Kolkata`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeverValue {
    /// The lever.
    pub name: LeverName,
    /// What it is set to.
    pub value: String,
}

impl fmt::Display for LeverValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// A lever that was not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotTried {
    /// The lever.
    pub name: LeverName,
    /// Why not.
    pub why: String,
}

/// Why an experiment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseEnd {
    /// There is an answer, or nothing is left to try.
    Decided,
    /// Its time is spent.
    BudgetSpent,
    /// The user interrupted it.
    Interrupted,
    /// The test is skipped, or what runs before it ends the process.
    NotReached,
}

/// One thing about the surroundings of a test that can be changed on purpose, in the order of value for
/// its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LeverName {
    /// The time zone.
    Zone,
    /// Language, country and encoding.
    Locale,
    /// The seed by which sets and dictionaries are ordered.
    HashSeed,
    /// The seed of random numbers.
    Seed,
    /// The tests that run before it.
    Order,
    /// The width and the abilities of the terminal.
    Terminal,
    /// The variables by which programs know that they run in CI.
    Ci,
    /// An empty home folder.
    Home,
    /// Another, empty folder for temporary files.
    Temp,
    /// The rights of files that are made.
    Umask,
    /// How many files may be open.
    Descriptors,
    /// How much memory a process may have.
    Memory,
    /// Where code and data lie in memory: always at the same place.
    Addresses,
    /// The signals that whoever starts it ignores.
    Signals,
    /// A copy of the same test at the same time in the same folder.
    BesideItself,
    /// One core for all threads and processes.
    OneCore,
    /// A share of a core, in slices.
    Quota,
    /// Other work on all cores.
    Load,
    /// No network, or none but this machine's own.
    NoNetwork,
    /// Names of machines that nobody knows.
    NoDns,
    /// The wall clock.
    Clock,
    /// Threads that are held back at random.
    Scheduling,
    /// System calls that take long.
    SlowCalls,
    /// A network that takes long.
    SlowNetwork,
}

impl LeverName {
    /// Every lever, in the order of value for its cost.
    pub const ALL: [Self; 24] = [
        Self::Zone,
        Self::Locale,
        Self::HashSeed,
        Self::Seed,
        Self::Order,
        Self::Terminal,
        Self::Ci,
        Self::Home,
        Self::Temp,
        Self::Umask,
        Self::Descriptors,
        Self::Memory,
        Self::Addresses,
        Self::Signals,
        Self::BesideItself,
        Self::OneCore,
        Self::Quota,
        Self::Load,
        Self::NoNetwork,
        Self::NoDns,
        Self::Clock,
        Self::Scheduling,
        Self::SlowCalls,
        Self::SlowNetwork,
    ];

    /// The lever as people type it and documents write it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Zone => "zone",
            Self::Locale => "locale",
            Self::HashSeed => "hash-seed",
            Self::Seed => "seed",
            Self::Order => "order",
            Self::Terminal => "terminal",
            Self::Ci => "ci",
            Self::Home => "home",
            Self::Temp => "temp",
            Self::Umask => "umask",
            Self::Descriptors => "descriptors",
            Self::Memory => "memory",
            Self::Addresses => "addresses",
            Self::Signals => "signals",
            Self::BesideItself => "beside-itself",
            Self::OneCore => "one-core",
            Self::Quota => "quota",
            Self::Load => "load",
            Self::NoNetwork => "no-network",
            Self::NoDns => "no-dns",
            Self::Clock => "clock",
            Self::Scheduling => "scheduling",
            Self::SlowCalls => "slow-calls",
            Self::SlowNetwork => "slow-network",
        }
    }

    /// The lever that [`word`](Self::word) names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lever| lever.word() == word)
    }

    /// What makes a test flaky that this lever makes fail, in the words of the data sets that predictors
    /// learn from.
    #[must_use]
    pub fn category(self) -> &'static str {
        match self {
            Self::Zone | Self::Clock => "time",
            Self::Locale | Self::Terminal | Self::Ci | Self::Home | Self::Signals => {
                "platform_dependency"
            }
            Self::HashSeed | Self::Addresses => "unordered_collections",
            Self::Order => "test_order_dependency",
            Self::Temp | Self::Umask | Self::BesideItself => "io",
            Self::Descriptors | Self::Memory => "resource_leak",
            Self::OneCore | Self::Scheduling => "concurrency",
            Self::Quota | Self::Load | Self::SlowCalls => "async_wait",
            Self::NoNetwork | Self::NoDns | Self::SlowNetwork => "network",
            Self::Seed => "randomness",
        }
    }
}

impl fmt::Display for LeverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(failures: u32, runs: u32) -> Tally {
        Tally { runs, failures }
    }

    #[test]
    fn every_lever_is_found_again_by_its_word() {
        for lever in LeverName::ALL {
            assert_eq!(LeverName::from_word(lever.word()), Some(lever));
        }
        assert_eq!(LeverName::from_word("moon"), None);
    }

    #[test]
    fn a_lever_causes_what_happens_nearly_always_with_it_and_hardly_ever_without() {
        let answer = CauseAnswer::of_tallies;
        assert_eq!(answer(tally(0, 9), tally(9, 9)), Some(CauseAnswer::CausedBy));
        assert_eq!(answer(tally(3, 9), tally(9, 9)), Some(CauseAnswer::RaisedBy));
        assert_eq!(answer(tally(0, 30), tally(15, 30)), Some(CauseAnswer::RaisedBy));
        assert_eq!(answer(tally(15, 30), tally(0, 30)), Some(CauseAnswer::StabilisedBy));
        assert_eq!(answer(tally(15, 30), tally(9, 30)), None, "half as often is no answer");
    }
}
