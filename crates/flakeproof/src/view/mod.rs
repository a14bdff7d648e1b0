//! The terminal: the only place that prints. stdout is data, stderr is progress.

mod bar;
mod because;
mod cannier;
mod features;
mod features_progress;
mod findings;
mod fix;
mod flaky_test;
mod forest;
mod graph;
mod held_out;
mod hunt;
mod hunt_progress;
mod ingest;
mod ingest_progress;
mod known;
mod learning;
mod paths;
mod plan;
mod predictions;
mod printed;
mod progress;
mod quarantine;
mod replays;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod steps;
mod store;
mod styles;
mod trained_reader;
mod validate;
mod verify_progress;

use std::io::{IsTerminal, Write};

use flakeproof_core::foreign_text::{in_lines, on_one_line};

use crate::problem::Problem;

pub(crate) use cannier::{CannierTrade, CannierTrades, cannier};
pub(crate) use features::{FeatureRow, FeatureTable, features, features_json};
pub(crate) use features_progress::FeaturesProgress;
pub(crate) use findings::findings;
pub(crate) use fix::fix;
pub(crate) use forest::{
    ForestEvaluation, drawn, forest_evaluation, forest_explanation, trained_forest,
};
pub(crate) use graph::{ShownGraph, coloured, colourless, graph};
pub(crate) use held_out::{HeldOutEvaluation, MemberLine, Timing, fold_begins, read_sources};
pub(crate) use hunt::{ShownHunt, hunt};
pub(crate) use hunt_progress::HuntProgress;
pub(crate) use ingest::{id_rules, ingested, ingested_json};
pub(crate) use ingest_progress::IngestProgress;
pub(crate) use known::{known_as_json, known_flaky, known_flaky_json, known_test};
pub(crate) use learning::{Evaluation, ProjectLine, evaluation, real, trained};
pub(crate) use plan::{PlanEvaluation, plan_evaluation};
pub(crate) use predictions::{Shown, explanation, notices, predictions};
pub(crate) use progress::Progress;
pub(crate) use quarantine::{
    Checked, Release, quarantine, quarantine_check, quarantine_json, quarantined, unquarantined,
};
pub(crate) use replays::{Replays, replay_begins, replayed, replays_end};
pub(crate) use report::report_written;
#[cfg(feature = "serve")]
pub(crate) use serve::{Served, served, stopped};
pub(crate) use steps::Steps;
pub(crate) use store::{
    PruneOutlook, exported, prune_outlook, pruned, store_statistics, store_statistics_json,
};
use styles::{BAD, DIM, STRONG};
pub(crate) use trained_reader::{TrainedReader, trained_reader};
pub(crate) use validate::{Position, ReportProblem, ValidatedReport, validated, validated_json};
pub(crate) use verify_progress::VerifyProgress;

/// Say what went wrong and what to do.
pub(crate) fn problem(problem: &Problem) {
    let mut err = anstream::stderr().lock();
    if !problem.details.trim().is_empty() {
        let _ = writeln!(err, "{}\n", in_lines(problem.details.trim_end()));
    }
    let is_error = problem.exit.number() != 0;
    let (style, word) = if is_error { (BAD, "error") } else { (STRONG, "note") };
    let _ = writeln!(err, "{style}{word}{style:#}: {}", in_lines(&problem.what));
    let _ = writeln!(err, "{STRONG}next{STRONG:#}:  {}", in_lines(&problem.next));
}

/// Say that the interrupt was heard.
pub(crate) fn interrupted() {
    let mut err = anstream::stderr().lock();
    let text = "interrupted: ending the tests and keeping what was found (again: stop at once)";
    let _ = writeln!(err, "\n{DIM}{text}{DIM:#}");
}

/// Say which processes of the tests are still there, although they were killed.
pub(crate) fn left_running(processes: &[String]) {
    let mut err = anstream::stderr().lock();
    let processes = processes.join(", ");
    let _ = writeln!(err, "{DIM}these processes could not be killed: {processes}{DIM:#}");
}

/// Show a command that somebody else wrote, and ask whether to run it. `None` where nobody can
/// be asked.
pub(crate) fn may_run(command: &str, whose: &str) -> Option<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    let mut err = anstream::stderr().lock();
    let command = on_one_line(command);
    let _ = writeln!(err, "{whose} runs this command here:\n\n  {STRONG}{command}{STRONG:#}\n");
    let _ = write!(err, "run it? [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    Some(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Pass on what another program printed.
pub(crate) fn verbatim(text: &str) {
    data(text.as_bytes());
}

/// Write data to stdout.
pub(crate) fn data(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // A reader that went away has all it wanted.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
