//! What reports become in the history.

use flakeproof_core::{Again, History};
use flakeproof_store::SqliteHistory;
use flakeproof_testkit::Project;
use serde_json::json;

use crate::{REVISION, counts, flakeproof, ids, ingested, project, texts};

/// A report of these tests, each with a child of its element or nothing.
fn report(tests: &[(&str, &str)]) -> String {
    let mut text =
        String::from("<testsuite name=\"pytest\" timestamp=\"2026-11-15T10:15:00+00:00\">\n");
    for (name, child) in tests {
        text += &format!(
            "<testcase classname=\"test_a\" name=\"{name}\" time=\"0.5\">{child}</testcase>\n"
        );
    }
    text + "</testsuite>\n"
}

const FAILED: &str = "<failure message=\"boom\">boom</failure>";

fn runs(project: &Project) -> Vec<String> {
    let query = "SELECT started || ' ' || coalesce(revision, '') || ' ' || coalesce(branch, '') || ' ' \
                 || coalesce(job, '') || ' ' || state FROM run ORDER BY number";
    texts(&project.path().join(".flakeproof/history.db"), query)
}

#[test]
fn the_same_reports_are_read_once() {
    let project = project().file("a.xml", &report(&[("test_x", "")]));
    assert_eq!(ingested(&project, &["a.xml", "./a.xml"])["known"], false);
    assert_eq!(ingested(&project, &["a.xml"])["known"], true);
    assert_eq!(runs(&project).len(), 1);
    let (_, out, _) = flakeproof(&project, &["ingest", "--revision", REVISION, "a.xml"]);
    assert!(out.contains("nothing was added"), "{out}");
}

#[test]
fn shards_are_one_run_or_each_their_own() {
    let shards = |project: Project| {
        project
            .file("out/shard-1.xml", &report(&[("test_x", "")]))
            .file("out/shard-2.xml", &report(&[("test_y", FAILED)]))
            .file("out/package.json", "{\"name\": \"a\"}")
    };
    let one = shards(project());
    let run = ingested(&one, &["out"]);
    assert_eq!((counts(&run), &run["files"]), ([1, 1, 0, 0], &json!(2)));
    assert_eq!(ids(&one), ["test_a.py::test_x", "test_a.py::test_y"]);
    let two = shards(project());
    ingested(&two, &["--each", "out/*.xml"]);
    assert_eq!(runs(&two).len(), 2);
}

#[test]
fn a_test_that_fails_on_one_system_only_is_not_flaky() {
    let project = project()
        .file("linux/junit.xml", &report(&[("test_x", "")]))
        .file("windows/junit.xml", &report(&[("test_x", FAILED)]));
    let run = ingested(&project, &["linux", "windows"]);
    assert_eq!((counts(&run), &run["parts"]), ([0, 1, 0, 0], &json!(1)));
    let history = SqliteHistory::in_project(project.path()).unwrap();
    let timeline = history.timeline().unwrap();
    let mark = timeline.tests[0].marks[0];
    assert!(mark.has_failed() && mark.again == Again::Never);
}

#[test]
fn attempts_are_told_by_their_names_or_by_you() {
    for (names, option) in [(["attempt-1", "attempt-2"], None), (["a", "b"], Some("--attempts"))] {
        let [one, two] = names.map(|name| format!("{name}/junit.xml"));
        let project = project()
            .file(&one, &report(&[("test_x", FAILED), ("test_y", "")]))
            .file(&two, &report(&[("test_x", "")]));
        let arguments: Vec<&str> = option.into_iter().chain([&*one, &*two]).collect();
        assert_eq!(counts(&ingested(&project, &arguments)), [1, 0, 1, 0]);
        let history = SqliteHistory::in_project(project.path()).unwrap();
        let timeline = history.timeline().unwrap();
        let test = timeline.tests.iter().find(|it| it.test.as_str().ends_with("test_x")).unwrap();
        assert!(test.marks[0].has_failed() && test.marks[0].again == Again::Passed);
    }
}

#[test]
fn github_says_what_ran() {
    let project = project().file("a.xml", &report(&[("test_x", "")]));
    let mut command = project.flakeproof(&["ingest", "a.xml"]);
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_SHA", REVISION),
        ("GITHUB_REF_NAME", "main"),
        ("GITHUB_HEAD_REF", ""),
        ("GITHUB_JOB", "unit"),
        ("GITHUB_RUN_ID", "7"),
    ];
    command.envs(variables);
    assert!(command.env("GITHUB_RUN_ATTEMPT", "1").status().unwrap().success());
    assert!(command.env("GITHUB_RUN_ATTEMPT", "2").status().unwrap().success());
    let expected = format!("2026-11-15T10:15:00.000Z {REVISION} main unit finished");
    assert_eq!(runs(&project), [expected.clone(), expected]);
    let timeline = SqliteHistory::in_project(project.path()).unwrap().timeline().unwrap();
    assert!(timeline.runs[0].code.is_some() && timeline.runs[0].code == timeline.runs[1].code);
}

#[test]
fn jobs_are_not_compared_with_each_other() {
    let project = project().file("a.xml", &report(&[("test_x", "")]));
    ingested(&project, &["--job", "linux", "a.xml"]);
    ingested(&project, &["--job", "windows", "a.xml"]);
    let timeline = SqliteHistory::in_project(project.path()).unwrap().timeline().unwrap();
    assert_ne!(timeline.runs[0].code, timeline.runs[1].code);
}

#[test]
fn without_a_revision_nothing_is_proved() {
    let project = project().file("a.xml", &report(&[("test_x", FAILED)]));
    let revision = project.commit();
    let (code, _, err) = flakeproof(&project, &["ingest", "a.xml"]);
    assert_eq!(code, Some(0));
    assert!(err.contains("prove nothing"), "{err}");
    let timeline = SqliteHistory::in_project(project.path()).unwrap().timeline().unwrap();
    let run = &timeline.runs[0];
    assert_eq!((run.revision.as_deref(), run.code), (Some(&*revision), None));
}

#[test]
fn ids_are_normalised_unless_you_say_no() {
    let text = report(&[("test_x[&lt;C at 0x7f3a2b1c0d10&gt;]", ""), ("test_x[8]", "")]);
    let project = project().file("a.xml", &text);
    let run = ingested(&project, &["--dry-run", "a.xml"]);
    assert_eq!(run["rewritten"][0]["id"], "test_a.py::test_x[<C at <address>>]");
    assert!(!project.path().join(".flakeproof").exists());
    ingested(&project, &["a.xml"]);
    assert_eq!(ids(&project), ["test_a.py::test_x[8]", "test_a.py::test_x[<C at <address>>]"]);
    let (code, out, _) = flakeproof(&project, &["ingest", "--rules"]);
    assert!(code == Some(0) && out.contains("<address>") && out.contains("<port>"), "{out}");
    ingested(&project, &["--raw-ids", "--job", "raw", "a.xml"]);
    assert_eq!(ids(&project).len(), 3);
}

#[test]
fn stdin_is_a_report_too() {
    let project = project().file("a.xml", &report(&[("test_x", "")]));
    let file = std::fs::File::open(project.path().join("a.xml")).unwrap();
    let status = project.flakeproof(&["ingest", "-"]).stdin(file).status().unwrap();
    assert!(status.success());
    assert_eq!(ids(&project), ["test_a.py::test_x"]);
}
