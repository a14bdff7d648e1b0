//! The features that need no run, of tests in any language that is measured.

use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Features};
use flakeproof_learn::cannier::MeasuredTest;

use super::{export, from_source, show};
use crate::problem::Problem;
use crate::session::reports;
use crate::settings::FeaturesSettings;
use crate::source::source_tests;
use crate::view::{FeatureRow, FeatureTable};

/// Read the tests in files and folders, and give the features of their source.
pub(super) fn run(paths: &[PathBuf], settings: &FeaturesSettings) -> Result<ExitCode, Problem> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let found = source_tests::measure(paths, &settings.folder)?;
    if found.tests.is_empty() {
        return Err(source_tests::no_tests(paths));
    }
    let row = |test: source_tests::SourceTest| {
        let mut features = Features::default();
        if let Some(source) = &test.features {
            from_source::set(&mut features, source);
        }
        FeatureRow { test: test.id, runs: 1, features }
    };
    let table = FeatureTable {
        project: settings.project.clone(),
        runner: "nothing was run".to_owned(),
        seed: None,
        rows: found.tests.into_iter().map(row).collect(),
        times: Vec::new(),
        plain: None,
        notices: found.notices,
    };
    show(&table, settings);
    match &settings.export {
        Some(path) => write(path, &table),
        None => Ok(()),
    }?;
    Ok(ExitCode::Clean)
}

fn write(path: &Path, table: &FeatureTable) -> Result<(), Problem> {
    let measured = |row: &FeatureRow| MeasuredTest {
        project: table.project.clone(),
        test: row.test.to_string(),
        run: 1,
        features: row.features,
    };
    let tests: Vec<MeasuredTest> = table.rows.iter().map(measured).collect();
    reports::put(path, &export::bytes(path, &tests)?)
}
