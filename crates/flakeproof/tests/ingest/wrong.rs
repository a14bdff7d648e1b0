//! Reports that are not as they should be.

use serde_json::Value;

use crate::{flakeproof, project};

/// What `validate` says is wrong with a report.
fn problems(name: &str, text: &str) -> Vec<String> {
    let project = project().file(name, text);
    let (code, out, err) = flakeproof(&project, &["validate", "--format", "json", name]);
    let value: Value = serde_json::from_str(&out).expect(&err);
    let list = value["reports"][0]["problems"].as_array().expect("a list").clone();
    assert_eq!(code, Some(i32::from(!list.is_empty())));
    list.iter()
        .map(|it| format!("{} {}", it["line"], it["what"].as_str().expect("a text")))
        .collect()
}

fn is_said(name: &str, text: &str, what: &str) {
    let problems = problems(name, text);
    assert!(problems.iter().any(|it| it.contains(what)), "{what} in {problems:#?}");
}

#[test]
fn each_kind_of_problem_is_said() {
    is_said("a.xml", "<testsuite>\n<testcase name='a'>", "2 the report ends inside of `a`");
    is_said(
        "a.xml",
        "<testsuite tests='2'><testcase name='a' time='1'/></testsuite>",
        "declares 2",
    );
    let twice = "<testsuite><testcase name='a' time='1'/><testcase name='a' time='1'/></testsuite>";
    is_said("a.xml", twice, "1 test occurs more than once");
    is_said("a.xml", "<testsuite><testcase time='1'/></testsuite>", "1 test has no name");
    let latin = "<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='a' time='1'/></testsuite>";
    is_said("a.xml", latin, "the encoding iso-8859-1");
    let untimed = "<testsuite><testcase name='a'/><testcase name='b' time='1'/></testsuite>";
    is_said("a.xml", untimed, "1 test has no time");
    is_said("a.xml", "<testsuite></testsuite>", "holds no test");
    is_said("a.xml", "", "the report is empty");
    is_said("a.tap", "1..3\nok 1\n", "2 3 tests were planned and 1 reported");
    is_said("a.json", "{\"results\":{\"tests\":[{\"name\":\"a\"", "cannot be read");
    is_said("a.txt", "hello\n", "this is no report");
}

#[test]
fn a_cut_report_is_read_as_far_as_it_is_whole() {
    let text =
        "<testsuite><testcase name='a' time='1'/><testcase name='b' time='1'/><testcase name='c'";
    let project = project().file("a.xml", text);
    let (code, out, err) = flakeproof(&project, &["ingest", "a.xml"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("2 tests") && err.contains("tests may be missing"), "{out}{err}");
}

#[test]
fn a_file_without_tests_is_no_success() {
    let project = project().file("a.xml", "<project/>");
    for _ in 0..2 {
        let (code, text, _) = flakeproof(&project, &["ingest", "a.xml"]);
        assert_eq!(code, Some(4), "{text}");
        assert!(text.contains("next: `flakeproof validate FILE`"), "{text}");
    }
    assert_eq!(flakeproof(&project, &["ingest", "missing.xml"]).0, Some(2));
    assert_eq!(flakeproof(&project, &["ingest", "--started", "soon", "a.xml"]).0, Some(2));
}

#[test]
fn entities_open_no_file_and_do_not_grow() {
    let secret = "the content of a file that nobody named";
    let project = project().file("secret.txt", secret);
    let path = project.path().join("secret.txt");
    let mut text = format!(
        "<!DOCTYPE t [<!ENTITY x SYSTEM \"file://{}\"><!ENTITY a0 \"aaaaaaaaaa\">",
        path.display()
    );
    for level in 1..30 {
        let before = format!("&a{};", level - 1).repeat(10);
        text += &format!("<!ENTITY a{level} \"{before}\">");
    }
    text += "]><testsuite><testcase name=\"a&x;&a29;\" time=\"1\"><failure message=\"&x;&a29;\">&x;&a29;\
        </failure></testcase></testsuite>";
    project.write("a.xml", &text);
    let (code, out, err) = flakeproof(&project, &["ingest", "a.xml"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let database = std::fs::read(project.path().join(".flakeproof/history.db")).unwrap();
    assert!(!database.windows(secret.len()).any(|it| it == secret.as_bytes()));
    assert!(database.windows(6).any(|it| it == b"&x;&a2"));
    assert!(database.len() < 1_000_000);
}
