//! What was typed, and what is meant by it, command by command.
//!
//! A command that can also be set in the configuration file has its settings here, beside its
//! options: after `resolve` nothing can be invalid any more.

mod ensemble;
mod features;
mod forest;
mod history;
mod hunt;
mod learning;
mod predict;
mod quarantine;
mod run;
#[cfg(feature = "serve")]
mod serve;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use ensemble::{
    AblationName, EvaluateEnsemble, EvaluatePeeler, LabelledSourcesArguments, NetworkArguments,
    TrainEnsemble, TrainPeeler,
};
pub(crate) use features::{FeaturesArguments, FeaturesFormat, FeaturesSettings};
pub(crate) use forest::{
    CannierData, EvaluateCannier, EvaluateForest, ForestData, TechniqueName, TrainForest,
};
pub(crate) use history::{
    ExportFormat, ExportTable, IngestArguments, ListArguments, ListFormat, ReportArguments,
    ReproArguments, StoreAction, StoreArguments, StoreExport, StorePrune, StoreStatistics,
    ValidateArguments, VerifyArguments,
};
pub(crate) use hunt::{Asked, HuntArguments, HuntSettings};
pub(crate) use learning::{
    CostName, EvaluateArguments, EvaluateFlast, EvaluateModel, EvaluatePlan, EvaluationFormat,
    LabelledFolds, TrainArguments, TrainFlast, TrainModel,
};
pub(crate) use predict::{
    ExplainArguments, GraphArguments, GraphFormat, PredictArguments, PredictionFormat,
    ThresholdChoice,
};
pub(crate) use quarantine::{
    QuarantineAction, QuarantineAdd, QuarantineArguments, QuarantineCheck, QuarantineFile,
    QuarantineRemove, today,
};
pub(crate) use run::{RunArguments, RunSettings};
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArguments;

/// Find, predict, explain and triage tests that pass and fail on the same code.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArguments),
    Hunt(HuntArguments),
    List(ListArguments),
    Repro(ReproArguments),
    Verify(VerifyArguments),
    Report(ReportArguments),
    #[cfg(feature = "serve")]
    Serve(ServeArguments),
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
