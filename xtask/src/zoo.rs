//! The flaky zoo: a suite with every kind of flaky test, before and after a change.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flakeproof_testkit::python;

use crate::{cargo, root, run};

/// The time zone in which one of the tests fails.
const FAR_AWAY: &str = "Pacific/Kiritimati";

/// Run flakeproof on the zoo, as a user would, and show what it says.
pub(crate) fn show() -> Result<(), String> {
    let (flakeproof, python) = ready()?;
    let work = fresh_folder()?;
    let project = work.join("project");
    let zoo = root().join("examples/flaky-zoo/pytest");
    copy(&zoo.join("project"), &project)?;
    std::fs::create_dir_all(work.join("outside")).map_err(|error| error.to_string())?;
    git(&project, &["init", "-q"])?;
    commit(&project, "the shop works")?;
    println!("==> The zoo lives in {}", project.display());
    println!("==> Before the change: two runs, so that there is a history");
    for zone in ["UTC", FAR_AWAY] {
        let mut command = suite(&flakeproof, &python, &project, zone);
        // Its crashes and chances are there before the change, too: the exit code says nothing.
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    copy(&zoo.join("change"), &project)?;
    std::fs::write(work.join("outside/service-is-down"), "").map_err(|error| error.to_string())?;
    commit(&project, "the change under test")?;
    println!("==> After the change: flakeproof run -- pytest -q\n");
    let status = suite(&flakeproof, &python, &project, FAR_AWAY).status();
    let status = status.map_err(|error| error.to_string())?;
    println!("\n==> Exit code {}: real failures are among them.", status.code().unwrap_or(-1));
    println!("    The project is still there; look around in {}", project.display());
    if status.code() == Some(1) {
        Ok(())
    } else {
        Err("the zoo should end with exit code 1".into())
    }
}

/// Check several runs against what each test of the zoo is known to be.
pub(crate) fn verify(runs: &str) -> Result<(), String> {
    let (flakeproof, python) = ready()?;
    let drive = root().join("examples/flaky-zoo/drive");
    run(Command::new(&python)
        .arg(drive)
        .arg("pytest")
        .arg(flakeproof)
        .arg(fresh_folder()?)
        .args(["--runs", runs, "--"])
        .arg(&python)
        .args(["-m", "pytest", "-q"]))
}

fn ready() -> Result<(PathBuf, PathBuf), String> {
    run(&mut cargo(&["build", "--package", "flakeproof"]))?;
    Ok((python::target().join("debug/flakeproof"), python::usual()))
}

/// `flakeproof run -- pytest -q`, with the interpreter's own `pytest` first on the path.
fn suite(flakeproof: &Path, python: &Path, project: &Path, zone: &str) -> Command {
    let scripts = python.parent().map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = scripts.into_iter().chain(std::env::split_paths(&path));
    let mut command = Command::new(flakeproof);
    command.args(["run", "--", "pytest", "-q"]).current_dir(project).env("TZ", zone);
    if let Ok(path) = std::env::join_paths(path) {
        command.env("PATH", path);
    }
    command
}

fn fresh_folder() -> Result<PathBuf, String> {
    let folder = python::target().join("zoo");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    folder.canonicalize().map_err(|error| error.to_string())
}

fn commit(project: &Path, message: &str) -> Result<(), String> {
    git(project, &["add", "-A"])?;
    git(project, &["commit", "-q", "-m", message])
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let identity = ["-c", "user.name=zoo", "-c", "user.email=zoo@localhost"];
    run(Command::new("git").args(identity).args(arguments).current_dir(folder))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(text)?;
    for entry in std::fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let target = to.join(entry.file_name());
        match entry.file_type().map_err(text)?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => std::fs::copy(entry.path(), target).map(drop).map_err(text)?,
        }
    }
    Ok(())
}
