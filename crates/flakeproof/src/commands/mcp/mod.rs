//! `flakeproof mcp`: the same answers for coding agents.
//!
//! What only reads is answered here, by what `list`, `explain`, `repro`, `predict` and `report` have for people. An
//! experiment is this very program once more, as a child with a report to a file: it ends as it does in a
//! terminal, and nothing of it is left when it is given up.

mod experiment;
mod project;

use std::sync::Arc;

use flakeproof_core::ExitCode;
use flakeproof_mcp::{
    Error, HttpServer, HttpSettings, Permissions, Project, Shutdown, Stopper, TokenCheck,
    serve_stdio, shutdown,
};
use flakeproof_runner::process::on_interrupt;

use self::project::LiveProject;
use crate::cli::{self, McpArguments};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::session::token::choose_token;
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &McpArguments) -> Result<ExitCode, Problem> {
    let project = Arc::new(LiveProject::open(typed, current_folder()?)?);
    let permissions = Permissions {
        run: typed.allow_run,
        write: typed.allow_write,
        has_fix: cli::has("fix", None),
        budget: typed.budget.0,
    };
    let (stopper, shutdown) = shutdown();
    stop_on_interrupt(stopper)?;
    match typed.http {
        None => serve_stdio(project, permissions, &shutdown).map_err(|it| cannot_serve(&it))?,
        Some(_) => serve_http(typed, project, permissions, &shutdown)?,
    }
    Ok(ExitCode::Clean)
}

fn serve_http(
    typed: &McpArguments,
    project: Arc<dyn Project>,
    permissions: Permissions,
    shutdown: &Shutdown,
) -> Result<(), Problem> {
    let Some(address) = typed.http else { return Ok(()) };
    let (token, is_made) = choose_token(typed.token_file.as_deref(), address)?;
    let made = token.as_ref().filter(|_| is_made).map(|token| token.reveal().to_owned());
    let check = token.map(|token| Arc::new(move |given: &str| token.is(given)) as TokenCheck);
    let server = HttpServer::bind(HttpSettings { address, token: check });
    let server = server.map_err(|error| cannot_serve(&error))?;
    view::served_mcp(&server.url(), made.as_deref(), permissions.run);
    server.serve(project, permissions, shutdown).map_err(|error| cannot_serve(&error))
}

/// An interrupt is how a server ends, and no trouble.
fn stop_on_interrupt(stopper: Stopper) -> Result<(), Problem> {
    on_interrupt(move || stopper.stop()).map_err(|error| {
        let what = format!("interrupts cannot be listened for: {error}");
        Problem::broken(what, "free some file descriptors, then try again")
    })
}

fn cannot_serve(error: &Error) -> Problem {
    match error {
        Error::Exposed { .. } => {
            Problem::usage(error.to_string(), "name a file with a token after `--token-file`")
        }
        Error::Listen { source, .. } => Problem::usage(
            format!("{error}: {source}"),
            "choose another address after `--http`; port 0 is any free one",
        ),
        Error::Run(source) => Problem::broken(
            format!("{error}: {source}"),
            "free some memory or file descriptors, then try again",
        ),
        Error::Greeting(_) => Problem::usage(
            error.to_string(),
            "let a client of the Model Context Protocol start this command; it is not for people",
        ),
    }
}
