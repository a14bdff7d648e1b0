//! `flakeproof report` and `flakeproof list`: what is flaky now, and what it costs.

use std::path::{Path, PathBuf};

use flakeproof_core::{Cause, ExitCode, History, HistoryError, KnownFlaky, Overview, Scores};
use flakeproof_report::{
    GithubSummary, GitlabCodeQuality, GitlabNote, Html, Json, OverviewMarkdown, Renderer,
};

use crate::cli::{ListArguments, ListFormat, OverviewForm, ReportArguments};
use crate::problem::Problem;
use crate::session::overview::{Explain, OverviewReader};
use crate::session::reports::{add_to_job_summary, cannot_render, put};
use crate::session::{current_folder, history};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ReportArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let explain = if typed.no_source { Explain::Nothing } else { Explain::Suspects };
    let (reader, history) = OverviewReader::open(typed.store.as_ref(), &folder, explain)?;
    let overview = reader.read(&*history)?;
    for (path, form) in wanted(typed, &reader.folder_of_history()) {
        put(&path, &render(form, &overview)?)?;
        if path != Path::new("-") {
            view::report_written(&overview, &path);
        }
    }
    add_to_job_summary(|| GithubSummary.render(&overview))?;
    Ok(ExitCode::Clean)
}

fn render(form: OverviewForm, overview: &Overview) -> Result<Vec<u8>, Problem> {
    match form {
        OverviewForm::Html => Html.render(overview),
        OverviewForm::Markdown => OverviewMarkdown.render(overview),
        OverviewForm::GitlabNote => GitlabNote.render(overview),
        OverviewForm::GitlabQuality => GitlabCodeQuality.render(overview),
        OverviewForm::Json => Json.render(overview),
    }
    .map_err(|error| cannot_render(&error))
}

/// What to write where.
fn wanted(typed: &ReportArguments, history: &Path) -> Vec<(PathBuf, OverviewForm)> {
    let mut wanted: Vec<(PathBuf, OverviewForm)> =
        typed.reporters().into_iter().map(|it| (it.path, it.form)).collect();
    if wanted.is_empty() {
        wanted.push((history.join("report.html"), OverviewForm::Html));
    }
    wanted
}

/// `flakeproof list`: the known flaky tests of the project.
pub(crate) fn list(typed: &ListArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let (hunted, scores, causes) = match history::find(typed.store.as_ref(), &folder)? {
        Some(history) => all_of(&*history).map_err(|error| history::unreadable(&error))?,
        None => (Vec::new(), Scores::default(), Vec::new()),
    };
    match typed.output_format {
        ListFormat::Text => view::known_flaky(&hunted, &scores, &causes),
        ListFormat::Json => view::known_flaky_json(&hunted, &scores, &causes),
    }
    Ok(ExitCode::Clean)
}

/// What hunts, runs and experiments know.
pub(super) fn all_of(
    history: &dyn History,
) -> Result<(Vec<KnownFlaky>, Scores, Vec<Cause>), HistoryError> {
    let (hunted, scores) = history::hunted_and_scores(history)?;
    let causes = history.causes()?.into_iter().filter_map(|it| it.found).collect();
    Ok((hunted, scores, causes))
}
