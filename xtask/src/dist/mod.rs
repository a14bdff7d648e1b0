//! Packages from one built program: a tarball, a wheel, packages for npm and a Debian package, with
//! their checksums and a list of what is inside.
//!
//! The same program gives the same bytes: names are sorted, times and owners are fixed. maturin and
//! cargo-deb would each build the program anew; here one program is tested and packed four times.

mod archive;
mod contents;
mod deb;
mod grammars;
mod installers;
mod npm;
mod platform;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use contents::Contents;
use platform::Platform;
use sha2::{Digest as _, Sha256};

use crate::{cargo, root, run};

/// Build for this machine, or for a target, and pack into a folder; a program that was built already is
/// packed as it is.
pub(crate) fn pack(out: &str, target: Option<&str>, program: Option<&str>) -> Result<(), String> {
    let platform = Platform::of(target)?;
    let program = match program {
        Some(program) => PathBuf::from(program),
        None => built(platform)?,
    };
    let out = Path::new(out);
    std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let contents = Contents::gather(&program)?;
    let mut files = vec![
        archive::tarball(&contents, platform)?,
        wheel::wheel(&contents, platform)?,
        npm::platform_package(&contents, platform)?,
        npm::launcher_package(&contents)?,
    ];
    files.extend(deb::package(&contents, platform)?);
    files.push(NamedFile { name: "flakeproof.cdx.json".into(), bytes: bill_of_materials()? });
    files.extend(installers::installers(&contents.version));
    write_all(out, &files)?;
    let formula = installers::formula(&contents.version, out);
    write_all(out, formula.as_slice())?;
    write_sums(out)
}

/// A file that is made.
struct NamedFile {
    name: String,
    bytes: Vec<u8>,
}

fn write_all(out: &Path, files: &[NamedFile]) -> Result<(), String> {
    for file in files {
        let path = out.join(&file.name);
        std::fs::write(&path, &file.bytes)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let megabytes = file.bytes.len() as f64 / 1e6;
        println!("{megabytes:7.1} MB  {}", file.name);
    }
    Ok(())
}

/// The checksums of all that is in the folder, of other platforms too.
fn write_sums(out: &Path) -> Result<(), String> {
    const NAME: &str = "SHA256SUMS";
    let named = |error: std::io::Error| format!("{}: {error}", out.display());
    let mut sums = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(out).map_err(named)? {
        let path = entry.map_err(named)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && name != NAME {
            sums.insert(name, hex(&digest(&std::fs::read(&path).map_err(named)?)));
        }
    }
    let lines = sums.into_iter().map(|(name, sum)| format!("{sum}  {name}\n"));
    std::fs::write(out.join(NAME), lines.collect::<String>()).map_err(named)
}

fn digest(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The oldest glibc that the programs for it run with: that of Debian 10 and of Ubuntu 20.04.
const GLIBC: &str = "2.28";

/// Build the program with the profile that is released: by `cargo-zigbuild` where it is installed, which
/// has the C compiler and the libraries of every platform, else with what this machine has.
fn built(platform: &Platform) -> Result<PathBuf, String> {
    let grammars = serde_json::json!(grammars::packed()?);
    let has_zig = answer_of(Path::new("cargo-zigbuild"), &["--version"]).is_some();
    let mut build = match has_zig {
        true => cargo(&["zigbuild", "--target"]),
        false => cargo(&["build", "--target"]),
    };
    match has_zig && platform.target.ends_with("-linux-gnu") {
        true => build.arg(format!("{}.{GLIBC}", platform.target)),
        false => build.arg(platform.target),
    };
    build.args(["--profile", "dist", "--locked", "-p", "flakeproof"]);
    build.args(["--config", &format!("paths={grammars}")]);
    // Where it was built must not be told, and must not change what is built.
    let home =
        std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|it| it + "/.cargo"));
    let folders =
        [(root().display().to_string(), "flakeproof"), (home.unwrap_or_default(), "cargo")];
    let flags = folders.map(|(folder, name)| format!("--remap-path-prefix={folder}=/{name}"));
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    run(&mut build)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(platform.target).join("dist").join(platform.program()))
}

/// What the program is made of, in the form of CycloneDX. From what cargo says itself: cargo-cyclonedx
/// would have to be built for it.
fn bill_of_materials() -> Result<Vec<u8>, String> {
    let output = cargo(&["metadata", "--format-version", "1", "--locked"]).output();
    let output = output.map_err(|error| error.to_string())?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut components: Vec<serde_json::Value> = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        if package["source"].is_null() {
            continue;
        }
        let (name, version) = (&package["name"], &package["version"]);
        let (Some(name), Some(version)) = (name.as_str(), version.as_str()) else { continue };
        components.push(serde_json::json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "licenses": [{ "expression": package["license"] }],
        }));
    }
    let document = serde_json::json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "name": "flakeproof", "version": version()?,
        } },
        "components": components,
    });
    Ok(format!("{document:#}\n").into_bytes())
}

/// The version of the program, from the workspace.
fn version() -> Result<String, String> {
    let output =
        cargo(&["pkgid", "-p", "flakeproof"]).output().map_err(|error| error.to_string())?;
    let id = String::from_utf8_lossy(&output.stdout);
    let version = id.trim().rsplit(['#', '@']).next().unwrap_or_default();
    if version.is_empty() { Err("cargo tells no version".into()) } else { Ok(version.to_owned()) }
}

/// What a program prints; nothing where it cannot run here, as one of another platform.
fn answer_of(program: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then_some(output.stdout)
}
