//! Changed sources, compiled to where the build put their classes, without the build tool: it would take
//! many times as long, and whoever tries one small change after another waits for each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::JvmSession;
use super::launch::ReadyModule;
use super::touched::class_in;
use super::worker::{joined, run_tool};
use crate::adapter::{Blame, Error, Result};
use crate::process::{Death, End};

/// What the version in a class file is more than the version of Java.
const FIRST_VERSION: u32 = 44;

/// Compile these files, each of which the build has compiled before.
pub(super) fn take_in(session: &JvmSession, files: &[PathBuf]) -> Result<()> {
    let project = session.project()?;
    let mut by_folder: BTreeMap<PathBuf, (&ReadyModule, PathBuf, Vec<&PathBuf>)> = BTreeMap::new();
    for file in files {
        let class = class_of(file)?;
        let found = project.modules.iter().find_map(|ready| {
            let (folder, _) = class_in(&class, ready.module.class_folders())?;
            Some((ready, folder.to_path_buf()))
        });
        let (ready, folder) = found.ok_or_else(|| not_compiled(file))?;
        let compiled = folder.join(format!("{}.class", class.replace('.', "/")));
        let of_folder = by_folder.entry(folder).or_insert((ready, compiled, Vec::new()));
        of_folder.2.push(file);
    }
    for (folder, (ready, compiled, files)) in by_folder {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut command = ready.jdk.compiler()?;
        command.extend(["-nowarn", "-g", "-encoding", "UTF-8"].map(str::to_owned));
        if command[1..].iter().all(|option| option != "--release") {
            command.extend(options_like(&compiled, ready.jdk.feature));
        }
        command.extend(["-d".to_owned(), text(&folder)]);
        command.extend(["-cp".to_owned(), joined(&ready.module.class_path)]);
        command.extend(files.iter().map(|file| text(file)));
        let ended = run_tool(session, command)?;
        if ended.how != End::Died(Death::Exit(0)) {
            return Err(refused(&format!("{}{}", ended.stdout, ended.stderr)));
        }
    }
    // Those that are kept know the classes as they were.
    for ready in &project.modules {
        ready.warmth.end();
        ready.spare.end();
    }
    Ok(())
}

/// The class that a file is named after.
fn class_of(file: &Path) -> Result<String> {
    let text = std::fs::read_to_string(file).map_err(Error::io("read a changed source"))?;
    let package = text.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("package ")?;
        Some(rest.split(';').next().unwrap_or(rest).trim().to_owned())
    });
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(match package {
        Some(package) => format!("{package}.{name}"),
        None => name.into_owned(),
    })
}

/// The options of the compiler that made a class file, as far as it tells them.
fn options_like(compiled: &Path, feature: u32) -> Vec<String> {
    let bytes = std::fs::read(compiled).unwrap_or_default();
    let mut options = Vec::new();
    if let [_, _, _, _, _, _, high, low, ..] = bytes.as_slice() {
        let version = (u32::from(*high) * 256 + u32::from(*low)).saturating_sub(FIRST_VERSION);
        if version > 0 && version < feature {
            let version = version.to_string();
            options.extend(["-source", &version, "-target", &version].map(str::to_owned));
        }
    }
    let names = b"MethodParameters";
    if bytes.windows(names.len()).any(|part| part == names) {
        options.push("-parameters".to_owned());
    }
    options
}

fn not_compiled(file: &Path) -> Error {
    Error::Explained {
        blame: Blame::Runner,
        what: format!("the build compiles no class of {}", file.display()),
        next: "change a file that the build compiles".into(),
        details: String::new(),
    }
}

fn refused(output: &str) -> Error {
    let first = output.lines().find_map(|line| line.split_once(" error: ").map(|(_, it)| it));
    Error::Explained {
        blame: Blame::Runner,
        what: format!("it does not compile: {}", first.unwrap_or("the compiler failed")),
        next: "see what the compiler says".into(),
        details: output.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_compiled_as_it_was_before() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let class = folder.path().join("A.class");
        let old = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52];
        std::fs::write(&class, old).expect("written");
        assert_eq!(options_like(&class, 17), ["-source", "8", "-target", "8"]);
        assert!(options_like(&class, 8).is_empty());
        std::fs::write(&class, [&old[..], b"MethodParameters"].concat()).expect("written");
        assert_eq!(options_like(&class, 8), ["-parameters"]);
        let source = folder.path().join("A.java");
        std::fs::write(&source, "/* a */\npackage shop.cart;\n\nclass A {}\n").expect("written");
        assert_eq!(class_of(&source).expect("read"), "shop.cart.A");
    }
}
