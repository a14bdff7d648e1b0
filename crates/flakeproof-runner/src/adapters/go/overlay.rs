//! The standard package `testing` with one call of ours in it: which tests a binary runs, in which
//! order.
//!
//! Go takes other sources for files of any package with `-overlay`. The user's own `testing.go` is
//! read and gets one call at the start of `MainStart`, on the line that is there, so that every line
//! keeps its number; what is called stands in a file of its own, which is part of this program. A
//! `testing.go` in which that place is not found is left alone.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use crate::folders::cache_folder;

/// The variable that names the file with what is asked for.
pub(super) const VARIABLE: &str = "FLAKEPROOF_GO_ORDER";

/// What is called.
const ORDER: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents/go/flakeproof_order.go"));

/// The call.
const CALL: &str = " tests, fuzzTargets, examples = flakeproofOrder(tests, fuzzTargets, examples)";

/// Where the call goes.
static START: LazyLock<Regex> = LazyLock::new(|| {
    let list = r"tests \[\]InternalTest, .*fuzzTargets \[\]InternalFuzzTarget, examples \[\]InternalExample";
    Regex::new(&format!(r"(?m)^func MainStart\([^\n]*{list}\) \*M \{{$"))
        .expect("the pattern is fixed and compiles")
});

/// The overlay for a Go installation: the file that `-overlay` takes.
///
/// It is kept in the user's cache, so that Go finds what it compiled before; where no cache can be
/// written, `fallback` is used.
///
/// # Errors
/// Says why there can be none.
pub(super) fn write(go_root: &Path, fallback: &Path) -> Result<PathBuf, String> {
    let folder = go_root.join("src/testing");
    let source = folder.join("testing.go");
    let text = std::fs::read_to_string(&source)
        .map_err(|error| format!("{} cannot be read: {error}", source.display()))?;
    let patched =
        patched(&text).ok_or_else(|| format!("{} is not as it is known", source.display()))?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(patched.as_bytes()).update(ORDER.as_bytes());
    hasher.update(go_root.as_os_str().as_encoded_bytes());
    let digest = hasher.finalize().to_hex()[..16].to_owned();
    let kept = cache_folder().map(|cache| cache.join("flakeproof/agents/go").join(&digest));
    let places = kept.into_iter().chain([fallback.join("overlay")]);
    let mut trouble = String::new();
    for place in places {
        match write_to(&place, &folder, &patched) {
            Ok(overlay) => return Ok(overlay),
            Err(error) => trouble = format!("{} cannot be written: {error}", place.display()),
        }
    }
    Err(trouble)
}

/// The text of `testing.go` with the call in it.
fn patched(text: &str) -> Option<String> {
    let mut found = START.find_iter(text);
    let (start, None) = (found.next()?, found.next()) else { return None };
    // Without it, what a test prints cannot be told from what `testing` says.
    let is_framed = text.contains("\"test2json\"") && text.contains("paniconexit0");
    let is_free = !text.contains("flakeproofOrder");
    let (before, after) = text.split_at(start.end());
    (is_framed && is_free).then(|| format!("{before}{CALL}{after}"))
}

fn write_to(place: &Path, folder: &Path, patched: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(place)?;
    let (source, order) = (place.join("testing.go"), place.join("flakeproof_order.go"));
    let replaced = json!({ "Replace": {
        folder.join("testing.go").to_string_lossy(): source.to_string_lossy(),
        folder.join("flakeproof_order.go").to_string_lossy(): order.to_string_lossy(),
    }});
    let overlay = place.join("overlay.json");
    write_whole(&source, patched)?;
    write_whole(&order, ORDER)?;
    write_whole(&overlay, &replaced.to_string())?;
    Ok(overlay)
}

/// Write a file that another run may be reading, unless it is there.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut beside, text.as_bytes())?;
    beside.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_OF_MAIN: &str = "func MainStart(deps testDeps, tests []InternalTest, benchmarks \
         []InternalBenchmark, fuzzTargets []InternalFuzzTarget, examples []InternalExample) *M {";

    fn source(start: &str) -> String {
        format!("package testing\n\n// \"test2json\" paniconexit0\n{start}\n\treturn &M{{}}\n}}\n")
    }

    #[test]
    fn the_call_keeps_every_line_where_it_is() {
        let before = source(START_OF_MAIN);
        let after = patched(&before).expect("the place is there");
        assert_eq!(before.lines().count(), after.lines().count());
        assert!(after.contains(&format!("*M {{{CALL}\n\treturn")), "{after}");
    }

    #[test]
    fn a_package_that_is_not_known_is_left_alone() {
        assert_eq!(
            patched(&source("func MainStart(deps testDeps, tests []InternalTest) *M {")),
            None
        );
        let twice = format!("{}{}", source(START_OF_MAIN), source(START_OF_MAIN));
        assert_eq!(patched(&twice), None);
        let once = patched(&source(START_OF_MAIN)).expect("the place is there");
        assert_eq!(patched(&once), None, "it is patched already");
        assert_eq!(patched(&source(START_OF_MAIN).replace("test2json", "")), None, "Go 1.19");
    }
}
