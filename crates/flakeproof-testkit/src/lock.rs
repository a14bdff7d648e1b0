//! One maker at a time for what several test processes want to make.

use std::path::Path;

/// A lock that the system releases when its holder dies.
pub(crate) struct Lock(#[expect(dead_code, reason = "closing it releases the lock")] std::fs::File);

impl Lock {
    /// Wait for the lock at this path.
    ///
    /// # Errors
    /// When the file cannot be made or locked.
    pub(crate) fn take(path: &Path) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(text)?;
        }
        let file = std::fs::File::create(path).map_err(text)?;
        file.lock().map_err(text)?;
        Ok(Self(file))
    }
}
