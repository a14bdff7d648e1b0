//! The objects of one project in a bucket or folder. Async ends here.

use std::path::Path as FilePath;
use std::time::Duration;

use bytes::Bytes;
use flakeproof_core::HistoryError;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
    RetryConfig,
};
use tokio::runtime::Runtime;

use super::ObjectsAddress;

/// How long one request may take, and all tries of it.
const LONGEST_REQUEST: Duration = Duration::from_secs(60);
const LONGEST_CONNECTING: Duration = Duration::from_secs(5);
const LONGEST_TRYING: Duration = Duration::from_secs(20);
const RETRIES: usize = 2;

/// Variables that name another server than the cloud's own.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

/// The objects of one project.
pub(super) struct Bucket {
    store: Box<dyn ObjectStore>,
    prefix: Path,
    runtime: Runtime,
    place: String,
}

/// What a question to a bucket came to.
pub(super) enum Asked<T> {
    /// An answer.
    Answer(T),
    /// These credentials may not ask it.
    Denied,
}

/// Whether an object was written, or one of its name was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Created {
    New,
    Known,
}

impl Bucket {
    pub(super) fn open(address: &ObjectsAddress) -> Result<Self, HistoryError> {
        let place = address.to_string();
        let unreachable = |cause: String| HistoryError::Unreachable { place: place.clone(), cause };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
        // The first to choose decides; all of this program choose the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (store, prefix) = store_at(address).map_err(|error| unreachable(told(&error)))?;
        let prefix = prefix.join(format!("project={}", address.project().replace('/', "__")));
        Ok(Self { store, prefix, runtime, place })
    }

    /// The names of all objects below a folder, sorted.
    pub(super) fn list(&self, folder: &str) -> Result<Asked<Vec<String>>, HistoryError> {
        let folder = self.path(folder);
        let listed = self.runtime.block_on(async {
            let mut names = Vec::new();
            let mut found = self.store.list(Some(&folder));
            while let Some(object) = futures_next(&mut found).await {
                names.push(object?.location.to_string());
            }
            Ok(names)
        });
        match listed {
            Ok(mut names) => {
                names.sort_unstable();
                Ok(Asked::Answer(names))
            }
            Err(Error::NotFound { .. }) if self.is_folder() => Ok(Asked::Answer(Vec::new())),
            Err(error) if is_denied(&error) => Ok(Asked::Denied),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    fn is_folder(&self) -> bool {
        self.place.starts_with("file://")
    }

    /// The content of an object; `None` where it is gone.
    pub(super) fn get(&self, name: &str) -> Result<Asked<Option<Bytes>>, HistoryError> {
        let path = Path::parse(name).map_err(|error| self.no_name(name, &error))?;
        let content = self.runtime.block_on(async { self.store.get(&path).await?.bytes().await });
        match content {
            Ok(content) => Ok(Asked::Answer(Some(content))),
            Err(Error::NotFound { .. }) => Ok(Asked::Answer(None)),
            Err(error) if is_denied(&error) => Ok(Asked::Denied),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    /// The whole name of an object.
    pub(super) fn whole_name(&self, name: &str) -> String {
        self.path(name).to_string()
    }

    fn path(&self, name: &str) -> Path {
        self.prefix.parts().chain(Path::from(name).parts()).collect()
    }

    /// Write an object unless there is one of its name, which stays as it is; gives its whole name.
    pub(super) fn create(
        &self,
        name: &str,
        content: Vec<u8>,
    ) -> Result<(String, Created), HistoryError> {
        let path = self.path(name);
        let payload = PutPayload::from(content);
        let options = PutOptions::from(PutMode::Create);
        let put = self.runtime.block_on(self.store.put_opts(&path, payload, options));
        match put {
            Ok(_) => Ok((path.to_string(), Created::New)),
            Err(Error::AlreadyExists { .. }) => Ok((path.to_string(), Created::Known)),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    /// Remove an object; one that is gone is no error.
    pub(super) fn delete(&self, name: &str) -> Result<(), HistoryError> {
        let path = Path::parse(name).map_err(|error| self.no_name(name, &error))?;
        match self.runtime.block_on(self.store.delete(&path)) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    fn unreachable(&self, error: &Error) -> HistoryError {
        HistoryError::Unreachable { place: self.place.clone(), cause: told(error) }
    }

    fn no_name(&self, name: &str, error: &object_store::path::Error) -> HistoryError {
        let cause = format!("`{name}` is no name of an object: {error}");
        HistoryError::Unreadable { place: self.place.clone(), cause }
    }
}

/// The next of a stream, without the crate that has a name for it.
async fn futures_next<S: futures_core::Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    std::future::poll_fn(|context| std::pin::Pin::new(&mut *stream).poll_next(context)).await
}

/// Whether these credentials may not do it. Of a list, the client tells only what the server said.
fn is_denied(error: &Error) -> bool {
    let said = told(error);
    matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
        || ["401 Unauthorized", "403 Forbidden"].iter().any(|status| said.contains(status))
}

/// What went wrong, on one line, as its innermost cause says it.
fn told(error: &Error) -> String {
    let mut told = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        told = inner.to_string();
        source = inner.source();
    }
    let line = told.lines().next().unwrap_or_default();
    line.chars().take(300).collect()
}

fn store_at(address: &ObjectsAddress) -> Result<(Box<dyn ObjectStore>, Path), Error> {
    let url = address.url();
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let below = rest.split_once('/').map_or("", |(_, path)| path);
    let is_plain = ENDPOINTS
        .iter()
        .any(|name| std::env::var(name).is_ok_and(|value| value.starts_with("http://")));
    let client = ClientOptions::new()
        .with_timeout(LONGEST_REQUEST)
        .with_connect_timeout(LONGEST_CONNECTING)
        .with_allow_http(is_plain);
    let retry = RetryConfig {
        max_retries: RETRIES,
        retry_timeout: LONGEST_TRYING,
        ..RetryConfig::default()
    };
    let store: Box<dyn ObjectStore> = match address.scheme() {
        "s3" => Box::new(
            AmazonS3Builder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()?,
        ),
        "gs" => Box::new(
            GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()?,
        ),
        "az" => Box::new(
            MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_client_options(client)
                .with_retry(retry)
                .build()?,
        ),
        _ => {
            let folder = FilePath::new(rest);
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::Generic { store: "file", source: Box::new(error) })?;
            let folder = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
            return Ok((Box::new(folder), Path::default()));
        }
    };
    Ok((store, Path::from(below)))
}
