//! The tests of the workspace, several binaries at a time.
//!
//! cargo runs one binary after the other. Most of ours wait more than they work: for a hanging test to
//! reach its limit, for a runner to start. Two at a time take little more than half as long.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use crate::cargo;

/// Binaries at a time; most of them run tests side by side themselves.
const LANES: usize = 2;

/// Those that take longest begin first, so that none is left alone at the end.
const LONGEST: [&str; 7] =
    ["court", "zoo", "conformance", "thesis", "hunt", "pytest_matrix", "kill"];

/// A compiled test binary.
struct TestBinary {
    name: String,
    program: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// How many of the slowest binaries are named at the end.
const NAMED: usize = 12;

/// Build and run all tests, and tell which binaries failed and which took longest.
pub(crate) fn run() -> Result<(), String> {
    let mut binaries = built()?;
    let place = |name: &str| LONGEST.iter().position(|it| *it == name).unwrap_or(LONGEST.len());
    binaries.sort_by_key(|binary| place(&binary.name));
    let queue = Mutex::new(VecDeque::from(binaries));
    let failed = Mutex::new(Vec::new());
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(binary) = next(&queue) {
                    let begin = Instant::now();
                    let passes = binary.passes();
                    lock(&times).push((begin.elapsed().as_secs(), binary.name.clone()));
                    if !passes {
                        lock(&failed).push(binary.name);
                    }
                }
            });
        }
    });
    println!("where the time went, {LANES} binaries at a time:");
    let mut times = lock(&times);
    times.sort_unstable_by(|one, other| other.cmp(one));
    for (seconds, name) in times.iter().take(NAMED) {
        println!("{seconds:6} s  {name}");
    }
    let failed = lock(&failed).join(", ");
    if !failed.is_empty() {
        return Err(format!("these tests failed, as told above: {failed}"));
    }
    crate::run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))
}

fn next(queue: &Mutex<VecDeque<TestBinary>>) -> Option<TestBinary> {
    lock(queue).pop_front()
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Build every test binary of the workspace.
fn built() -> Result<Vec<TestBinary>, String> {
    let mut build = cargo(&["test", "--workspace", "--no-run", "--message-format", "json"]);
    let output = build.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    Ok(lines.lines().filter_map(|line| artifact(&serde_json::from_str(line).ok()?)).collect())
}

/// The test binary that one message of cargo's tells of.
fn artifact(message: &serde_json::Value) -> Option<TestBinary> {
    if message["profile"]["test"] != true {
        return None;
    }
    Some(TestBinary {
        name: message["target"]["name"].as_str()?.to_owned(),
        program: message["executable"].as_str()?.into(),
        folder: PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_path_buf(),
    })
}

impl TestBinary {
    /// Run it to its end, then print what it said and how long it took.
    fn passes(&self) -> bool {
        let begin = Instant::now();
        let output = Command::new(&self.program)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .stdin(Stdio::null())
            .output();
        let seconds = begin.elapsed().as_secs_f64();
        match output {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stdout);
                let trouble = String::from_utf8_lossy(&output.stderr);
                println!("--- {}: {seconds:.0} s\n{said}{trouble}", self.name);
                output.status.success()
            }
            Err(error) => {
                println!("--- {}: {error}", self.name);
                false
            }
        }
    }
}
