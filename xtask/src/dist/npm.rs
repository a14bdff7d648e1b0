//! npm: one package for each platform, and one that starts the right one.

use serde_json::{Map, Value, json};

use super::NamedFile;
use super::archive::tar_gz;
use super::contents::{Contents, Inside};
use super::platform::{PLATFORMS, Platform};

/// Starts the program of the platform.
const LAUNCHER: &str = include_str!("templates/launcher.js");

/// The package with the program of one platform.
pub(super) fn platform_package(
    contents: &Contents,
    platform: &Platform,
) -> Result<NamedFile, String> {
    let (system, processor, library) = platform.npm;
    let mut about = json!({
        "name": platform.npm_package(),
        "version": contents.version,
        "description": format!("flakeproof for {}", platform.target),
        "license": "MIT OR Apache-2.0",
        "os": [system],
        "cpu": [processor],
    });
    if let Some(library) = library {
        about["libc"] = json!([library]);
    }
    let program = format!("package/bin/{}", platform.program());
    let inside = [package_file(&about), Inside::program(program, &contents.program)];
    let short = platform.npm_package().replace("@flakeproof/", "");
    named(&format!("flakeproof-{short}"), contents, &with_licences(&inside, contents))
}

/// The package that people install.
pub(super) fn launcher_package(contents: &Contents) -> Result<NamedFile, String> {
    let platforms: Map<String, Value> =
        PLATFORMS.iter().map(|it| (it.npm_package(), json!(contents.version))).collect();
    let about = json!({
        "name": "flakeproof",
        "version": contents.version,
        "description": "Find, predict, explain and triage tests that pass and fail on the same code",
        "license": "MIT OR Apache-2.0",
        "bin": { "flakeproof": "bin/flakeproof.js" },
        "engines": { "node": ">=16" },
        "optionalDependencies": platforms,
    });
    let inside = [
        package_file(&about),
        Inside::program("package/bin/flakeproof.js", LAUNCHER.as_bytes()),
        Inside::text("package/README.md", contents.readme.clone()),
    ];
    named("flakeproof-npm", contents, &with_licences(&inside, contents))
}

fn package_file(about: &Value) -> Inside {
    Inside::text("package/package.json", format!("{about:#}\n"))
}

fn with_licences(inside: &[Inside], contents: &Contents) -> Vec<Inside> {
    let licences = contents
        .licences
        .iter()
        .map(|licence| Inside::text(format!("package/{}", licence.path), licence.bytes.clone()));
    inside.iter().cloned().chain(licences).collect()
}

fn named(name: &str, contents: &Contents, inside: &[Inside]) -> Result<NamedFile, String> {
    Ok(NamedFile { name: format!("{name}-{}.tgz", contents.version), bytes: tar_gz(inside)? })
}
