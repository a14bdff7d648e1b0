//! Handing the findings to whoever wants them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use flakeproof_core::Findings;
use flakeproof_report::{GithubAnnotations, GithubSummary, Json, JunitXml, Renderer};

use crate::problem::Problem;
use crate::settings::{ReporterKind, RunSettings};
use crate::view;

/// Show the findings and write every report that was asked for.
///
/// The terminal comes first: a report that cannot be written loses nothing.
pub(super) fn write(findings: &Findings, settings: &RunSettings) -> Result<(), Problem> {
    let has_data_on_stdout = settings.reporters.iter().any(|it| it.path == Path::new("-"));
    view::findings(findings, has_data_on_stdout);
    for reporter in &settings.reporters {
        let bytes = match reporter.kind {
            ReporterKind::Json => Json.render(findings),
            ReporterKind::Junit => JunitXml.render(findings),
            ReporterKind::Markdown => GithubSummary.render(findings),
        };
        put(&reporter.path, &bytes.map_err(|error| cannot_render(&error))?)?;
    }
    if std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true") {
        github(findings, settings)?;
    }
    Ok(())
}

fn github(findings: &Findings, settings: &RunSettings) -> Result<(), Problem> {
    let root = std::env::var("GITHUB_WORKSPACE").unwrap_or_default();
    let below = settings.folder.strip_prefix(&root).unwrap_or(Path::new(""));
    let annotations = GithubAnnotations { folder: below.to_string_lossy().into_owned() };
    view::data(&annotations.render(findings).map_err(|error| cannot_render(&error))?);
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
        let summary = GithubSummary.render(findings).map_err(|error| cannot_render(&error))?;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| cannot_write(Path::new(&path), &error))?;
        file.write_all(&summary).map_err(|error| cannot_write(Path::new(&path), &error))?;
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    if path == Path::new("-") {
        view::data(bytes);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(path, &error))?;
    }
    std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::broken(
        format!("the report {} cannot be written: {error}", path.display()),
        "name a place that can be written; the verdicts above stand",
    )
}

fn cannot_render(error: &flakeproof_report::Error) -> Problem {
    Problem::broken(
        format!("a report cannot be made: {error}"),
        "the verdicts above stand; please report this as a bug",
    )
}
