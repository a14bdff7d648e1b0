//! News sent to an address of the user's, signed as [Standard Webhooks](https://www.standardwebhooks.com) say: the
//! receiver knows who sent it, that nobody changed it, and that it is not an old one sent once more.
//!
//! What is signed is `id.timestamp.body`, by HMAC-SHA256. A delivery keeps its id however often it is
//! tried, so that a receiver that was told twice can see that. Redirects are not followed: they would
//! carry the news to whom nobody named.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::StatusCode;
use reqwest::redirect::Policy;
use sha2::Sha256;

/// How long one try may take.
const LONGEST: Duration = Duration::from_secs(10);

/// An address that is told news.
#[derive(Debug, Clone)]
pub struct Webhook {
    url: reqwest::Url,
    secret: Option<Secret>,
}

/// What the sender and the receiver share, never shown.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The same however often it is sent.
    pub id: String,
    /// When it is sent, in seconds since 1970.
    pub timestamp: i64,
    /// The body, which is JSON.
    pub body: Vec<u8>,
}

/// How often a delivery is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// How often in all.
    pub most: u32,
    /// How long to wait before the second try; twice as long before each further one.
    pub pause: Duration,
}

/// Why nothing was delivered. An address may be a secret by itself: only its server is named.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The address is none.
    #[error("the webhook's address is no `https://…` or `http://…`")]
    Address,
    /// The secret is too short to keep anybody out.
    #[error("the secret has {0} bytes, and at least {SHORTEST} are needed")]
    Secret(usize),
    /// Nobody answers there.
    #[error("{server} does not answer: {cause}")]
    Unreachable {
        /// The server.
        server: String,
        /// What went wrong on the way.
        cause: String,
    },
    /// It was answered, and not taken.
    #[error("{server} answers {status}")]
    Refused {
        /// The server.
        server: String,
        /// The status.
        status: String,
    },
    /// The operating system refuses what a client needs.
    #[error("cannot send")]
    Run(#[from] std::io::Error),
}

/// Bytes of a secret that nobody guesses.
const SHORTEST: usize = 16;

impl Secret {
    /// Read a secret: `whsec_` and base64, as Standard Webhooks write it, or any text.
    ///
    /// # Errors
    /// When it is too short.
    pub fn parse(text: &str) -> Result<Self, WebhookError> {
        let text = text.trim();
        let decoded =
            text.strip_prefix("whsec_").and_then(|packed| BASE64_STANDARD.decode(packed).ok());
        let bytes = decoded.unwrap_or_else(|| text.as_bytes().to_vec());
        if bytes.len() < SHORTEST {
            Err(WebhookError::Secret(bytes.len()))
        } else {
            Ok(Self(bytes))
        }
    }

    /// The signature of a delivery, as a header has it.
    fn sign(&self, delivery: &Delivery) -> String {
        // HMAC takes a key of any length.
        let Ok(mut signing) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        signing.update(format!("{}.{}.", delivery.id, delivery.timestamp).as_bytes());
        signing.update(&delivery.body);
        format!("v1,{}", BASE64_STANDARD.encode(signing.finalize().into_bytes()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Webhook {
    /// The webhook at an address; without a secret nothing is signed.
    ///
    /// # Errors
    /// When the address is none.
    pub fn new(url: &str, secret: Option<Secret>) -> Result<Self, WebhookError> {
        let url = reqwest::Url::parse(url.trim()).map_err(|_| WebhookError::Address)?;
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        if is_http { Ok(Self { url, secret }) } else { Err(WebhookError::Address) }
    }

    /// The server, without what may be secret.
    #[must_use]
    pub fn server(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Deliver it, and say how many tries that took.
    ///
    /// # Errors
    /// When nobody takes it, however often it is tried, or the server says that nobody ever will.
    pub fn send(&self, delivery: &Delivery, tries: Tries) -> Result<u32, WebhookError> {
        // The first to choose decides; all of this program choose the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let client = reqwest::Client::builder()
                .timeout(LONGEST)
                .redirect(Policy::none())
                .user_agent(concat!("flakeproof/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| self.unreachable(&error))?;
            let mut pause = tries.pause;
            let mut tried = 1;
            loop {
                match self.try_once(&client, delivery).await {
                    Ok(()) => return Ok(tried),
                    Err((error, Again::Worth)) if tried >= tries.most => return Err(error),
                    Err((error, Again::Never)) => return Err(error),
                    Err((_, Again::Worth)) => tokio::time::sleep(pause).await,
                }
                pause *= 2;
                tried += 1;
            }
        })
    }

    async fn try_once(
        &self,
        client: &reqwest::Client,
        delivery: &Delivery,
    ) -> Result<(), (WebhookError, Again)> {
        let mut request = client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", delivery.timestamp.to_string());
        if let Some(secret) = &self.secret {
            request = request.header("webhook-signature", secret.sign(delivery));
        }
        let answered = request.body(delivery.body.clone()).send().await;
        let status = match answered {
            Ok(answer) => answer.status(),
            Err(error) => return Err((self.unreachable(&error), Again::Worth)),
        };
        if status.is_success() {
            return Ok(());
        }
        let is_passing = status.is_server_error()
            || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        let refused = WebhookError::Refused { server: self.server(), status: status.to_string() };
        Err((refused, if is_passing { Again::Worth } else { Again::Never }))
    }

    fn unreachable(&self, error: &reqwest::Error) -> WebhookError {
        // The client's own words name the whole address, its innermost cause does not.
        let mut source = std::error::Error::source(error);
        let mut cause = "the request could not be sent".to_owned();
        while let Some(inner) = source {
            cause = inner.to_string();
            source = inner.source();
        }
        if error.is_timeout() {
            cause = format!("no answer within {} s", LONGEST.as_secs());
        }
        WebhookError::Unreachable { server: self.server(), cause }
    }
}

/// Whether the next try may go better.
enum Again {
    Worth,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let delivery = Delivery {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek".into(),
            timestamp: 1_614_265_330,
            body: br#"{"test": 2432232314}"#.to_vec(),
        };
        assert_eq!(secret.sign(&delivery), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let other = Delivery { timestamp: 1_614_265_331, ..delivery };
        assert_ne!(secret.sign(&other), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused_and_none_is_shown() {
        assert!(matches!(Secret::parse("hunter2\n"), Err(WebhookError::Secret(7))));
        let secret = Secret::parse("a long enough secret").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn an_address_is_one_of_the_web_and_only_its_server_is_named() {
        for no in ["", "hooks.example/x", "file:///etc/passwd", "ftp://x.example/"] {
            assert!(matches!(Webhook::new(no, None), Err(WebhookError::Address)), "{no}");
        }
        let webhook = Webhook::new("https://me:pass@hooks.example:8443/T0/secret", None).unwrap();
        assert_eq!(webhook.server(), "hooks.example:8443");
    }
}
