//! Which names a server on a loopback address answers to.
//!
//! A page of a stranger can point its own name at `127.0.0.1` and then read what a local server
//! answers (DNS rebinding). The browser still sends the stranger's name as `Host`, and no stranger
//! owns `localhost`.

use std::net::{IpAddr, Ipv6Addr};

/// Whether a `Host` header, with or without a port, names this very machine.
pub(crate) fn is_loopback(host: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

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
