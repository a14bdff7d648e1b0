//! Trouble with a request, as RFC 9457 has it, always with a next step.

use hyper::StatusCode;
use serde_json::json;

use crate::answer::Answer;
use crate::body::{Body, BodyKind};
use crate::source::SourceError;

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
