//! `flakeproof`: finds, explains and triages tests that pass and fail on the same code.

mod cli;
mod commands;
mod problem;
mod settings;
mod view;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    flakeproof_runner::process::become_guard_if_asked();
    flakeproof_runner::process::adopt_orphans();
    let typed = cli::Cli::parse();
    typed.color.apply();
    let ended = match typed.command {
        cli::Command::Run(arguments) => commands::run::run(&arguments),
    };
    let exit = ended.unwrap_or_else(|problem| {
        view::problem(&problem);
        problem.exit
    });
    // Whatever a test left behind, and whatever an error left running, ends here.
    flakeproof_runner::process::kill_everything_below();
    ExitCode::from(exit.number())
}
