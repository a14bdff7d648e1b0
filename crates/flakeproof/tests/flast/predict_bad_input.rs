//! Folders and files that nobody would call tests: a clear word, quickly, and no crash.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};

use flakeproof_testkit::{Project, Ran, skipped, started_by};

use crate::{assert_refuses, assert_says, finish, flakeproof, ids, predict, project};

/// A file of each language whose name alone says that it holds tests.
const PATHS: [&str; 10] = [
    "ATest.java",
    "BTest.kt",
    "test_c.py",
    "d.test.js",
    "e.test.ts",
    "f.test.tsx",
    "g_test.go",
    "src/lib.rs",
    "HTests.cs",
    "i_spec.rb",
];

const GOOD: &str = "def test_good(): pass\n";

/// Look at a project with a few seconds of processor time, however strange its files are: what needs
/// more is killed by the system, on an idle and on a busy machine alike.
fn quickly(project: &Project, arguments: &[&str]) -> Ran {
    let limited = ["sh", "-c", "ulimit -t 10; exec \"$0\" \"$@\""];
    finish(&mut started_by(&limited, &project.flakeproof(arguments)))
}

fn predict_quickly(project: &Project) -> Ran {
    let ran = quickly(project, &["predict", "--output-format", "json"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    ran
}

/// What the reader is told besides.
fn notices(ran: &Ran) -> String {
    ran.json["notices"].to_string()
}

#[test]
fn an_empty_folder_has_no_tests() {
    let ran = flakeproof(&project(), &["predict"]);
    assert_refuses(&ran, 4, &["no test was found in .", "Java, Kotlin, Python"]);
}

#[test]
fn source_without_tests_has_no_tests() {
    let project = project().file("src/main.py", "print(1)\n").file("A.java", "class A {}\n");
    assert_refuses(&flakeproof(&project, &["predict"]), 4, &["no test was found"]);
}

#[test]
fn a_folder_without_tests_is_named() {
    let project = project().file("test_a.py", GOOD).file("docs/index.md", "# A\n");
    assert_refuses(&flakeproof(&project, &["predict", "docs"]), 4, &["no test was found in docs"]);
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let ran = flakeproof(&project().file("test_a.py", GOOD), &["predict", "nowhere"]);
    assert_refuses(&ran, 2, &["nowhere does not exist"]);
}

#[test]
fn a_folder_that_may_not_be_read_is_named() {
    let project = project().file("closed/test_a.py", GOOD);
    let closed = project.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("it is ours");
    if fs::read_dir(&closed).is_ok() {
        let why = "this user may read everything";
        return skipped::note("a_folder_that_may_not_be_read_is_named", why);
    }
    let ran = flakeproof(&project, &["predict", "closed"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_refuses(&ran, 2, &["closed cannot be read"]);
}

#[test]
fn a_file_that_may_not_be_read_is_noted_and_the_others_are_read() {
    let project = project().file("test_closed.py", GOOD).file("test_open.py", GOOD);
    let closed = project.path().join("test_closed.py");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("it is ours");
    if fs::read(&closed).is_ok() {
        let why = "this user may read everything";
        return skipped::note("a_file_that_may_not_be_read_is_noted_and_the_others_are_read", why);
    }
    let ran = predict(&project, &[]);
    assert_eq!(ids(&ran), ["test_open.py::test_good"]);
    assert!(notices(&ran).contains("test_closed.py could not be read"), "{}", notices(&ran));
}

#[test]
fn a_folder_below_that_may_not_be_read_is_noted_and_the_others_are_read() {
    let project = project().file("closed/test_a.py", GOOD).file("open/test_b.py", GOOD);
    let closed = project.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("it is ours");
    if fs::read_dir(&closed).is_ok() {
        let name = "a_folder_below_that_may_not_be_read_is_noted_and_the_others_are_read";
        return skipped::note(name, "this user may read everything");
    }
    let ran = predict(&project, &[]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_eq!(ids(&ran), ["open/test_b.py::test_good"]);
    assert!(notices(&ran).contains("closed could not be read"), "{}", notices(&ran));
}

#[test]
fn a_binary_file_with_the_name_of_source_is_noted_and_passed_over() {
    let project = project().file("test_a.py", GOOD);
    let class_file = [&b"\xca\xfe\xba\xbe\0\0\0\x41 @Test class Foo"[..], &[0; 64]].concat();
    fs::write(project.path().join("Foo.java"), class_file).expect("the folder can be written");
    let ran = predict(&project, &[]);
    assert_eq!(ids(&ran), ["test_a.py::test_good"]);
    assert!(notices(&ran).contains("Foo.java was not read: not a text"), "{}", notices(&ran));
}

#[test]
fn bytes_that_are_no_text_cost_neither_tests_nor_lines() {
    let project = project();
    let text = b"# caf\xe9 \xff\xfe\nx = '\xc3\x28'\n\ndef test_a():\n    assert '\x80'\n";
    fs::write(project.path().join("test_x.py"), text).expect("the folder can be written");
    let ran = predict(&project, &[]);
    assert_eq!(ids(&ran), ["test_x.py::test_a"]);
    let test = ran.test("test_a");
    assert_eq!([&test["line"], &test["end_line"]], [4, 5]);
}

#[test]
fn a_file_of_100_megabytes_is_noted_and_passed_over() {
    let project = project().file("test_a.py", GOOD).file("Huge.java", "class Huge { @Test }");
    let huge = File::options().write(true).open(project.path().join("Huge.java"));
    huge.and_then(|huge| huge.set_len(100 << 20)).expect("a sparse file can be made");
    let ran = predict_quickly(&project);
    assert_eq!(ids(&ran), ["test_a.py::test_good"]);
    assert!(notices(&ran).contains("Huge.java was not read: larger than"), "{}", notices(&ran));
}

#[test]
fn a_folder_with_nothing_but_a_file_of_100_megabytes_says_why_it_has_no_tests() {
    let project = project().file("Huge.java", "class Huge { @Test }");
    let huge = File::options().write(true).open(project.path().join("Huge.java"));
    huge.and_then(|huge| huge.set_len(100 << 20)).expect("a sparse file can be made");
    let ran = flakeproof(&project, &["predict"]);
    assert_refuses(&ran, 4, &["no test was found", "Huge.java was not read: larger than"]);
}

#[test]
fn a_long_file_below_the_bound_is_read() {
    let text: String = (0..2_000).map(|at| format!("def test_{at}(): assert {at}\n")).collect();
    let project = project().file("test_long.py", &text);
    let ran = predict(&project, &[]);
    assert_eq!(ids(&ran).len(), 2_000);
}

#[test]
fn a_hundred_thousand_brackets_in_any_language_are_noted_quickly() {
    for bracket in ["(", "[", "{"] {
        let project = project().file("test_good.py", GOOD);
        for path in PATHS {
            // The first line makes each look like tests to whoever only glances at it.
            let glance = "// @Test [Fact] #[test] #[cfg(test)] import pytest describe it\n";
            project.write(path, &format!("{glance}{}", bracket.repeat(100_000)));
        }
        let ran = predict_quickly(&project);
        assert_eq!(ids(&ran), ["test_good.py::test_good"], "{bracket}");
        assert!(notices(&ran).contains("nested deeper"), "{bracket}: {}", notices(&ran));
    }
}

#[test]
fn each_language_alone_stands_a_hundred_thousand_brackets() {
    for path in PATHS {
        let glance = "// @Test [Fact] #[test] #[cfg(test)] import pytest describe it\n";
        let project = project().file(path, &format!("{glance}{}", "([{".repeat(33_334)));
        let ran = quickly(&project, &["predict"]);
        assert_says(&ran, 4, &["no test was found", path, "nested deeper"]);
    }
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let halves = [
        ("ATest.java", "class ATest {\n @Test void a() { f(); }\n @Test void b() { g("),
        ("BTest.kt", "class BTest {\n @Test\n fun a() { f() }\n @Test fun b() { g("),
        ("test_c.py", "def test_a():\n    f()\n\ndef test_b(:\n    g("),
        ("d.test.js", "it('a', () => { f(); });\nit('b', () => { g("),
        ("e.test.ts", "it('a', () => { f(); });\nit('b', () => { g("),
        ("g_test.go", "package g\nfunc TestA(t *testing.T) { f() }\nfunc TestB(t *testing.T) { g("),
        ("src/lib.rs", "mod tests {\n #[test]\n fn a() { f() }\n #[test]\n fn b() { g("),
        ("HTests.cs", "class HTests {\n [Fact] void a() { f(); }\n [Fact] void b() { g("),
    ];
    for (path, text) in halves {
        let ran = predict(&project().file(path, text), &[]);
        let first = ids(&ran)[0].to_lowercase();
        assert!(first.ends_with('a'), "{path}: {first}");
    }
}

#[test]
fn folders_that_link_to_themselves_are_read_once() {
    let project = project().file("a/test_a.py", GOOD);
    symlink("..", project.path().join("a/up")).expect("a link can be made");
    symlink("loop", project.path().join("loop")).expect("a link can be made");
    assert_eq!(ids(&predict_quickly(&project)), ["a/test_a.py::test_good"]);
}

#[test]
fn a_link_to_itself_does_not_exist() {
    let project = project();
    symlink("loop.py", project.path().join("loop.py")).expect("a link can be made");
    assert_refuses(&flakeproof(&project, &["predict", "loop.py"]), 2, &["loop.py does not exist"]);
}

#[test]
fn a_name_that_is_no_text_is_no_trouble() {
    use std::os::unix::ffi::OsStrExt;
    let project = project().file("test_a.py", GOOD);
    let name = std::ffi::OsStr::from_bytes(b"test_\xff.py");
    fs::write(project.path().join(name), GOOD).expect("the folder can be written");
    assert_eq!(ids(&predict(&project, &[])).len(), 2);
}
