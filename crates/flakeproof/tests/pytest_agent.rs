//! The tests of what runs inside pytest, on the oldest and the newest interpreter.

use std::path::Path;
use std::process::Command;

use flakeproof_testkit::{python, skipped};

#[test]
fn the_agents_own_tests_pass_on_old_and_new_interpreters() {
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/pytest");
    for (interpreter, pytest) in [("python3.9", "pytest==7.0.1"), ("python3.13", "pytest")] {
        let python = match python::with(interpreter, &[pytest]) {
            Ok(python) => python,
            Err(why) => {
                skipped::note(&format!("the agent's tests on {interpreter}"), &why);
                continue;
            }
        };
        let output = Command::new(python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"])
            .current_dir(&agent)
            .env("PYTHONPATH", ".")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTEST_ADDOPTS")
            .output()
            .expect("pytest starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
