//! Folders of our own: temporary ones, which go with those who hold them, and the user's cache,
//! where an agent, which is part of this program, is put so that a runtime can load it.

use std::path::{Path, PathBuf};
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

/// One file of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentFile {
    /// Its path below the agent's folder.
    pub(crate) path: &'static str,
    /// Its content.
    pub(crate) content: &'static str,
}

/// Write the files of an agent and give their folder.
///
/// The folder is kept in the user's cache under a digest of its content, so that a runtime can
/// keep compiled forms beside it. Where no cache can be written, `fallback` is used.
pub(crate) fn unpack(files: &[AgentFile], fallback: &Path) -> Result<PathBuf> {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(file.path.as_bytes()).update(b"\0").update(file.content.as_bytes());
    }
    let digest = &hasher.finalize().to_hex()[..16];
    if let Some(cache) = cache_folder() {
        let folder = cache.join("flakeproof").join("agents").join(digest);
        if is_unpacked(files, &folder) || write_at_once(files, &folder).is_ok() {
            return Ok(folder);
        }
    }
    let folder = fallback.join("agent");
    write(files, &folder).map_err(Error::io(format!("write the agent to {}", folder.display())))?;
    Ok(folder)
}

/// Where this user's programs keep what they can make again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("XDG_CACHE_HOME")
        .or_else(|| Some(named("HOME")?.join(".cache")))
        .or_else(|| named("LOCALAPPDATA"))
}

/// Whether every file is there with its content: someone may have cleaned or edited the cache.
fn is_unpacked(files: &[AgentFile], folder: &Path) -> bool {
    files.iter().all(|file| {
        std::fs::read_to_string(folder.join(file.path)).is_ok_and(|text| text == file.content)
    })
}

/// Write beside the final place and rename, so that two runs at once never see half an agent.
fn write_at_once(files: &[AgentFile], folder: &Path) -> std::io::Result<()> {
    let parent = folder.parent().ok_or(std::io::ErrorKind::NotFound)?;
    std::fs::create_dir_all(parent)?;
    let beside = tempfile::tempdir_in(parent)?;
    write(files, beside.path())?;
    if folder.exists() {
        return write(files, folder);
    }
    match std::fs::rename(beside.path(), folder) {
        Ok(()) => Ok(()),
        Err(_) if is_unpacked(files, folder) => Ok(()),
        Err(error) => Err(error),
    }
}

fn write(files: &[AgentFile], folder: &Path) -> std::io::Result<()> {
    for file in files {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, file.content)?;
    }
    Ok(())
}
