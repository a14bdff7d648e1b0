//! `flakeproof quarantine`: known flaky tests that do not fail the build for a while.

mod add;
mod check;
mod remove;

use flakeproof_core::ExitCode;

use crate::cli::{ListFormat, QuarantineAction, QuarantineArguments};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::settings::{ConfigurationFile, QuarantineFile, today};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &QuarantineArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let project = ConfigurationFile::find(None, &folder)?.project;
    let file = QuarantineFile::of(&project)?;
    match &typed.action {
        QuarantineAction::Add(typed) => add::run(typed, &file, &folder),
        QuarantineAction::Remove(typed) => remove::run(typed, &file),
        QuarantineAction::List(typed) => {
            match typed.output_format {
                ListFormat::Text => view::quarantine(&file.entries, &today()),
                ListFormat::Json => view::quarantine_json(&file.entries, &today()),
            }
            Ok(ExitCode::Clean)
        }
        QuarantineAction::Check(typed) => check::run(typed, &file, &project),
    }
}
