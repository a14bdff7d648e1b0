//! `flakeproof`: finds, predicts, explains and triages tests that pass and fail on the same code.

mod cli;
mod commands;
mod models;
mod problem;
mod session;
mod settings;
mod source;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    flakeproof_runner::process::hear_own_signals();
    flakeproof_runner::process::become_guard_if_asked();
    flakeproof_runner::process::adopt_orphans();
    let typed = cli::Cli::read();
    typed.color.apply();
    view::Detail::asked_for(typed.verbose).apply();
    let ended = match typed.command {
        cli::Command::Run(arguments) => commands::run::run(&arguments),
        cli::Command::Shard(arguments) => commands::shard::run(&arguments),
        cli::Command::Hunt(arguments) => commands::hunt::run(&arguments),
        cli::Command::Worker(arguments) => commands::worker::run(&arguments),
        cli::Command::List(arguments) => commands::report::list(&arguments),
        cli::Command::Repro(arguments) => commands::repro::run(&arguments),
        cli::Command::Verify(arguments) => commands::verify::run(&arguments),
        cli::Command::Cause(arguments) => commands::cause::run(&arguments),
        cli::Command::Fix(arguments) => commands::fix::run(&arguments),
        cli::Command::Report(arguments) => commands::report::run(&arguments),
        #[cfg(feature = "serve")]
        cli::Command::Serve(arguments) => commands::serve::run(&arguments),
        #[cfg(feature = "serve")]
        cli::Command::Notify(arguments) => commands::notify::run(&arguments),
        #[cfg(feature = "mcp")]
        cli::Command::Mcp(arguments) => commands::mcp::run(&arguments),
        cli::Command::Store(arguments) => commands::store::run(&arguments),
        cli::Command::Ingest(arguments) => commands::ingest::run(&arguments),
        cli::Command::Validate(arguments) => commands::validate::run(&arguments),
        cli::Command::Quarantine(arguments) => commands::quarantine::run(&arguments),
        cli::Command::Predict(arguments) => commands::predict::run(&arguments),
        cli::Command::Explain(arguments) => commands::predict::explain(&arguments),
        cli::Command::Graph(arguments) => commands::graph::run(&arguments),
        cli::Command::Train(arguments) => commands::train::run(&arguments),
        cli::Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
        cli::Command::Features(arguments) => commands::features::run(&arguments),
        cli::Command::Doctor(arguments) => commands::doctor::run(&arguments),
        cli::Command::Init(arguments) => commands::init::run(&arguments),
        cli::Command::Completions(arguments) => commands::shell::completions(&arguments),
        cli::Command::Man(arguments) => commands::shell::man(&arguments),
    };
    let exit = ended.unwrap_or_else(|problem| {
        view::problem(&problem);
        problem.exit
    });
    // Whatever a test left behind, and whatever an error left running, ends here.
    let left = flakeproof_runner::process::kill_everything_below();
    if !left.is_empty() {
        view::left_running(&left);
    }
    ExitCode::from(exit.number())
}
