//! The flaky zoo, as `examples/flaky-zoo` drives it: every test gets its right verdict.
//!
//! `cargo xtask zoo 50` is the long form of this.

use std::path::Path;
use std::process::Command;

use flakeproof_testkit::python;

#[test]
fn every_animal_of_the_zoo_gets_its_right_verdict() {
    let python = python::usual();
    let work = tempfile::tempdir().expect("a temporary folder");
    let drive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/pytest/drive");
    let output = Command::new(&python)
        .arg(drive)
        .arg(env!("CARGO_BIN_EXE_flakeproof"))
        .arg(work.path())
        .args(["--runs", "2", "--python"])
        .arg(&python)
        .output()
        .expect("the driver starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{trouble}");
}
