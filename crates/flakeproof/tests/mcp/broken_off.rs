//! Clients that break off, and servers that are killed: nothing is left behind.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use flakeproof_testkit::Project;
use serde_json::{Value, json};

use crate::{Serving, shop};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, and a client that knows no more than the wire.
struct Wire {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Wire {
    fn open(project: &Project) -> Self {
        let python = project.python();
        let mut command =
            project.flakeproof(&["mcp", "--allow-run", "--", &python, "-m", "pytest", "-q"]);
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("its output is piped"));
        let mut wire = Self { server, input, output };
        wire.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "wire", "version": "1" } } }));
        assert_eq!(wire.receive()["id"], 0);
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        wire
    }

    fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("it is JSON")
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.send(&call);
    }

    /// Ask for a test that waits for ever, and wait until it does; gives its process.
    fn begin_what_never_ends(&mut self, project: &Project) -> String {
        self.call("run_tests", &json!({ "select": ["waits/test_wait.py"] }));
        let running = project.path().join("running.pid");
        until("the test runs", || running.exists());
        std::fs::read_to_string(running).expect("its process is there")
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_gone(process: &str) -> bool {
    !Path::new("/proc").join(process).exists()
}

#[test]
fn a_client_that_disconnects_in_the_middle_takes_its_experiment_with_it() {
    let project = shop();
    let mut wire = Wire::open(&project);
    let process = wire.begin_what_never_ends(&project);
    wire.input = None;
    let ended = wire.server.wait().expect("the server ends");
    assert_eq!(ended.code(), Some(0));
    assert!(is_gone(&process), "the test is still there after the server");
}

#[test]
fn a_server_that_is_killed_leaves_no_test_behind() {
    let project = shop();
    let mut wire = Wire::open(&project);
    let process = wire.begin_what_never_ends(&project);
    wire.server.kill().expect("it is killed");
    until("the end of the test", || is_gone(&process));
}

#[test]
fn over_http_a_connection_that_breaks_ends_its_experiment_and_not_the_server() {
    let project = shop();
    let server = Serving::start(&project, &["--allow-run"]);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" } } });
    let mut head = String::new();
    let mut answer = BufReader::new(server.post("", &hello));
    while answer.read_line(&mut head).expect("it answers") > 2 {}
    let session = head.lines().find_map(|it| it.strip_prefix("mcp-session-id: "));
    let session = format!("mcp-session-id: {}\r\n", session.expect("it opens a session"));
    let is_ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let mut accepted = String::new();
    let mut answer = BufReader::new(server.post(&session, &is_ready));
    answer.read_line(&mut accepted).expect("it answers");
    assert!(accepted.contains(" 202 "), "{accepted}");
    let params = json!({ "name": "run_tests", "arguments": { "select": ["waits/test_wait.py"] } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let waiting = server.post(&session, &call);
    let running = project.path().join("running.pid");
    until("the test runs", || running.exists());
    drop(waiting);
    let process = std::fs::read_to_string(running).expect("its process is there");
    until("the end of the test", || is_gone(&process));
    assert!(server.status("authorization: none\r\n").contains("HTTP/1.1"), "the server goes on");
}

#[test]
fn garbage_is_passed_over_and_what_is_no_request_is_refused() {
    let project = shop();
    let mut wire = Wire::open(&project);
    wire.write("\u{1b}[31mgarbage\n\n{\"jsonrpc\":\"2.0\",\"id\":\n");
    wire.write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":[1]}\n");
    assert!(wire.receive()["error"]["code"].is_number());
    wire.call("list_flaky", &json!({ "cursor": 7 }));
    let answer = wire.receive();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)));
}
