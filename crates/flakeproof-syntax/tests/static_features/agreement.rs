//! Compares the static features of all tests of a folder with those of radon and ast.

use std::collections::HashMap;
use std::path::Path;

use flakeproof_syntax::metrics::StaticFeatures;
use flakeproof_syntax::{Finder, Layout, SourceFile};
use serde_json::Value;

/// How far two sets of features agree.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// Tests with all seven features equal.
    pub(crate) equal: usize,
    /// Tests with some feature that differs, or that only one side measured.
    pub(crate) differing: Vec<String>,
    /// Functions named like tests that the finder takes for none.
    pub(crate) other_functions: usize,
}

/// Measure the tests of a folder and compare them with JSON Lines of `evaluation/features/static.py`
/// for the same folder.
pub(crate) fn compare(folder: &Path, expected: &str) -> Agreement {
    let mut by_file: HashMap<String, HashMap<u64, Value>> = HashMap::new();
    for line in expected.lines() {
        let row: Value = serde_json::from_str(line).expect("a line of JSON");
        let file = row["file"].as_str().expect("a file").to_owned();
        let line = row["line"].as_u64().expect("a line");
        by_file.entry(file).or_default().insert(line, row);
    }
    let mut agreement = Agreement::default();
    let mut files: Vec<_> = by_file.into_iter().collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    for (file, rows) in files {
        let text = std::fs::read_to_string(folder.join(&file)).expect("the file can be read");
        compare_file(&file, &text, rows, &mut agreement);
    }
    agreement
}

fn compare_file(path: &str, text: &str, mut rows: HashMap<u64, Value>, agreement: &mut Agreement) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let measured = Finder::default().measure(&SourceFile { path, text }, &Layout::default());
    for (test, features) in measured.found.tests.iter().zip(&measured.features) {
        let row = rows.remove(&u64::from(*test.lines.start())).unwrap_or_default();
        match differences(features.as_ref(), &row) {
            differences if differences.is_empty() => agreement.equal += 1,
            differences => agreement.differing.push(format!("{}: {differences}", test.id)),
        }
    }
    agreement.other_functions += rows.len();
}

/// `lines 3 ≠ 4` for each feature that differs.
fn differences(ours: Option<&StaticFeatures>, theirs: &Value) -> String {
    let Some(ours) = ours else { return format!("not measured, theirs {theirs}") };
    let pairs = [
        ("depth", f64::from(ours.depth)),
        ("assertions", f64::from(ours.assertions)),
        ("external_modules", f64::from(ours.external_modules)),
        ("halstead_volume", ours.halstead_volume),
        ("cyclomatic_complexity", f64::from(ours.cyclomatic_complexity)),
        ("lines", f64::from(ours.lines)),
        ("maintainability", ours.maintainability),
    ];
    let differing = pairs.iter().filter_map(|(name, ours)| match theirs[*name].as_f64() {
        Some(theirs) if (ours - theirs).abs() <= 1e-9 => None,
        Some(theirs) => Some(format!("{name} {ours} ≠ {theirs}")),
        None => Some(format!("{name} {ours}, theirs {}", theirs["error"])),
    });
    differing.collect::<Vec<_>>().join(", ")
}
