//! Handing what a hunt found to whoever wants it.

use std::path::Path;

use flakeproof_core::HuntFindings;
use flakeproof_detect::hunt::{self, PolluterSearch};
use flakeproof_report::{GithubSummary, Json, Renderer};

use super::super::files::{cannot_render, put};
use crate::problem::Problem;
use crate::settings::{HuntSettings, ReporterKind};
use crate::view::{self, ShownHunt};

/// Show the findings and write every report that was asked for.
///
/// The terminal comes first: a report that cannot be written loses nothing.
pub(super) fn write(
    findings: &HuntFindings,
    settings: &HuntSettings,
    plan: &hunt::HuntSettings,
    resume: Option<String>,
) -> Result<(), Problem> {
    view::hunt(
        findings,
        &ShownHunt {
            victim: plan.victim.clone(),
            are_polluters_sought: plan.polluters != PolluterSearch::Off,
            resume,
            is_stdout_taken: settings.reporters.iter().any(|it| it.path == Path::new("-")),
        },
    );
    for reporter in &settings.reporters {
        let bytes = match reporter.kind {
            ReporterKind::Json => Json.render(findings),
            ReporterKind::Markdown => GithubSummary.render(findings),
            // A hunt has no single outcome of each test; the settings leave it out.
            ReporterKind::Junit => continue,
        };
        put(&reporter.path, &bytes.map_err(|error| cannot_render(&error))?)?;
    }
    Ok(())
}
