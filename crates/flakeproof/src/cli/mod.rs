//! What was typed, and what is meant by it, command by command.
//!
//! A command that can also be set in the configuration file has its settings here, beside its
//! options: after `resolve` nothing can be invalid any more.

mod cause;
mod ensemble;
mod features;
mod fix;
mod forest;
mod help;
mod history;
mod hunt;
mod learning;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "serve")]
mod notify;
mod predict;
mod quarantine;
mod run;
#[cfg(any(feature = "mcp", feature = "serve"))]
mod serve;
mod setup;
mod shard;
mod worker;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

pub(crate) use cause::{CauseArguments, LeverChoice, LeverToPull};
pub(crate) use ensemble::{
    AblationName, EvaluateEnsemble, EvaluatePeeler, LabelledSourcesArguments, NetworkArguments,
    TrainEnsemble, TrainPeeler,
};
pub(crate) use features::{FeaturesArguments, FeaturesFormat, FeaturesSettings};
pub(crate) use fix::FixArguments;
pub(crate) use forest::{
    CannierData, EvaluateCannier, EvaluateForest, ForestData, TechniqueName, TrainForest,
};
pub(crate) use history::{
    ExportFormat, ExportTable, IngestArguments, ListArguments, ListFormat, Naming, OverviewForm,
    ReportArguments, ReproArguments, StoreAction, StoreArguments, StoreCompact, StoreExport,
    StorePrune, StoreStatistics, StoreSync, ValidateArguments, VerifyArguments,
};
pub(crate) use hunt::{Asked, HuntArguments, HuntSettings};
pub(crate) use learning::{
    CostName, EvaluateArguments, EvaluateFlast, EvaluateModel, EvaluatePlan, EvaluationFormat,
    LabelledFolds, TrainArguments, TrainFlast, TrainModel,
};
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpArguments;
#[cfg(feature = "serve")]
pub(crate) use notify::{NotifyArguments, Since};
pub(crate) use predict::{
    ExplainArguments, GraphArguments, GraphFormat, ModelArguments, MostSuspects, PredictArguments,
    PredictionFormat, RuleArguments, ThresholdChoice,
};
pub(crate) use quarantine::{
    QuarantineAction, QuarantineAdd, QuarantineArguments, QuarantineCheck, QuarantineFile,
    QuarantineRemove, today,
};
pub(crate) use run::{RunArguments, RunSettings};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArguments;
pub(crate) use setup::{
    CiName, CompletionsArguments, DoctorArguments, InitArguments, ManArguments, ShellName,
};
pub(crate) use shard::{ShardArguments, ShardChoice, ShardFormat, ShardSettings};
pub(crate) use worker::{FleetSettings, WorkerArguments, WorkerSettings};

/// Find, predict, explain and triage tests that pass and fail on the same code.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = help::LAST)]
    pub(crate) color: Color,
    /// Also say what the numbers rule out, and with which confidence.
    #[arg(short, long, global = true, display_order = help::LAST)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What was typed; where that is not understood, the program ends and says why.
    pub(crate) fn read() -> Self {
        let matches =
            definition().try_get_matches().and_then(|mut it| Self::from_arg_matches_mut(&mut it));
        matches.unwrap_or_else(|error| with_advice(error).exit())
    }
}

/// Everything that can be typed, with its help.
pub(crate) fn definition() -> clap::Command {
    help::with_help(Cli::command())
}

/// What these words after the program's name mean, or why they mean nothing.
#[cfg(feature = "mcp")]
pub(crate) fn understood(words: &[&str]) -> Result<Command, clap::Error> {
    let words = std::iter::once("flakeproof").chain(words.iter().copied());
    Cli::try_parse_from(words).map(|typed| typed.command)
}

/// Whether there is this subcommand, and this long option of it, if one is asked for.
#[cfg(feature = "mcp")]
pub(crate) fn has(subcommand: &str, option: Option<&str>) -> bool {
    let command = Cli::command();
    let found = command.find_subcommand(subcommand);
    found.is_some_and(|it| {
        option.is_none_or(|option| it.get_arguments().any(|it| it.get_long() == Some(option)))
    })
}

/// The likeliest slip is a test command without `--` before it.
fn with_advice(mut error: clap::Error) -> clap::Error {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let slip = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if usage.contains("-- <COMMAND>") => word.clone(),
        _ => return error,
    };
    if error.kind() == ErrorKind::UnknownArgument && !slip.starts_with('-') {
        let advice = format!("put `--` before the command that runs your tests: `-- {slip}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArguments),
    Shard(ShardArguments),
    Hunt(HuntArguments),
    Worker(WorkerArguments),
    List(ListArguments),
    Repro(ReproArguments),
    Verify(VerifyArguments),
    Cause(CauseArguments),
    Fix(FixArguments),
    Report(ReportArguments),
    #[cfg(feature = "serve")]
    Serve(ServeArguments),
    #[cfg(feature = "serve")]
    Notify(NotifyArguments),
    #[cfg(feature = "mcp")]
    Mcp(McpArguments),
    Store(StoreArguments),
    Ingest(IngestArguments),
    Validate(ValidateArguments),
    Quarantine(QuarantineArguments),
    Predict(PredictArguments),
    Explain(ExplainArguments),
    Graph(GraphArguments),
    Train(TrainArguments),
    Evaluate(EvaluateArguments),
    Features(FeaturesArguments),
    Doctor(DoctorArguments),
    Init(InitArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// When to use colour. `NO_COLOR` wins over `auto`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Decide for the whole program.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn documents_below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("the book is there");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let below = |path: PathBuf| if path.is_dir() { documents_below(&path) } else { vec![path] };
        paths.flat_map(below).filter(|it| it.extension().is_some_and(|it| it == "md")).collect()
    }

    /// The commands of ours that a document shows, without what others make of their output.
    fn commands_in(document: &str) -> Vec<String> {
        let whole = document.replace("\\\n", " ");
        let typed = whole.lines().filter_map(|line| line.strip_prefix("$ "));
        let ours = typed.filter(|command| command.starts_with("flakeproof "));
        ours.map(|command| command.split(" | ").next().unwrap_or(command).to_owned()).collect()
    }

    #[test]
    fn every_command_in_the_book_is_understood() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut documents = documents_below(&root.join("docs"));
        documents.push(root.join("README.md"));
        let mut understood = 0;
        for document in documents {
            let text = std::fs::read_to_string(&document).expect("a text");
            for command in commands_in(&text) {
                let words = shlex::split(&command).expect("its quotes are closed");
                if let Err(why) = Cli::try_parse_from(words) {
                    panic!("{}: `{command}`\n{why}", document.display());
                }
                understood += 1;
            }
        }
        assert!(understood > 50, "only {understood} commands were found");
    }

    #[test]
    fn a_command_without_its_dashes_is_told_where_they_go() {
        let advised = |typed: &[&str]| {
            with_advice(Cli::try_parse_from(typed).expect_err("it is refused")).to_string()
        };
        let said = advised(&["flakeproof", "run", "--retries", "2", "pytest", "-q"]);
        assert!(said.contains("put `--` before the command that runs your tests: `-- pytest`"));
        assert!(!advised(&["flakeproof", "run", "--retreis", "2"]).contains("put `--`"));
        assert!(!advised(&["flakeproof", "list", "pytest"]).contains("put `--`"));
    }
}
