//! `flakeproof report` and `flakeproof list`: what is flaky now, and what it costs.

use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Overview, Scores};
use flakeproof_report::{
    GithubSummary, GitlabCodeQuality, GitlabNote, Html, Json, OverviewMarkdown, Renderer,
};

use crate::cli::{ListArguments, ListFormat, ReportArguments};
use crate::problem::Problem;
use crate::session::overview::{Explain, OverviewReader};
use crate::session::reports::{add_to_job_summary, cannot_render, put};
use crate::session::{current_folder, history};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ReportArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let explain = if typed.no_source { Explain::Nothing } else { Explain::Suspects };
    let (reader, history) = OverviewReader::open(typed.store.as_deref(), &folder, explain)?;
    let overview = reader.read(&history)?;
    for (path, form) in wanted(typed, &reader.folder_of_history()) {
        put(&path, &form.render(&overview)?)?;
        if path != Path::new("-") {
            view::report_written(&overview, &path);
        }
    }
    add_to_job_summary(|| GithubSummary.render(&overview))?;
    Ok(ExitCode::Clean)
}

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
    GitlabNote,
    GitlabQuality,
    Json,
}

impl Form {
    fn render(self, overview: &Overview) -> Result<Vec<u8>, Problem> {
        match self {
            Self::Html => Html.render(overview),
            Self::Markdown => OverviewMarkdown.render(overview),
            Self::GitlabNote => GitlabNote.render(overview),
            Self::GitlabQuality => GitlabCodeQuality.render(overview),
            Self::Json => Json.render(overview),
        }
        .map_err(|error| cannot_render(&error))
    }
}

/// What to write where.
fn wanted(typed: &ReportArguments, history: &Path) -> Vec<(PathBuf, Form)> {
    let forms = [
        (&typed.html, Form::Html),
        (&typed.markdown, Form::Markdown),
        (&typed.gitlab_note, Form::GitlabNote),
        (&typed.gitlab_quality, Form::GitlabQuality),
        (&typed.json, Form::Json),
    ];
    let mut wanted: Vec<(PathBuf, Form)> =
        forms.into_iter().filter_map(|(path, form)| Some((path.clone()?, form))).collect();
    if wanted.is_empty() {
        wanted.push((history.join("report.html"), Form::Html));
    }
    wanted
}

/// `flakeproof list`: the known flaky tests of the project.
pub(crate) fn list(typed: &ListArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let (hunted, scores) = match history::find(typed.store.as_deref(), &folder)? {
        Some(history) => {
            history::hunted_and_scores(&history).map_err(|error| history::unreadable(&error))?
        }
        None => (Vec::new(), Scores::default()),
    };
    match typed.output_format {
        ListFormat::Text => view::known_flaky(&hunted, &scores),
        ListFormat::Json => view::known_flaky_json(&hunted, &scores),
    }
    Ok(ExitCode::Clean)
}
