//! Temporary folders that go with those who hold them.

use std::path::Path;
use std::sync::Arc;

use crate::{Error, Result};

/// A folder for temporary files, removed at the end.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    /// Of the environment that this one's is a copy of: what tests made there is still in use.
    #[expect(dead_code, reason = "its last holder's drop removes the folder")]
    inherited: Option<Arc<Scratch>>,
}

impl Scratch {
    /// A new folder that only this user can enter.
    pub(crate) fn new() -> Result<Self> {
        tempfile::Builder::new()
            .prefix("flakeproof-")
            .tempdir()
            .map(|folder| Self { folder, inherited: None })
            .map_err(Error::io("make a temporary folder"))
    }

    /// A folder inside, for one environment.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        tempfile::Builder::new()
            .prefix(&format!("{name}-"))
            .tempdir_in(self.path())
            .map(|folder| Self { folder, inherited: None })
            .map_err(Error::io("make a temporary folder"))
    }

    /// The same folder, which keeps another one in being.
    pub(crate) fn after(self, inherited: Option<&Arc<Scratch>>) -> Self {
        Self { inherited: inherited.map(Arc::clone), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn text(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}
