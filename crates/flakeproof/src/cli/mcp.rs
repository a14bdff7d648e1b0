//! `flakeproof mcp`, as it is typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::serve::address;
use crate::settings::{HumanDuration, StoreName};

/// Answer coding agents: what is flaky, why, and, if you allow it, experiments.
///
/// A server of the Model Context Protocol, over standard input and output unless `--http` says otherwise.
/// It only reads, unless you allow more. With `--allow-run` it runs your tests, by the command after `--` and
/// no other one; an experiment ends with the call that asked for it, with its client and with the server.
#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Also offer what runs tests: `run_tests`, `hunt`, `cause`, `verify_fix`.
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Let a client have proven patches written into the project.
    #[arg(long, requires = "allow_run")]
    pub(crate) allow_write: bool,
    /// The longest that one experiment may take.
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub(crate) budget: HumanDuration,
    /// Listen here instead: an address with a port, or a port of this machine; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// A file with the token that requests over HTTP must carry.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,

    /// The command that runs your tests [default: that of the last hunt, else what the project looks like].
    #[arg(last = true, value_name = "COMMAND", requires = "allow_run")]
    pub(crate) command: Vec<String>,
}
