//! What every JSON document has in common.
//!
//! The shape of a document is a promise to outsiders: it has a version, `"schema"`, and a published
//! JSON schema in `docs/reference`. A member may be added within a version; renaming or removing
//! one makes a new version. Every member is always present, `null` where nothing is known.

use std::time::Duration;

use flakeproof_core::statistics::Rate;
use flakeproof_core::{Notice, RunFacts, Seed};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use crate::Error;

/// Renders one JSON document, indented, with a newline at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json;

/// The program that wrote the document.
#[derive(Serialize, JsonSchema)]
pub(super) struct ToolReport<'a> {
    /// Its name.
    name: &'static str,
    /// Its version.
    version: &'a str,
}

impl<'a> ToolReport<'a> {
    /// This program in that version.
    pub(super) fn new(version: &'a str) -> Self {
        Self { name: "flakeproof", version }
    }
}

/// Something the reader should know about the run itself.
#[derive(Serialize, JsonSchema)]
pub(super) struct NoticeReport<'a> {
    /// What happened.
    what: &'a str,
    /// What to do about it.
    next: &'a str,
}

impl<'a> NoticeReport<'a> {
    /// The notice as it is.
    pub(super) fn new(notice: &'a Notice) -> Self {
        Self { what: &notice.what, next: &notice.next }
    }
}

/// What was run, when and how.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunFactsReport<'a> {
    /// The run's id, which tests see as `FLAKEPROOF_RUN_ID`.
    id: &'a str,
    /// Your own command, one string per argument.
    command: &'a [String],
    /// The framework and runtime, for people.
    runner: &'a str,
    /// When it started, as an RFC 3339 time stamp.
    started: &'a str,
    /// How long it all took.
    seconds: f64,
    /// The seed of all chance.
    seed: Seed,
    /// The revision checked out; `null` outside a repository.
    revision: Option<&'a str>,
}

impl<'a> RunFactsReport<'a> {
    /// The facts as they are.
    pub(super) fn new(run: &'a RunFacts) -> Self {
        Self {
            id: &run.id,
            command: &run.command,
            runner: &run.runner,
            started: &run.started,
            seconds: seconds(run.duration),
            seed: run.seed,
            revision: run.revision.as_deref(),
        }
    }
}

/// The document's bytes.
pub(super) fn bytes(document: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The JSON schema of a document, indented, with a newline at its end.
pub(super) fn schema_of<Document: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Document>().to_value();
    // Another crate of the build may make JSON objects keep their order; the bytes must not care.
    schema.sort_all_objects();
    format!("{schema:#}\n")
}

/// Seconds to the microsecond: more digits are noise, and make reports hard to read.
pub(crate) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}

/// A rate with as many digits.
pub(super) fn rounded(rate: Rate) -> Rate {
    Rate {
        mean: to_the_millionth(rate.mean),
        low: to_the_millionth(rate.low),
        high: to_the_millionth(rate.high),
    }
}

/// A share to the millionth, for the same reason.
pub(super) fn to_the_millionth(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_rounded_to_the_microsecond() {
        assert_eq!(seconds(Duration::from_nanos(1_234_567_891)).to_string(), "1.234568");
    }
}
