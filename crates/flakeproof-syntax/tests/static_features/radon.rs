//! On every test of real suites, the features equal those of radon and ast.

use std::path::{Path, PathBuf};
use std::process::Command;

use flakeproof_testkit::{python, skipped};

use crate::agreement;

/// Suites with plain functions, classes of unittest and fixtures; and how many tests are in them.
const SUITES: [(&str, usize); 4] = [
    ("knack==0.14.0", 245),
    ("flask-smorest==0.47.0", 134),
    ("riemann-tx==2.1.0", 228),
    ("six==1.17.0", 74),
];

/// radon, and what the suites need to say their names.
const PACKAGES: [&str; 4] = ["radon==6.0.1", "setuptools<81", "wheel", "flit_core<4"];

#[test]
fn every_test_of_real_suites_has_the_features_of_radon_and_ast() {
    let test = "every_test_of_real_suites_has_the_features_of_radon_and_ast";
    // Later versions cut f-strings into tokens, and radon then counts the colons in them.
    let python = match python::with("python3.11", &PACKAGES) {
        Ok(python) => python,
        Err(why) => return skipped::note(test, &why),
    };
    for (suite, tests) in SUITES {
        let folder = match unpacked(&python, suite) {
            Ok(folder) => folder,
            Err(why) => return skipped::note(test, &why),
        };
        let expected = features_by_radon(&python, &folder);
        let agreement = agreement::compare(&folder, &expected);
        assert_eq!(agreement.differing, [""; 0], "{suite}");
        assert_eq!(agreement.equal, tests, "{suite}");
    }
}

#[test]
fn what_is_rare_in_suites_has_the_features_of_radon_and_ast() {
    let test = "what_is_rare_in_suites_has_the_features_of_radon_and_ast";
    let python = match python::with("python3.11", &PACKAGES) {
        Ok(python) => python,
        Err(why) => return skipped::note(test, &why),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/static_features/samples");
    let agreement = agreement::compare(&folder, &features_by_radon(&python, &folder));
    assert_eq!(agreement.differing, [""; 0]);
    assert_eq!(agreement.equal, 13);
}

fn features_by_radon(python: &Path, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluation/features/static.py");
    let output = Command::new(python).arg(script).arg(folder).output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("JSON is UTF-8")
}

/// The source distribution of a package, kept under `target/`.
fn unpacked(python: &Path, suite: &str) -> Result<PathBuf, String> {
    let kept = python::target().join("suites").join(suite.replace("==", "-"));
    if kept.exists() {
        return Ok(kept);
    }
    let fresh = kept.with_extension(format!("{}.part", std::process::id()));
    std::fs::create_dir_all(&fresh).map_err(|error| error.to_string())?;
    let download = ["-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"];
    // What is needed to build a package is there: it is only asked for its name.
    let source = ["--no-build-isolation", "--no-binary", ":all:", "--dest"];
    run(Command::new(python).args(download).args(source).arg(&fresh).arg(suite))?;
    let unpack = "import pathlib, sys, tarfile
for path in pathlib.Path(sys.argv[1]).glob('*.tar.gz'):
    tarfile.open(path).extractall(sys.argv[1], filter='data')";
    run(Command::new(python).args(["-c", unpack]).arg(&fresh))?;
    // Another process may have been faster; then its copy stands.
    let _ = std::fs::rename(&fresh, &kept);
    kept.exists().then_some(kept).ok_or_else(|| format!("{suite} could not be kept"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
