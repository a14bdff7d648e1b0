//! Fields, set-up and superclasses, as they come to a test.

use flakeproof_syntax::dependence::Graph;

use crate::{all_paths, graph, java_class, name, paths, project};

const BASE: &str = "package a;
public abstract class Base {
    protected Client client = new Client(1);
    @Before public void open() { client.open(2); }
    protected abstract String url();
    @Test public void connects() { assertTrue(client.get(url())); }
}";

#[test]
fn a_field_has_its_first_value_then_what_set_up_does_to_it() {
    let own = "package a; public class ATest extends Base {
        @Before public void login() { client.login(3); }
        protected String url() { return \"/\"; }
        @Test public void works() { assertTrue(client.isOpen()); } }";
    let project =
        project(&[("src/test/java/a/Base.java", BASE), ("src/test/java/a/ATest.java", own)]);
    let test = project.find_method("a.ATest", "works").expect("the test is found");
    let graph = Graph::new(&project, test, Some("a.ATest"));
    assert!(
        paths(&project, &graph).contains(
            &"1 -Client-> client -open-> client -login-> client -isOpen-> client.isOpen()"
                .to_owned()
        ),
        "{:?}",
        paths(&project, &graph)
    );
}

#[test]
fn an_inherited_test_runs_the_helpers_of_the_class_it_is_run_in() {
    let one = "package a;
        public class OneTest extends Base { protected String url() { return \"/1\"; } }";
    let two = "package b; import a.Base;
        public class TwoTest extends Base { protected String url() { return \"/2\"; } }";
    let project = project(&[
        ("src/test/java/a/Base.java", BASE),
        ("src/test/java/a/OneTest.java", one),
        ("src/test/java/b/TwoTest.java", two),
    ]);
    for (class, url) in [("a.OneTest", "\"/1\""), ("b.TwoTest", "\"/2\"")] {
        let test = project.find_method(class, "connects[3]").expect("the test is inherited");
        let graph = Graph::new(&project, test, Some(class));
        let found = paths(&project, &graph);
        assert!(found.iter().any(|path| path.starts_with(url)), "{class}: {found:?}");
    }
}

#[test]
fn superclasses_set_up_first_and_overridden_hooks_run_once() {
    let own = "package a; public class ATest extends Base {
        @Before public void login() { }
        @Before public void open() { }
        @After public void close() { }
        ATest(int port) { }
        protected String url() { return null; }
        @Test public void works() { } }";
    let project =
        project(&[("src/test/java/a/Base.java", BASE), ("src/test/java/a/ATest.java", own)]);
    let test = project.find_method("a.ATest", "works").expect("the test is found");
    let found = project.test_hooks(test, project.find_class("a.ATest"));
    let names = |list: &[_]| list.iter().map(|it| name(&project, *it)).collect::<Vec<_>>();
    assert_eq!(names(&found.before), ["ATest.ATest(int)", "ATest.login()", "ATest.open()"]);
    assert_eq!(names(&found.after), ["ATest.close()"]);
}

#[test]
fn a_class_derived_from_itself_ends_nothing_in_a_loop() {
    let one =
        "package a; public class A extends B { @Test public void t() { assertTrue(x.f(1)); } }";
    let two = "package a; public class B extends A { }";
    let project = project(&[("src/test/java/a/A.java", one), ("src/test/java/a/B.java", two)]);
    assert!(project.find_method("a.B", "t").is_some());
    assert!(!all_paths(&project).is_empty());
}

#[test]
fn fields_that_refer_to_one_another_end_nothing_in_a_loop() {
    let text = java_class("int a = b + 1; int b = a + 2;", "assertEquals(3, a);");
    let project = project(&[("src/test/java/a/ATest.java", &text)]);
    assert!(all_paths(&project).iter().any(|path| path.starts_with("2 ")));
}

#[test]
fn helpers_that_call_one_another_end_nothing_in_a_loop() {
    let text = java_class(
        "int even(int n) { return odd(n - 1); } int odd(int n) { return even(n - 1); }",
        "assertEquals(1, even(7));",
    );
    let project = project(&[("src/test/java/a/ATest.java", &text)]);
    assert!(!graph(&project).is_cut);
    assert!(all_paths(&project).iter().any(|path| path.starts_with("7 ")));
}
