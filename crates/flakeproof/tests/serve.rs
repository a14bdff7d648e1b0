//! `flakeproof serve`: the program itself, asked over real connections.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, History, Origin, Outcome, RunRecord, Seed, Surroundings, TreeState,
};
use flakeproof_store::SqliteHistory;
use serde_json::Value;

const TOKEN: &str = "a-token-nobody-knows";

/// Keep a run of one test.
fn keep(history: &mut SqliteHistory, run: &str, test: &str, outcome: Outcome) {
    let record = RunRecord {
        id: run.into(),
        started: "2026-11-16T00:00:00Z".into(),
        command: vec!["pytest".into()],
        folder: String::new(),
        seed: Seed(1),
        tree: TreeState { is_complete: true, ..TreeState::default() },
        surroundings: Surroundings::default(),
        version: "0.1.0".into(),
        origin: Origin::Reports { job: None },
    };
    history.begin(&record).expect("a run begins");
    let execution = Execution::new(test, outcome, Duration::from_millis(3));
    let attempt = Attempt::first(execution);
    history.record(&[attempt]).expect("an attempt is kept");
    history.close(Duration::from_secs(1)).expect("a run ends");
}

/// The program as it serves.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    url: String,
}

impl Serving {
    fn start(folder: &Path, arguments: &[&str], token: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flakeproof"));
        command.arg("serve");
        if !arguments.contains(&"--address") {
            command.args(["--address", "0"]);
        }
        command.args(arguments).current_dir(folder);
        command.env_remove("FLAKEPROOF_TOKEN").env_remove("FLAKEPROOF_STORE");
        if let Some(token) = token {
            command.env("FLAKEPROOF_TOKEN", token);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut url = String::new();
        out.read_line(&mut url).expect("it says where it is");
        Self { child, out, url: url.trim().to_owned() }
    }

    fn authority(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("it says an address");
        rest.split('/').next().expect("there is a first part")
    }

    /// The status and the body of what is at a path.
    fn get(&self, path: &str, header: &str) -> (u16, String) {
        let authority = self.authority();
        let mut stream = TcpStream::connect(authority).expect("it listens");
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n{header}\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("there is a head");
        let status = head.split(' ').nth(1).expect("there is a status");
        (status.parse().expect("it is a number"), body.to_owned())
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("it is JSON")
    }

    /// What it comes to when it is interrupted.
    fn interrupt(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().expect("kill starts");
        assert!(sent.success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("its output ends");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn project() -> (tempfile::TempDir, SqliteHistory) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut history = SqliteHistory::in_project(folder.path()).expect("a history");
    keep(&mut history, "1", "test_a", Outcome::Passed);
    keep(&mut history, "2", "test_a", Outcome::Failed);
    (folder, history)
}

#[test]
fn what_another_process_writes_shows_at_the_next_request() {
    let (folder, mut history) = project();
    let serving = Serving::start(folder.path(), &[], None);
    let test = serving.json("/api/v1/tests?standing=flaky");
    assert_eq!((&test["total"], &test["tests"][0]["id"]), (&1.into(), &"test_a".into()));
    for (number, total) in [("3", 2), ("4", 3), ("5", 4)] {
        keep(&mut history, number, &format!("test_{number}"), Outcome::Passed);
        assert_eq!(serving.json("/api/v1/tests")["total"], total);
        assert_eq!(serving.json("/api/v1/runs")["runs"].as_array().map(Vec::len), Some(total + 1));
    }
    let (status, page) = serving.get("/", "");
    assert!(status == 200 && page.contains("test_a"));
}

#[test]
fn no_request_changes_the_history() {
    let (folder, history) = project();
    drop(history);
    let file = folder.path().join(".flakeproof/history.db");
    let before = std::fs::read(&file).expect("the file is there");
    let mut serving = Serving::start(folder.path(), &[], None);
    let paths = [
        "/",
        "/api",
        "/api/v1/overview",
        "/api/v1/tests?q=%27;DELETE%20FROM%20run;--&sort=cost",
        "/api/v1/tests/test_a",
        "/api/v1/tests/%27%20OR%201=1",
        "/../../../etc/passwd",
        "/.flakeproof/history.db",
        "/health",
    ];
    for path in paths {
        let (status, body) = serving.get(path, "");
        assert!(status < 500 && !body.contains("root:") && !body.contains("SQLite format"));
    }
    assert_eq!(serving.interrupt(), Some(0));
    assert!(std::fs::read(&file).expect("the file is there") == before);
    // Who only looks may leave an empty log behind.
    let log = std::fs::metadata(folder.path().join(".flakeproof/history.db-wal"));
    assert_eq!(log.map_or(0, |log| log.len()), 0);
}

#[test]
fn an_interrupt_ends_it() {
    let (folder, _history) = project();
    let mut serving = Serving::start(folder.path(), &[], None);
    assert_eq!(serving.get("/health", "").0, 200);
    assert_eq!(serving.interrupt(), Some(0));
}

#[test]
fn a_token_in_a_variable_or_a_file_is_asked_for() {
    let (folder, _history) = project();
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let serving = Serving::start(folder.path(), &[], Some(TOKEN));
    assert!(!serving.url.contains(TOKEN));
    assert_eq!(serving.get("/", "").0, 401);
    assert_eq!(serving.get("/", &bearer).0, 200);
    std::fs::write(folder.path().join("token"), format!("{TOKEN}\n")).expect("a file");
    let serving = Serving::start(folder.path(), &["--token-file", "token"], None);
    assert_eq!((serving.get("/", "").0, serving.get("/", &bearer).0), (401, 200));
}

#[test]
fn without_a_history_it_says_how_to_get_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_flakeproof"))
        .arg("serve")
        .current_dir(folder.path())
        .env_remove("FLAKEPROOF_STORE")
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("flakeproof run"), "{text}");
}

#[test]
fn an_address_for_everybody_makes_a_token_and_says_it_once() {
    let (folder, _history) = project();
    let serving = Serving::start(folder.path(), &["--address", "0.0.0.0:0"], None);
    let (_, token) = serving.url.split_once("/?token=").expect("there is a token");
    assert_eq!(token.len(), 32);
    assert_eq!(serving.get("/", "").0, 401);
    let bearer = format!("authorization: Bearer {token}\r\n");
    assert_eq!(serving.get("/", &bearer).0, 200);
}
