//! The terminal: the only place that prints. stdout is data, stderr is progress.

mod cannier;
mod cause;
mod doctor;
mod features;
mod findings;
mod fix;
mod forest;
mod graph;
mod held_out;
mod hunt;
mod ingest;
mod init;
mod known;
mod learning;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "serve")]
mod notify;
mod patches;
mod perturbed;
mod predictions;
mod progress;
mod quarantine;
mod replays;
#[cfg(feature = "serve")]
mod serve;
mod shard;
mod store;
mod terminal;
mod worker;

pub(crate) use cannier::{CannierTrade, CannierTrades, cannier};
pub(crate) use cause::{CauseProgressBar, cause, known_cause};
pub(crate) use doctor::{Checkup, Found, HistoryFound, checkup, checkup_json};
pub(crate) use features::{FeatureRow, FeatureTable, FeaturesProgress, features, features_json};
pub(crate) use findings::{RunProgress, findings};
pub(crate) use fix::{VerifyProgress, fix};
pub(crate) use forest::{
    ForestEvaluation, drawn, forest_evaluation, forest_explanation, trained_forest,
};
pub(crate) use graph::{ShownGraph, coloured, colourless, graph};
pub(crate) use held_out::{
    HeldOutEvaluation, MemberLine, Timing, TrainedReader, fold_begins, read_sources, trained_reader,
};
pub(crate) use hunt::{HuntProgress, ProvokeProgress, ShownHunt, hunt};
pub(crate) use ingest::{
    IngestProgress, Position, ReportProblem, ValidatedReport, id_rules, ingested, ingested_json,
    validated, validated_json,
};
pub(crate) use init::{draft, initialised, left_alone, may_write, nothing_written};
#[cfg(feature = "mcp")]
pub(crate) use known::{Line, known_flaky_part, last_failed};
pub(crate) use known::{
    List, failed_test, known_as_json, known_flaky, known_flaky_json, known_test,
};
pub(crate) use learning::{
    Evaluation, PlanEvaluation, ProjectLine, evaluation, plan_evaluation, real, trained,
};
#[cfg(feature = "mcp")]
pub(crate) use mcp::served_mcp;
#[cfg(feature = "serve")]
pub(crate) use notify::{nothing_new, notified};
pub(crate) use patches::{FixProgress, patches};
pub(crate) use perturbed::PerturbedScores;
pub(crate) use predictions::{Shown, explanation, notices, predictions};
pub(crate) use quarantine::{
    Checked, Release, quarantine, quarantine_check, quarantine_json, quarantined, unquarantined,
};
pub(crate) use replays::{Replays, replay_begins, replayed, replays_end};
#[cfg(feature = "serve")]
pub(crate) use serve::{Served, served, stopped};
pub(crate) use shard::{shard_json, shard_lines, shard_notice};
pub(crate) use store::{
    PruneOutlook, exported, folded, prune_outlook, pruned, report_written, segments_skipped,
    store_statistics, store_statistics_json, synced,
};
#[cfg(feature = "mcp")]
pub(crate) use terminal::as_text;
pub(crate) use terminal::{
    Detail, Steps, data, interrupted, left_running, may_run, problem, verbatim,
};
pub(crate) use worker::{WorkerProgress, WorkerSum, worker_ends};
