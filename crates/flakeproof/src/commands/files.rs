//! Writing what was asked for into files.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::problem::Problem;
use crate::view;

/// Write a report; `-` is stdout.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    if path == Path::new("-") {
        view::data(bytes);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(path, &error))?;
    }
    std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

/// Add to the summary of a job of GitHub Actions, where there is one.
pub(super) fn add_to_job_summary(
    render: impl FnOnce() -> Result<Vec<u8>, flakeproof_report::Error>,
) -> Result<(), Problem> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") else { return Ok(()) };
    let path = Path::new(&path);
    let summary = render().map_err(|error| cannot_render(&error))?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(&summary)).map_err(|error| cannot_write(path, &error))
}

/// The current folder below the root of a job's checkout, as annotations need it.
pub(super) fn below_workspace() -> String {
    // Without one, or with an empty one, which every path begins with, it is the folder itself.
    let root = std::env::var_os("GITHUB_WORKSPACE").filter(|root| !root.is_empty());
    let folder = std::env::current_dir().unwrap_or_default();
    let below = root.and_then(|root| folder.strip_prefix(root).ok().map(Path::to_path_buf));
    below.unwrap_or_default().to_string_lossy().into_owned()
}

/// A report has no place.
pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::broken(
        format!("the report {} cannot be written: {error}", path.display()),
        "name a place that can be written; what was found stands",
    )
}

/// A report has no form.
pub(super) fn cannot_render(error: &flakeproof_report::Error) -> Problem {
    Problem::broken(
        format!("a report cannot be made: {error}"),
        "what was found stands; please report this as a bug",
    )
}
