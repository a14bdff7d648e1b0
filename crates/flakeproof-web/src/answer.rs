//! An answer before it is sent: what it carries, the headers that every answer has, and trouble with
//! a request as RFC 9457 has it, always with a next step.
//!
//! Bytes are packed and named once, however often they are asked for.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::request;
use crate::route::{ATOM_FEED, JSON_FEED};
use crate::source::SourceError;

/// Below this, packing saves no packet.
const WORTH_PACKING: usize = 1400;

/// An answer before it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Arc<Body>,
    headers: Vec<(HeaderName, String)>,
}

impl Answer {
    /// An answer with this body.
    pub(crate) fn new(status: StatusCode, body: impl Into<Arc<Body>>) -> Self {
        Self { status, body: body.into(), headers: Vec::new() }
    }

    /// What was asked for.
    pub(crate) fn found(body: impl Into<Arc<Body>>) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// Look there.
    pub(crate) fn elsewhere(place: String) -> Self {
        let body = Body::new(BodyKind::Json, b"{}\n".to_vec());
        Self::new(StatusCode::SEE_OTHER, body).with(header::LOCATION, place)
    }

    /// The same answer with another header.
    pub(crate) fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// What is sent to a client that asked with these headers: nothing if it has the body already,
    /// and the packed body if it can unpack it.
    pub(crate) fn response(self, asked: &HeaderMap) -> Response<Full<Bytes>> {
        let body = &self.body;
        let is_packed = body.packed.is_some() && request::takes_gzip(asked);
        // Bytes that differ have different names, and packed ones differ.
        let tag = format!("\"{}{}\"", body.tag, if is_packed { "-gzip" } else { "" });
        let is_known = self.status == StatusCode::OK && request::has_tag(asked, &body.tag);
        let bytes = match (&body.packed, is_packed) {
            _ if is_known => Bytes::new(),
            (Some(packed), true) => packed.clone(),
            _ => body.plain.clone(),
        };
        let mut response = Response::new(Full::new(bytes));
        *response.status_mut() = if is_known { StatusCode::NOT_MODIFIED } else { self.status };
        let headers = response.headers_mut();
        guard(headers, body.kind);
        if self.status == StatusCode::OK {
            put(headers, header::ETAG, &tag);
        }
        if !is_known {
            put(headers, header::CONTENT_TYPE, body.kind.media_type());
            if is_packed {
                put(headers, header::CONTENT_ENCODING, "gzip");
            }
        }
        for (name, value) in self.headers {
            put(headers, name, &value);
        }
        response
    }
}

/// The bytes of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    /// What they are.
    pub(crate) kind: BodyKind,
    /// The bytes themselves.
    pub(crate) plain: Bytes,
    /// The same bytes as gzip, where that is smaller.
    pub(crate) packed: Option<Bytes>,
    /// Their name: equal bytes have equal names.
    pub(crate) tag: String,
}

/// What bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// A page with its own script and style in it.
    Page,
    /// JSON.
    Json,
    /// A JSON Feed.
    JsonFeed,
    /// An Atom feed.
    AtomFeed,
    /// Trouble, as RFC 9457 has it.
    Problem,
}

impl BodyKind {
    /// The media type.
    fn media_type(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::JsonFeed => JSON_FEED,
            Self::AtomFeed => ATOM_FEED,
            Self::Problem => "application/problem+json",
        }
    }

    /// What a browser may do with it. Pages bring their script and style along and load nothing.
    fn policy(self) -> String {
        let policy = match self {
            Self::Page => flakeproof_report::CONTENT_SECURITY_POLICY,
            Self::Json | Self::JsonFeed | Self::AtomFeed | Self::Problem => "default-src 'none'",
        };
        // A page cannot say this about itself.
        format!("{policy}; frame-ancestors 'none'")
    }
}

impl Body {
    /// The body that these bytes are.
    pub(crate) fn new(kind: BodyKind, bytes: Vec<u8>) -> Self {
        let tag = blake3::hash(&bytes).to_hex()[..32].to_owned();
        let packed = packed(&bytes).map(Bytes::from);
        Self { kind, plain: Bytes::from(bytes), packed, tag }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// What happened.
    pub(crate) detail: String,
    /// What to do next.
    pub(crate) next: String,
}

impl Problem {
    /// A problem with this status.
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>, next: &str) -> Self {
        Self { status, detail: detail.into(), next: next.to_owned() }
    }

    /// What was asked for does not mean anything here.
    pub(crate) fn bad_request(detail: impl Into<String>, next: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail, next)
    }

    /// The program itself is at fault.
    pub(crate) fn broken(detail: impl Into<String>) -> Self {
        let next = "report this with the terminal's output; `flakeproof report` shows the same";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail, next)
    }

    /// The answer that says so.
    pub(crate) fn answer(&self) -> Answer {
        // The members `type`, `title`, `status` and `detail` are the RFC's, `next` is an extension.
        let document = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Trouble"),
            "status": self.status.as_u16(),
            "detail": self.detail,
            "next": self.next,
        });
        let body = Body::new(BodyKind::Problem, format!("{document:#}\n").into_bytes());
        Answer::new(self.status, body)
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, detail: error.what, next: error.next }
    }
}

/// What keeps an answer to itself, whatever it says: no guessing of types, no frames, no other
/// site's scripts, no traces in links that are followed.
fn guard(headers: &mut HeaderMap, kind: BodyKind) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::VARY, "accept-encoding, authorization, cookie"),
    ];
    put(headers, header::CONTENT_SECURITY_POLICY, &kind.policy());
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Set a header. What cannot stand in one, such as a line break, is not sent at all.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < WORTH_PACKING {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // A `Vec` takes all that is written to it.
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn long_text_is_packed_and_comes_back_as_it_was() {
        let text = b"flaky ".repeat(1000);
        let body = Body::new(BodyKind::Json, text.clone());
        let packed = body.packed.unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert!(packed.len() < text.len() && unpacked == text);
    }

    #[test]
    fn short_text_is_not_packed() {
        assert_eq!(Body::new(BodyKind::Json, b"{}".to_vec()).packed, None);
    }
}
