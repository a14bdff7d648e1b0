//! What was typed.

mod cannier;
mod ensemble;
mod evaluate;
mod features;
mod forest;
mod graph;
mod hunt;
mod ingest;
mod known;
mod learning;
mod peeler;
mod plan;
mod predict;
mod quarantine;
mod report;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod store;
mod train;
mod verify;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use cannier::{CannierData, EvaluateCannier, TechniqueName};
pub(crate) use ensemble::{EvaluateEnsemble, LabelledSourcesArguments, TrainEnsemble};
pub(crate) use evaluate::{
    EvaluateArguments, EvaluateFlast, EvaluateModel, EvaluationFormat, LabelledFolds,
};
pub(crate) use features::{FeaturesArguments, FeaturesFormat};
pub(crate) use forest::{EvaluateForest, ForestData, TrainForest};
pub(crate) use graph::{GraphArguments, GraphFormat};
pub(crate) use hunt::HuntArguments;
pub(crate) use ingest::{IngestArguments, ValidateArguments};
pub(crate) use known::{ListArguments, ListFormat, ReproArguments};
pub(crate) use learning::share;
pub(crate) use peeler::{AblationName, EvaluatePeeler, NetworkArguments, TrainPeeler};
pub(crate) use plan::{CostName, EvaluatePlan};
pub(crate) use predict::{ExplainArguments, PredictArguments, PredictionFormat, ThresholdChoice};
pub(crate) use quarantine::{
    QuarantineAction, QuarantineAdd, QuarantineArguments, QuarantineCheck, QuarantineRemove,
};
pub(crate) use report::ReportArguments;
pub(crate) use run::RunArguments;
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArguments;
pub(crate) use store::{
    ExportFormat, ExportTable, StoreAction, StoreArguments, StoreExport, StorePrune,
    StoreStatistics,
};
pub(crate) use train::{TrainArguments, TrainFlast, TrainModel};
pub(crate) use verify::VerifyArguments;

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
