//! Everything that must hold before a change lands, cheapest first; among it who may know whom
//! (design, section 2), checked against what cargo says.

use std::process::Command;
use std::time::Instant;

use flakeproof_testkit::{python, skipped};
use serde_json::Value;

use crate::{capabilities, cargo, documents, figures, platforms, root, run, test_binaries};

/// One project of each runner, from its change to its verdict.
const ONE_OF_EACH: &str = "pytest/data-file-changed,cargo/regression,go/regression,maven/regression,\
                           node/regression,jest/flaky-by-chance,vitest/unhandled-error";

/// Why a test may be skipped in CI too, by what is said when it is.
const MAY_BE_SKIPPED: [(&str, &str); 7] = [
    (
        "there is no `cargo-nextest`",
        "it is only had by building it, which takes a quarter of an hour",
    ),
    ("this user may read everything", "nothing is closed to root"),
    ("there is no python3.", "a bare machine has one Python"),
    ("there is no gradle", "Debian's Gradle does not run on a current JDK"),
    (
        "there is no mdbook",
        "to build it takes longer than most checks; pages and links are checked",
    ),
    ("no llvm-tools", "not every toolchain has this component"),
    ("shared", "the data of the papers is no part of the repository"),
];

/// Whether a test may be left out because the machine lacks what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skips {
    /// Yes; it is named at the end.
    Named,
    /// Only for a reason on the list, as in CI: what is left out unseen is not checked.
    Listed,
}

/// Run what takes minutes: all that reads, the unit tests, and one end-to-end path per runner.
pub(crate) fn quick() -> Result<(), String> {
    readings()?;
    step("unit tests and one path per runner", || {
        let tests = ["test", "--workspace", "--lib", "--bins", "--test", "court", "--quiet"];
        run(cargo(&tests).env("COURT_ONLY", ONE_OF_EACH))
    })
}

/// Run all checks; the first that fails ends it.
pub(crate) fn everything(skips: Skips) -> Result<(), String> {
    readings()?;
    let mut lacking: Vec<String> = Vec::new();
    step("documentation", || {
        let doc = ["doc", "--workspace", "--no-deps", "--document-private-items"];
        run(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    step("fuzz targets", || {
        if Command::new("c++").arg("--version").output().is_err() {
            lacking.push("fuzz targets: there is no C++ compiler".to_owned());
            return Ok(());
        }
        // What the lints have read of libraries serves here too.
        let fuzz = ["check", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"];
        run(cargo(&fuzz).arg("target"))
    })?;
    step("book", || {
        let mut mdbook = Command::new("mdbook");
        if mdbook.arg("--version").output().is_err() {
            lacking.push("the book as a site: there is no mdbook".to_owned());
            return Ok(());
        }
        run(Command::new("mdbook").arg("build").current_dir(root()))
    })?;
    step("interpreters for the tests", || {
        println!("    {}", python::usual().display());
        Ok(())
    })?;
    skipped::forget();
    step("tests", test_binaries::run)?;
    let mut skipped = skipped::all();
    skipped.extend(lacking);
    if !skipped.is_empty() {
        println!("skipped, because this machine lacks what they need:\n{}", skipped.join("\n"));
    }
    let is_listed = |it: &String| MAY_BE_SKIPPED.iter().any(|(reason, _)| it.contains(reason));
    match skipped.iter().find(|it| skips == Skips::Listed && !is_listed(it)) {
        Some(test) => Err(format!("a test was skipped for a reason that is not listed: {test}")),
        None => Ok(()),
    }
}

/// What only reads the workspace.
fn readings() -> Result<(), String> {
    step("formatting", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("dependency arrows", arrows)?;
    step("table of adapters", capabilities::check)?;
    step("table of platforms", platforms::check)?;
    step("figures", figures::check)?;
    step("documents", documents::check)?;
    step("lints", || {
        let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        run(&mut cargo(&clippy))
    })
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    println!("==> {name}");
    let begin = Instant::now();
    work()?;
    println!("    {name}: {:.0} s", begin.elapsed().as_secs_f64());
    Ok(())
}

/// The arrows of the picture, by short name. Everyone may know `core`.
const ALLOWED: [(&str, &[&str]); 13] = [
    (
        "flakeproof",
        &["detect", "fix", "lab", "learn", "mcp", "report", "runner", "store", "syntax", "web"],
    ),
    ("core", &[]),
    ("detect", &["runner"]),
    ("fix", &["syntax"]),
    ("lab", &["detect", "learn"]),
    ("learn", &["syntax"]),
    ("mcp", &["detect", "report"]),
    ("report", &[]),
    ("runner", &[]),
    ("store", &[]),
    ("syntax", &[]),
    ("testkit", &["runner"]),
    ("web", &["report", "store"]),
];

/// Fail on an arrow that is not in the picture. Dependencies of tests do not count.
pub(crate) fn arrows() -> Result<(), String> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = short(package["name"].as_str().unwrap_or_default());
        if name == "xtask" {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(of, _)| *of == name) else {
            wrong.push(format!("{name} is not in the picture"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_for_tests = dependency["kind"] == "dev";
            let target = dependency["name"].as_str().unwrap_or_default();
            let is_ours = target.starts_with("flakeproof-");
            let target = short(target);
            if is_ours && !is_for_tests && target != "core" && !allowed.contains(&target) {
                wrong.push(format!("{name} must not know {target}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn short(name: &str) -> &str {
    name.strip_prefix("flakeproof-").unwrap_or(name)
}
