//! An answer before it is sent, and the headers that every answer has.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use crate::body::{Body, BodyKind};
use crate::encoding;

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
        let is_packed = body.packed.is_some() && encoding::takes_gzip(asked);
        // Bytes that differ have different names, and packed ones differ.
        let tag = format!("\"{}{}\"", body.tag, if is_packed { "-gzip" } else { "" });
        let is_known = self.status == StatusCode::OK && encoding::has_tag(asked, &body.tag);
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
