//! Which token requests must carry.

use flakeproof_web::{Token, TokenError};

use crate::cli::ServeArguments;
use crate::problem::Problem;

/// Where a token may be without anybody seeing it in a list of processes.
const VARIABLE: &str = "FLAKEPROOF_TOKEN";

/// The token that is asked for, or that is needed, and whether it was made for this time.
pub(super) fn of(typed: &ServeArguments) -> Result<(Option<Token>, bool), Problem> {
    if let Some(path) = &typed.token_file {
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
    if typed.address.ip().is_loopback() {
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
