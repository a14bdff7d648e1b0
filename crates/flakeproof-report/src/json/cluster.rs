//! Tests that fail together, as a part of JSON documents.

use flakeproof_core::{Cluster, TestId};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::to_the_millionth;
use crate::words;

/// Tests that fail together beyond chance: probably for one cause.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClusterDocument<'a> {
    /// The tests, those first that failed most often.
    tests: &'a [TestId],
    /// Runs in which at least two of them failed.
    together: u32,
    /// Runs in which at least one of them failed.
    any: u32,
    /// How often two of them failed in the same run, over all pairs.
    coincidences: u64,
    /// How often two of them would have, on average, did each fail by itself.
    expected: f64,
    /// The false discovery rate at which even the weakest pair of them is found.
    chance: f64,
    /// What all of them have in common.
    shared: SharedDocument<'a>,
    /// The same for people.
    in_words: String,
}

/// What tests have in common.
#[derive(Debug, Serialize, JsonSchema)]
struct SharedDocument<'a> {
    /// Who owns all of them.
    owners: &'a [String],
    /// The file, or the folder with a slash at its end, in which all of them stand.
    place: Option<&'a str>,
    /// How all of them failed.
    failure: Option<&'a str>,
    /// The only job of CI in which they failed together, though they ran in others.
    job: Option<&'a str>,
}

impl<'a> ClusterDocument<'a> {
    /// The document of a cluster.
    #[must_use]
    pub fn new(cluster: &'a Cluster) -> Self {
        let shared = &cluster.shared;
        Self {
            tests: &cluster.tests,
            together: cluster.together,
            any: cluster.any,
            coincidences: cluster.coincidences,
            expected: to_the_millionth(cluster.expected),
            chance: in_short(cluster.chance),
            shared: SharedDocument {
                owners: &shared.owners,
                place: shared.place.as_deref(),
                failure: shared.failure.as_deref(),
                job: shared.job.as_deref(),
            },
            in_words: words::cluster(cluster),
        }
    }
}

/// Two digits: of the next ones, the order of a sum decides.
fn in_short(chance: f64) -> f64 {
    format!("{chance:.1e}").parse().unwrap_or(chance)
}
