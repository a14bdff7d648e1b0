//! The tests of the workspace, several binaries at a time.
//!
//! cargo runs one binary after the other. Most of ours wait more than they work: for a hanging test to
//! reach its limit, for a runner to start. Two at a time take little more than half as long.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use flakeproof_testkit::campaign;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::cargo;

/// Binaries at a time; most of them run tests side by side themselves.
const LANES: usize = 2;

/// Those that take longest begin first, so that none is left alone at the end.
const LONGEST: [&str; 13] = [
    "court",
    "zoo",
    "conformance",
    "jvm",
    "any_runner",
    "thesis",
    "cause",
    "hunt",
    "fleet",
    "fix",
    "mcp",
    "pytest_matrix",
    "kill",
];

/// Those whose tests take turns over so many days, because each starts real runners for minutes;
/// `FLAKEPROOF_WHOLE_CAMPAIGNS=1` runs all of them.
const CAMPAIGNS: [(&str, usize); 9] = [
    ("any_runner", 4),
    ("cause", 4),
    ("conformance", 3),
    ("fleet", 3),
    ("hunt", 5),
    ("jvm", 3),
    ("pytest_dependencies", 2),
    ("pytest_matrix", 3),
    ("pytest_orders", 2),
];

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
                    let ran = binary.run().unwrap_or_else(|error| {
                        println!("--- {}: {error}", binary.name);
                        RanBinary::default()
                    });
                    lock(&times).push((ran.seconds, ran.of_processor, binary.name.clone()));
                    if !ran.passes {
                        lock(&failed).push(binary.name);
                    }
                }
            });
        }
    });
    let mut times = lock(&times);
    times.sort_unstable_by(|one, other| other.cmp(one));
    let of_processor: u64 = times.iter().map(|(_, of_processor, _)| of_processor).sum();
    println!(
        "where the time went, {LANES} binaries at a time; {of_processor} s of processors in all:"
    );
    println!("    time  processor");
    for (seconds, of_processor, name) in times.iter().take(NAMED) {
        println!("{seconds:6} s  {of_processor:6} s  {name}");
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

/// How a binary ran.
#[derive(Debug, Default)]
struct RanBinary {
    passes: bool,
    seconds: u64,
    /// Its own and that of all it started and waited for.
    of_processor: u64,
}

impl TestBinary {
    /// The arguments that choose those of its tests that have their turn today; none where all have.
    fn todays_tests(&self) -> Vec<String> {
        let Some((_, days)) = CAMPAIGNS.iter().find(|(name, _)| *name == self.name) else {
            return Vec::new();
        };
        let mut list = Command::new(&self.program);
        let Ok(output) = list.arg("--list").current_dir(&self.folder).output() else {
            return Vec::new();
        };
        let all = listed(&String::from_utf8_lossy(&output.stdout));
        let today = campaign::today(all.len(), all.len().div_ceil(*days));
        let exactly = (!today.is_empty()).then(|| "--exact".to_owned());
        exactly.into_iter().chain(today.into_iter().map(|at| all[at].clone())).collect()
    }

    /// Run it to its end, then print what it said and how long it took.
    fn run(&self) -> std::io::Result<RanBinary> {
        let begin = Instant::now();
        let (mut said, out) = std::io::pipe()?;
        let mut command = Command::new(&self.program);
        command
            .args(self.todays_tests())
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out);
        let mut child = command.spawn()?;
        // Its ends of the pipe, which would keep the other one waiting.
        drop(command);
        let mut text = Vec::new();
        said.read_to_end(&mut text)?;
        let of_processor = processor_seconds(child.id()).unwrap_or_default();
        let passes = child.wait()?.success();
        let seconds = begin.elapsed().as_secs();
        let text = String::from_utf8_lossy(&text);
        println!("--- {}: {seconds} s, {of_processor} s of processors\n{text}", self.name);
        Ok(RanBinary { passes, seconds, of_processor })
    }
}

/// The names of tests in what a binary lists.
fn listed(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// What a process took of processors, with all it started and waited for: once it has ended, and before
/// it is waited for. Only Linux tells.
fn processor_seconds(process: u32) -> Option<u64> {
    const TICKS_A_SECOND: u64 = 100;
    let pid = Pid::from_raw(i32::try_from(process).ok()?)?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in brackets, may have blanks; the four times are the twelfth word after it and on.
    let words = status.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    Some(ticks?.into_iter().sum::<u64>() / TICKS_A_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_are_taken_from_a_list() {
        let list = "a::b: test\nc: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(listed(list), ["a::b"]);
    }
}
