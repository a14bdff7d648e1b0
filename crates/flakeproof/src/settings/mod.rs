//! What is meant: the layers of settings, laid over each other once.
//!
//! Command line > `FLAKEPROOF_…` > profile > file > default. After [`RunSettings::resolve`]
//! nothing can be invalid any more.

mod features;
mod file;
mod hunt;
mod quarantine;
mod raw;
mod run;
mod strategy;
mod values;

pub(crate) use features::FeaturesSettings;
pub(crate) use file::ConfigurationFile;
pub(crate) use hunt::{Asked, HuntSettings};
pub(crate) use quarantine::{LastDay, QuarantineFile, today};
pub(crate) use raw::RawSettings;
pub(crate) use run::{RunSettings, Store};
pub(crate) use strategy::{BALANCED_RERUN, StrategyName, StrategyOptions};
pub(crate) use values::{
    Confidence, Dependencies, FlakyResult, HumanDuration, Isolate, Limit, OrderName, Pattern,
    Polluters, Reporter, ReporterKind, Share, Was,
};
