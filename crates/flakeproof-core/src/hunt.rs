//! What a hunt found: which tests are flaky, of what kind, and who makes whom fail.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::statistics::{Rate, failure_rate, poisson_quantile};
use crate::{
    Cause, ExitCode, Failure, ImplementationDependence, Isolation, LeftBehind, Location, Notice,
    RunFacts, Tally, TestId,
};

/// How a test is flaky (CANNIER, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FlakyKind {
    /// It passes and fails in the same order: non-order-dependent.
    #[serde(rename = "NOD")]
    Nod,
    /// It passes alone and fails after a polluter.
    #[serde(rename = "victim")]
    Victim,
    /// It fails alone and passes after a state-setter.
    #[serde(rename = "brittle")]
    Brittle,
    /// It relies on an order that the language leaves open: implementation-dependent.
    #[serde(rename = "ID")]
    Id,
}

impl FlakyKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Nod, Self::Victim, Self::Brittle, Self::Id];

    /// The kind as its stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nod => "NOD",
            Self::Victim => "victim",
            Self::Brittle => "brittle",
            Self::Id => "ID",
        }
    }

    /// The kind that [`word`](Self::word) names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for FlakyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// All that a hunt found out.
#[derive(Debug, Clone, PartialEq)]
pub struct HuntFindings {
    /// What was run, when and how.
    pub run: RunFacts,
    /// Every test of the suite, in its order.
    pub tests: Vec<HuntedTest>,
    /// What it took, all sessions together.
    pub cost: HuntCost,
    /// Why it ended.
    pub end: HuntEnd,
    /// Tests that always pass here, and fail under a lever, where that was looked for.
    pub latent: Vec<Cause>,
    /// What it may have missed, where a plan kept count.
    pub hidden: Option<Hidden>,
    /// What the reader should know about the hunt itself.
    pub notices: Vec<Notice>,
    /// How the program ends.
    pub exit: ExitCode,
}

impl HuntFindings {
    /// The flaky tests, in the suite's order.
    pub fn flaky(&self) -> impl Iterator<Item = &HuntedTest> {
        self.tests.iter().filter(|test| test.kind.is_some())
    }

    /// Tests that never passed in any way; they are set aside.
    pub fn always_failing(&self) -> impl Iterator<Item = &HuntedTest> {
        self.tests.iter().filter(|test| test.always_fails())
    }

    /// Every single test that makes another one fail, with its victim.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        let of_victim = |victim: &HuntedTest| {
            let alone = victim.polluters.iter().filter_map(|set| match set.as_slice() {
                [polluter] => Some(polluter.clone()),
                _ => None,
            });
            let pair = |polluter| Pair { polluter, victim: victim.id.clone() };
            alone.map(pair).collect::<Vec<_>>()
        };
        self.tests.iter().flat_map(of_victim).collect()
    }
}

/// A test that makes another one fail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// It leaves something behind.
    pub polluter: TestId,
    /// It fails because of that.
    pub victim: TestId,
}

/// What was found out about one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntedTest {
    /// Its id.
    pub id: TestId,
    /// Where it is defined.
    pub location: Option<Location>,
    /// How it is flaky; `None` if it did not show that it is.
    pub kind: Option<FlakyKind>,
    /// How it fared in the suite's own order.
    pub baseline: Tally,
    /// How it fared in other orders.
    pub shuffled: Tally,
    /// How it fared alone in a fresh environment.
    pub alone: Tally,
    /// Minimal sets of tests that make it fail when they run before it.
    pub polluters: Vec<Vec<TestId>>,
    /// Minimal sets of tests that make it pass when they run before it.
    pub setters: Vec<Vec<TestId>>,
    /// Tests that make it pass again when they run after its first polluter.
    pub cleaners: Vec<TestId>,
    /// What its first polluters leave behind, as far as it can be told.
    #[serde(default)]
    pub left_behind: Vec<LeftBehind>,
    /// How it relies on an order that the language leaves open, if it does.
    #[serde(default)]
    pub implementation: Option<ImplementationDependence>,
    /// Its first failure.
    pub failure: Option<Failure>,
    /// How to see it fail.
    pub reproduction: Option<Reproduction>,
}

impl HuntedTest {
    /// A test about which nothing is known yet.
    #[must_use]
    pub fn new(id: TestId, location: Option<Location>) -> Self {
        Self {
            id,
            location,
            kind: None,
            baseline: Tally::default(),
            shuffled: Tally::default(),
            alone: Tally::default(),
            polluters: Vec::new(),
            setters: Vec::new(),
            cleaners: Vec::new(),
            left_behind: Vec::new(),
            implementation: None,
            failure: None,
            reproduction: None,
        }
    }

    /// All its executions together.
    #[must_use]
    pub fn all(&self) -> Tally {
        self.baseline + self.shuffled + self.alone
    }

    /// Whether it failed in every execution.
    #[must_use]
    pub fn always_fails(&self) -> bool {
        let all = self.all();
        all.runs > 0 && all.always_fails()
    }

    /// The executions that tell how often it fails: in other orders if it depends on them, with the seed
    /// that shows it if it relies on an order that is left open, else all.
    #[must_use]
    pub fn telling(&self) -> Tally {
        match self.kind {
            Some(FlakyKind::Victim | FlakyKind::Brittle) => self.shuffled,
            Some(FlakyKind::Id) => {
                self.implementation.as_ref().map(|it| it.failing).unwrap_or_default()
            }
            Some(FlakyKind::Nod) | None => self.all(),
        }
    }

    /// How often it fails, by its [telling](Self::telling) executions.
    #[must_use]
    pub fn rate(&self) -> Rate {
        failure_rate(self.telling())
    }
}

/// An order of tests that shows a failure of the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// The tests, the failing one last.
    pub order: Vec<TestId>,
    /// In what environment it was seen.
    pub isolation: Isolation,
    /// A command to type.
    pub command: String,
}

/// What a hunt took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntCost {
    /// Tests run, each execution counted.
    pub executions: u64,
    /// How long it took by the clock, all sessions together.
    pub time: Duration,
    /// The same for each stage.
    #[serde(default)]
    pub stages: Vec<StageCost>,
}

/// What a stage of a hunt took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCost {
    /// The stage, in words.
    pub stage: String,
    /// Trials made, or read from an earlier session.
    pub trials: u32,
    /// Tests run in them.
    pub executions: u64,
    /// How long it took by the clock.
    pub time: Duration,
}

impl HuntCost {
    /// What follows belongs to this stage.
    pub fn begin(&mut self, stage: &str) {
        let known = self.stages.iter().position(|it| it.stage == stage);
        let cost = match known {
            Some(place) => self.stages.remove(place),
            None => StageCost { stage: stage.to_owned(), ..StageCost::default() },
        };
        self.stages.push(cost);
    }

    /// Count a trial of the stage that was begun last.
    pub fn count(&mut self, executions: u32) {
        self.executions += u64::from(executions);
        if let Some(stage) = self.stages.last_mut() {
            stage.trials += 1;
            stage.executions += u64::from(executions);
        }
    }

    /// So much time went into the stage that was begun last.
    pub fn spend(&mut self, time: Duration) {
        self.time += time;
        if let Some(stage) = self.stages.last_mut() {
            stage.time += time;
        }
    }
}

/// How many flaky tests a hunt did not find, by what was believed before and seen since.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hidden {
    /// How many are expected.
    pub expected: f64,
    /// With 95 %, there are not more.
    pub at_most: u32,
    /// Of those that fail at least this often.
    pub failing: f64,
}

impl Hidden {
    /// Where so many are expected of those that fail at least this often.
    #[must_use]
    pub fn estimate(expected: f64, failing: f64) -> Self {
        Self { expected, at_most: poisson_quantile(expected, 0.95), failing }
    }
}

/// Why a hunt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HuntEnd {
    /// All that was asked for is done.
    Finished,
    /// Its time is spent.
    BudgetSpent,
    /// The user interrupted it.
    Interrupted,
}

/// A hunt in the history: what makes it the same hunt when it is taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntRecord {
    /// Its id.
    pub id: String,
    /// When it started, as an RFC 3339 time stamp.
    pub started: String,
    /// The user's own command.
    pub command: Vec<String>,
    /// A digest of the code, the suite and the settings that decide what is run.
    pub fingerprint: String,
    /// The seed of all chance, as text because JSON has no such number.
    pub seed: String,
    /// What was asked for, to ask for it again.
    pub settings: String,
    /// The version of flakeproof.
    pub version: String,
}

/// A test that is known to be flaky.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFlaky {
    /// The hunt that found it.
    pub hunt: HuntRecord,
    /// What it found.
    pub test: HuntedTest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_again_by_its_word() {
        for kind in FlakyKind::ALL {
            assert_eq!(FlakyKind::from_word(kind.word()), Some(kind));
        }
    }

    #[test]
    fn a_set_of_polluters_is_no_pair() {
        let mut victim = HuntedTest::new("victim".into(), None);
        victim.polluters = vec![vec!["a".into()], vec!["b".into(), "c".into()]];
        let run = RunFacts {
            id: String::new(),
            command: Vec::new(),
            runner: String::new(),
            started: String::new(),
            duration: Duration::ZERO,
            seed: crate::Seed(1),
            revision: None,
            version: String::new(),
        };
        let (cost, end) = (HuntCost::default(), HuntEnd::Finished);
        let (notices, exit) = (Vec::new(), ExitCode::Failures);
        let (tests, hidden, latent) = (vec![victim], None, Vec::new());
        let findings = HuntFindings { run, tests, cost, end, hidden, latent, notices, exit };
        let pair = Pair { polluter: "a".into(), victim: "victim".into() };
        assert_eq!(findings.pairs(), [pair]);
    }
}
