//! The server over HTTP (streamable), for clients that do not start it themselves.
//!
//! Where other machines can reach it, a request must carry the token. On a loopback address only loopback names
//! are answered, and never a web page: a browser says where a request comes from, and no origin is allowed. A
//! connection that breaks ends the experiment that was asked for over it.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::handler::{Handler, Shared};
use crate::project::{Permissions, Project};
use crate::{Error, Shutdown};

/// Whether what a request carries is the token.
pub type TokenCheck = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Where clients post.
const PATH: &str = "/mcp";

/// Connections at the same time; others wait.
const CONNECTIONS: usize = 64;

/// For sending the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long to wait where no connection can be taken, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// How to serve.
#[derive(Clone)]
pub struct HttpSettings {
    /// Where to listen; port 0 is any free one.
    pub address: SocketAddr,
    /// What a request must carry. Without it, only a loopback address is served.
    pub token: Option<TokenCheck>,
}

/// A server that listens and does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<TokenCheck>,
}

impl HttpServer {
    /// Listen, but do not answer yet.
    ///
    /// # Errors
    /// When the address cannot be had, or is not a loopback address and there is no token.
    pub fn bind(settings: HttpSettings) -> Result<Self, Error> {
        let address = settings.address;
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(Error::Exposed { address });
        }
        let listen = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, token: settings.token })
    }

    /// The address to give to a client.
    #[must_use]
    pub fn url(&self) -> String {
        match self.address.ip().is_unspecified() {
            true => format!("http://localhost:{}{PATH}", self.address.port()),
            false => format!("http://{}{PATH}", self.address),
        }
    }

    /// Answer until told to stop. Returns when nothing runs any more that was started here.
    ///
    /// # Errors
    /// When the operating system refuses what a server needs.
    pub fn serve(
        self,
        project: Arc<dyn Project>,
        permissions: Permissions,
        shutdown: &Shutdown,
    ) -> Result<(), Error> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let shared = Arc::new(Shared::new(project, permissions));
        let ended = runtime.block_on(self.answer(Arc::clone(&shared), shutdown.0.clone()));
        shared.close();
        runtime.shutdown_background();
        ended
    }

    async fn answer(self, shared: Arc<Shared>, stop: CancellationToken) -> Result<(), Error> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let door = Door {
            service: service(shared, &stop, self.address),
            token: self.token,
            stop: stop.clone(),
        };
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
            let accepted = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let door = door.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let door = door.clone();
                    async move { Ok::<_, Infallible>(door.answer(request).await) }
                });
                // A client that goes away is not our trouble.
                let _ = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD_TIME)
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
                drop(place);
            });
        }
    }
}

type Service = StreamableHttpService<Handler, LocalSessionManager>;

fn service(shared: Arc<Shared>, stop: &CancellationToken, address: SocketAddr) -> Service {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .enforce_origin_validation();
    let is_local = address.ip().is_loopback();
    let config = if is_local { config } else { config.disable_allowed_hosts() };
    let gone = stop.clone();
    let handler = move || Ok(Handler::new(Arc::clone(&shared), gone.clone()));
    StreamableHttpService::new(handler, Arc::default(), config)
}

/// Lets requests in.
#[derive(Clone)]
struct Door {
    service: Service,
    token: Option<TokenCheck>,
    stop: CancellationToken,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl Door {
    async fn answer(&self, mut request: Request<Incoming>) -> Answer {
        if !self.is_let_in(&request) {
            let mut answer = refusal(
                StatusCode::UNAUTHORIZED,
                "the request carries no token that this server knows: send `Authorization: Bearer TOKEN`\n",
            );
            let scheme = hyper::header::HeaderValue::from_static("Bearer realm=\"flakeproof\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        }
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "there is nothing here: post to /mcp\n");
        }
        let gone = ClientGone(self.stop.child_token());
        request.extensions_mut().insert(gone.clone());
        let answer = self.service.handle(request).await;
        answer.map(|body| UntilBroken { body, gone: Some(gone.0) }.boxed())
    }

    fn is_let_in(&self, request: &Request<Incoming>) -> bool {
        let Some(is_token) = &self.token else { return true };
        let given = request.headers().get_all(AUTHORIZATION).iter();
        given.filter_map(|it| bearer(it.to_str().ok()?)).any(|given| is_token(given))
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn refusal(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(why).boxed());
    *answer.status_mut() = status;
    answer
}

/// Tells that the connection of a request broke before its answer was whole.
#[derive(Debug, Clone)]
pub(crate) struct ClientGone(CancellationToken);

impl ClientGone {
    /// What tells it of this request; `None` if it did not come over HTTP.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<CancellationToken> {
        let gone = context.extensions.get::<Parts>()?.extensions.get::<Self>()?;
        Some(gone.0.clone())
    }
}

/// The body of an answer, which tells when it is given up.
struct UntilBroken {
    body: BoxBody<Bytes, Infallible>,
    /// Gone once the body has come to its end.
    gone: Option<CancellationToken>,
}

impl Body for UntilBroken {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.gone = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for UntilBroken {
    fn drop(&mut self) {
        if let Some(gone) = &self.gone {
            gone.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_others_reach_needs_a_token() {
        let address = SocketAddr::from(([0, 0, 0, 0], 0));
        let refused = HttpServer::bind(HttpSettings { address, token: None });
        assert!(matches!(refused, Err(Error::Exposed { .. })));
    }

    #[test]
    fn a_token_is_sent_as_a_bearer() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("abc"), None);
    }
}
