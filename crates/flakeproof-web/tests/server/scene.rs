//! A server with a source that the test controls, and a client that sends what it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use flakeproof_core::Overview;
use flakeproof_web::{
    Error, Limits, Server, Settings, Source, SourceError, Stamp, Stopper, Token, shutdown,
};

/// Whoever waits longer than this for a server waits for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that runs as long as this lives.
pub(crate) struct Scene {
    pub(crate) address: SocketAddr,
    pub(crate) source: Arc<Scripted>,
    pub(crate) stopper: Stopper,
    server: Option<JoinHandle<Result<(), Error>>>,
}

/// What the source says next.
pub(crate) type Telling = dyn Fn() -> Result<Overview, SourceError> + Send + Sync;

/// A source that says what it is told to.
pub(crate) struct Scripted {
    pub(crate) state: Mutex<(u32, Arc<Telling>)>,
    /// How often the history was read.
    pub(crate) reads: AtomicUsize,
}

struct Shared(Arc<Scripted>);

impl Source for Shared {
    fn stamp(&self) -> Result<Stamp, SourceError> {
        Ok(Stamp(self.0.state.lock().unwrap().0.to_string()))
    }

    fn overview(&self) -> Result<Overview, SourceError> {
        let telling = Arc::clone(&self.0.state.lock().unwrap().1);
        self.0.reads.fetch_add(1, Ordering::SeqCst);
        telling()
    }
}

impl Scripted {
    /// Let the history change.
    pub(crate) fn tell(
        &self,
        telling: impl Fn() -> Result<Overview, SourceError> + Send + Sync + 'static,
    ) {
        let mut state = self.state.lock().unwrap();
        *state = (state.0 + 1, Arc::new(telling));
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// A header's value, empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Scene {
    /// A server for everybody on this machine.
    pub(crate) fn open(overview: Overview) -> Self {
        Self::with(overview, None, Limits::default())
    }

    /// A server with this token and these limits.
    pub(crate) fn with(overview: Overview, token: Option<Token>, limits: Limits) -> Self {
        let source = Arc::new(Scripted {
            state: Mutex::new((0, Arc::new(move || Ok(overview.clone())))),
            reads: AtomicUsize::new(0),
        });
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::bind(Settings { address, token, limits }).unwrap();
        let address = server.address();
        let (stopper, shutdown) = shutdown();
        let shared = Shared(Arc::clone(&source));
        let server = Some(std::thread::spawn(move || server.serve(shared, shutdown)));
        Self { address, source, stopper, server }
    }

    /// Ask for an address.
    pub(crate) fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[])
    }

    /// Ask with these further headers; `host` replaces the one that is right.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if headers.iter().all(|(name, _)| *name != "host") {
            request += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.send(format!("{request}\r\n").as_bytes()).expect("there is an answer")
    }

    /// Send these bytes; `None` if nothing that is an answer comes back.
    pub(crate) fn send(&self, bytes: &[u8]) -> Option<Response> {
        let mut stream = self.connect();
        // The server may hang up before it has read all.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        parsed(&answer)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Stop, and wait for the end.
    pub(crate) fn end(&mut self) {
        self.stopper.stop();
        if let Some(server) = self.server.take() {
            server.join().unwrap().unwrap();
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn parsed(answer: &[u8]) -> Option<Response> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.filter_map(header).collect();
    Some(Response { status, headers, body: answer[end + 4..].to_vec() })
}
