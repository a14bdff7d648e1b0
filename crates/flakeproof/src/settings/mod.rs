//! The layers of settings and the values in them, which all commands share.
//!
//! Command line > `FLAKEPROOF_…` > profile > file > default. They are laid over each other once, by
//! [`RunSettings::resolve`](crate::cli::RunSettings::resolve) and its neighbours.

mod file;
mod store;
mod strategy;
mod values;

pub(crate) use file::{ConfigurationFile, RawSettings, if_any};
pub(crate) use store::{StoreName, locate};
pub(crate) use strategy::{BALANCED_RERUN, StrategyName, StrategyOptions};
pub(crate) use values::{
    Confidence, Dependencies, FlakyResult, HumanDuration, Isolate, Limit, OrderName, Pattern,
    Polluters, Reporter, ReporterKind, Share, SoughtKind, Was,
};
