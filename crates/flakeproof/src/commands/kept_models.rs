//! Writing models where they are found again.

use std::path::{Path, PathBuf};

use flakeproof_learn::cannier;

use crate::problem::Problem;

/// Where `train` puts a project's own FLAST, and `predict` looks for it.
pub(super) const FLAST: &str = ".flakeproof/flast.model";

/// Where `train` puts a project's own forest for a problem, and `explain` looks for it.
pub(super) fn forest(problem: cannier::Problem) -> PathBuf {
    format!(".flakeproof/{}.forest", problem.word()).into()
}

/// What to call a model: as was typed, else like its file.
pub(super) fn name(typed: Option<&str>, file: &Path) -> String {
    let of_file = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    typed.map_or_else(of_file, str::to_owned)
}

/// Write a model. One in the project's own folder is kept out of git.
pub(super) fn write(path: &Path, bytes: &[u8], is_in_own_folder: bool) -> Result<(), Problem> {
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
