//! The words of flakeproof as types.
//!
//! A [`Suite`] has tests, each with a [`TestId`]. Running one in an environment gives an
//! [`Execution`] with an [`Outcome`]. Several [`Attempt`]s at one test, together with what it
//! depends on and what changed, are the [`Evidence`] on which a [`Verdict`] rests. All of it
//! together is [`Findings`], which reports render and the history keeps. [`Predictions`] are what
//! can be said without running anything; [`Features`] are what a model learns about a test.
//! [`HuntFindings`] say which tests of a suite are flaky, and who makes whom fail; [`FixFindings`]
//! whether one of them is mended; [`CauseFindings`] what makes it fail.
//!
//! This crate does no I/O and knows no other crate of the workspace.

mod cause;
mod change;
mod clusters;
mod dependencies;
mod evidence;
mod execution;
mod features;
mod findings;
mod fix;
pub mod foreign_text;
mod history;
mod hunt;
mod id_rules;
mod judged_marks;
mod lever_runs;
mod measured;
mod news;
mod open_orders;
mod orders;
mod overview;
mod owners;
mod patch;
mod prediction;
mod quarantine;
mod renames;
mod scores;
mod sequential;
mod shards;
mod signature;
mod standing;
mod state;
pub mod statistics;
mod suite;
mod thresholds;
mod timeline;
mod trial;
mod two_samples;

pub use cause::{
    Cause, CauseAnswer, CauseEnd, CauseFindings, LeverName, LeverValue, NotTried, TriedLever,
};
pub use change::{Base, Change, ChangeStatus, ChangedFile, LineRange, TreeState};
pub use clusters::{Cluster, FALSE_DISCOVERIES, Shared, Traits};
pub use dependencies::{BlindSpot, Dependencies, FunctionUse};
pub use evidence::{ComparedWith, Evidence, Kind, Verdict};
pub use execution::{
    Attempt, Conditions, Execution, Failure, Isolation, Location, Outcome, Phase, Stage,
};
pub use features::{Feature, Features, MeanFeatures};
pub use findings::{
    ExitCode, Findings, Group, GroupCause, Notice, Policies, Policy, RunFacts, SuiteCounts,
    TestFinding,
};
pub use fix::{
    ALWAYS, FixEnd, FixFindings, FixTest, FixVerdict, FormerRate, RateSource, WhereSeen,
};
pub use history::{
    FeatureRecord, History, HistoryError, Origin, PassRecord, PastOutcome, RunRecord, Surroundings,
    Tally, TrackRecord,
};
pub use hunt::{
    FlakyKind, Hidden, HuntCost, HuntEnd, HuntFindings, HuntRecord, HuntedTest, KnownFlaky, Pair,
    Reproduction, StageCost,
};
pub use id_rules::{IdRule, IdRules};
pub use lever_runs::{CauseProgress, CauseRecord, FailureTrace, RunPair, RunPairs};
pub use measured::{Covered, Lines, Measured};
pub use news::{News, NewsKind};
pub use open_orders::{ImplementationDependence, Shuffle};
pub use orders::{OrderBlocks, OrderKind, Seed, SuiteOrders};
pub use overview::{
    FrontPoint, HuntOverview, HuntSummary, Overview, PastFailure, PastFinding, TestDetail,
};
pub use owners::{CODEOWNERS_PLACES, Forge, Owners};
pub use patch::{Applied, FaultNoticed, PatchFindings, PatchProof, ProvenPatch, TriedPatch};
pub use prediction::{
    DataPath, DataStep, ModelFacts, Prediction, Predictions, Reason, RuleFacts, RuleFinding,
    SimilarTest,
};
pub use quarantine::{Hold, Quarantine, QuarantineEntry, Quarantined};
pub use renames::{Rename, Renames};
pub use scores::{Outage, Scores, TestScore};
pub use sequential::{Decision, PASSING_RATE, SequentialTest};
pub use shards::{NoSuchShard, Part, Piece, Shard, Shards};
pub use signature::{Signature, headline, plain_numbers};
pub use standing::{Standing, Streak};
pub use state::{LeftBehind, LeftKind, State};
pub use suite::{CollectionProblem, Suite, SuiteTest, TestId};
pub use thresholds::{Region, Thresholds, ThresholdsError};
pub use timeline::{Again, LeftOut, Mark, PastRun, TestTimeline, Timeline};
pub use trial::{TrialFailure, TrialRecord};
pub use two_samples::TwoSamples;
