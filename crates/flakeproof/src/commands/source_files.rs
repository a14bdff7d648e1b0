//! The source files of a project: which there are, where they belong, and their text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use flakeproof_syntax::{Language, Layout};
use ignore::WalkBuilder;

use super::skipped::Skipped;
use crate::problem::Problem;

/// No person writes a larger source file.
const LARGEST_FILE: u64 = 8 << 20;

/// All files below the paths and all folders that cannot be read, sorted, each once.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) unreadable: BTreeSet<PathBuf>,
}

impl Listing {
    /// The files in a language that is understood.
    pub(super) fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(|path| Language::of_path(&path.to_string_lossy()).is_some())
    }

    /// What cannot be read, as it is told.
    pub(super) fn closed(&self, folder: &Path) -> Vec<(Skipped, String)> {
        self.unreadable.iter().map(|path| (Skipped::Unreadable, relative(path, folder))).collect()
    }
}

/// All files below these, each relative to the folder. What `.gitignore` names is left out.
pub(super) fn files_in(paths: &[PathBuf], folder: &Path) -> Result<Listing, Problem> {
    let mut listing = Listing::default();
    for path in paths {
        let path = folder.join(path);
        let shown = path.display();
        if !path.exists() {
            return Err(Problem::usage(format!("{shown} does not exist"), "check the path"));
        }
        let opened = if path.is_dir() {
            std::fs::read_dir(&path).err()
        } else {
            std::fs::File::open(&path).err()
        };
        if let Some(error) = opened {
            let what = format!("{shown} cannot be read: {error}");
            return Err(Problem::usage(what, "check its permissions"));
        }
        // A clean form, so that the same file has one name.
        let path: PathBuf = path.components().collect();
        let walk = WalkBuilder::new(&path).require_git(false).build();
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    listing.files.insert(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => listing.unreadable.extend(place_of(&error)),
            }
        }
    }
    Ok(listing)
}

fn place_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } => place_of(err),
        _ => None,
    }
}

/// The manifests below the paths and above them.
pub(super) fn layout(files: &BTreeSet<PathBuf>, folder: &Path) -> Layout {
    let is_manifest = |path: &Path| Layout::is_manifest(&path.to_string_lossy());
    let mut manifests: BTreeSet<PathBuf> =
        files.iter().filter(|path| is_manifest(path)).cloned().collect();
    let folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
    let within = |path: &&Path| path.starts_with(folder);
    let above: BTreeSet<&Path> =
        folders.iter().flat_map(|path| path.ancestors().take_while(within)).collect();
    for place in above {
        let here = ["go.mod", "Cargo.toml"].map(|name| place.join(name));
        manifests.extend(here.into_iter().filter(|path| path.is_file()));
    }
    let texts: Vec<(String, String)> = manifests
        .iter()
        .filter_map(|path| Some((relative(path, folder), std::fs::read_to_string(path).ok()?)))
        .collect();
    Layout::of_manifests(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// The path as ids have it: relative to the folder, with `/`.
pub(super) fn relative(path: &Path, folder: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

/// The text of a file, or why it is none.
pub(super) fn text_of(path: &Path) -> Result<String, Skipped> {
    let about = std::fs::metadata(path).map_err(|_| Skipped::Unreadable)?;
    if about.len() > LARGEST_FILE {
        return Err(Skipped::TooLarge);
    }
    let bytes = std::fs::read(path).map_err(|_| Skipped::Unreadable)?;
    if bytes.contains(&0) {
        return Err(Skipped::Binary);
    }
    // Bytes that are no text are replaced one for one or more, never a line break: lines stay.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
