//! What a team sees of its history: who owns which test, which tests fail together, and what is new.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use flakeproof_core::{
    Attempt, Execution, Failure, History, Location, Origin, Outcome, Phase, RunRecord, Seed,
    Signature, Surroundings, TreeState,
};
use flakeproof_store::SqliteHistory;
use flakeproof_testkit::{Project, assert_says, finish};
use serde_json::Value;

const A: &str = "tests/db/test_a.py::test_read";
const B: &str = "tests/db/test_b.py::test_write";
const C: &str = "tests/test_ui.py::test_click";
const STEADY: &str = "tests/test_ui.py::test_steady";

const SECRET: &str = "a secret that only two know";

/// A day of November, an hour for each run.
fn started(run: u32) -> String {
    format!("2026-11-{:02}T{:02}:00:00Z", 1 + run / 24, run % 24)
}

fn attempt(test: &str, has_failed: bool) -> Attempt {
    let message = if test == C { "no such button" } else { "db refused" };
    let place = Location { file: "shop/db.py".into(), line: Some(7) };
    let failure = || Failure {
        phase: Phase::Call,
        message: message.into(),
        text: message.into(),
        signature: Signature::compute(message, Some(&place)),
        location: Some(place.clone()),
    };
    Attempt::first(Execution {
        failure: has_failed.then(failure),
        ..Execution::new(
            test,
            if has_failed { Outcome::Failed } else { Outcome::Passed },
            Duration::from_millis(3),
        )
    })
}

/// Keep so many runs of the same code, from one on: the tests of the database fail together.
fn keep(project: &Project, runs: std::ops::Range<u32>) {
    let mut history = SqliteHistory::in_project(project.path()).expect("opens");
    for run in runs {
        let record = RunRecord {
            id: format!("run-{run:03}"),
            started: started(run),
            command: vec!["pytest".into()],
            folder: String::new(),
            seed: Seed(1),
            tree: TreeState {
                revision: Some("a".repeat(40)),
                is_complete: true,
                ..TreeState::default()
            },
            surroundings: Surroundings::default(),
            version: "0.1.0".into(),
            origin: Origin::Reports { job: None },
        };
        history.begin(&record).expect("begins");
        let together = [7, 23, 41, 55].contains(&run);
        let attempts = [
            attempt(A, together),
            attempt(B, together),
            attempt(C, [3, 30].contains(&run)),
            attempt(STEADY, false),
        ];
        history.record(&attempts).expect("records");
        history.close(Duration::from_secs(60)).expect("ends");
    }
}

fn project() -> Project {
    let test = |name: &str| format!("def {name}():\n    pass\n");
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file(".github/CODEOWNERS", "*.py @shop/all\n/tests/db/ @shop/data @ana\n")
        .file("tests/db/test_a.py", &test("test_read"))
        .file("tests/db/test_b.py", &test("test_write"))
        .file("tests/test_ui.py", &(test("test_click") + &test("test_steady")));
    keep(&project, 0..60);
    project
}

#[test]
fn tests_that_fail_together_are_shown_as_one_with_what_they_share() {
    let project = project();
    let listed = finish(&mut project.flakeproof(&["list"]));
    let says = [
        "2 tests fail together in 4 of the 4 runs in which any does",
        "15 times as often as by chance",
        "all in tests/db/",
        "owned by @shop/data and @ana",
        "each with \"db refused\"",
        "3 flaky tests known",
    ];
    assert_says(&listed, 0, &says);
    let listed = finish(&mut project.flakeproof(&["list", "--output-format", "json"])).json;
    assert_eq!(listed["clusters"][0]["tests"], serde_json::json!([A, B]), "{listed:#}");
    assert_eq!(
        listed["clusters"][0]["shared"]["owners"],
        serde_json::json!(["@shop/data", "@ana"])
    );
    let reported = finish(&mut project.flakeproof(&["report", "--reporter", "json=-"])).json;
    assert_eq!(reported["clusters"], listed["clusters"]);
    let page = finish(&mut project.flakeproof(&["report", "--reporter", "html=-"]));
    assert_says(&page, 0, &["Fail together", "owned by @shop/data and @ana"]);
    let comment = finish(&mut project.flakeproof(&["report", "--reporter", "markdown=-"]));
    assert_says(&comment, 0, &["**Fail together**", "2 tests fail together"]);
}

#[test]
fn an_owner_sees_what_is_theirs_and_a_slip_of_the_pen_is_told() {
    let project = project();
    let ids = |owner: &str| -> Vec<String> {
        let words = ["list", "--owner", owner, "--output-format", "json"];
        let listed = finish(&mut project.flakeproof(&words)).json;
        let tests = listed["tests"].as_array().cloned().unwrap_or_default();
        let mut ids: Vec<String> =
            tests.iter().filter_map(|test| test["id"].as_str().map(str::to_owned)).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("@Shop/Data"), [A, B]);
    assert_eq!(ids("@shop/all"), [C]);
    let unknown = finish(&mut project.flakeproof(&["list", "--owner", "@shop/dta"]));
    assert_says(&unknown, 2, &["does not name `@shop/dta`", "@shop/data"]);
    std::fs::remove_file(project.path().join(".github/CODEOWNERS")).expect("is there");
    let nobody = finish(&mut project.flakeproof(&["list", "--owner", "@shop/data"]));
    assert_says(&nobody, 2, &["there is no `CODEOWNERS`", ".github/CODEOWNERS"]);
    assert_says(&finish(&mut project.flakeproof(&["list"])), 0, &["3 flaky tests known"]);
}

#[test]
fn feeds_tell_what_is_new_and_a_parser_of_others_reads_them() {
    let project = project();
    let feed = finish(&mut project.flakeproof(&["report", "--reporter", "json-feed=-"])).json;
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    let items = feed["items"].as_array().expect("items");
    let told: Vec<(&str, &str)> = items
        .iter()
        .filter_map(|it| {
            Some((it["_flakeproof"]["test"].as_str()?, it["date_published"].as_str()?))
        })
        .collect();
    let (first, second) = (started(7), started(3));
    assert_eq!(told, [(A, first.as_str()), (B, &first), (C, &second)]);
    let written = finish(&mut project.flakeproof(&["report", "--reporter", "atom=feed.xml"]));
    assert_says(&written, 0, &["feed.xml"]);
    let script = "
import xml.etree.ElementTree as tree
feed = tree.parse('feed.xml').getroot()
atom = '{http://www.w3.org/2005/Atom}'
print([entry.find(atom + 'id').text for entry in feed.findall(atom + 'entry')])
";
    let read = Command::new(project.python())
        .args(["-c", script])
        .current_dir(project.path())
        .output()
        .expect("starts");
    let ids: Vec<&str> = items.iter().filter_map(|it| it["id"].as_str()).collect();
    let read = String::from_utf8_lossy(&read.stdout).replace('\'', "\"");
    assert_eq!(serde_json::from_str::<Vec<String>>(&read).expect("a list"), ids);
}

/// A receiver of another make.
struct Receiver {
    process: Child,
    out: BufReader<ChildStdout>,
    url: String,
}

impl Receiver {
    /// One that answers with these statuses.
    fn start(project: &Project, statuses: &[&str]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/receiver.py");
        let mut process = Command::new(project.python())
            .arg(script)
            .args(statuses)
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let out = BufReader::new(process.stdout.take().expect("its output"));
        let mut receiver = Self { process, out, url: String::new() };
        receiver.url = receiver.line();
        receiver
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("it speaks");
        line.trim().to_owned()
    }

    /// What it was told next.
    fn told(&mut self) -> Value {
        serde_json::from_str(&self.line()).expect("JSON")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn notify(project: &Project, url: &str, words: &[&str]) -> Command {
    let mut command = project.flakeproof(&["notify", "--webhook", url]);
    command.args(words).env("FLAKEPROOF_WEBHOOK_SECRET", SECRET);
    command
}

#[test]
fn a_webhook_is_told_what_is_new_once_and_signed() {
    let project = project();
    let mut receiver = Receiver::start(&project, &["503", "200", "200"]);
    let url = receiver.url.clone();
    let since = ["--since", "2026-11-01"];
    assert_says(&finish(&mut notify(&project, &url, &since)), 0, &["3 items sent to 127.0.0.1"]);
    let (refused, taken) = (receiver.told(), receiver.told());
    assert_eq!((&refused["signed"], &taken["signed"]), (&true.into(), &true.into()), "{taken:#}");
    assert_eq!(refused["id"], taken["id"], "the same delivery, tried twice");
    assert_eq!((&taken["path"], &taken["type"]), (&"/told".into(), &"application/json".into()));
    let items = taken["body"]["items"].as_array().expect("items");
    assert_eq!(items.len(), 3, "{taken:#}");
    assert!(taken["body"]["text"].as_str().is_some_and(|text| text.contains("(@shop/data @ana)")));
    assert_says(&finish(&mut notify(&project, &url, &[])), 0, &["nothing new"]);
    // What happens next is told, and nothing else.
    let broken = "<testsuite><testcase classname='tests.test_new' name='test_late'>\
                  <failure message='no'/></testcase></testsuite>";
    project.write("broken.xml", broken);
    for revision in ["b", "c"] {
        let words = ["ingest", "--revision", &revision.repeat(40), "broken.xml"];
        assert_says(&finish(&mut project.flakeproof(&words)), 0, &[]);
    }
    assert_says(&finish(&mut notify(&project, &url, &[])), 0, &["1 item sent"]);
    let told = receiver.told();
    assert_eq!(told["body"]["items"][0]["_flakeproof"]["kind"], "broken", "{told:#}");
}

#[test]
fn a_webhook_that_takes_nothing_fails_no_build_and_is_told_the_next_time() {
    let project = project();
    let since = ["--since", "2026-11-01"];
    let away = "http://127.0.0.1:1/hooks/T0/very-secret";
    let ran = finish(&mut notify(&project, away, &since));
    assert_says(&ran, 0, &["127.0.0.1:1 does not answer", "3 items are not sent", "the next"]);
    let strict = finish(&mut notify(&project, away, &["--since", "2026-11-01", "--strict"]));
    assert_says(&strict, 6, &["127.0.0.1:1 does not answer"]);
    for text in [ran.text(), strict.text()] {
        assert!(!text.contains("very-secret") && !text.contains(SECRET), "{text}");
    }
    // A redirect is not followed, and a refusal is not tried again.
    let mut receiver = Receiver::start(&project, &["302", "403", "200"]);
    let url = receiver.url.clone();
    assert_says(&finish(&mut notify(&project, &url, &since)), 0, &["302", "redirects"]);
    let refused = finish(&mut notify(&project, &url, &since));
    assert_says(&refused, 0, &["403", "FLAKEPROOF_WEBHOOK_SECRET"]);
    assert_says(&finish(&mut notify(&project, &url, &since)), 0, &["3 items sent"]);
    let ids: Vec<Value> = (0..3).map(|_| receiver.told()["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn what_would_be_sent_can_be_seen_and_nothing_is_sent_unsigned_by_accident() {
    let project = project();
    let words = ["notify", "--dry-run", "--since", "2026-11-01", "--owner", "@shop/all"];
    let dry = finish(&mut project.flakeproof(&words));
    assert_eq!(dry.json["items"].as_array().map(Vec::len), Some(1), "{}", dry.text());
    let lately = finish(&mut project.flakeproof(&["notify", "--dry-run", "--since", "1h"]));
    assert_eq!(lately.json["items"], serde_json::json!([]), "{}", lately.text());
    let url = "http://127.0.0.1:1/";
    let unsigned = finish(&mut project.flakeproof(&["notify", "--webhook", url]));
    assert_says(&unsigned, 2, &["no secret", "FLAKEPROOF_WEBHOOK_SECRET", "--unsigned"]);
    let nowhere = finish(&mut project.flakeproof(&["notify"]));
    assert_says(&nowhere, 2, &["no webhook is named", "--webhook"]);
    let mut short = project.flakeproof(&["notify", "--webhook", url]);
    assert_says(&finish(short.env("FLAKEPROOF_WEBHOOK_SECRET", "123")), 2, &["3 bytes"]);
    let wrong = finish(&mut notify(&project, "hooks.example", &[]));
    assert_says(&wrong, 2, &["no `https://…`"]);
}

#[test]
fn a_test_that_was_renamed_and_moved_keeps_its_history_and_only_in_what_is_shown() {
    let body =
        "\n    # how it was\n    import os\n    assert os.environ.get('FAIL') != '1', 'told to'\n";
    let other = "def test_other():\n    assert 1 + 1 == 2\n";
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("test_shop.py", &format!("def test_pay():{body}\n\n{other}"));
    project.commit();
    let options = ["--dependencies", "off", "--retries", "0"];
    for fail in ["0", "1", "0"] {
        let _ = project.run_with(&options, &[], &[("FAIL", fail)]);
    }
    // The file moves, and so does the test in it, with another comment.
    project.git(&["mv", "test_shop.py", "test_store.py"]);
    let body = body.replace("how it was", "how it is");
    project.write("test_store.py", &format!("{other}\n\ndef test_pay():{body}"));
    project.commit();
    let _ = project.run_with(&options, &[], &[]);
    // Then the function gets another name.
    project.write("test_store.py", &format!("{other}\n\ndef test_buy():{body}"));
    project.commit();
    let failed = project.run_with(&options, &[], &[("FAIL", "1")]);
    // No verdict rests on what another id did.
    assert_ne!(failed.verdict("test_buy"), "flaky", "{}", failed.text());
    assert_eq!(failed.code(), Some(1), "{}", failed.text());
    let _ = project.run_with(&options, &[], &[]);
    let listed = finish(&mut project.flakeproof(&["list"]));
    let says =
        ["test_store.py::test_buy", "(formerly test_store.py::test_pay)", "1 flaky test known"];
    assert_says(&listed, 0, &says);
    let reported = finish(&mut project.flakeproof(&["report", "--reporter", "json=-"])).json;
    let tests = reported["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 2, "{reported:#}");
    let bought = tests.iter().find(|it| it["id"] == "test_store.py::test_buy").expect("is there");
    let former = ["test_store.py::test_pay", "test_shop.py::test_pay"];
    assert_eq!(bought["formerly"], serde_json::json!(former));
    assert_eq!(bought["runs"], 6, "{bought:#}");
    let recorded = finish(&mut project.flakeproof(&["list", "--as-recorded"]));
    assert_says(&recorded, 0, &["test_shop.py::test_pay", "test_store.py::test_buy"]);
    assert!(!recorded.text().contains("formerly"), "{}", recorded.text());
}

#[test]
fn a_test_that_was_changed_with_its_name_is_another_one() {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("pytest.ini", "[pytest]\n")
        .file("test_shop.py", "def test_pay():\n    assert 1 + 1 == 2\n");
    project.commit();
    let _ = project.run(&["--dependencies", "off"], &[]);
    project.write("test_shop.py", "def test_buy():\n    assert 1 + 1 == 3 - 1\n");
    project.commit();
    let _ = project.run(&["--dependencies", "off"], &[]);
    let reported = finish(&mut project.flakeproof(&["report", "--reporter", "json=-"])).json;
    let formerly: Vec<&Value> =
        reported["tests"].as_array().expect("tests").iter().map(|it| &it["formerly"]).collect();
    assert_eq!(formerly, [&serde_json::json!([]), &serde_json::json!([])], "{reported:#}");
}
