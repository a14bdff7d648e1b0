//! Who may ask, and how: looked at before anything else of a request.
//!
//! A page of a stranger can point its own name at `127.0.0.1` and then read what a local server
//! answers (DNS rebinding). The browser still sends the stranger's name as `Host`, and no stranger
//! owns `localhost`. Who was let in with the token is given a cookie.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use crate::answer::{Answer, Problem};
use crate::{Route, Token, request};

/// Who may ask.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// What a request must carry.
    pub(crate) token: Option<Token>,
}

impl Gate {
    /// Let a request in.
    ///
    /// # Errors
    /// The answer to a request that is not let in.
    pub(crate) fn check(&self, request: &Parts) -> Result<(), Answer> {
        self.check_host(request).map_err(|problem| problem.answer())?;
        check_method(&request.method)?;
        match &self.token {
            Some(token) => self.check_token(token, request),
            None => Ok(()),
        }
    }

    /// Where everybody on the machine may ask, a stranger's page must not be able to.
    fn check_host(&self, request: &Parts) -> Result<(), Problem> {
        let named: Vec<&str> = values(&request.headers, header::HOST).collect();
        let [name] = named[..] else {
            let next = "send one `Host` header";
            return Err(Problem::bad_request("the request does not say to whom it goes", next));
        };
        if !self.address.ip().is_loopback() {
            return Ok(());
        }
        let asked = request.uri.authority().map(hyper::http::uri::Authority::as_str);
        if is_loopback(name) && asked.is_none_or(is_loopback) {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "this server answers only to `localhost` and loopback addresses",
            "open it as `http://localhost`, or start it with `--address` and a token",
        ))
    }

    fn check_token(&self, token: &Token, request: &Parts) -> Result<(), Answer> {
        let port = self.address.port();
        let has_cookie = values(&request.headers, header::COOKIE)
            .filter_map(|header| cookie_value(header, port))
            .any(|session| token.is_session(session));
        let is_borne = values(&request.headers, header::AUTHORIZATION)
            .filter_map(bearer)
            .any(|given| token.is(given));
        let in_query = given_in_query(request);
        match in_query {
            // The address bar, and what it is copied to, must not keep the token.
            Some((given, rest)) if token.is(&given) => {
                let session = set_cookie(port, token.session());
                Err(Answer::elsewhere(rest).with(header::SET_COOKIE, session))
            }
            None if has_cookie || is_borne => Ok(()),
            _ => Err(unknown()),
        }
    }
}

fn check_method(method: &Method) -> Result<(), Answer> {
    if [Method::GET, Method::HEAD].contains(method) {
        return Ok(());
    }
    let problem = Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this server only shows what is known; nothing can be changed through it",
        "ask with `GET` or `HEAD`",
    );
    Err(problem.answer().with(header::ALLOW, "GET, HEAD".to_owned()))
}

/// What a header says, however often it is there.
fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    // A value that is no text is there, and is nobody's name and no token.
    headers.get_all(name).into_iter().map(|value| value.to_str().unwrap_or_default())
}

/// Whether a `Host` header, with or without a port, names this very machine.
fn is_loopback(host: &str) -> bool {
    let Some(name) = without_port(host) else { return false };
    if let Some(bracketed) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return bracketed.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4() && address.is_loopback())
}

fn without_port(host: &str) -> Option<&str> {
    let name_end = host.rfind(']').map_or(0, |at| at + 1);
    match host[name_end..].split_once(':') {
        None => Some(host),
        Some((rest, port)) => {
            let is_port = port.parse::<u16>().is_ok() && port.bytes().all(|it| it.is_ascii_digit());
            is_port.then(|| &host[..name_end + rest.len()])
        }
    }
}

/// The value of the server's own cookie in a `Cookie` header.
fn cookie_value(header: &str, port: u16) -> Option<&str> {
    let name = cookie_name(port);
    header.split(';').find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

/// The cookie's name. Browsers share cookies between the ports of a machine, so it has the port.
fn cookie_name(port: u16) -> String {
    format!("flakeproof_{port}")
}

/// The header that gives a browser its cookie: not readable by scripts, not sent for other sites.
fn set_cookie(port: u16, session: &str) -> String {
    format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", cookie_name(port))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token in the query, and the address without it.
fn given_in_query(request: &Parts) -> Option<(String, String)> {
    let pairs = request::pairs(request.uri.query()?)?;
    let (_, given) = pairs.iter().find(|(name, _)| name == "token")?.clone();
    let rest: Vec<String> = pairs
        .iter()
        .filter(|(name, _)| name != "token")
        .map(|(name, value)| format!("{}={}", request::encoded(name), request::encoded(value)))
        .collect();
    // A path that is not known, such as `//elsewhere.example`, could lead away from here.
    let path = request.uri.path();
    let path = if Route::parse(path).is_some() { path } else { "/" };
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Some((given, format!("{path}{query}")))
}

fn unknown() -> Answer {
    let problem = Problem::new(
        StatusCode::UNAUTHORIZED,
        "the request carries no token that this server knows",
        "send `Authorization: Bearer TOKEN`, or open the address that `flakeproof serve` printed",
    );
    problem.answer().with(header::WWW_AUTHENTICATE, "Bearer realm=\"flakeproof\"".to_owned())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn asked(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn status(gate: &Gate, uri: &str, headers: &[(&str, &str)]) -> u16 {
        match gate.check(&asked(uri, headers)) {
            Ok(()) => 200,
            Err(answer) => answer.response(&HeaderMap::new()).status().as_u16(),
        }
    }

    fn gate(address: &str, token: Option<&str>) -> Gate {
        let token = token.map(|token| Token::parse(token).unwrap());
        Gate { address: address.parse().unwrap(), token }
    }

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn a_strangers_name_for_this_machine_is_not_answered() {
        let gate = gate("127.0.0.1:80", None);
        assert_eq!(status(&gate, "/", &[("host", "localhost:80")]), 200);
        assert_eq!(status(&gate, "/", &[("host", "evil.example")]), 421);
        assert_eq!(status(&gate, "http://evil.example/", &[("host", "localhost")]), 421);
        assert_eq!(status(&gate, "/", &[]), 400);
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(status(&gate, "/", &twice), 400);
    }

    #[test]
    fn elsewhere_any_name_is_answered_and_the_token_decides() {
        let gate = gate("10.0.0.1:80", Some(TOKEN));
        let host = ("host", "ci.example");
        assert_eq!(status(&gate, "/", &[host]), 401);
        assert_eq!(status(&gate, "/", &[host, ("authorization", "Bearer wrong")]), 401);
        let right = format!("bearer {TOKEN}");
        assert_eq!(status(&gate, "/", &[host, ("authorization", &right)]), 200);
        assert_eq!(status(&gate, "/?token=wrong", &[host, ("authorization", &right)]), 401);
        let session = set_cookie(80, Token::parse(TOKEN).unwrap().session());
        let session = session.split(';').next().unwrap();
        assert_eq!(status(&gate, "/", &[host, ("cookie", session)]), 200);
        let stolen = format!("flakeproof_80={TOKEN}");
        assert_eq!(status(&gate, "/", &[host, ("cookie", &stolen)]), 401);
    }

    #[test]
    fn a_token_in_the_address_becomes_a_cookie_and_leaves_the_address() {
        let gate = gate("10.0.0.1:80", Some(TOKEN));
        let uri = format!("/api/v1/tests?q=a%20b&token={TOKEN}&limit=5");
        let answer = gate.check(&asked(&uri, &[("host", "ci.example")])).unwrap_err();
        let response = answer.response(&HeaderMap::new());
        assert_eq!(response.status(), 303);
        assert_eq!(response.headers()["location"], "/api/v1/tests?q=a%20b&limit=5");
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        assert!(cookie.ends_with("HttpOnly; SameSite=Strict") && !cookie.contains(TOKEN));
    }

    #[test]
    fn a_token_in_the_address_does_not_lead_to_another_site() {
        let gate = gate("10.0.0.1:80", Some(TOKEN));
        let uri = format!("//evil.example/?token={TOKEN}");
        let answer = gate.check(&asked(&uri, &[("host", "ci.example")])).unwrap_err();
        assert_eq!(answer.response(&HeaderMap::new()).headers()["location"], "/");
    }

    #[test]
    fn the_own_cookie_is_found_among_others() {
        let header = "a=1; flakeproof_8765=secret;flakeproof_1=other; b";
        assert_eq!(cookie_value(header, 8765), Some("secret"));
        assert_eq!(cookie_value(header, 1), Some("other"));
        assert_eq!(cookie_value(header, 876), None);
    }

    #[test]
    fn names_of_this_machine_are_answered_on_any_port() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1",
            "127.0.0.1:8765",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
    }

    #[test]
    fn every_other_name_is_refused() {
        for host in [
            "",
            ":",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost.",
            "localhost:x",
            "localhost:+80",
            "localhost:80:80",
            "localhost:99999",
            "128.0.0.1",
            "0.0.0.0",
            "::1",
            "[::2]",
            "[127.0.0.1]",
            "x[::1]",
            "[::1",
            "localhost@evil.example",
            "evil.example#localhost",
            "2130706433",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
