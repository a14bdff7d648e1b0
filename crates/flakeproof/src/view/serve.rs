//! Where the report can be seen.

use std::io::Write as _;
use std::net::SocketAddr;

use flakeproof_web::Token;

use super::terminal::{DIM, STRONG};

/// Where a report can be seen, and by whom.
pub(crate) struct Served {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// What requests must carry.
    pub(crate) token: Option<Token>,
    /// Whether the token was made for this time, so that nobody knows it yet.
    pub(crate) is_made: bool,
}

/// Say where the report can be seen.
pub(crate) fn served(served: &Served) {
    let mut out = anstream::stdout().lock();
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}", url(served));
    let _ = out.flush();
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{DIM}{}; Ctrl-C stops it{DIM:#}", whom(served));
}

/// Say that the server is gone.
pub(crate) fn stopped() {
    let _ = writeln!(anstream::stderr().lock(), "\n{DIM}stopped{DIM:#}");
}

/// An address to open. Only a token that nobody knows yet is in it.
fn url(served: &Served) -> String {
    let address = served.address;
    let place = if address.ip().is_unspecified() {
        format!("http://localhost:{}/", address.port())
    } else {
        format!("http://{address}/")
    };
    match &served.token {
        Some(token) if served.is_made => format!("{place}?token={}", token.reveal()),
        _ => place,
    }
}

fn whom(served: &Served) -> &'static str {
    match (&served.token, served.is_made) {
        (None, _) => "everybody on this machine can look, and nobody can change anything",
        (Some(_), true) => {
            "who has this address can look, from other machines by this machine's name; \
             what is sent is not encrypted"
        }
        (Some(_), false) => "who has your token can look; what is sent is not encrypted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(address: &str, token: Option<&str>, is_made: bool) -> Served {
        let token = token.map(|token| Token::parse(token).unwrap());
        Served { address: address.parse().unwrap(), token, is_made }
    }

    #[test]
    fn a_token_that_was_made_is_shown_and_the_users_own_is_not() {
        let token = Some("0123456789abcdef");
        let made = url(&served("0.0.0.0:80", token, true));
        assert_eq!(made, "http://localhost:80/?token=0123456789abcdef");
        assert_eq!(url(&served("10.0.0.1:80", token, false)), "http://10.0.0.1:80/");
    }

    #[test]
    fn an_address_of_the_newer_family_has_brackets() {
        assert_eq!(url(&served("[::1]:8765", None, false)), "http://[::1]:8765/");
    }
}
