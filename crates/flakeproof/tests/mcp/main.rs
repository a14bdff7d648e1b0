//! `flakeproof mcp` with the two official clients, as a coding agent uses it: lists, calls, progress, errors,
//! cancellation, a dialogue from a red build to a proven fix; and clients that break off.

mod broken_off;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use flakeproof_testkit::{Project, node, python, skipped};
use serde_json::Value;

/// The official SDK for Python.
const PYTHON_SDK: &str = "mcp==2.3.0";
/// The official SDK for TypeScript.
const NODE_SDK: &str = "@modelcontextprotocol/sdk@1.32.2";

/// A suite with a victim and its polluter, which no change made, a test that fails in other zones, and one that
/// waits for ever.
pub(crate) fn shop() -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\ntestpaths = test_shop.py zones\n")
        .file(".gitignore", ".flakeproof\n__pycache__\n")
        .file("shop.py", "CART = []\n")
        .file(
            "test_shop.py",
            "import shop\n\ndef test_add():\n    shop.CART.append(3)\n    assert shop.CART == [3]\n\n\
             def test_empty_cart():\n    assert shop.CART == [], \"the cart is not empty\"\n",
        )
        .file(
            "zones/test_zone.py",
            "import time\n\ndef test_zone():\n    assert time.strftime('%z', time.localtime(0)) == \
             '+0000'\n",
        )
        .file(
            "waits/test_wait.py",
            "import os, time\n\ndef test_wait():\n    with open('running.tmp', 'w') as file:\n        \
             file.write(str(os.getpid()))\n    os.rename('running.tmp', 'running.pid')\n    \
             time.sleep(600)\n",
        );
    project.commit();
    project.write("other.py", "CHANGED = True\n");
    project.commit();
    project
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

/// A client in the surroundings of the project.
fn client(project: &Project, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    flakeproof_testkit::surroundings::plain(&mut command).current_dir(project.path());
    command
}

fn assert_content(ran: &Output) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
}

#[test]
fn the_python_client_goes_from_a_red_build_to_a_proven_fix() {
    let agent = match python::with("python3", &[PYTHON_SDK]) {
        Ok(agent) => agent,
        Err(why) => return skipped::note("mcp with the Python client", &why),
    };
    let project = shop();
    let mut command = client(&project, agent);
    command.arg(script("client.py")).arg("stdio").arg(env!("CARGO_BIN_EXE_flakeproof"));
    command.arg(project.path()).args([&project.python(), "-m", "pytest", "-q"]);
    assert_content(&command.output().expect("the client starts"));
}

#[test]
fn the_typescript_client_goes_from_a_question_to_an_explained_cause() {
    let modules = match node::modules(&[NODE_SDK]) {
        Ok(modules) => modules,
        Err(why) => return skipped::note("mcp with the TypeScript client", &why),
    };
    let project = shop();
    let mut command = client(&project, "node");
    command.env("SDK_MODULES", modules).env_remove("TZ");
    command.arg(script("client.mjs")).arg(env!("CARGO_BIN_EXE_flakeproof"));
    command.arg(project.path()).args([&project.python(), "-m", "pytest", "-q"]);
    assert_content(&command.output().expect("the client starts"));
}

#[test]
fn over_http_the_token_of_serve_decides() {
    let agent = match python::with("python3", &[PYTHON_SDK]) {
        Ok(agent) => agent,
        Err(why) => return skipped::note("mcp over HTTP", &why),
    };
    let project = shop();
    let token = "0123456789abcdef0123456789abcdef";
    project.write("token", token);
    let server = Serving::start(&project, &["--token-file", "token"]);
    assert!(server.status("").contains(" 401 "));
    assert!(server.status("authorization: Bearer wrong\r\n").contains(" 401 "));
    let page = format!("authorization: Bearer {token}\r\norigin: http://elsewhere.example\r\n");
    assert!(server.status(&page).contains(" 403 "), "a web page asked");
    let mut command = client(&project, agent);
    command.arg(script("client.py")).args(["http", &server.url, token]);
    assert_content(&command.output().expect("the client starts"));
}

/// A server over HTTP that ends with the test.
pub(crate) struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    pub(crate) fn start(project: &Project, options: &[&str]) -> Self {
        let mut command = project.flakeproof(&["mcp", "--http", "0"]);
        command.args(options);
        if options.contains(&"--allow-run") {
            command.args(["--", &project.python(), "-m", "pytest", "-q"]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let output = child.stdout.take().expect("its output is piped");
        let mut url = String::new();
        BufReader::new(output).read_line(&mut url).expect("it says where it is");
        Self { child, url: url.trim().to_owned() }
    }

    /// Send a message; what is answered comes over the connection.
    pub(crate) fn post(&self, headers: &str, message: &Value) -> TcpStream {
        let rest = self.url.trim_start_matches("http://");
        let (address, path) = rest.split_once('/').expect("it has a path");
        let mut stream = TcpStream::connect(address).expect("it listens");
        let body = message.to_string();
        let request = format!(
            "POST /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// The first line of what is answered to no message at all.
    pub(crate) fn status(&self, headers: &str) -> String {
        let mut answer = String::new();
        let stream = self.post(headers, &Value::Null);
        BufReader::new(stream).read_line(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
