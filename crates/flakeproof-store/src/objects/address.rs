//! The address of a history in an object store, and of the file that is kept before it.

use std::fmt;
use std::path::PathBuf;

use flakeproof_core::HistoryError;

use crate::StoreUrl;

/// The variables that name the folder for what can be fetched again, and what is below each.
const CACHES: [(&str, &str); 3] =
    [("FLAKEPROOF_CACHE", ""), ("XDG_CACHE_HOME", "flakeproof"), ("HOME", ".cache/flakeproof")];

/// The address of a history in an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectsAddress {
    url: StoreUrl,
    scheme: String,
    project: String,
    cache: Option<PathBuf>,
}

impl ObjectsAddress {
    /// The history of a project below this URL.
    pub(crate) fn new(url: &StoreUrl, project: &str) -> Self {
        let project = project.to_owned();
        Self { url: url.clone(), scheme: url.scheme(), project, cache: None }
    }

    /// The same, with another file on this machine before it.
    #[must_use]
    pub fn with_cache(self, file: PathBuf) -> Self {
        Self { cache: Some(file), ..self }
    }

    pub(super) fn url(&self) -> &str {
        self.url.secret()
    }

    pub(super) fn scheme(&self) -> &str {
        &self.scheme
    }

    pub(super) fn project(&self) -> &str {
        &self.project
    }

    /// The file that is kept before it, whose folder is made.
    pub(super) fn cache(&self) -> Result<PathBuf, HistoryError> {
        if let Some(file) = &self.cache {
            return Ok(file.clone());
        }
        let named = CACHES.iter().find_map(|(variable, below)| {
            let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty())?;
            Some(PathBuf::from(folder).join(below))
        });
        let folder = named.unwrap_or_else(|| std::env::temp_dir().join("flakeproof"));
        let what = format!("{}\n{}", self.url(), self.project);
        let digest = &blake3::hash(what.as_bytes()).to_hex()[..16];
        std::fs::create_dir_all(&folder).map_err(|error| HistoryError::Unwritable {
            place: folder.display().to_string(),
            cause: error.to_string(),
        })?;
        Ok(folder.join(format!("{digest}.db")))
    }
}

impl fmt::Display for ObjectsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}
