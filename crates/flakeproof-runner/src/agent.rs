//! Talking to the agents inside the users' runtimes: the socket where they and the guards of their
//! processes connect, and the connections that come of it.

mod measured;
pub mod protocol;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

pub(crate) use self::measured::MeasuredFiles;
use self::protocol::{FromAgent, Hello, ToAgent};
use crate::process::Death;
use crate::system::LocalListener;
use crate::{Error, Result};

/// Accepts connections and hands each to whoever waits for its name.
#[derive(Debug)]
pub(crate) struct Hub {
    socket: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<String, Sender<Arrival>>,
    deaths: HashMap<u32, Death>,
}

/// The first thing that is heard under a name.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// An agent connected.
    Connected(Connection),
    /// An agent refused the session.
    Refused {
        /// Why, as a word of the protocol.
        reason: String,
        /// More about it.
        detail: String,
    },
}

/// The line to one agent.
#[derive(Debug)]
pub(crate) struct Connection {
    /// How it introduced itself.
    pub(crate) hello: Hello,
    /// What it says; disconnected when it hung up.
    pub(crate) messages: Receiver<FromAgent>,
    stream: Stream,
}

/// The writing half of a line.
type Stream = Box<dyn Outgoing>;

/// Something to write to that can be shown in debug output.
trait Outgoing: Write + Send + std::fmt::Debug {}
impl<T: Write + Send + std::fmt::Debug> Outgoing for T {}

impl Connection {
    /// Ask something of the agent.
    pub(crate) fn send(&mut self, message: &ToAgent) -> Result<()> {
        let line = message.to_line().map_err(|error| Error::Agent(error.to_string()))?;
        self.stream
            .write_all(line.as_bytes())
            .map_err(|error| Error::EnvironmentLost { cause: error.to_string() })
    }
}

impl Hub {
    /// Listen in a folder that only this user can enter.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let socket = folder.join("agents");
        let listener =
            LocalListener::bind(&socket).map_err(Error::io("listen for the test agents"))?;
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&for_thread);
                std::thread::spawn(move || {
                    if let Ok(writer) = stream.try_clone() {
                        listen_to(stream, Box::new(writer), None, &shared);
                    }
                });
            }
        });
        Ok(Self { socket, shared })
    }

    /// Listen on a port of this machine as well, for runtimes that know no other sockets. Only
    /// those who know the token are heard.
    pub(crate) fn open_port(&self, token: &str) -> Result<u16> {
        let doing = || Error::io("listen for the test agents on a port");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(doing())?;
        let port = listener.local_addr().map_err(doing())?.port();
        let (shared, token) = (Arc::clone(&self.shared), token.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, token) = (Arc::clone(&shared), token.clone());
                // Small messages go back and forth: waiting to fill a packet costs 40 ms each.
                let _ = stream.set_nodelay(true);
                std::thread::spawn(move || {
                    if let Ok(writer) = stream.try_clone() {
                        listen_to(stream, Box::new(writer), Some(&token), &shared);
                    }
                });
            }
        });
        Ok(port)
    }

    /// Where agents connect to.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Wait for the first word under a name: arrives on the channel that is given back.
    pub(crate) fn expect(&self, name: &str) -> Receiver<Arrival> {
        let (sender, receiver) = unbounded();
        self.shared.lock().waiting.insert(name.to_owned(), sender);
        receiver
    }

    /// How a process died, if a guard reports it before the patience ends.
    pub(crate) fn death_of(&self, pid: u32, patience: Duration) -> Option<Death> {
        let deadline = Instant::now() + patience;
        let mut state = self.shared.lock();
        loop {
            if let Some(death) = state.deaths.get(&pid) {
                return Some(*death);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_waiting(&self, name: &str) -> Option<Sender<Arrival>> {
        self.lock().waiting.remove(name)
    }
}

/// Read one connection to its end. With a token, nobody else is listened to.
fn listen_to(stream: impl Read, writer: Stream, token: Option<&str>, shared: &Shared) {
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    let forward = match next_message(&mut lines, &mut line) {
        Some(FromAgent::Hello(hello)) if token.is_none_or(|token| token == hello.token) => {
            let Some(waiting) = shared.take_waiting(&hello.name) else { return };
            // Systems use the numbers of dead processes again.
            shared.lock().deaths.remove(&hello.pid);
            let (sender, messages) = unbounded();
            let connection = Connection { hello, messages, stream: writer };
            if waiting.send(Arrival::Connected(connection)).is_err() {
                return;
            }
            sender
        }
        Some(FromAgent::Refused { name, reason, detail }) if token.is_none() => {
            if let Some(waiting) = shared.take_waiting(&name) {
                let _ = waiting.send(Arrival::Refused { reason, detail });
            }
            return;
        }
        _ => return,
    };
    while let Some(message) = next_message(&mut lines, &mut line) {
        if let FromAgent::Died { pid, code, signal, .. } = message {
            let death = signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal);
            shared.lock().deaths.insert(pid, death);
            shared.changed.notify_all();
        }
        // Nobody may listen any more; deaths still have to be heard.
        let _ = forward.send(message);
    }
}

fn next_message(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Option<FromAgent> {
    line.clear();
    match lines.read_until(b'\n', line) {
        Ok(1..) => Some(FromAgent::from_line(line).unwrap_or_else(|error| FromAgent::Trouble {
            text: format!("a message that cannot be read ({error})"),
        })),
        Ok(0) | Err(_) => None,
    }
}
