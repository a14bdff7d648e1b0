//! `flakeproof hunt` and what follows from it, on real suites with the real program.

mod bad_input;
mod diff;
mod finding;
mod fix;
mod going_on;
mod implementation;
mod known;
mod strategies;
mod verify;

use std::process::{Child, Command, Stdio};

use flakeproof_testkit::{Project, Ran};
use serde_json::Value;

/// A victim with its polluter and its cleaner, and a brittle test with its state-setter.
pub(crate) const SHOP: &str = "
import state

def test_currency():
    state.currency = 'EUR'

def test_reset():
    state.currency = 'USD'

def test_total():
    assert state.currency == 'USD'

def test_login():
    state.session = 'open'

def test_receipt():
    assert state.session == 'open'

def test_sound():
    pass
";

/// A test that fails each third time, one that always does, and one that kills the interpreter.
pub(crate) const ODD: &str = "
import os, pathlib

def test_network():
    counter = pathlib.Path(__file__).with_name('counter.txt')
    count = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(count + 1))
    assert count % 3 != 2, 'the server did not answer'

def test_broken():
    assert 1 == 2

def test_crash():
    os._exit(3)
";

pub(crate) fn empty() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("pytest.ini", "[pytest]\n")
}

/// A project with the shop's tests.
pub(crate) fn shop() -> Project {
    let state = "currency = 'USD'\nsession = None\n";
    let rooted = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n";
    empty().file("conftest.py", rooted).file("state.py", state).file("test_shop.py", SHOP)
}

/// Little, but enough for the suites here.
const SMALL: [&str; 8] = ["--runs", "3", "--orders", "8", "--max-reruns", "3", "--seed", "7"];

/// `flakeproof hunt` with few runs, before `--`.
pub(crate) fn hunting(project: &Project, options: &[&str]) -> Command {
    let mut command = project.flakeproof(&["hunt"]);
    command.args(options).args(["--", &project.python(), "-m", "pytest"]);
    command
}

/// A small hunt with its JSON report.
pub(crate) fn hunt(project: &Project, options: &[&str]) -> Ran {
    hunt_as_typed(project, &[&SMALL[..], options].concat())
}

/// A hunt with these options and its JSON report.
pub(crate) fn hunt_as_typed(project: &Project, options: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let options = [options, &["--reporter", &reporter]].concat();
    let output = hunting(project, &options).output().expect("it starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or(Value::Null) }
}

/// A small hunt whose stderr can be read while it goes on.
pub(crate) fn started(project: &Project) -> Child {
    begun(project, &SMALL)
}

/// The same hunt, taken up again.
pub(crate) fn resuming(project: &Project) -> Child {
    begun(project, &["--resume"])
}

fn begun(project: &Project, options: &[&str]) -> Child {
    hunting(project, options)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Any other command of the program.
pub(crate) fn flakeproof(project: &Project, arguments: &[&str]) -> Ran {
    let output = project.flakeproof(arguments).output().expect("it starts");
    Ran { output, json: Value::Null }
}

/// It ends with this code and says all of this, with no traceback or type of ours.
pub(crate) fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    let text = ran.text();
    assert_eq!(ran.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    for ours in ["flakeproof_agent", "panicked at", "RUST_BACKTRACE", "Error {"] {
        assert!(!text.contains(ours), "`{ours}` is in:\n{text}");
    }
}
