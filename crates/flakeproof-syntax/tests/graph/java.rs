//! Tests of Java, the paper's own examples first: variables, statements and lambdas; fields, set-up
//! and superclasses, as they come to a test; and what values end in where nothing is compared:
//! exceptions, last calls, helpers that assert.

use flakeproof_syntax::dependence::{Graph, NodeKind};

use crate::{all_paths, edges, graph, java, java_class, name, node, paths, project};

/// The lines of a test begin here.
const FIRST_LINE: usize = 6;

/// The edges of a test with these lines, with lines counted from its first.
fn flows(lines: &str) -> Vec<String> {
    let project = java(lines);
    edges(&project, &graph(&project)).into_iter().map(|edge| relative(&edge)).collect()
}

/// The text of an edge with lines counted from the first of the test.
fn relative(edge: &str) -> String {
    let mut pieces = edge.split('@');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let line: usize = piece[..end].parse().expect("a line is a number");
        text.push_str(&format!("@{}{}", line + 1 - FIRST_LINE, &piece[end..]));
    }
    text
}

#[test]
fn the_line_of_definition_1_has_the_nodes_and_edges_of_the_paper() {
    let project = java("Tool tool = Tool.load(\"string\", get(item), array[10]);");
    let graph = graph(&project);
    let is_of_the_line = |kind: NodeKind| kind != NodeKind::Assertion;
    let nodes: Vec<&str> = (0..)
        .map(flakeproof_syntax::dependence::NodeId)
        .zip(&graph.nodes)
        .filter(|(_, node)| is_of_the_line(node.kind))
        .map(|(id, _)| graph.node_text(&project, id))
        .collect();
    assert_eq!(nodes, ["\"string\"", "item", "get(item)", "array", "tool"]);
    let edges: Vec<String> = edges(&project, &graph)
        .into_iter()
        .map(|edge| relative(&edge))
        .filter(|edge| !edge.ends_with('!'))
        .collect();
    assert_eq!(
        edges,
        [
            "item@1^ -get-> get(item)@1",
            "\"string\"@1^ -load-> tool@1^",
            "get(item)@1 -load-> tool@1^",
            "item@1^ -load-> tool@1^",
            "array@1^ -load-> tool@1^",
        ]
    );
}

#[test]
fn figure_2_is_drawn_as_in_the_paper() {
    let meta = "package a; public class RequestMeta {
        public static RequestMeta fromJSON(String text) { return null; }
        public String toJSON() { return \"\"; } }";
    let test = java_class(
        "",
        "String content = fetch(\"url\");
         RequestMeta requestMeta = RequestMeta.fromJSON(content);
         content = requestMeta.toJSON();
         Asserter.assertEquals(\"testName\", content);",
    );
    let project = project(&[
        ("src/main/java/a/RequestMeta.java", meta),
        ("src/test/java/a/ATest.java", &test),
    ]);
    let graph = graph(&project);
    let flows: Vec<String> =
        edges(&project, &graph).into_iter().map(|edge| relative(&edge)).collect();
    assert_eq!(
        flows,
        [
            "\"url\"@1^ -fetch-> content@1^",
            "content@1^ -fromJSON {RequestMeta.fromJSON(String)}-> requestMeta@2^",
            "requestMeta@2^ -toJSON {RequestMeta.toJSON()}-> content@3",
            "content@3 -assertEquals-> content@4!",
            "\"testName\"@4^! -assertEquals-> content@4!",
        ]
    );
    assert_eq!(
        paths(&project, &graph),
        [
            "\"testName\" -assertEquals-> content",
            "\"url\" -fetch-> content -fromJSON {RequestMeta.fromJSON(String)}-> requestMeta \
             -toJSON {RequestMeta.toJSON()}-> content -assertEquals-> content",
        ]
    );
}

#[test]
fn a_call_that_takes_nothing_in_is_where_a_value_begins() {
    let lines = "long now = System.currentTimeMillis();\nassertTrue(now > 0);";
    assert_eq!(
        all_paths(&java(lines)),
        [
            "0 -assertTrue-> now",
            "System.currentTimeMillis() -currentTimeMillis-> now -assertTrue >-> now",
        ]
    );
}

#[test]
fn a_call_whose_value_is_dropped_defines_what_it_is_called_on_anew() {
    let lines = "List<Order> list = new ArrayList<>(8);\nlist.add(order);\nassertEquals(1, list);";
    assert_eq!(
        flows(lines),
        [
            "8@1^ -ArrayList-> list@1^",
            "list@1^ -add-> list@2",
            "order@2^ -add-> list@2",
            "list@2 -assertEquals-> list@3!",
            "1@3^! -assertEquals-> list@3!",
        ]
    );
}

#[test]
fn a_call_on_nothing_changes_what_it_is_given() {
    let lines = "Set paths = make(1);\naddPaths(paths, commits);\nassertNotNull(paths);";
    assert!(flows(lines).contains(&"commits@2^ -addPaths-> paths@2".to_owned()));
}

#[test]
fn after_a_branch_a_use_means_the_definitions_of_all_sides() {
    let lines = "int x = 1;\nif (c) { x = 2; } else { x = 3; }\nassertEquals(y, x);";
    let found = flows(lines);
    for side in ["x@1^", "x@2"] {
        let count = found.iter().filter(|it| it.starts_with(&format!("{side} -assert"))).count();
        assert_eq!(count, if side == "x@2" { 2 } else { 1 }, "{found:?}");
    }
}

#[test]
fn a_definition_in_a_loop_reaches_what_follows_it() {
    let lines = "int sum = 0;\nfor (int i : values) { sum += i; }\nassertEquals(6, sum);";
    let found = flows(lines);
    for edge in [
        "values@2^ -for-> i@2^",
        "i@2^ -+=-> sum@2",
        "sum@1^ -+=-> sum@2",
        "sum@1^ -assertEquals-> sum@3!",
        "sum@2 -assertEquals-> sum@3!",
    ] {
        assert!(found.contains(&edge.to_owned()), "{edge} is not among {found:?}");
    }
}

#[test]
fn the_parameters_of_a_lambda_come_from_what_it_is_handed_to() {
    let lines = "List names = orders.map(order -> order.name());\nassertEquals(1, names);";
    let found = flows(lines);
    assert!(found.contains(&"orders@1^ -map-> order@1^".to_owned()), "{found:?}");
    assert!(found.contains(&"order@1^ -name map-> names@1^".to_owned()), "{found:?}");
}

#[test]
fn a_callback_without_a_value_stands_for_its_calls() {
    let lines = "Runnable task = new Runnable() { public void run() { queue.put(1); } };
                 assertDone(task);";
    let found = flows(lines);
    assert!(found.contains(&"queue@1^ -put Runnable-> task@1^".to_owned()), "{found:?}");
}

#[test]
fn members_and_elements_change_the_variable_they_belong_to() {
    let found = flows("Order order = make();\norder.total = 5;\nassertEquals(5, order);");
    assert!(found.contains(&"5@2^ -=-> order@2".to_owned()), "{found:?}");
    assert!(found.contains(&"order@1^ -total-> order@2".to_owned()), "{found:?}");
    let found = flows("int[] all = make();\nall[0] = 5;\nassertEquals(5, all);");
    assert!(found.contains(&"all@1^ -=-> all@2".to_owned()), "{found:?}");
}

#[test]
fn every_value_without_a_source_is_marked_start() {
    let project = java("int x = f(a, 1);\nx.go(Color.RED);\nassertEquals(this.y, x.size());");
    let graph = graph(&project);
    for id in (0..graph.nodes.len()).filter_map(|id| u32::try_from(id).ok()) {
        let id = flakeproof_syntax::dependence::NodeId(id);
        let has_source = graph.edges.iter().any(|edge| edge.to == id);
        let is_start = graph.node(id).is_some_and(|node| node.is_start);
        assert!(has_source || is_start, "{}", node(&project, &graph, id));
    }
}

#[test]
fn the_text_of_a_call_ends_at_its_closing_bracket() {
    let lines = "assertSame(one, make(new ArrayList<Map<A, B>>(8), \"a)b\").get(f(x)));";
    let project = java(lines);
    let graph = graph(&project);
    let texts: Vec<&str> = (0..)
        .map(flakeproof_syntax::dependence::NodeId)
        .zip(&graph.nodes)
        .filter(|(_, node)| node.kind == NodeKind::Call)
        .map(|(id, _)| graph.node_text(&project, id))
        .collect();
    assert_eq!(
        texts,
        [
            "ArrayList<Map<A, B>>(8)",
            "make(new ArrayList<Map<A, B>>(8), \"a)b\")",
            "f(x)",
            "make(new ArrayList<Map<A, B>>(8), \"a)b\").get(f(x))",
        ]
    );
}

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
