//! The examples of the thesis, chapter 2: each gets the verdict, at the stage, that it predicts, or the
//! stricter one of ours.

#![expect(clippy::panic, reason = "a helper of tests fails a test by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flakeproof_testkit::{Project, Ran, skipped};
use toml::Value;

/// Two reruns at once, one at the end, one in a new JVM.
const RERUNS: [&str; 6] = ["--retries", "2", "--postponed", "1", "--fresh", "1"];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/thesis")
}

/// The example of a section, as a project of its own; `None` where it cannot be run.
fn example(section: &str) -> Option<(Project, Value)> {
    let starts = |program: &str| Command::new(program).arg("-version").output().is_ok();
    if let Some(missing) = ["mvn", "javac"].into_iter().find(|program| !starts(program)) {
        skipped::note(&format!("thesis, section {section}"), &format!("there is no {missing}"));
        return None;
    }
    let text = std::fs::read_to_string(examples().join("expected.toml")).expect("a table");
    let table: Value = toml::from_str(&text).expect("it is TOML");
    let found = table["example"].as_array().into_iter().flatten();
    let mut found = found.filter(|example| example["section"].as_str() == Some(section));
    let expected = found.next().expect("an example of the section").clone();
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    copy(&examples().join(text_of(&expected, "project")), project.path());
    Some((project, expected))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("it can be listed").flatten() {
        let target = to.join(entry.file_name());
        match entry.path() {
            path if path.is_dir() && entry.file_name() != "target" => copy(&path, &target),
            path if path.is_file() => drop(std::fs::copy(path, target).expect("it is copied")),
            _ => {}
        }
    }
}

fn text_of<'a>(expected: &'a Value, key: &str) -> &'a str {
    expected.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `flakeproof run -- mvn -q test`, with system properties.
fn run(project: &Project, properties: &[&str]) -> Ran {
    let report = tempfile::NamedTempFile::new().expect("a temporary file");
    let reporter = format!("json={}", report.path().display());
    let output = project
        .flakeproof(&[
            "run",
            "--timeout",
            "120s",
            "--evidence-budget",
            "10m",
            "--reporter",
            &reporter,
        ])
        .args(RERUNS)
        .args(["--", "mvn", "-q", "-B", "test"])
        .args(properties)
        .output()
        .expect("flakeproof starts");
    let json = std::fs::read(report.path()).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or_default() }
}

fn assert_as_predicted(ran: &Ran, expected: &Value) {
    let test = text_of(expected, "test");
    assert_eq!(ran.attempts(test), text_of(expected, "stages"), "{}", ran.text());
    assert_eq!(ran.verdict(test), text_of(expected, "verdict"), "{}", ran.text());
    let wanted = text_of(expected, "evidence");
    let evidence = ran.test(test)["evidence"].as_array().cloned().unwrap_or_default();
    let is_there = evidence.iter().any(|it| it["type"] == wanted);
    assert!(wanted.is_empty() || is_there, "no {wanted} in {evidence:?}\n{}", ran.text());
}

/// Somebody else who has a port.
struct Neighbour {
    port: u16,
}

impl Neighbour {
    /// Take a port that the system does not give out by itself.
    fn somewhere() -> TcpListener {
        let mut ports = 20_000..32_000;
        ports.find_map(take).unwrap_or_else(|| panic!("no port is free"))
    }

    /// Stay at a port until somebody says "leave".
    fn stays_at(listener: TcpListener) -> Self {
        let port = listener.local_addr().expect("it has an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
                let _ = stream.write_all(b"somebody else\n");
                let mut said = String::new();
                let _ = BufReader::new(&stream).read_line(&mut said);
                if said == "leave\n" {
                    drop(listener);
                    return;
                }
            }
        });
        Self { port }
    }
}

fn take(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}

#[test]
fn section_2_1_a_random_byte_passes_when_it_is_rerun_at_once() {
    let Some((project, expected)) = example("2.1") else { return };
    // The first byte of this seed is 0, that of the others is not.
    project.write("seeds", "31\n1\n2\n3\n4\n5\n6\n7\n");
    assert_as_predicted(&run(&project, &[]), &expected);
}

#[test]
fn section_2_2_a_port_in_use_is_free_at_the_end_of_the_suite() {
    let Some((project, expected)) = example("2.2") else { return };
    let neighbour = Neighbour::stays_at(Neighbour::somewhere());
    let port = format!("-Dtempleton.port={}", neighbour.port);
    assert_as_predicted(&run(&project, &[&port, "-Dtempleton.neighbour=true"]), &expected);
}

#[test]
fn section_2_3_a_polluted_cache_is_clean_in_a_new_jvm() {
    let Some((project, expected)) = example("2.3") else { return };
    project.commit();
    project.write("NOTES", "nothing reads this");
    project.commit();
    assert_as_predicted(&run(&project, &[]), &expected);
}

#[test]
fn section_2_4_a_change_of_another_module_is_not_blamed_although_all_reruns_fail() {
    let Some((project, expected)) = example("2.4") else { return };
    let place = Neighbour::somewhere();
    let port = place.local_addr().expect("it has an address").port();
    drop(place);
    let property = format!("-Dtempleton.port={port}");
    project.commit();
    let before = run(&project, &[&property]);
    assert_eq!(before.outcome(text_of(&expected, "test")), "passed", "{}", before.text());
    change_the_other_module(&project);
    project.commit();
    let listener = take(port).unwrap_or_else(|| panic!("port {port} is not free any more"));
    let _neighbour = Neighbour::stays_at(listener);
    assert_as_predicted(&run(&project, &[&property]), &expected);
}

/// As in the thesis: two classes under test and one test class.
fn change_the_other_module(project: &Project) {
    let ql = "org/apache/hadoop/hive/ql";
    let edit = |path: String, old: &str, new: &str| {
        let text = std::fs::read_to_string(project.path().join(&path)).expect("it is there");
        assert!(text.contains(old), "{path} does not hold {old}");
        project.write(&path, &text.replace(old, new));
    };
    edit(
        format!("ql/src/main/java/{ql}/exec/FunctionRegistry.java"),
        "    static {",
        "    static {\n        FUNCTIONS.put(\">\", new GenericUDFBaseCompare(1));",
    );
    edit(
        format!("ql/src/main/java/{ql}/udf/generic/GenericUDFBaseCompare.java"),
        "Integer.compare(left, right)",
        "Integer.signum(Integer.compare(left, right))",
    );
    edit(
        format!("ql/src/test/java/{ql}/exec/TestFunctionRegistry.java"),
        "evaluate(1, 2));",
        "evaluate(1, 2));\n        assertTrue(FunctionRegistry.find(\">\").evaluate(2, 1));",
    );
}
