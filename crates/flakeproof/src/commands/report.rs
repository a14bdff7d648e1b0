//! `flakeproof report` and `flakeproof list`: what is flaky now, and what it costs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flakeproof_core::{ExitCode, Overview};
use flakeproof_report::{
    AtomFeed, GithubSummary, GitlabCodeQuality, GitlabNote, Html, Json, JsonFeed, OverviewMarkdown,
    Renderer,
};

use crate::cli::{ListArguments, ListFormat, Naming, OverviewForm, ReportArguments};
use crate::problem::Problem;
use crate::session::listed::ListedHistory;
use crate::session::overview::{Explain, OverviewReader};
use crate::session::ownership::Ownership;
use crate::session::reports::{add_to_job_summary, cannot_render, put};
use crate::session::{current_folder, history};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ReportArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let explain = if typed.no_source { Explain::Nothing } else { Explain::Suspects };
    let (reader, history) = OverviewReader::open(typed.store.as_ref(), &folder, explain)?;
    let reader = reader.with(Naming::asked_for(typed.as_recorded));
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
        OverviewForm::JsonFeed => JsonFeed.render(overview),
        OverviewForm::Atom => AtomFeed.render(overview),
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
    let naming = Naming::asked_for(typed.as_recorded);
    let listed = match history::find(typed.store.as_ref(), &folder)? {
        Some(history) => ListedHistory::read(&*history, &folder, naming)
            .map_err(|error| history::unreadable(&error))?,
        None => ListedHistory::default(),
    };
    let owner = typed.owner.as_deref();
    if let Some(owner) = owner {
        check_owner(owner, &listed, &folder)?;
    }
    let list = view::List::new(&listed, owner);
    match typed.output_format {
        ListFormat::Text => view::known_flaky(&list),
        ListFormat::Json => view::known_flaky_json(&list),
    }
    Ok(ExitCode::Clean)
}

/// An owner who owns nothing at all is a slip of the pen, or there is nobody to be named.
fn check_owner(owner: &str, listed: &ListedHistory, folder: &Path) -> Result<(), Problem> {
    let ownership = Ownership::read(folder);
    if ownership.is_empty() {
        return Err(Problem::usage(
            format!("nobody owns anything here: there is no `CODEOWNERS` that names `{owner}`"),
            "write `.github/CODEOWNERS`, `CODEOWNERS`, `docs/CODEOWNERS` or `.gitlab/CODEOWNERS`",
        ));
    }
    let is_same = |it: &str| it.eq_ignore_ascii_case(owner);
    let is_known = ownership.names().any(is_same);
    let is_found = || listed.owned.values().any(|it| it.owners.iter().any(|it| is_same(it)));
    if is_known || is_found() {
        return Ok(());
    }
    let names: BTreeSet<&str> = ownership.names().collect();
    let names: Vec<&str> = names.into_iter().take(10).collect();
    Err(Problem::usage(
        format!("`CODEOWNERS` does not name `{owner}`"),
        format!("it names {}", names.join(", ")),
    ))
}
