//! What is meant by the options of `flakeproof serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::Token;

/// How to serve.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen; port 0 is any free one.
    pub address: SocketAddr,
    /// What a request must carry. Without it, only a loopback address is served.
    pub token: Option<Token>,
    /// What a client may take.
    pub limits: Limits,
}

/// What a client may take before it is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For sending the head of a request, and for staying quiet between two.
    pub head_time: Duration,
    /// For a whole connection, however many requests it carries.
    pub connection_time: Duration,
    /// Connections at the same time; another one takes the place of the first that is not being
    /// answered.
    pub connections: usize,
    /// Time that open answers have to end once the server is told to stop.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 8765));
        Self { address, token: None, limits: Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_time: Duration::from_secs(10),
            connection_time: Duration::from_secs(300),
            connections: 64,
            grace: Duration::from_millis(300),
        }
    }
}
