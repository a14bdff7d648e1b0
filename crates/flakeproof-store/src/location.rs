//! Where a history is: a file, or a service that a team shares.
//!
//! A URL may hold a password. Nothing here shows one: neither `Debug` nor `Display` nor an error.

use std::fmt;
use std::path::{Path, PathBuf};

use flakeproof_core::HistoryError;

use crate::history_file::{PROJECT_FOLDER, make_project_folder};
use crate::{ObjectsAddress, PostgresAddress};

/// Where a history is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// In the project's own folder for it, `.flakeproof` below this one.
    Project(PathBuf),
    /// In a file that was named.
    File(PathBuf),
    /// In a database that a team shares.
    Postgres(Box<PostgresAddress>),
    /// In an object store, or a folder of segments, that a team shares.
    Objects(ObjectsAddress),
}

impl StoreLocation {
    /// The file that holds it, if one does.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Project(folder) => Some(project_file(folder)),
            Self::File(path) => Some(path.clone()),
            Self::Postgres(_) | Self::Objects(_) => None,
        }
    }

    /// Whether there may be a history: a file that is missing is none, and a service is asked later.
    #[must_use]
    pub fn may_be_there(&self) -> bool {
        self.file().is_none_or(|file| file.is_file())
    }

    /// Whether others write it, too, from other machines.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Project(_) | Self::File(_) => false,
            Self::Postgres(_) | Self::Objects(_) => true,
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(folder) => project_file(folder).display().fmt(f),
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(address) => address.fmt(f),
            Self::Objects(address) => address.fmt(f),
        }
    }
}

/// The URL of a history, which may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The URL in a text, or `None` if it is none but a path.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, _) = text.split_once("://")?;
        let is_scheme = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
        (!scheme.is_empty() && scheme.chars().all(is_scheme)).then(|| Self(text.to_owned()))
    }

    /// What comes before `://`, in small letters.
    #[must_use]
    pub fn scheme(&self) -> String {
        self.0.split("://").next().unwrap_or_default().to_ascii_lowercase()
    }

    /// The URL as it was typed, its password included: for opening it, never for showing.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Where the history at this URL is. `project` is what the project is called among others there, if
    /// the URL does not say.
    ///
    /// # Errors
    /// When there is no history at such a URL.
    pub fn locate(&self, project: &str) -> Result<StoreLocation, LocationError> {
        match self.scheme().as_str() {
            "postgres" | "postgresql" => {
                PostgresAddress::new(self, project).map(Box::new).map(StoreLocation::Postgres)
            }
            "s3" | "gs" | "az" | "file" => {
                Ok(StoreLocation::Objects(ObjectsAddress::new(self, project)))
            }
            _ => Err(LocationError::UnknownScheme { scheme: self.scheme() }),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

/// A URL without the password after the user's name, and without its parameters, any of which may be
/// secret.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return String::new() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    // A password may hold a `/` or an `@` that should have been escaped: all before the last `@` is its.
    match rest.rsplit_once('@') {
        Some((user, place)) => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}@{place}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// Why a URL does not name a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// Histories are not kept there.
    #[error("histories are not kept at `{scheme}://`")]
    UnknownScheme {
        /// What came before `://`.
        scheme: String,
    },
    /// It is not written as such a URL is.
    #[error("it has a mistake or an unknown parameter; write `postgres://user@host:port/database`")]
    Malformed,
    /// A parameter has a value that it cannot have.
    #[error("`{name}` is `{value}`, and must be {wanted}")]
    Impossible {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
}

/// The file of the own history of the project in `folder`.
pub(crate) fn project_file(folder: &Path) -> PathBuf {
    folder.join(PROJECT_FOLDER).join("history.db")
}

/// The folder of what is kept about the project in `folder`, made if it is missing.
///
/// # Errors
/// When it cannot be made.
pub fn project_folder(folder: &Path) -> Result<PathBuf, HistoryError> {
    let ours = folder.join(PROJECT_FOLDER);
    make_project_folder(&ours)?;
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_url() {
        for path in ["history.db", "/a/b.db", "C:\\a\\b.db", "://x", "a b://c", ""] {
            assert_eq!(StoreUrl::new(path), None, "{path}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let urls = [
            "postgres://ci:hunter2@db.example/team",
            "postgres://ci:hunter2@db.example/team?sslmode=require",
            "postgres://ci:hun@hunter2@db.example/team",
            "postgres://ci:a/hunter2@db.example/team",
            "postgres://db.example/team?user=ci&password=hunter2",
        ];
        for url in urls {
            let url = StoreUrl::new(url).unwrap();
            for shown in [format!("{url}"), format!("{url:?}"), format!("{url:#?}")] {
                assert!(!shown.contains("hunter2"), "{shown}");
                assert!(shown.contains("db.example/team"), "{shown}");
            }
        }
    }
}
