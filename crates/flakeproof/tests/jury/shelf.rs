//! A small data set with its source: six projects, each with one test on each of twelve subjects.
//!
//! Four subjects are flaky. A test calls the code under test, which lies in a file of its own.

use flakeproof_testkit::Project;
use serde_json::json;

const PROJECTS: [&str; 6] = ["apple", "birch", "cedar", "elder", "hazel", "maple"];

/// Name, whether it is flaky, and what its code does.
const SUBJECTS: [(&str, bool, &str); 12] = [
    ("Latch", true, "worker.start(); Thread.sleep(100); return latch.getCount();"),
    ("Port", true, "socket.bind(8080); client.connect(host, 8080); return client.available();"),
    ("Pool", true, "executor.submit(task); return future.get(50, TimeUnit.MILLISECONDS);"),
    ("Clock", true, "long begin = System.currentTimeMillis(); return elapsed(begin);"),
    ("Trim", false, "String blank = padded.trim(); return blank.length();"),
    ("Sum", false, "int sum = left + right; return sum;"),
    ("Parse", false, "Token token = parser.parse(grammar); return token.width();"),
    ("Sort", false, "list.sort(ascending); return list.first();"),
    ("Map", false, "map.put(key, value); return map.size();"),
    ("Format", false, "String pattern = formatter.format(decimal); return pattern.length();"),
    ("Json", false, "Node node = json.read(document); return node.depth();"),
    ("Colour", false, "Colour colour = Colour.valueOf(name); return colour.ordinal();"),
];

/// Write `tests.jsonl`, in which projects are mixed, and `sources/`.
pub(crate) fn fill(project: &Project) {
    let mut lines = String::new();
    for subject in &SUBJECTS {
        for name in PROJECTS {
            lines += &line(name, subject);
            write_source(project, name, subject);
        }
    }
    project.write("tests.jsonl", &lines);
}

/// The lines of the first subjects only, of which the first four are flaky.
pub(crate) fn lines(subjects: &[usize], projects: usize) -> String {
    let chosen = subjects.iter().map(|at| &SUBJECTS[*at]);
    chosen.flat_map(|subject| PROJECTS[..projects].iter().map(|name| line(name, subject))).collect()
}

/// The id of the test on a subject in a project.
pub(crate) fn id(project: &str, subject: usize) -> String {
    let (name, ..) = SUBJECTS[subject];
    format!("{project}::org.{project}.{name}Test#checks")
}

fn line(project: &str, subject: &(&str, bool, &str)) -> String {
    let row = json!({
        "id": format!("{project}::org.{project}.{}Test#checks", subject.0),
        "project": project,
        "class": format!("org.{project}.{}Test", subject.0),
        "method": "checks",
        "file": "Test.java",
        "flaky": subject.1,
        "source": test_source(subject),
    });
    format!("{row}\n")
}

fn test_source((name, _, body): &(&str, bool, &str)) -> String {
    let first = body.split(';').next().unwrap_or_default();
    format!(
        "@Test public void checks() {{\n  {name} made = new {name}();\n  {first};\n  \
         long got = made.use();\n  assertEquals(3, got);\n}}"
    )
}

fn write_source(project: &Project, name: &str, subject: &(&str, bool, &str)) {
    let (class, _, body) = subject;
    let test = test_source(subject);
    project.write(
        &format!("sources/{name}/src/test/{class}Test.java"),
        &format!("package org.{name};\npublic class {class}Test {{\n{test}\n}}\n"),
    );
    project.write(
        &format!("sources/{name}/src/main/{class}.java"),
        &format!(
            "package org.{name};\npublic class {class} {{\n  public long use() {{ {body} }}\n}}\n"
        ),
    );
}
