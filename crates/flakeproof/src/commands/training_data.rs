//! Labelled tests, from wherever they are.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flakeproof_core::History;
use flakeproof_learn::labelled::{self, LabelledTest};
use flakeproof_store::SqliteHistory;
use flakeproof_syntax::Language;

use super::sources;
use crate::problem::Problem;
use crate::session::history;

/// The first bytes of a Zstandard frame.
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The labelled tests of JSON Lines files, without those of some projects.
pub(super) fn of_files(
    paths: &[PathBuf],
    without: &[String],
) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = Vec::new();
    for path in paths {
        let text = text_of(path)?;
        tests.extend(labelled::read_json_lines(&text).map_err(|error| {
            Problem::usage(
                format!("{}: {error}", path.display()),
                "each line is one JSON object: {\"source\": \"…\", \"flaky\": true, …}",
            )
        })?);
    }
    for project in without {
        if !tests.iter().any(|test| test.project == *project) {
            let mut known: Vec<&str> = tests.iter().map(|test| test.project.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            return Err(Problem::usage(
                format!("no test belongs to the project `{project}`"),
                format!("the projects are: {}", known.join(", ")),
            ));
        }
    }
    tests.retain(|test| !without.contains(&test.project));
    Ok(tests)
}

fn text_of(path: &Path) -> Result<String, Problem> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Problem::usage(
            format!("{} cannot be read: {cause}", path.display()),
            "name a file of JSON Lines, plain or compressed with Zstandard (.zst)",
        )
    };
    let mut bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    if bytes.starts_with(&ZSTANDARD) {
        let mut plain = Vec::new();
        // What the decoder says is about its own insides.
        let damaged = || unreadable(&"its compressed data is damaged or cut off");
        ruzstd::decoding::StreamingDecoder::new(&bytes[..])
            .map_err(|_| damaged())?
            .read_to_end(&mut plain)
            .map_err(|_| damaged())?;
        bytes = plain;
    }
    String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8"))
}

/// One test for each file of two folders.
pub(super) fn of_folders(flaky: &Path, stable: &Path) -> Result<Vec<LabelledTest>, Problem> {
    let mut tests = Vec::new();
    for (folder, is_flaky) in [(flaky, true), (stable, false)] {
        let cannot = |error: std::io::Error| {
            Problem::usage(
                format!("the folder {} cannot be read: {error}", folder.display()),
                "name a folder with one test in each file",
            )
        };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(cannot)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        for path in files {
            let bytes = std::fs::read(&path).map_err(cannot)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            tests.push(LabelledTest {
                id: name.clone(),
                name,
                flaky: is_flaky,
                comments: Language::of_path(&path.to_string_lossy())
                    .map(Into::into)
                    .unwrap_or_default(),
                source: String::from_utf8_lossy(&bytes).into_owned(),
                ..LabelledTest::default()
            });
        }
    }
    Ok(tests)
}

/// The tests in the source of a folder, as the history of its runs knows them: flaky if they ever
/// were, not flaky if they only ever passed. All others are left out.
pub(super) fn of_history(
    store: Option<&Path>,
    folder: &Path,
) -> Result<Vec<LabelledTest>, Problem> {
    let path = history::place(store, folder)?;
    if !path.is_file() {
        return Err(Problem::usage(
            format!("there is no history at {}", path.display()),
            "run your tests with `flakeproof run` some times first, or name it with `--store`",
        ));
    }
    let records = SqliteHistory::open(&path)
        .and_then(|history| Ok(history.timeline()?.track_records()))
        .map_err(|error| {
            Problem::usage(error.to_string(), "name the history with `--store`, or use `--data`")
        })?;
    let found = sources::read(&[PathBuf::from(".")], folder)?;
    let mut labels: HashMap<&str, bool> = HashMap::new();
    for (test, record) in &records {
        // Parameters are part of an id, but not of the source: one flaky case makes it flaky.
        let id = test.as_str().split('[').next().unwrap_or_default();
        let is_flaky = record.flaky > 0;
        if is_flaky || record.failures == 0 && record.passes > 0 {
            *labels.entry(id).or_insert(false) |= is_flaky;
        }
    }
    let project = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(found
        .tests
        .into_iter()
        .filter_map(|test| {
            let flaky = *labels.get(test.id.as_str())?;
            Some(LabelledTest {
                id: test.id.to_string(),
                project: project.clone(),
                class: test.class,
                name: String::new(),
                flaky,
                category: None,
                runs: None,
                comments: test.language.into(),
                source: test.source,
            })
        })
        .collect())
}
