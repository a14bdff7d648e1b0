//! What goes into packages: the program, its licences, its manual and what shells complete with.

use std::path::Path;

use super::{answer_of, version};
use crate::root;

/// A file inside a package.
#[derive(Debug, Clone)]
pub(super) struct Inside {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl Inside {
    pub(super) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), is_program: false }
    }

    pub(super) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), is_program: true }
    }
}

/// What every kind of package has in some place.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) version: String,
    pub(super) program: Vec<u8>,
    pub(super) readme: Vec<u8>,
    /// The licences, by the name of their file.
    pub(super) licences: Vec<Inside>,
    /// The pages of the manual, by the name of their file.
    pub(super) manual: Vec<Inside>,
    /// What shells complete with, by where Debian has it.
    pub(super) completions: Vec<Inside>,
}

impl Contents {
    /// Gather them. A program that cannot run here has no manual and no completions with it.
    pub(super) fn gather(program: &Path) -> Result<Self, String> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let licences = ["LICENSE-APACHE", "LICENSE-MIT"]
            .map(|name| read(&root().join(name)).map(|bytes| Inside::text(name, bytes)));
        let completions = [
            ("bash", "usr/share/bash-completion/completions/flakeproof"),
            ("zsh", "usr/share/zsh/vendor-completions/_flakeproof"),
            ("fish", "usr/share/fish/vendor_completions.d/flakeproof.fish"),
        ];
        let completions = completions.into_iter().filter_map(|(shell, path)| {
            Some(Inside::text(path, answer_of(program, &["completions", shell])?))
        });
        Ok(Self {
            version: version()?,
            program: read(program)?,
            readme: read(&root().join("README.md"))?,
            licences: licences.into_iter().collect::<Result<_, _>>()?,
            manual: manual(program)?,
            completions: completions.collect(),
        })
    }
}

fn manual(program: &Path) -> Result<Vec<Inside>, String> {
    let folder = root().join("target/manual");
    let _ = std::fs::remove_dir_all(&folder);
    let place = folder.to_string_lossy().into_owned();
    if answer_of(program, &["man", "--output", &place]).is_none() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let mut pages = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        pages.push(Inside::text(name, bytes));
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pages)
}
