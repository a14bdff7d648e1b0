//! What values end in where nothing is compared: exceptions, last calls, helpers that assert.

use crate::{all_paths, graph, java, java_class, project};

fn with_members(members: &str, lines: &str) -> Vec<String> {
    let text = java_class(members, lines);
    all_paths(&project(&[("src/test/java/a/ATest.java", &text)]))
}

#[test]
fn listing_4_of_the_paper_has_a_path_through_its_helper() {
    let found = with_members(
        "private void runBuildForTask(String task) {
             try { project.newBuild().forTasks(task).withArguments(this.buildArguments).run(); }
             catch (BuildException ex) {
                 Throwable root = ex;
                 while (root.getCause() != null) { root = root.getCause(); }
                 fail(root.getMessage());
             }
         }",
        "runBuildForTask(\"checkSpring\");",
    );
    assert!(
        found.iter().any(|path| path.ends_with("-getMessage-> root.getMessage()")),
        "{found:?}"
    );
}

#[test]
fn a_test_without_an_assertion_ends_in_its_last_call() {
    let found = all_paths(&java("Server server = new Server(8080);\nserver.start();"));
    assert_eq!(found, ["8080 -Server-> server -start-> start"]);
}

#[test]
fn the_last_call_may_be_in_a_helper() {
    let found = with_members("void go(int port) { Http.ping(port); }", "go(8080);");
    assert_eq!(found, ["8080 -go-> port -ping-> ping"]);
}

#[test]
fn a_last_call_that_takes_nothing_in_is_a_path_by_itself() {
    assert_eq!(all_paths(&java("start();")), ["start() -start-> start"]);
}

#[test]
fn an_empty_test_has_no_path() {
    assert_eq!(all_paths(&java("")), Vec::<String>::new());
}

#[test]
fn what_a_helper_asserts_counts() {
    let found = with_members(
        "private void check(String actual) { assertEquals(\"x\", actual); }",
        "String name = load(7);\ncheck(name);",
    );
    assert_eq!(
        found,
        ["\"x\" -assertEquals-> actual", "7 -load-> name -check-> actual -assertEquals-> actual",]
    );
}

#[test]
fn an_own_assertion_is_what_it_does_inside() {
    let found = with_members(
        "private void assertPaid(Order order) { assertTrue(order.isPaid()); }",
        "assertPaid(load(7));",
    );
    assert!(
        found
            .contains(&"7 -load-> load(7) -assertPaid-> order -isPaid-> order.isPaid()".to_owned()),
        "{found:?}"
    );
}

#[test]
fn an_own_assertion_that_compares_nothing_is_the_assertion() {
    let found = with_members("void assertQuiet(Log log) { log.flush(); }", "assertQuiet(log);");
    assert_eq!(found, ["log -assertQuiet-> log"]);
}

#[test]
fn what_must_raise_ends_in_the_exception() {
    let found = all_paths(&java("assertThrows(IOException.class, () -> client.send(1));"));
    assert!(found.contains(&"client -send-> assertThrows".to_owned()), "{found:?}");
    assert!(found.contains(&"IOException.class -assertThrows-> assertThrows".to_owned()));
}

#[test]
fn an_expected_exception_of_the_annotation_ends_the_test() {
    let text = "package a; public class ATest {
        @Test(expected = IOException.class) public void test() { client.send(1); } }";
    let found = all_paths(&project(&[("src/test/java/a/ATest.java", text)]));
    assert!(found.contains(&"1 -send-> expected".to_owned()), "{found:?}");
}

#[test]
fn an_expected_exception_of_a_rule_ends_the_test() {
    let found = with_members(
        "@Rule public ExpectedException thrown = ExpectedException.none();",
        "thrown.expect(IOException.class);\nclient.send(1);",
    );
    assert!(found.contains(&"1 -send-> expect".to_owned()), "{found:?}");
    assert!(found.contains(&"IOException.class -expect-> expect".to_owned()), "{found:?}");
}

#[test]
fn a_failure_that_looks_at_nothing_is_about_the_call_before_it() {
    let lines = "try { parser.parse(\"x\"); fail(\"must not parse\"); } catch (Exception e) { }";
    let found = all_paths(&java(lines));
    assert!(found.contains(&"\"x\" -parse-> fail".to_owned()), "{found:?}");
    assert!(found.contains(&"\"must not parse\" -fail-> fail".to_owned()), "{found:?}");
}

#[test]
fn what_set_up_asserts_is_not_the_tests() {
    let text = java_class("@Before public void setUp() { assertTrue(ready); }", "go(1);");
    let project = project(&[("src/test/java/a/ATest.java", &text)]);
    assert_eq!(graph(&project).assertions.len(), 1);
    assert_eq!(all_paths(&project), ["1 -go-> go"]);
}
