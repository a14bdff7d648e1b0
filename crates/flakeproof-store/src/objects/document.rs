//! What an object holds, by its folder, and what it is called.

use bytes::Bytes;
use flakeproof_core::{Cause, CauseProgress, CauseRecord, HuntRecord, HuntedTest, TestId};
use serde::{Deserialize, Serialize};

use super::{VERSION, segment};
use crate::{WholeHunt, WholeRun};

/// What was in an object.
#[derive(Debug)]
pub(super) enum Found {
    Runs(Vec<WholeRun>),
    Hunt(Box<WholeHunt>),
    Cause(Box<CauseRecord>),
}

#[derive(Serialize, Deserialize)]
struct HuntDocument {
    hunt: HuntRecord,
    summary: Option<String>,
    flaky: Vec<HuntedTest>,
    looked_at: Vec<TestId>,
}

#[derive(Serialize, Deserialize)]
struct CauseDocument {
    id: String,
    started: String,
    command: Vec<String>,
    seed: String,
    test: TestId,
    found: Option<Cause>,
    progress: CauseProgress,
}

/// What an object with this content is called: the same content has the same name.
pub(super) fn name(kind: &str, what: &str, content: &[u8], ending: &str) -> String {
    let safe = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
    let what: String = what.chars().map(|it| if safe(it) { it } else { '_' }).collect();
    format!("{kind}/v{VERSION}/{what}-{}.{ending}", digest(content))
}

/// What tells a content apart from every other.
pub(super) fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..32].to_owned()
}

/// Read an object, unless its content is not that of its name.
pub(super) fn read(kind: &str, name: &str, content: Bytes) -> Result<Found, String> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let wanted = file.rsplit_once('.').and_then(|(stem, _)| stem.rsplit_once('-'));
    let wanted = wanted.map(|(_, digest)| digest);
    if wanted != Some(digest(&content).as_str()) {
        return Err("its content is not what was written: half of it, or changed since".to_owned());
    }
    match kind {
        "runs" => segment::decode(content).map(Found::Runs).map_err(|error| error.to_string()),
        "hunts" => serde_json::from_slice(&content).map(hunt).map_err(|error| error.to_string()),
        _ => serde_json::from_slice(&content).map(cause).map_err(|error| error.to_string()),
    }
}

pub(super) fn of_hunt(hunt: &WholeHunt) -> Result<Vec<u8>, serde_json::Error> {
    let WholeHunt { record, summary, flaky, looked_at, .. } = hunt.clone();
    serde_json::to_vec(&HuntDocument { hunt: record, summary, flaky, looked_at })
}

fn hunt(document: HuntDocument) -> Found {
    let HuntDocument { hunt: record, summary, flaky, looked_at } = document;
    let trials = Vec::new();
    Found::Hunt(Box::new(WholeHunt { record, is_over: true, summary, flaky, looked_at, trials }))
}

pub(super) fn of_cause(cause: &CauseRecord) -> Result<Vec<u8>, serde_json::Error> {
    let CauseRecord { id, started, command, seed, test, found, progress } = cause.clone();
    serde_json::to_vec(&CauseDocument { id, started, command, seed, test, found, progress })
}

fn cause(document: CauseDocument) -> Found {
    let CauseDocument { id, started, command, seed, test, found, progress } = document;
    Found::Cause(Box::new(CauseRecord { id, started, command, seed, test, found, progress }))
}
