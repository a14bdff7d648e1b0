//! How cargo starts the tests: the program, the folder and the variables.
//!
//! cargo sets a dozen variables, adds folders of libraries, and follows configuration files.
//! Instead of guessing all that, cargo itself runs the tests with a small script as the *runner*
//! that starts them, and the script only writes down what it was given. Documentation, which cargo
//! does not start itself, is listed on the way.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::found::Binary;
use super::process::Process;
use super::session::{self, Session, Variables};
use crate::adapter::{Error, Result};
use crate::process::{Death, End};

/// Writes down program and arguments, folder and variables. What rustdoc compiles from
/// documentation is gone soon: it is run, and with `--list` it does nothing but list.
const SCRIPT: &str = r#"#!/bin/sh
notes=$1
shift
case $1 in
*/rust_out | */rustdoctest*) exec "$@" ;;
esac
number=$(ls "$notes" | wc -l)
folder=$notes/$(printf %06d "$number")
mkdir "$folder" || exit 70
printf '%s' "$1" > "$folder/program"
pwd > "$folder/folder"
env -0 > "$folder/variables"
"#;

/// Variables that the script's shell sets itself.
const OF_THE_SHELL: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];

/// What cargo would start.
#[derive(Debug)]
pub(super) struct Captured {
    pub(super) binaries: Vec<Binary>,
    /// All that was printed; the list of what is tested in documentation is in it.
    pub(super) printed: String,
}

/// Let cargo start everything that the user's command selects, and see how it does it.
pub(super) fn capture(session: &Session) -> Result<Captured> {
    let folder = session.folder("capture-")?;
    let notes = folder.join("notes");
    std::fs::create_dir(&notes).map_err(Error::io("make a temporary folder"))?;
    let script = write_script(&folder)?;
    let mut command = session.command.cargo(&["test", "--color", "never", "--no-fail-fast"]);
    command.extend(["--config".to_owned(), runner(&script, &notes)]);
    command.extend(["--config".to_owned(), "term.quiet=false".to_owned()]);
    command.extend(session.command.building());
    command.push("--".to_owned());
    command.extend(session.command.harness.selecting(&session.command.all_filters()));
    command.push("--list".to_owned());
    let instructions =
        session.instructions(command, &session.settings.folder, Variables::default());
    let (how, printed, _) = Process::run_merged(session, &instructions, None)?;
    if how != End::Died(Death::Exit(0)) {
        return Err(session::not_listed(&session.settings.command, &printed));
    }
    let mut folders = entries(&notes)?;
    folders.sort_unstable();
    let binaries = folders.iter().map(|folder| read(folder)).collect::<Result<Vec<_>>>()?;
    Ok(Captured { binaries, printed })
}

/// The setting that makes cargo start everything by the script, unless the project has a runner.
fn runner(script: &Path, notes: &Path) -> String {
    let quoted = |path: &Path| serde_json::Value::from(&*path.to_string_lossy()).to_string();
    format!("target.\"cfg(all())\".runner=[{}, {}]", quoted(script), quoted(notes))
}

fn write_script(folder: &Path) -> Result<PathBuf> {
    let script = folder.join("capture");
    let doing = || Error::io("write a script");
    std::fs::write(&script, SCRIPT).map_err(doing())?;
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, permissions).map_err(doing())?;
    Ok(script)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || Error::io("read what cargo starts");
    let entries = std::fs::read_dir(folder).map_err(doing())?;
    entries.map(|entry| entry.map(|it| it.path()).map_err(doing())).collect()
}

fn read(notes: &Path) -> Result<Binary> {
    let file = |name: &str| {
        std::fs::read(notes.join(name)).map_err(Error::io("read how cargo starts a test"))
    };
    let text = |name: &str| file(name).map(|it| String::from_utf8_lossy(&it).into_owned());
    Ok(Binary {
        path: text("program")?,
        folder: PathBuf::from(text("folder")?.trim_end_matches('\n')),
        variables: differences(&file("variables")?),
    })
}

/// The variables that differ from our own.
fn differences(listed: &[u8]) -> Variables {
    let mut theirs: std::collections::BTreeMap<OsString, OsString> = listed
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            let word = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((word(&entry[..at]), word(&entry[at + 1..])))
        })
        .collect();
    theirs.retain(|name, _| !OF_THE_SHELL.iter().any(|it| name == it));
    let gone = std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| !theirs.contains_key(name) && !OF_THE_SHELL.iter().any(|it| name == it));
    let gone: Vec<String> = gone.filter_map(|name| name.into_string().ok()).collect();
    // What is no text is the same as ours: cargo sets nothing of that kind.
    let set = theirs.into_iter().filter_map(|(name, value)| {
        let is_ours = std::env::var_os(&name).as_ref() == Some(&value);
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (!is_ours).then_some((name, Some(value)))
    });
    set.chain(gone.into_iter().map(|name| (name, None))).collect()
}
