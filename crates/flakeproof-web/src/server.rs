//! The server: listens, cuts off who takes too much, and ends when it is told to, by a thread such
//! as one that waits for Ctrl-C.
//!
//! It has room for a number of clients, in which nobody can sit and keep others out. A client that
//! is not being answered, because it has not finished its request, says nothing, or does not read,
//! gives its place to the next one when all places are taken: the one that came first goes first.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::gate::Gate;
use crate::request::Responder;
use crate::{Source, Token};

/// The most bytes that the head of a request may have.
const HEAD_BYTES: usize = 16 * 1024;

/// The most headers that a request may have.
const HEAD_LINES: usize = 64;

/// Threads that may wait for the history at the same time.
const READERS: usize = 8;

/// How long to wait where no connection can be taken, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: Settings,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Others could reach the server, and nothing keeps them out.
    #[error("{address} can be reached from other machines, and there is no token")]
    Exposed {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The operating system refuses what a server needs.
    #[error("cannot run a server")]
    Run(#[from] io::Error),
}

impl Server {
    /// Listen, but do not answer yet.
    ///
    /// # Errors
    /// When the address cannot be had, or is not a loopback address and there is no token.
    pub fn bind(settings: Settings) -> Result<Self, Error> {
        let address = settings.address;
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(Error::Exposed { address });
        }
        let listen = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, settings })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answer until told to stop.
    ///
    /// # Errors
    /// When the operating system refuses what a server needs.
    pub fn serve(self, source: impl Source, shutdown: Shutdown) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(READERS)
            .build()?;
        let ended = runtime.block_on(self.answer(source, shutdown));
        // Who is still reading the history changes nothing, and need not be waited for.
        runtime.shutdown_background();
        ended
    }

    async fn answer(self, source: impl Source, mut shutdown: Shutdown) -> Result<(), Error> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let gate = Gate { address: self.address, token: self.settings.token };
        let responder = Arc::new(Responder::new(gate, source));
        let limits = self.settings.limits;
        let mut room = Room::new(limits.connections);
        let open = GracefulShutdown::new();
        loop {
            let next = async {
                let accepted = listener.accept().await;
                (room.enter().await, accepted)
            };
            tokio::select! {
                () = shutdown.requested() => break,
                ((permit, client), accepted) = next => match accepted {
                    Ok((stream, _)) => {
                        let talk = open.watch(talk(&responder, stream, limits, &client));
                        tokio::spawn(async move {
                            // A client that goes away, or is cut off, is not our trouble.
                            tokio::select! {
                                _ = tokio::time::timeout(limits.connection_time, talk) => {}
                                () = client.is_cut() => {}
                            }
                            drop(permit);
                        });
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
            }
        }
        drop(listener);
        let _ = tokio::time::timeout(limits.grace, open.shutdown()).await;
        Ok(())
    }
}

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

/// Ends a server.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// End the server: no new requests, and a short time for open ones.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// What a server waits for. If all its [`Stopper`]s are gone, nothing ends it.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

impl Shutdown {
    /// Come back when the server is to end.
    async fn requested(&mut self) {
        if self.0.wait_for(|is_over| *is_over).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A way to end a server, and what the server waits for.
#[must_use]
pub fn shutdown() -> (Stopper, Shutdown) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Shutdown(receiver))
}

/// The talk with one client, which goes on as it is polled.
fn talk<S: Source>(
    responder: &Arc<Responder<S>>,
    stream: TcpStream,
    limits: Limits,
    client: &Arc<Client>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send + use<S> {
    let (responder, client) = (Arc::clone(responder), Arc::clone(client));
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (responder, client) = (Arc::clone(&responder), Arc::clone(&client));
        async move {
            let _answering = client.answering();
            Ok::<_, Infallible>(responder.respond(request.into_parts().0).await)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service)
}

/// Room for a number of clients.
#[derive(Debug)]
struct Room {
    places: Arc<Semaphore>,
    /// Those who are there, the first first.
    clients: VecDeque<Arc<Client>>,
}

/// A client, as long as it has a place.
#[derive(Debug, Default)]
struct Client {
    /// Requests that are being answered.
    answering: AtomicUsize,
    cut: Notify,
}

/// Held as long as a request is being answered.
#[derive(Debug)]
struct Answering<'a>(&'a Client);

impl Room {
    /// An empty room with so many places.
    pub(crate) fn new(places: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), clients: VecDeque::new() }
    }

    /// A place, at once if somebody there can be cut off.
    async fn enter(&mut self) -> (Option<OwnedSemaphorePermit>, Arc<Client>) {
        // Those who left are known here only.
        self.clients.retain(|client| Arc::strong_count(client) > 1);
        let permit = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => {
                self.cut_the_first();
                // The semaphore is never closed, so there is always a permit in the end.
                Arc::clone(&self.places).acquire_owned().await.ok()
            }
        };
        let client = Arc::new(Client::default());
        self.clients.push_back(Arc::clone(&client));
        (permit, client)
    }

    fn cut_the_first(&mut self) {
        if let Some(at) = self.clients.iter().position(|client| !client.is_answered())
            && let Some(client) = self.clients.remove(at)
        {
            client.cut.notify_one();
        }
    }
}

impl Client {
    /// Note that a request is being answered.
    fn answering(&self) -> Answering<'_> {
        self.answering.fetch_add(1, Ordering::Relaxed);
        Answering(self)
    }

    /// Wait until somebody else needs the place.
    async fn is_cut(&self) {
        self.cut.notified().await;
    }

    fn is_answered(&self) -> bool {
        self.answering.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}
