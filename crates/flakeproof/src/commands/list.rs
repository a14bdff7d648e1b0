//! `flakeproof list`: the known flaky tests of the project.

use flakeproof_core::ExitCode;

use super::known;
use crate::cli::{ListArguments, ListFormat};
use crate::problem::Problem;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ListArguments) -> Result<ExitCode, Problem> {
    let folder = super::current_folder()?;
    let known = known::flaky_tests(typed.store.as_deref(), &folder)?;
    match typed.output_format {
        ListFormat::Text => view::known_flaky(&known),
        ListFormat::Json => view::known_flaky_json(&known),
    }
    Ok(ExitCode::Clean)
}
