//! What a browser keeps once it was given the token.

/// The cookie's name. Browsers share cookies between the ports of a machine, so it has the port.
pub(crate) fn name(port: u16) -> String {
    format!("flakeproof_{port}")
}

/// The header that gives a browser its cookie: not readable by scripts, not sent for other sites.
pub(crate) fn given(port: u16, session: &str) -> String {
    format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", name(port))
}

/// The value of the server's own cookie in a `Cookie` header.
pub(crate) fn value(header: &str, port: u16) -> Option<&str> {
    let name = name(port);
    header.split(';').find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cookie_is_found_among_others() {
        let header = "a=1; flakeproof_8765=secret;flakeproof_1=other; b";
        assert_eq!(value(header, 8765), Some("secret"));
        assert_eq!(value(header, 1), Some("other"));
        assert_eq!(value(header, 876), None);
    }
}
