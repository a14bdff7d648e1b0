//! The same on a real S3 server. Credentials come from the environment, so each machine is a process of its
//! own: this test program, asked to do one thing.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use flakeproof_store::ObjectHistory;
use flakeproof_testkit::s3;

use crate::{address, run, runs_of};

/// An S3 server with the caches of the machines that use it.
struct Server {
    server: s3::Server,
    folder: tempfile::TempDir,
}

impl Server {
    fn start(test: &str) -> Option<Self> {
        let server = s3::Server::start(test)?;
        Some(Self { server, folder: tempfile::tempdir().expect("a temporary folder") })
    }

    /// What a machine with a user's credentials comes to.
    fn machine(&self, user: &str, cache: &str, job: &str) -> String {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "s3::a_machine", "--nocapture"])
            .env("JOB", job)
            .env("CACHE", self.folder.path().join(cache))
            .envs(self.server.variables(user))
            .output()
            .expect("it starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = printed.lines().find_map(|line| line.split_once("came to: "));
        line.map(|(_, line)| line.to_owned()).unwrap_or(printed)
    }
}

/// Not a test of its own: what a machine does that the tests below start.
#[test]
fn a_machine() {
    let (Ok(job), Ok(cache)) = (std::env::var("JOB"), std::env::var("CACHE")) else { return };
    let url = std::env::var("URL").unwrap_or_else(|_| "s3://team/history".to_owned());
    let done = ObjectHistory::open(&address(&url, Path::new(&cache))).and_then(|mut history| {
        match job.as_str() {
            "read" => Ok(runs_of(&history)),
            "fold" => history.compact().map(|folded| u32::try_from(folded.runs).unwrap_or(0)),
            id => run(&mut history, id).map(|()| runs_of(&history)),
        }
    });
    let told = done.map_or_else(|error| format!("{error:?}"), |runs| runs.to_string());
    writeln!(std::io::stdout(), "came to: {told}").expect("somebody listens");
}

#[test]
fn machines_share_a_bucket_of_which_jobs_may_only_add_to() {
    let Some(server) = Server::start("objects: an S3 server") else { return };
    assert_eq!(server.machine("reader", "reader", "read"), "0");
    // Who may neither list nor read sees its own runs, and its segment is written all the same.
    assert_eq!(server.machine("writer", "job-1", "run-1"), "1");
    assert_eq!(server.machine("writer", "job-2", "run-2"), "1");
    assert_eq!(server.machine("reader", "reader", "read"), "2");
    let denied = server.machine("writer", "job-1", "fold");
    assert!(denied.contains("may not list"), "{denied}");
    assert_eq!(server.machine("reader", "reader", "fold"), "2");
    assert_eq!(server.machine("writer", "job-3", "run-3"), "1");
    assert_eq!(server.machine("reader", "reader", "read"), "3");
    assert_eq!(server.machine("reader", "fresh", "read"), "3");
}

#[test]
fn a_server_that_does_not_answer_is_told_with_its_place() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "s3::a_machine", "--nocapture"])
        .env("JOB", "read")
        .env("CACHE", folder.path().join("cache"))
        .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2")
        .output()
        .expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("Unreachable") && printed.contains("s3://team/history"), "{printed}");
    assert!(!printed.contains("hunter2"), "{printed}");
}
