//! Where a project's own models are: writing them, and finding them again.

use std::path::{Path, PathBuf};

use flakeproof_learn::cannier::{self, ForestModel};

use super::model::ModelSource;
use crate::problem::Problem;

/// Where `train` puts a project's own FLAST, and `predict` looks for it.
pub(crate) const FLAST: &str = ".flakeproof/flast.model";

/// Where `train` puts a project's own ensemble, and `predict` looks for it first.
pub(crate) const ENSEMBLE: &str = ".flakeproof/jury.model";

/// Where `train` puts a network that reads paths.
pub(crate) const PEELER: &str = ".flakeproof/peeler.model";

/// Where `train` puts a project's own forest for a problem, and `explain` looks for it.
pub(crate) fn forest(problem: cannier::Problem) -> PathBuf {
    format!(".flakeproof/{}.forest", problem.word()).into()
}

/// The project's own model for `predict`, in the folder or above it; an ensemble before a FLAST.
pub(crate) fn predictor_in(folder: &Path) -> Option<PathBuf> {
    let kept = |above: &Path| [ENSEMBLE, FLAST].map(|file| above.join(file));
    folder.ancestors().flat_map(kept).find(|path| path.is_file())
}

/// The project's own forest for a problem, in the folder or above it.
pub(crate) fn forest_in(problem: cannier::Problem, folder: &Path) -> Option<PathBuf> {
    let file = forest(problem);
    folder.ancestors().map(|above| above.join(&file)).find(|path| path.is_file())
}

/// Whether the project has a model of its own.
pub(crate) fn is_any_in(folder: &Path) -> bool {
    let mut forests = cannier::Problem::ALL.into_iter();
    predictor_in(folder).is_some() || forests.any(|problem| forest_in(problem, folder).is_some())
}

/// The forest in a file.
pub(crate) fn open_forest(path: &Path) -> Result<ForestModel, Problem> {
    let source = ModelSource::of_file(path)?;
    ForestModel::of_file(source.bytes()).map_err(|error| {
        Problem::usage(
            format!("the model {} cannot be used: {error}", path.display()),
            "train it again with `flakeproof train forest`",
        )
    })
}

/// What to call a model: as was typed, else like its file.
pub(crate) fn name(typed: Option<&str>, file: &Path) -> String {
    let of_file = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    typed.map_or_else(of_file, str::to_owned)
}

/// Write a model. One in the project's own folder is kept out of git.
pub(crate) fn write(path: &Path, bytes: &[u8], is_in_own_folder: bool) -> Result<(), Problem> {
    write_whole(path, bytes).map_err(|error| {
        Problem::broken(
            format!("the model {} cannot be written: {error}", path.display()),
            "name a place that can be written with `-o`",
        )
    })?;
    if is_in_own_folder {
        keep_out_of_git(path);
    }
    Ok(())
}

/// The project's own folder for what can be made again is nobody's to commit.
fn keep_out_of_git(model: &Path) {
    if let Some(folder) = model.parent() {
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            // A model that git sees is no reason to fail.
            let _ = std::fs::write(ignore, "*\n");
        }
    }
}

/// Write a file so that nobody ever sees a part of it.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}
