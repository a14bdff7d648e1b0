//! `flakeproof serve`: the report over the live history, in a browser.

mod live_history;
mod token;

use flakeproof_core::ExitCode;
use flakeproof_web::{Error, Limits, Server, Settings, Stopper, shutdown};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::live_history::LiveHistory;
use crate::cli::ServeArguments;
use crate::problem::Problem;
use crate::session::current_folder;
use crate::session::overview::{Explain, OverviewReader};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ServeArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let store = typed.store.as_deref();
    let reader = OverviewReader::open(store, &folder, Explain::Nothing)?;
    let source = LiveHistory::new(reader)?;
    if !typed.no_source {
        source.explain_later(OverviewReader::open(store, &folder, Explain::Suspects)?);
    }
    let (token, is_made) = token::of(typed)?;
    let settings =
        Settings { address: typed.address, token: token.clone(), limits: Limits::default() };
    let server = Server::bind(settings).map_err(|error| cannot_serve(&error))?;
    let (stopper, shutdown) = shutdown();
    stop_on_interrupt(stopper)?;
    view::served(&view::Served { address: server.address(), token, is_made });
    server.serve(source, shutdown).map_err(|error| cannot_serve(&error))?;
    view::stopped();
    Ok(ExitCode::Clean)
}

/// An interrupt is how a server ends, and no trouble.
fn stop_on_interrupt(stopper: Stopper) -> Result<(), Problem> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| {
        let what = format!("interrupts cannot be listened for: {error}");
        Problem::broken(what, "free some file descriptors, then try again")
    })?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            stopper.stop();
        }
    });
    Ok(())
}

fn cannot_serve(error: &Error) -> Problem {
    match error {
        Error::Exposed { .. } => {
            Problem::usage(error.to_string(), "name a file with a token after `--token-file`")
        }
        Error::Listen { source, .. } => Problem::usage(
            format!("{error}: {source}"),
            "choose another address with `--address`; port 0 is any free one",
        ),
        Error::Run(source) => Problem::broken(
            format!("{error}: {source}"),
            "free some memory or file descriptors, then try again",
        ),
    }
}
