//! Files: names that are bytes, rights, links, and what tells one from another.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, Permissions};
use std::io::Result;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::super::IndexTimes;
use super::under_own_group;

/// A path as git prints it.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// A name as git prints it.
pub(crate) fn bytes_of(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(name.as_bytes())
}

/// A word from its bytes.
pub(crate) fn text_of(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// Make a link to a file or a folder.
pub(crate) fn link(from: &Path, to: &Path) -> Result<()> {
    std::os::unix::fs::symlink(from, to)
}

/// Let a file be started as a program by everybody.
pub(crate) fn make_program(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Whether a file may be started as a program.
pub(crate) fn is_program(file: &Metadata) -> bool {
    file.permissions().mode() & 0o100 != 0
}

/// Two numbers that no two files have in common at one time.
pub(crate) fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// What no copy of a file has in common with it.
pub(crate) fn witness_of(file: &Metadata) -> Option<String> {
    Some(format!("{} {}.{}", file.ino(), file.ctime(), file.ctime_nsec()))
}

/// When content, name or rights of a file last changed, in nanoseconds since 1970: by the system's own
/// account, which unlike the time of its content nobody can set.
#[must_use]
pub fn time_of_last_change(file: &Metadata) -> i128 {
    i128::from(file.ctime()) * 1_000_000_000 + i128::from(file.ctime_nsec())
}

/// The times of a file that git keeps; `None` where it keeps none that tell.
pub(crate) fn times_in_index(file: &Metadata) -> Option<IndexTimes> {
    Some(IndexTimes { changed: (file.ctime(), file.ctime_nsec()), modified: file.mtime() })
}

/// A process that removes a folder when its input ends, even if we are killed.
pub(crate) fn janitor(folder: &Path) -> Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "cat >/dev/null; rm -rf -- \"$1\"", "sh"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    under_own_group(&mut shell).spawn()
}
