//! Handing the findings to whoever wants them.

use std::path::Path;

use flakeproof_core::Findings;
use flakeproof_report::{GithubAnnotations, GithubSummary, Json, JunitXml, Renderer};

use super::super::files::{add_to_job_summary, below_workspace, cannot_render, put};
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
        github(findings)?;
    }
    Ok(())
}

fn github(findings: &Findings) -> Result<(), Problem> {
    let annotations = GithubAnnotations { folder: below_workspace() };
    view::data(&annotations.render(findings).map_err(|error| cannot_render(&error))?);
    add_to_job_summary(|| GithubSummary.render(findings))
}
