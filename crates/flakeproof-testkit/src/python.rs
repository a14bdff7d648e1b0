//! Real interpreters with real packages, made once and kept under `target/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What most tests run on. Every plugin is loaded at every start, of which there are thousands.
pub const USUAL: [&str; 2] = ["pytest==8.3.5", "pytest-subtests==0.14.1"];

/// What asynchronous tests run on.
const ASYNCHRONOUS: [&str; 4] = [USUAL[0], USUAL[1], "pytest-asyncio==0.26.0", "anyio==4.9.0"];

/// The interpreter that most tests run on.
///
/// # Panics
/// When there is no Python 3.9 or newer, or the packages cannot be installed: nearly every test
/// needs them.
#[must_use]
pub fn usual() -> PathBuf {
    with("python3", &USUAL).unwrap_or_else(|why| panic!("no Python to test with: {why}"))
}

/// The interpreter that asynchronous tests run on.
///
/// # Panics
/// As [`usual`] does.
#[must_use]
pub fn asynchronous() -> PathBuf {
    with("python3", &ASYNCHRONOUS).unwrap_or_else(|why| panic!("no Python to test with: {why}"))
}

/// An interpreter of some version (`python3.12`) with some packages, or why there is none.
///
/// # Errors
/// When the interpreter is not on this machine or the packages cannot be installed.
pub fn with(interpreter: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let interpreter = find(interpreter)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(interpreter.to_string_lossy().as_bytes());
    for package in packages {
        hasher.update(b"\0").update(package.as_bytes());
    }
    let name = &hasher.finalize().to_hex()[..12];
    let folder = target().join("venvs").join(name);
    let python = folder.join("bin/python");
    // Several test processes may want the same one: whoever holds the lock makes it.
    let _lock = Lock::take(&target().join("venvs").join(format!("{name}.lock")))?;
    if !folder.join("complete").exists() {
        let _ = std::fs::remove_dir_all(&folder);
        run(Command::new(&interpreter).args(["-m", "venv"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "-q", "--disable-pip-version-check"];
        run(Command::new(&python).args(install).args(packages))?;
        std::fs::write(folder.join("complete"), packages.join("\n"))
            .map_err(|error| error.to_string())?;
    }
    Ok(python)
}

/// The real path of an interpreter; a process looks for it once.
fn find(interpreter: &str) -> Result<PathBuf, String> {
    static FOUND: Mutex<BTreeMap<String, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(interpreter.to_owned()).or_insert_with(|| look_for(interpreter)).clone()
}

/// The real path of an interpreter, past shims that only some folders configure.
fn look_for(interpreter: &str) -> Result<PathBuf, String> {
    let ask = |program: &Path| {
        let output =
            Command::new(program).args(["-c", "import sys; print(sys.executable)"]).output();
        output.ok().filter(|output| output.status.success()).and_then(|output| {
            String::from_utf8(output.stdout).ok().map(|path| PathBuf::from(path.trim()))
        })
    };
    let version = interpreter.trim_start_matches("python");
    let managed = std::env::var_os("HOME")
        .map(|home| PathBuf::from(home).join(".pyenv/versions"))
        .and_then(|versions| std::fs::read_dir(versions).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            version.contains('.')
                && name.is_some_and(|name| name.starts_with(&format!("{version}.")))
        })
        .map(|path| path.join("bin/python"));
    ask(Path::new(interpreter))
        .or_else(|| managed.into_iter().find_map(|path| ask(&path)))
        .ok_or_else(|| format!("there is no {interpreter} on this machine"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// The workspace's `target` folder.
#[must_use]
pub fn target() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = own.ancestors().nth(2).unwrap_or(own);
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from)
}

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
