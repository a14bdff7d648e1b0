//! Where the server gets what it shows: read once for each state of the history, drawn once when it
//! is asked for.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flakeproof_core::{Overview, TestId};
use flakeproof_report::Renderer;
use serde_json::Value;

use crate::answer::{Body, BodyKind, Problem};

/// What the server asks for what it shows. It is asked on threads that may wait.
pub trait Source: Send + Sync + 'static {
    /// What tells one state of the history from another, cheap enough to ask at every request.
    ///
    /// # Errors
    /// When the history cannot be reached.
    fn stamp(&self) -> Result<Stamp, SourceError>;

    /// All that is known, as it is now.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn overview(&self) -> Result<Overview, SourceError>;
}

/// A state of the history. While it stays the same, nothing is read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(pub String);

/// Why the history cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SourceError {
    /// What happened and where.
    pub what: String,
    /// What to do next.
    pub next: String,
}

/// The history as it is now.
#[derive(Debug)]
pub(crate) struct Live<S> {
    source: S,
    /// The lock is held while the history is read, so that many requests read it once.
    latest: Mutex<Option<Arc<Snapshot>>>,
}

/// The history as it was at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    stamp: Stamp,
    overview: Overview,
    /// The overview as a document for programs.
    document: Value,
    page: OnceLock<Result<Arc<Body>, Problem>>,
    whole: OnceLock<Arc<Body>>,
}

impl<S: Source> Live<S> {
    /// What comes from this source.
    pub(crate) fn new(source: S) -> Self {
        Self { source, latest: Mutex::new(None) }
    }

    /// The history as it is now. May wait for a disk.
    pub(crate) fn latest(&self) -> Result<Arc<Snapshot>, Problem> {
        // A source that panicked left nothing half done: the snapshot is put there whole.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        // The stamp comes first: what is written while the overview is read shows in the next one.
        let stamp = self.source.stamp()?;
        if let Some(known) = latest.as_ref().filter(|known| known.stamp == stamp) {
            return Ok(Arc::clone(known));
        }
        let snapshot = Arc::new(Snapshot::new(stamp, self.source.overview()?)?);
        *latest = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

impl Snapshot {
    fn new(stamp: Stamp, overview: Overview) -> Result<Self, Problem> {
        let document = serde_json::to_value(flakeproof_report::overview_document(&overview))
            .map_err(|error| Problem::broken(format!("the overview cannot be written: {error}")))?;
        let (page, whole) = (OnceLock::new(), OnceLock::new());
        Ok(Self { stamp, overview, document, page, whole })
    }

    /// The report as a page.
    pub(crate) fn page(&self) -> Result<Arc<Body>, Problem> {
        let draw = || match flakeproof_report::page(&self.overview) {
            Ok(page) => Ok(Arc::new(Body::new(BodyKind::Page, page.into_bytes()))),
            Err(error) => Err(Problem::broken(format!("the page cannot be written: {error}"))),
        };
        self.page.get_or_init(draw).clone()
    }

    /// What is new, as a feed. Few ask for it, and seldom.
    pub(crate) fn feed(
        &self,
        feed: &impl Renderer<Overview>,
        kind: BodyKind,
    ) -> Result<Body, Problem> {
        let rendered = feed.render(&self.overview);
        let cannot = |error| Problem::broken(format!("the feed cannot be written: {error}"));
        rendered.map(|bytes| Body::new(kind, bytes)).map_err(cannot)
    }

    /// The whole document.
    pub(crate) fn whole(&self) -> Arc<Body> {
        Arc::clone(self.whole.get_or_init(|| Arc::new(json_body(&self.document))))
    }

    /// A list of the document.
    pub(crate) fn list(&self, name: &str) -> &[Value] {
        self.document[name].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// One test in full; `None` if nobody has seen it.
    pub(crate) fn test(&self, id: &str) -> Option<Body> {
        let id = TestId::from(id);
        flakeproof_report::test_document(&self.overview, &id).map(|document| json_body(&document))
    }
}

/// A document as it is sent.
pub(crate) fn json_body(document: &impl serde::Serialize) -> Body {
    // Our documents have text for keys and no numbers that JSON cannot have.
    let bytes = serde_json::to_vec(document).unwrap_or_else(|_| b"null".to_vec());
    Body::new(BodyKind::Json, bytes)
}
