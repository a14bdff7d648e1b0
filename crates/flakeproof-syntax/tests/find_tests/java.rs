//! Java: JUnit 3, 4 and 5, TestNG, and files that do not compile.

use flakeproof_syntax::IssueKind;

use crate::{find, helpers, ids, listing};

const FOO: &str = include_str!("../samples/FooTest.java");

#[test]
fn annotated_methods_are_tests_and_nested_classes_are_joined_by_a_dollar() {
    let found = find("src/test/java/com/acme/FooTest.java", FOO);
    assert_eq!(
        listing(&found),
        [
            "com.acme.FooTest#adds 13-18",
            "com.acme.FooTest#waits 20-20",
            "com.acme.FooTest$Inner#each 30-31",
        ]
    );
    assert_eq!(found.issues, []);
    assert_eq!(found.tests[2].enclosing, ["FooTest", "Inner"]);
    assert!(found.tests[0].text.starts_with("@Test(expected"));
    assert!(found.tests[0].text.ends_with('}'));
}

#[test]
fn helpers_come_in_the_order_in_which_they_run_each_once() {
    let found = find("FooTest.java", FOO);
    assert_eq!(helpers(&found, "adds"), ["setUp", "reset", "check", "compare", "make"]);
    assert_eq!(helpers(&found, "waits"), ["setUp", "reset"]);
    assert_eq!(helpers(&found, "each"), ["setUp", "reset", "check", "compare"]);
}

#[test]
fn a_class_without_a_package_is_named_alone() {
    let found = find("A.java", "class A { @org.junit.Test void x() {} }");
    assert_eq!(ids(&found), ["A#x"]);
}

#[test]
fn junit3_needs_a_base_class_and_a_name_about_tests() {
    let body = "{ public void testA() {} public void testB(int n) {} static void testC() {} \
                void testD() {} public int testE() { return 1; } protected void setUp() { f(); } \
                void f() {} }";
    let of = |head: &str| ids(&find("X.java", &format!("{head} {body}")));
    assert_eq!(of("class X extends junit.framework.TestCase"), ["X#testA"]);
    assert_eq!(of("class XTest extends Base<Y>"), ["XTest#testA"]);
    assert!(of("class XTest").is_empty());
    assert!(of("class X extends Base").is_empty());

    let text = format!("class X extends TestCase {body}");
    assert_eq!(helpers(&find("X.java", &text), "testA"), ["setUp", "f"]);
}

#[test]
fn a_class_that_annotates_its_tests_is_not_junit3() {
    let text = "class XTest extends Base { @Test public void a() {} public void testB() {} }";
    assert_eq!(ids(&find("X.java", text)), ["XTest#a"]);
}

#[test]
fn an_override_of_a_test_runs_without_an_annotation_of_its_own() {
    let text = "class XTest extends Base { @Test public void a() {}
        @Override public void testB() {} @Override public void run() {} }";
    assert_eq!(ids(&find("X.java", text)), ["XTest#a", "XTest#testB"]);
}

#[test]
fn testng_makes_tests_of_the_public_methods_of_an_annotated_class() {
    let text = "@Test(groups = \"x\") public class A {
        @BeforeMethod public void before() {} public void a() {} void b() {} private void c() {}
        public static void d() {} @DataProvider public Object[][] e() { return null; }
        @AfterTest public void after() {} }";
    let found = find("A.java", text);
    assert_eq!(ids(&found), ["A#a"]);
    assert_eq!(helpers(&found, "a"), ["before", "after"]);
}

#[test]
fn interfaces_records_enums_and_abstract_classes_hold_tests_too() {
    let text = "package p; interface I { @Test default void a() {} @Test void none(); }
        record R(int x) { @Test void b() {} } enum E { ONE; @RepeatedTest(3) void c() {} }
        abstract class Q { @TestFactory abstract Object d(); @IntegrationTest void e() {} }";
    assert_eq!(ids(&find("A.java", text)), ["p.I#a", "p.R#b", "p.E#c", "p.Q#e"]);
}

#[test]
fn set_up_in_a_base_class_of_the_same_file_counts() {
    let text = "class Base { @BeforeEach void up() { deep(); } void deep() {} void shared() {} }
        class ATest extends Base { @Test void a() { shared(); super.deep(); } }";
    assert_eq!(helpers(&find("ATest.java", text), "a"), ["up", "deep", "shared"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "package a.b;\npublic class ATest extends B {\n @Test public void x() { f(); }\n \
                @Nested class In { @Test void n() {} }\n @Test public void y() { g(";
    let found = find("ATest.java", text);
    assert_eq!(ids(&found), ["a.b.ATest#x", "a.b.ATest$In#n", "a.b.ATest#y"]);
    assert_eq!(found.issues.len(), 1);
    assert_eq!(found.issues[0].kind, IssueKind::SyntaxError);
}

#[test]
fn a_test_with_an_error_in_its_body_still_counts() {
    let text = "class ATest {\n @Test void x() { f(; }\n @Test void y() { int = ; }\n \
                @Test void z() { }\n}";
    assert_eq!(ids(&find("ATest.java", text)), ["ATest#x", "ATest#y", "ATest#z"]);
}

#[test]
fn methods_that_lost_their_class_belong_to_the_class_of_the_files_name() {
    let text = "package p;\n @Test public void x() { f(); }\n}\n";
    assert_eq!(ids(&find("src/ATest.java", text)), ["p.ATest#x"]);
}
