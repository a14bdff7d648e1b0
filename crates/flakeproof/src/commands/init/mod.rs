//! `flakeproof init`: a commented configuration, and a job for the project's CI service.

mod ci;
mod configuration;

use std::path::{Path, PathBuf};

use flakeproof_core::ExitCode;
use flakeproof_runner::adapters;

use crate::cli::InitArguments;
use crate::problem::Problem;
use crate::session::current_folder;
use crate::settings::ConfigurationFile;
use crate::view;

/// A file that this command would write.
#[derive(Debug, PartialEq, Eq)]
struct Draft {
    /// Relative to the project's folder.
    path: PathBuf,
    text: String,
}

/// Run the command.
pub(crate) fn run(typed: &InitArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let file = ConfigurationFile::find(None, &folder)?;
    let project = file.project.clone();
    let command = match typed.command.is_empty() {
        true => adapters::usual_command(&project),
        false => typed.command.clone(),
    };
    let service = match typed.ci {
        Some(named) => named,
        None => ci::of_project(&project),
    };
    if let Some(place) = file.place() {
        view::left_alone(&shown(place, &project));
    }
    let mut drafts = Vec::new();
    if file.place().is_none() {
        drafts.push(configuration::draft());
    }
    drafts.extend(ci::job(service, &command));
    let mut written = 0;
    for draft in &drafts {
        if project.join(&draft.path).exists() {
            view::left_alone(&draft.path);
            continue;
        }
        view::draft(&draft.path, &draft.text);
        if typed.dry_run {
            continue;
        }
        if typed.yes || may_write(&draft.path)? {
            write(&project, draft)?;
            written += 1;
        }
    }
    if typed.dry_run {
        view::nothing_written();
    } else {
        view::initialised(written, &command, ci::note(service));
    }
    Ok(ExitCode::Clean)
}

/// Ask; without a terminal nobody can answer, so nothing is written.
fn may_write(path: &Path) -> Result<bool, Problem> {
    view::may_write(path).ok_or_else(|| {
        Problem::usage(
            "nobody can be asked whether to write these files: this is no terminal",
            "say so with `--yes`, or look only with `--dry-run`",
        )
    })
}

fn write(project: &Path, draft: &Draft) -> Result<(), Problem> {
    let path = project.join(&draft.path);
    let folder = path.parent().unwrap_or(project);
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        // One that came into being meanwhile is somebody else's.
        let mut file = std::fs::File::create_new(&path)?;
        std::io::Write::write_all(&mut file, draft.text.as_bytes())
    });
    written.map_err(|error| {
        Problem::broken(
            format!("{} cannot be written: {error}", path.display()),
            "check the rights of the project's folder, or copy the text above into a file yourself",
        )
    })
}

fn shown(path: &Path, project: &Path) -> PathBuf {
    path.strip_prefix(project).unwrap_or(path).to_path_buf()
}
