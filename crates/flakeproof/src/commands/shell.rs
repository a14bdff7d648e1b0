//! `flakeproof completions` and `flakeproof man`: the same definition of all commands, for shells and for
//! `man`.

use std::path::Path;

use clap_complete::Shell;
use clap_complete_nushell::Nushell;
use flakeproof_core::ExitCode;

use crate::cli::{self, CompletionsArguments, ManArguments, ShellName};
use crate::problem::Problem;
use crate::view;

const NAME: &str = "flakeproof";

/// Print what makes a shell complete.
pub(crate) fn completions(typed: &CompletionsArguments) -> Result<ExitCode, Problem> {
    let mut text = Vec::new();
    let mut command = cli::definition();
    let shell = match typed.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
        ShellName::Powershell => Shell::PowerShell,
        ShellName::Elvish => Shell::Elvish,
        ShellName::Nushell => {
            clap_complete::generate(Nushell, &mut command, NAME, &mut text);
            view::data(&text);
            return Ok(ExitCode::Clean);
        }
    };
    clap_complete::generate(shell, &mut command, NAME, &mut text);
    view::data(&text);
    Ok(ExitCode::Clean)
}

/// Print one page, or write all of them.
pub(crate) fn man(typed: &ManArguments) -> Result<ExitCode, Problem> {
    match &typed.output {
        Some(folder) => write_all(folder)?,
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(cli::definition()).render(&mut page);
            rendered.map_err(|error| unwritten(Path::new("-"), &error))?;
            view::data(&page);
        }
    }
    Ok(ExitCode::Clean)
}

fn write_all(folder: &Path) -> Result<(), Problem> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(cli::definition(), folder));
    written.map_err(|error| unwritten(folder, &error))
}

fn unwritten(place: &Path, error: &std::io::Error) -> Problem {
    Problem::usage(
        format!("the manual cannot be written to {}: {error}", place.display()),
        "name a folder that can be written with `--output`",
    )
}
