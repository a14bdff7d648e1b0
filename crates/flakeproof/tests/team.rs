//! One history for a team, in a real PostgreSQL: the program itself, from a run to what a team sees.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use flakeproof_testkit::postgres::{self, Server, database_of};
use flakeproof_testkit::{Project, assert_says, finish, s3};

/// Fails the first time and every third, by what it finds in a folder outside of the project.
const FLAKY: &str = "
import os, pathlib
def test_sound():
    pass
def test_flaky():
    seen = pathlib.Path(os.environ['COUNTER'])
    count = int(seen.read_text()) if seen.exists() else 0
    seen.write_text(str(count + 1))
    assert count % 3, 'the third time'
";

fn server(test: &str) -> Option<&'static Server> {
    postgres::shared(&format!("a team's history: {test}"))
}

fn project() -> (Project, tempfile::TempDir) {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_a.py", FLAKY);
    project.commit();
    (project, tempfile::tempdir().expect("a folder"))
}

/// The program in a project, with this store in its environment.
fn flakeproof(project: &(Project, tempfile::TempDir), store: &str, arguments: &[&str]) -> Command {
    let mut command = project.0.flakeproof(arguments);
    command.env("FLAKEPROOF_STORE", store).env("COUNTER", project.1.path().join("count"));
    command
}

fn run_pytest(project: &(Project, tempfile::TempDir), store: &str) -> Command {
    let python = project.0.python();
    flakeproof(project, store, &["run", "--", &python, "-m", "pytest", "-q"])
}

#[test]
fn what_one_machine_runs_another_one_knows() {
    let Some(server) = server("from a run to what a team sees") else { return };
    let url = server.fresh_database();
    let (one, other) = (project(), project());
    let named = format!("{url}?project=shop");
    assert_says(&finish(&mut run_pytest(&one, &named)), 0, &["flaky"]);
    let ask = |arguments: &[&str]| finish(&mut flakeproof(&other, &named, arguments));
    assert_says(&ask(&["list"]), 0, &["test_a.py::test_flaky"]);
    assert_says(&ask(&["explain", "test_flaky"]), 0, &["the third time"]);
    assert_says(&ask(&["report", "--reporter", "json=-"]), 0, &["test_flaky"]);
    assert_says(&ask(&["store", "stats"]), 0, &["1 run", "(project shop)"]);
    assert_says(&ask(&["doctor"]), 0, &["1 run of 2 tests"]);
    let pruned = ask(&["store", "prune", "--keep-days", "1"]);
    assert_says(&pruned, 2, &["PostgreSQL is not pruned"]);
    assert_says(&ask(&["store", "export", "-"]), 2, &["store sync"]);
    assert_says(&ask(&["store", "sync", &named, "copy.db"]), 0, &["1 run", "sent"]);
    let own = finish(&mut flakeproof(&other, "copy.db", &["list"]));
    assert_says(&own, 0, &["test_a.py::test_flaky"]);
}

#[test]
fn a_hunt_is_known_to_all() {
    let Some(server) = server("a hunt") else { return };
    let url = server.fresh_database();
    let suite = "
STATE = []
def test_polluter():
    STATE.append(1)
def test_victim():
    assert not STATE
";
    let named = format!("{url}?project=shop");
    let hunter = Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("test_b.py", suite);
    let python = hunter.python();
    let mut hunt = hunter.flakeproof(&[
        "hunt", "--seed", "1", "--orders", "4", "--store", &named, "--", &python, "-m", "pytest",
    ]);
    assert_says(&finish(&mut hunt), 1, &["test_victim"]);
    let (other, counter) = project();
    let known = finish(&mut flakeproof(&(other, counter), &named, &["list"]));
    assert_says(&known, 0, &["test_b.py::test_victim", "victim"]);
}

#[test]
fn pages_show_what_others_write() {
    let Some(server) = server("serve") else { return };
    let url = server.fresh_database();
    let (one, other) = (project(), project());
    let named = format!("{url}?project=shop");
    finish(&mut run_pytest(&one, &named));
    let mut serving =
        flakeproof(&other, &named, &["serve", "--no-source", "--address", "127.0.0.1:0"]);
    let mut child = serving.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stdout.take().expect("an output"));
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        assert_ne!(said.read_line(&mut line).expect("it speaks"), 0, "it ended");
    }
    let address = line.split("http://").nth(1).expect("an address");
    let address: String =
        address.chars().take_while(|it| it.is_ascii_digit() || ".:".contains(*it)).collect();
    let page = || {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        let ask =
            format!("GET /api/v1/tests HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).expect("asks");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answers");
        answer
    };
    let first = page();
    assert!(first.contains("test_flaky") && !first.contains("test_more"), "{first}");
    one.0.write("test_more.py", "def test_more():\n    pass\n");
    finish(&mut run_pytest(&one, &named));
    let second = page();
    assert!(second.contains("test_more"), "{second}");
    child.kill().expect("it ends");
    child.wait().expect("it ended");
}

#[test]
fn a_run_whose_store_is_away_ends_as_ever_and_is_sent_later() {
    let Some(server) = server("a store that is away") else { return };
    let url = server.fresh_database();
    let project = project();
    let away = "postgres://ci:hunter2@127.0.0.1:1/team?project=shop";
    let ran = finish(&mut run_pytest(&project, away));
    assert_says(&ran, 0, &["flaky", "cannot be reached", "flakeproof store sync"]);
    assert!(!ran.text().contains("hunter2"), "{}", ran.text());
    let asked = finish(&mut flakeproof(&project, away, &["list"]));
    assert_says(&asked, 2, &["cannot be reached", ".flakeproof/history.db"]);
    assert!(!asked.text().contains("hunter2"), "{}", asked.text());
    let named = format!("{url}?project=shop");
    let sent = finish(&mut flakeproof(&project, &named, &["store", "sync"]));
    assert_says(&sent, 0, &["1 run"]);
    let again = finish(&mut flakeproof(&project, &named, &["store", "sync"]));
    assert_says(&again, 0, &["nothing new"]);
    assert_eq!(server.sql(database_of(&url), "SELECT count(*) FROM flakeproof.run_end"), "1");
}

#[test]
fn a_run_whose_object_store_is_away_ends_as_ever_and_is_sent_later() {
    let (project, other) = (project(), project());
    for copy in [&project, &other] {
        copy.0.git(&["remote", "add", "origin", "https://git.example/shop/basket.git"]);
    }
    let caches = tempfile::tempdir().expect("a folder");
    let store = "s3://team/history";
    // Nobody listens at this port.
    let away = [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "id".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "hunter2".to_owned()),
    ];
    let cache = ("FLAKEPROOF_CACHE", caches.path().display().to_string());
    let with = |mut command: Command, variables: &[(&str, String)]| {
        finish(command.envs(variables.iter().cloned()).envs([cache.clone()]))
    };
    let ran = with(run_pytest(&project, store), &away);
    assert_says(
        &ran,
        0,
        &["flaky", "s3://team/history", "cannot be reached", "flakeproof store sync"],
    );
    assert!(!ran.text().contains("hunter2"), "{}", ran.text());
    let asked = with(flakeproof(&project, store, &["list"]), &away);
    assert_says(&asked, 2, &["cannot be reached", ".flakeproof/history.db"]);
    let still = with(flakeproof(&project, store, &["store", "sync"]), &away);
    assert_says(&still, 6, &["s3://team/history"]);
    let Some(server) = s3::Server::start("a run whose object store is away") else { return };
    let there = server.variables("reader");
    let sent = with(flakeproof(&project, store, &["store", "sync"]), &there);
    assert_says(&sent, 0, &["1 run"]);
    let again = with(flakeproof(&project, store, &["store", "sync"]), &there);
    assert_says(&again, 0, &["nothing new"]);
    let listed = with(flakeproof(&other, store, &["list"]), &there);
    assert_says(&listed, 0, &["test_a.py::test_flaky"]);
}

#[test]
fn reports_that_are_read_twice_count_once() {
    let Some(server) = server("ingest") else { return };
    let url = server.fresh_database();
    let project = project();
    let report = "<testsuite name='s'><testcase classname='a.B' name='one' time='0.1'/>\
                  <testcase classname='a.B' name='two' time='0.1'><failure message='no'/></testcase>\
                  </testsuite>";
    project.0.write("junit.xml", report);
    let named = format!("{url}?project=shop");
    for _ in 0..2 {
        let read = finish(&mut flakeproof(&project, &named, &["ingest", "junit.xml"]));
        assert_says(&read, 0, &[]);
    }
    let rows =
        "SELECT (SELECT count(*) FROM flakeproof.run), (SELECT count(*) FROM flakeproof.test)";
    assert_eq!(server.sql(database_of(&url), rows), "1|2");
}

#[test]
fn a_url_of_another_kind_is_refused_with_what_is_possible() {
    let project = project();
    let asked = finish(&mut flakeproof(&project, "mysql://ci:hunter2@db/team", &["list"]));
    assert_says(&asked, 2, &["`mysql://`"]);
    let asked = finish(&mut flakeproof(&project, "s4://bucket/path", &["list"]));
    assert_says(&asked, 2, &["`s4://`", "`s3://bucket/path`", "`file:///folder`", "postgres://"]);
    assert!(!asked.text().contains("hunter2"), "{}", asked.text());
}
