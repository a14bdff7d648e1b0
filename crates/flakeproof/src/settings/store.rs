//! Where the history is, as it is typed and as it is meant.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use flakeproof_runner::git::Repository;
use flakeproof_store::{StoreLocation, StoreUrl};
use serde::{Deserialize, Deserializer};

use super::ConfigurationFile;
use crate::problem::Problem;

/// Where a history is, as it is typed: a path or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreName {
    /// A file.
    Path(PathBuf),
    /// A service that a team shares.
    Url(StoreUrl),
}

impl StoreName {
    /// The place that is meant, for a command that is given in this folder.
    pub(crate) fn locate(&self, folder: &Path) -> Result<StoreLocation, Problem> {
        match self {
            Self::Path(path) => Ok(StoreLocation::File(folder.join(path))),
            Self::Url(url) => url.locate(&project_name(folder)).map_err(|error| {
                Problem::usage(
                    format!("{url} is no history: {error}"),
                    "name with `--store` a file, a database (`postgres://user@host/database`), a bucket \
                     (`s3://bucket/path`, `gs://bucket/path`, `az://container/path`) or a folder of segments \
                     (`file:///folder`)",
                )
            }),
        }
    }

    /// What to type to name it again, without a password.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Url(url) => url.to_string(),
        }
    }

    /// What to pass on to a command of ours, its password included: never to show it.
    pub(crate) fn secret(&self) -> OsString {
        match self {
            Self::Path(path) => path.clone().into_os_string(),
            Self::Url(url) => url.secret().into(),
        }
    }
}

impl From<OsString> for StoreName {
    fn from(typed: OsString) -> Self {
        match typed.to_str().and_then(StoreUrl::new) {
            Some(url) => Self::Url(url),
            None => Self::Path(typed.into()),
        }
    }
}

impl<'de> Deserialize<'de> for StoreName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| OsString::from(text).into())
    }
}

/// The place of the history for a command that is given in this folder: what was typed, else what the
/// configuration says, else the project's own.
pub(crate) fn locate(typed: Option<&StoreName>, folder: &Path) -> Result<StoreLocation, Problem> {
    if let Some(name) = typed {
        return name.locate(folder);
    }
    let file = ConfigurationFile::find(None, folder)?;
    match file.layer(None)?.store {
        Some(name) => name.locate(folder),
        None => Ok(StoreLocation::Project(file.project)),
    }
}

/// What a project is called among others that share a store: by the repository that all its copies come
/// from, else by its folder.
fn project_name(folder: &Path) -> String {
    let repository = Repository::containing(folder).ok();
    let origin = repository.as_ref().and_then(Repository::origin);
    let named = origin.as_deref().and_then(name_in_remote);
    let root = repository.as_ref().map_or(folder, |it| it.root());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let of_folder = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    named.or_else(of_folder).unwrap_or_else(|| "project".to_owned())
}

/// `owner/name` of a remote such as `git@host:owner/name.git`: the host and how it is spoken to differ from
/// copy to copy.
fn name_in_remote(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/').trim_end_matches(".git");
    let path = match url.split_once("://") {
        Some(("file", path)) => path,
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.rsplit_once(':').map_or(url, |(_, path)| path),
    };
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let name = parts.next()?;
    Some(parts.next().map_or_else(|| name.to_owned(), |owner| format!("{owner}/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_told_from_a_path() {
        let name = |typed: &str| StoreName::from(OsString::from(typed));
        assert!(matches!(name("postgres://db/team"), StoreName::Url(_)));
        assert!(matches!(name("ci/history.db"), StoreName::Path(_)));
        assert!(matches!(name("C:\\ci\\history.db"), StoreName::Path(_)));
    }

    #[test]
    fn copies_of_a_repository_share_its_name() {
        for remote in [
            "git@example.org:shop/basket.git",
            "https://example.org/shop/basket.git",
            "https://token@example.org/shop/basket/",
            "ssh://git@example.org:2222/shop/basket.git",
            "/srv/git/shop/basket.git",
            "file:///srv/git/shop/basket",
        ] {
            assert_eq!(name_in_remote(remote).as_deref(), Some("shop/basket"), "{remote}");
        }
        assert_eq!(name_in_remote("https://example.org/basket").as_deref(), Some("basket"));
        assert_eq!(name_in_remote(""), None);
    }
}
