//! Handing what was found to whoever wants it: the terminal, files, and the job of a CI system.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use flakeproof_core::{CauseFindings, Findings, FixFindings, HuntFindings, PatchFindings};
use flakeproof_detect::hunt::{self, PolluterSearch};
use flakeproof_report::{GithubAnnotations, GithubSummary, Json, JunitXml, Renderer};

use crate::cli::{HuntSettings, RunSettings};
use crate::problem::Problem;
use crate::settings::{Reporter, ReporterKind};
use crate::view::{self, ShownHunt};

/// Show the findings and write every report that was asked for.
///
/// The terminal comes first: a report that cannot be written loses nothing.
pub(crate) fn report_findings(findings: &Findings, settings: &RunSettings) -> Result<(), Problem> {
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

/// Show the findings and write every report that was asked for.
///
/// The terminal comes first: a report that cannot be written loses nothing.
pub(crate) fn report_hunt(
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

/// Write a report; `-` is stdout.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    if path == Path::new("-") {
        view::data(bytes);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(path, &error))?;
    }
    std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

/// Add to the summary of a job of GitHub Actions, where there is one.
pub(crate) fn add_to_job_summary(
    render: impl FnOnce() -> Result<Vec<u8>, flakeproof_report::Error>,
) -> Result<(), Problem> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else { return Ok(()) };
    let path = Path::new(&path);
    let summary = render().map_err(|error| cannot_render(&error))?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(&summary)).map_err(|error| cannot_write(path, &error))
}

/// The current folder below the root of a job's checkout, as annotations need it.
pub(crate) fn below_workspace() -> String {
    // Without one, or with an empty one, which every path begins with, it is the folder itself.
    let root = std::env::var_os("GITHUB_WORKSPACE").filter(|root| !root.is_empty());
    let folder = std::env::current_dir().unwrap_or_default();
    let below = root.and_then(|root| folder.strip_prefix(root).ok().map(Path::to_path_buf));
    below.unwrap_or_default().to_string_lossy().into_owned()
}

/// A report has no place.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::broken(
        format!("the report {} cannot be written: {error}", path.display()),
        "name a place that can be written; what was found stands",
    )
}

/// A report has no form.
pub(crate) fn cannot_render(error: &flakeproof_report::Error) -> Problem {
    Problem::broken(
        format!("a report cannot be made: {error}"),
        "what was found stands; please report this as a bug",
    )
}

/// Show what makes a test fail and write what was asked for. The terminal comes first: a report that
/// cannot be written loses nothing.
pub(crate) fn report_cause(
    findings: &CauseFindings,
    reporters: &[Reporter],
) -> Result<(), Problem> {
    view::cause(findings, reporters.iter().any(|it| it.path == Path::new("-")));
    for reporter in reporters {
        let bytes = Json.render(findings).map_err(|error| cannot_render(&error))?;
        put(&reporter.path, &bytes)?;
    }
    Ok(())
}

/// Show the verdict and write what was asked for. The terminal comes first: a report that cannot be
/// written loses nothing.
pub(crate) fn report_fix(findings: &FixFindings, reporters: &[Reporter]) -> Result<(), Problem> {
    view::fix(findings, reporters.iter().any(|it| it.path == Path::new("-")));
    for reporter in reporters {
        let bytes = Json.render(findings).map_err(|error| cannot_render(&error))?;
        put(&reporter.path, &bytes)?;
    }
    Ok(())
}

/// Show what mends a test and write what was asked for. The terminal comes first: a report that cannot be
/// written loses nothing.
pub(crate) fn report_patches(
    findings: &PatchFindings,
    reporters: &[Reporter],
) -> Result<(), Problem> {
    view::patches(findings, reporters.iter().any(|it| it.path == Path::new("-")));
    for reporter in reporters {
        let bytes = Json.render(findings).map_err(|error| cannot_render(&error))?;
        put(&reporter.path, &bytes)?;
    }
    Ok(())
}
