//! `flakeproof serve`, as it is typed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use crate::settings::StoreName;
use clap::Args;

/// Show the report over the live history in a browser, with a JSON API.
///
/// Nothing can be changed through it. On a loopback address everybody on this machine may look; on any
/// other, a token is needed: that of `--token-file`, that in `FLAKEPROOF_TOKEN`, or one that is made and
/// printed. Stops at Ctrl-C.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Where to listen: an address with a port, or a port of this machine; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765", value_parser = address)]
    pub(crate) address: SocketAddr,
    /// A file with the token that requests must carry.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Do not ask models about the source of flaky tests.
    #[arg(long)]
    pub(crate) no_source: bool,
    /// Show tests that were renamed or moved under the ids that runs recorded, each by itself.
    #[arg(long)]
    pub(crate) as_recorded: bool,
}

/// An address with a port, or a port of this machine.
pub(super) fn address(typed: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = typed.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Ok(address) = typed.parse() {
        return Ok(address);
    }
    let wanted = "write an address with its port, such as `127.0.0.1:8765` or `[::1]:0`";
    if typed.parse::<IpAddr>().is_ok() || !typed.contains(':') {
        return Err(format!("the port is missing: {wanted}"));
    }
    let found = typed.to_socket_addrs().map_err(|error| format!("{error}: {wanted}"))?;
    // A name may have an address of each family, of which the older one is reached by more clients.
    let found: Vec<SocketAddr> = found.collect();
    let old = found.iter().find(|address| address.is_ipv4());
    old.or(found.first()).copied().ok_or_else(|| format!("no such machine: {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        assert_eq!(address("8080").unwrap(), "127.0.0.1:8080".parse().unwrap());
    }

    #[test]
    fn an_address_is_taken_as_it_is() {
        assert_eq!(address("[::1]:0").unwrap(), "[::1]:0".parse().unwrap());
        assert_eq!(address("0.0.0.0:80").unwrap(), "0.0.0.0:80".parse().unwrap());
    }

    #[test]
    fn what_is_no_address_says_how_one_is_written() {
        for typed in ["", "127.0.0.1", "::1", "localhost", "70000"] {
            assert!(address(typed).unwrap_err().contains("`127.0.0.1:8765`"), "{typed}");
        }
    }
}
