//! Files: names that are text, links, and what tells one from another.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::Result;
use std::os::windows::fs::{MetadataExt as _, symlink_dir, symlink_file};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::super::IndexTimes;
use super::under_own_group;

/// A path as git prints it.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(text_of(bytes))
}

/// A name as git prints it: with slashes between its parts.
pub(crate) fn bytes_of(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Owned(name.to_string_lossy().replace('\\', "/").into_bytes())
}

/// A word from its bytes.
pub(crate) fn text_of(bytes: &[u8]) -> OsString {
    OsString::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Make a link to a file or a folder. Windows lets not everybody make them.
pub(crate) fn link(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() { symlink_dir(from, to) } else { symlink_file(from, to) }
}

/// Every file may be started here.
pub(crate) fn make_program(_: &Path) -> Result<()> {
    Ok(())
}

/// Whether a file may be started as a program, which is not written down anywhere.
pub(crate) fn is_program(_: &Metadata) -> bool {
    false
}

/// Two numbers by which two files may be told apart; files that were made at one moment are not.
pub(crate) fn identity(file: &Metadata) -> (u64, u64) {
    (0, file.creation_time())
}

/// Nothing that a copy of a file could not have.
pub(crate) fn witness_of(_: &Metadata) -> Option<String> {
    None
}

/// Whoever asks is told that a file changed just now: nobody knows better, and what may have changed
/// excuses no failure.
#[must_use]
pub fn time_of_last_change(_: &Metadata) -> i128 {
    i128::MAX
}

/// git keeps no times here that anybody could compare.
pub(crate) fn times_in_index(_: &Metadata) -> Option<IndexTimes> {
    None
}

/// A process that removes a folder when its input ends, even if we are killed.
pub(crate) fn janitor(folder: &Path) -> Result<Child> {
    let mut shell = Command::new("cmd.exe");
    shell
        .raw_arg(format!("/d /c \"more >nul & rmdir /s /q \"{}\"\"", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    under_own_group(&mut shell).spawn()
}
