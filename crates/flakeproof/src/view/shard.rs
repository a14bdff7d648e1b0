//! The tests of a shard, for a runner or a program; stderr says how the suite was shared.

use flakeproof_core::{Notice, Shard, Shards};
use serde_json::json;

use super::terminal::{self, DIM};

/// Say how the suite was shared.
pub(crate) fn shard_notice(notice: &Notice) {
    let _ = terminal::err(&format!("{DIM}{}{DIM:#}\n", notice.what));
}

/// Print one of them on each line.
pub(crate) fn shard_lines<'a>(lines: impl IntoIterator<Item = &'a str>) {
    let text: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
    super::verbatim(&text);
}

/// Print all that is known, for programs.
pub(crate) fn shard_json(shard: Shard, shards: &Shards, plan: &str) {
    let seconds = |part: &flakeproof_core::Part| {
        (shards.known > 0).then(|| part.time.as_millis() as f64 / 1000.0)
    };
    let Some(own) = shards.parts.get(shard.number() as usize - 1) else { return };
    let each = shards
        .parts
        .iter()
        .map(|part| json!({ "tests": part.tests.len(), "seconds": seconds(part) }));
    let document = json!({
        "schema": 1,
        "shard": shard.number(),
        "of": shard.of(),
        "plan": plan,
        "known_times": shards.known,
        "seconds": seconds(own),
        "tests": own.tests.iter().map(|test| test.id.as_str()).collect::<Vec<_>>(),
        "files": own.files(),
        "shards": each.collect::<Vec<_>>(),
    });
    super::verbatim(&format!("{document:#}\n"));
}
