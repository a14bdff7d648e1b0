//! The token that requests to a server of ours must carry.

use std::net::SocketAddr;
use std::path::Path;

use flakeproof_web::{Token, TokenError};

use crate::problem::Problem;

/// Where a token may be without anybody seeing it in a list of processes.
const VARIABLE: &str = "FLAKEPROOF_TOKEN";

/// The token that is asked for, or that is needed where others can reach the address, and whether it was
/// made for this time.
pub(crate) fn choose_token(
    file: Option<&Path>,
    address: SocketAddr,
) -> Result<(Option<Token>, bool), Problem> {
    if let Some(path) = file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let what = format!("the token in {} cannot be read: {error}", path.display());
            Problem::usage(what, "check the path after `--token-file`")
        })?;
        let of = format!("in {}", path.display());
        return Token::parse(&text).map(|token| (Some(token), false)).map_err(|it| bad(&of, it));
    }
    if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
        let of = format!("in {VARIABLE}");
        let token = Token::parse(&text.to_string_lossy()).map_err(|it| bad(&of, it))?;
        return Ok((Some(token), false));
    }
    if address.ip().is_loopback() {
        return Ok((None, false));
    }
    Ok((Some(Token::make().map_err(|error| bad("made for you", error))?), true))
}

fn bad(of: &str, error: TokenError) -> Problem {
    Problem::usage(
        format!("the token {of} cannot be used: {error}"),
        "make one with `openssl rand -hex 16`",
    )
}
