//! A hunt on several machines, with a real PostgreSQL or a store of objects: what they find together, and what happens to it when
//! one of them dies, freezes or is another.

mod bad_input;
mod faults;
mod shards;
mod together;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use flakeproof_testkit::Project;
use flakeproof_testkit::postgres::{self, Server};
use serde_json::Value;

/// A victim with its polluter and a cleaner, and a brittle test, among tests that take their time.
const SUITE: &str = "
import time
STATE = []

def test_polluter():
    STATE.append(1)

def test_victim():
    assert not STATE

def test_brittle():
    assert STATE

def test_cleaner():
    STATE.clear()

def test_slow():
    time.sleep(0.03)
";

const FLEET: &str = "nightly";

fn server(test: &str) -> Option<&'static Server> {
    postgres::shared(&format!("a hunt on many machines: {test}"))
}

/// A repository and copies of it, one for each machine.
struct Machines {
    origin: Project,
    copies: Vec<tempfile::TempDir>,
    /// Where the queue is.
    store: String,
}

impl Machines {
    fn new(server: &Server, copies: usize) -> Self {
        let machines = Self::with(&format!("{}?project=shop", server.fresh_database()), copies);
        // The first who writes makes the tables, which the tests ask.
        let mut tables = machines.origin.flakeproof(&["store", "stats"]);
        tables.env("FLAKEPROOF_STORE", &machines.store);
        assert_ends(&tables.output().expect("it starts"), 0, &[]);
        machines
    }

    fn with(store: &str, copies: usize) -> Self {
        let origin = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", SUITE);
        origin.commit();
        let copy = |_| {
            let folder = tempfile::tempdir().expect("a folder");
            let place = folder.path().to_str().expect("a path").to_owned();
            origin.git(&["clone", "-q", ".", &place]);
            folder
        };
        let copies = (0..copies).map(copy).collect();
        Self { copies, store: store.to_owned(), origin }
    }

    /// A command of the program on the machine that steers.
    fn steering(&self, arguments: &[&str]) -> Command {
        let mut command = self.origin.flakeproof(arguments);
        command.args(["--", &self.origin.python(), "-m", "pytest"]);
        command.env("FLAKEPROOF_STORE", &self.store);
        piped(command)
    }

    fn hunting(&self, options: &[&str]) -> Command {
        let small = ["hunt", "--runs", "2", "--orders", "4", "--max-reruns", "2", "--seed", "7"];
        self.steering(&[&small, options].concat())
    }

    /// A worker in a copy.
    fn worker(&self, copy: usize) -> Command {
        self.worker_with(copy, &["-m", "pytest"])
    }

    fn worker_with(&self, copy: usize, of_python: &[&str]) -> Command {
        let python = self.origin.python();
        let mut command = self.origin.flakeproof(&["worker", "--fleet", FLEET, "--", &python]);
        command.args(of_python).current_dir(self.copies[copy].path());
        command.env("FLAKEPROOF_STORE", &self.store);
        piped(command)
    }

    /// Where a report of the machine that steers goes.
    fn report(&self) -> String {
        format!("json={}", self.origin.path().join(".git/report.json").display())
    }

    /// What the report of the machine that steers says about each flaky test.
    fn found(&self) -> Vec<Value> {
        found_in(&self.origin.path().join(".git/report.json"))
    }

    /// What a hunt on one machine alone finds.
    fn found_alone(&self) -> Vec<Value> {
        static FOUND: OnceLock<Vec<Value>> = OnceLock::new();
        FOUND.get_or_init(|| self.hunt_alone()).clone()
    }

    fn hunt_alone(&self) -> Vec<Value> {
        let own = self.copies[0].path().join(".git/alone.db");
        let own = own.to_str().expect("a path");
        let mut alone = self.hunting(&["--store", own, "--reporter", &self.report()]);
        assert_ends(&alone.output().expect("it starts"), 1, &["1 victim"]);
        self.found()
    }
}

/// What a report says about each flaky test: all but failure texts and times.
fn found_in(report: &Path) -> Vec<Value> {
    let text = std::fs::read(report).expect("a report");
    let report: Value = serde_json::from_slice(&text).expect("JSON");
    let tests = report["tests"].as_array().expect("tests").clone();
    assert!(tests.iter().any(|it| it["kind"] == "victim"), "{report:#}");
    tests.into_iter().map(without_texts).collect()
}

fn without_texts(mut test: Value) -> Value {
    for key in ["failure", "left_behind", "reproduction"] {
        if let Some(test) = test.as_object_mut() {
            test.remove(key);
        }
    }
    test
}

fn piped(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(mut command: Command) -> Child {
    command.spawn().expect("it starts")
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

fn text_of(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// It ends with this code and says all of this, and never the password.
fn assert_ends(output: &Output, code: i32, words: &[&str]) -> String {
    let text = text_of(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
    for secret in [postgres::PASSWORD, &postgres::PASSWORD.replace(' ', "%20"), "panicked at"] {
        assert!(!text.contains(secret), "`{secret}` is in:\n{text}");
    }
    text
}

/// The number before a word.
fn number_before(text: &str, word: &str) -> u64 {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|it| *it == word).expect("the word is there");
    words[at - 1].parse().expect("a number")
}
