//! Tests that are not there, tests without a path, and code that nobody should write.

use std::fmt::Write as _;

use crate::{assert_refuses, graph, graph_json, list, project, sample, stdout};

#[test]
fn an_unknown_test_is_told_where_ids_are_listed() {
    let ran = graph(&sample("python"), &["test_nothing"]);
    let words = ["no test is called `test_nothing`", "flakeproof predict --output-format json"];
    assert_refuses(&ran, 2, &words);
    let near = graph(&sample("python"), &["expires"]);
    assert_eq!(near.code(), Some(0), "the end of an id is enough: {}", near.text());
}

#[test]
fn a_name_that_fits_several_tests_lists_them() {
    let text = "def test_a():\n    assert f()\n";
    let project = project().file("test_x.py", text).file("test_y.py", text);
    let ran = graph(&project, &["test_a"]);
    assert_refuses(&ran, 2, &["2 tests end in `test_a`", "test_x.py::test_a", "test_y.py::test_a"]);
}

#[test]
fn a_folder_without_tests_has_no_graph() {
    assert_refuses(&graph(&project(), &["a"]), 4, &["no test was found"]);
    assert_refuses(&graph(&project(), &["a", "nowhere"]), 2, &["does not exist"]);
}

#[test]
fn languages_without_graphs_say_which_have_them() {
    let kotlin = "import org.junit.Test\nclass ATest {\n  @Test fun works() { f() }\n}\n";
    let ruby = "describe 'a' do\n  it 'works' do\n    expect(1).to eq 1\n  end\nend\n";
    let csharp = "class A {\n  [Fact]\n  public void Works() { Assert.True(f()); }\n}\n";
    for (path, text, test, name) in [
        ("ATest.kt", kotlin, "works", "kotlin"),
        ("a_spec.rb", ruby, "", "ruby"),
        ("ATests.cs", csharp, "Works", "csharp"),
    ] {
        let ran = graph(&project().file(path, text), &[test]);
        let what = format!("no graph can be drawn of a test in {name}");
        assert_refuses(&ran, 2, &[&what, "Java, Python, JavaScript, TypeScript, Go or Rust"]);
    }
}

#[test]
fn a_test_without_a_path_says_why() {
    let empty = graph(&sample("java"), &["isToBeWritten"]);
    assert_eq!(empty.code(), Some(0), "{}", empty.text());
    assert!(empty.text().contains("the test has no path: its body is empty"), "{}", empty.text());
    let document = graph_json(&sample("java"), "isToBeWritten");
    assert_eq!(list(&document, "paths").len(), 0);
    assert_eq!(list(&document, "notices").len(), 1, "{document:#}");
    let idle = project().file("test_a.py", "def test_a():\n    x = 1\n    y = x\n");
    let idle = graph(&idle, &["test_a"]);
    assert!(idle.text().contains("it asserts nothing and calls nothing"), "{}", idle.text());
}

#[test]
fn values_and_calls_that_run_in_circles_come_to_an_end() {
    let text = "\
def ping(n):
    return pong(n)

def pong(n):
    return ping(n)

def test_circle():
    a = 1
    b = 2
    while a < b:
        a = b + ping(a)
        b = a + pong(b)
    assert a == b
";
    let project = project().file("test_circle.py", text);
    let document = graph_json(&project, "test_circle");
    assert!((1..=100).contains(&list(&document, "paths").len()), "{document:#}");
}

#[test]
fn of_a_test_of_5000_lines_the_beginning_is_drawn() {
    let mut text = "def test_long():\n    v0 = start()\n".to_owned();
    for line in 1..5_000 {
        let before = line - 1;
        let _ = writeln!(text, "    v{line} = f{line}(v{before} + {line}, g(v{before}), 'x')");
    }
    text.push_str("    assert v4999 == 1\n");
    let project = project().file("test_long.py", &text);
    let document = graph_json(&project, "test_long");
    assert_eq!(document["cut"], true);
    assert!((1..=100).contains(&list(&document, "paths").len()));
    let drawn = graph(&project, &["test_long", "--format", "svg"]);
    let svg = stdout(&drawn);
    assert_eq!(svg.matches("<rect").count(), 80, "{:?}: {}", drawn.code(), drawn.text());
    assert!(stdout(&graph(&project, &["test_long"])).contains("only its beginning was read"));
}

#[test]
fn code_that_does_not_parse_is_drawn_as_far_as_it_goes() {
    let test = "import broken\n\ndef test_a():\n    x = broken.half(3)\n    assert x == 4\n";
    let broken = "def half(n):\n    return (n /\n\nclass ((((:\n    def\n";
    let project = project().file("test_a.py", test).file("broken.py", broken);
    let ran = graph(&project, &["test_a"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(stdout(&ran).contains("through half"), "{}", ran.text());
    let own = "def test_a():\n    x = f(3)\n    assert x == 4\n\ndef test_b(:\n    assert ((\n";
    let project = crate::project().file("test_a.py", own);
    let ran = graph(&project, &["test_a"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(stdout(&ran).contains("x = f(3)"), "{}", ran.text());
}

#[test]
fn without_the_code_under_test_paths_are_shown_without_its_places() {
    let project = sample("java");
    let main = project.path().join("src/main");
    std::fs::remove_dir_all(main).expect("it is there");
    let ran = graph(&project, &["expiresInAnHour"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(stdout(&ran).contains("^^^^^^^ through expires\n"), "{}", ran.text());
    assert!(!ran.text().contains("src/main"), "{}", ran.text());
}

#[test]
fn a_file_that_is_no_source_is_named_and_left_out() {
    let project = sample("python").file("shop/blob.py", "\0\0");
    let ran = graph(&project, &["test_expires", "tests"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(ran.text().contains("shop/blob.py was not read: not a text"), "{}", ran.text());
    assert!(!stdout(&ran).contains("blob"), "{}", ran.text());
}

#[test]
fn a_line_of_a_hundred_thousand_letters_is_shown_in_part() {
    let long = "x".repeat(100_000);
    let text = format!("def test_a():\n    v = f('{long}', now())\n    assert v == 1\n");
    let ran = graph(&project().file("test_a.py", &text), &["test_a"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let widest = stdout(&ran).lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(200), "{widest:?}");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let project = sample("java").file("out", "a file, not a folder");
    let ran = graph(&project, &["expiresInAnHour", "--format", "svg", "-o", "out/graph.svg"]);
    assert_refuses(&ran, 6, &["out/graph.svg cannot be written"]);
}
