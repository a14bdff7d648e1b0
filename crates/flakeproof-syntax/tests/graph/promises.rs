//! What graphs and their contextual paths promise of any test: paths over programs made at random,
//! and their order; and that long, deep and broken tests cost bounded work and never end in a panic.

use std::collections::HashSet;
use std::fmt::Write;

use flakeproof_syntax::dependence::{ContextualPath, Graph, PathLimits};
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::{Finder, Layout, SourceFile};
use proptest::prelude::*;

use crate::{graph, java, java_class, project};

fn drawn(lines: &str) -> (ProjectIndex, Graph) {
    let text =
        format!("public class ATest {{ int f = 1;\n@Test public void test() {{\n{lines}\n}} }}");
    let file = SourceFile { path: "src/test/java/ATest.java", text: &text };
    let project = ProjectIndex::new(vec![Finder::default().lower(&file, &Layout::default()).unit]);
    let test = project.find_method("ATest", "test").expect("the test is found");
    let graph = Graph::new(&project, test, None);
    (project, graph)
}

fn texts(project: &ProjectIndex, graph: &Graph, path: &ContextualPath) -> Vec<String> {
    let mut texts = Vec::new();
    for (node, edge) in &path.steps {
        texts.push(graph.node_text(project, *node).to_owned());
        if let Some(edge) = edge.and_then(|edge| graph.edge(edge)) {
            texts.push(edge.operation.texts(project).collect::<Vec<_>>().join(" "));
        }
    }
    texts
}

fn first_texts(lines: &str, limits: PathLimits) -> Vec<Vec<String>> {
    let (project, graph) = drawn(lines);
    graph.paths(&project, &limits).iter().map(|path| texts(&project, &graph, path)).collect()
}

#[test]
fn assertions_take_turns_and_the_latest_edge_comes_first() {
    let found = first_texts(
        "int a = f(1, 2, 3);\nassertTrue(a.x());\nassertTrue(a.y());",
        PathLimits { most: 4, longest: 20 },
    );
    let ends: Vec<(&str, &str)> =
        found.iter().map(|path| (path[0].as_str(), path[path.len() - 1].as_str())).collect();
    assert_eq!(ends, [("3", "a.x()"), ("3", "a.y()"), ("2", "a.x()"), ("2", "a.y()")]);
}

#[test]
fn a_path_that_is_too_long_keeps_its_end() {
    let lines = "int a = f(1);\nint b = g(a);\nint c = h(b);\nassertTrue(c);";
    let (project, graph) = drawn(lines);
    let found = graph.paths(&project, &PathLimits { most: 10, longest: 3 });
    assert_eq!(found.len(), 1);
    assert!(found[0].is_cut);
    assert_eq!(texts(&project, &graph, &found[0]), ["b", "h", "c", "assertTrue", "c"]);
}

#[test]
fn paths_with_the_same_text_are_one() {
    let found = first_texts("assertTrue(f(1));\nassertTrue(f(1));", PathLimits::default());
    assert_eq!(found.len(), 1);
}

#[test]
fn no_room_gives_no_path() {
    let lines = "assertTrue(f(1));";
    assert!(first_texts(lines, PathLimits { most: 0, longest: 20 }).is_empty());
    assert!(first_texts(lines, PathLimits { most: 10, longest: 1 }).is_empty());
}

#[test]
fn words_of_nodes_and_edges_are_cut_into_parts() {
    let (project, graph) = drawn("assertTrue(orderBook.isEmpty(maxSize));");
    let path = &graph.paths(&project, &PathLimits::default())[0];
    let (last, _) = path.steps[1];
    assert_eq!(
        graph.node_words(&project, last),
        ["order", "Book", "is", "Empty", "max", "Size", "assert", "True"]
    );
    let edge = path.steps[0].1.expect("the first step has an edge");
    assert_eq!(graph.edge_words(&project, edge), ["is", "Empty"]);
}

/// A few statements over a few variables.
fn program() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "f", "this.f", "d.e", "7", "\"s\""]);
    let statement = (0..9_u8, name.clone(), name.clone(), name);
    prop::collection::vec(statement, 0..40).prop_map(|statements| {
        let mut text = String::new();
        for (kind, x, y, z) in statements {
            let _ = match kind {
                0 => writeln!(text, "int v = {x}; a = v;"),
                1 => writeln!(text, "b = g({x}, h({y}), {z});"),
                2 => writeln!(text, "c.add({x}).add({y});"),
                3 => writeln!(text, "if ({x} > {y}) {{ a = {z}; }} else {{ b += {x}; }}"),
                4 => writeln!(text, "for (int c : {x}) {{ a = k(a, c, {y}); }}"),
                5 => writeln!(text, "assertEquals({x}, {y}.m({z}));"),
                6 => writeln!(text, "run(() -> {{ a = {x}; return q({y}); }}, {z});"),
                7 => writeln!(text, "try {{ {x}.go({y}); fail(); }} catch (E e) {{ b = e; }}"),
                _ => writeln!(text, "assertThat({x} + {y}).isEqualTo({z});"),
            };
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_path_leads_from_a_start_to_an_assertion_within_the_limits(
        lines in program(),
        most in 1..40_usize,
        longest in 2..12_usize,
    ) {
        let (project, graph) = drawn(&lines);
        let limits = PathLimits { most, longest };
        let paths = graph.paths(&project, &limits);
        prop_assert!(paths.len() <= most);
        let mut seen = HashSet::new();
        for path in &paths {
            prop_assert!((2..=longest).contains(&path.steps.len()));
            let nodes: HashSet<_> = path.steps.iter().map(|(node, _)| *node).collect();
            prop_assert_eq!(nodes.len(), path.steps.len(), "no node twice");
            let (first, _) = path.steps[0];
            let (last, end) = path.steps[path.steps.len() - 1];
            let is_start = graph.node(first).is_some_and(|node| node.is_start);
            prop_assert!(is_start || path.is_cut);
            prop_assert!(graph.node(last).is_some_and(|node| node.assertion.is_some()));
            prop_assert!(end.is_none());
            for pair in path.steps.windows(2) {
                let edge = pair[0].1.and_then(|edge| graph.edge(edge));
                let ends = edge.map(|edge| (edge.from, edge.to));
                prop_assert_eq!(ends, Some((pair[0].0, pair[1].0)));
            }
            prop_assert!(seen.insert(texts(&project, &graph, path)), "no text twice");
        }
        let (other, same) = drawn(&lines);
        prop_assert_eq!(&graph, &same);
        prop_assert_eq!(paths, same.paths(&other, &limits));
    }
}

#[test]
fn a_test_of_five_thousand_lines_is_read_within_its_cap() {
    let mut lines = String::new();
    for line in 0..5_000 {
        let _ = writeln!(lines, "x = combine(x, f(x, {line}), g(x + {line}, y{line}));");
    }
    lines.push_str("assertEquals(1, x);");
    let project = java(&lines);
    let graph = graph(&project);
    assert!(graph.is_cut);
    assert!(graph.nodes.len() < 40_000, "{} nodes", graph.nodes.len());
    let paths = graph.paths(&project, &PathLimits::default());
    assert_eq!(paths.len(), 100, "the last call stands for what was not read");
}

#[test]
fn a_graph_with_more_paths_than_atoms_gives_a_hundred() {
    let mut lines = String::from("int x0 = f(1);\n");
    for line in 1..300 {
        let before = line - 1;
        let _ = writeln!(lines, "int x{line} = combine(x{before}, g(x{before}), h(x{before}));");
    }
    lines.push_str("assertEquals(1, x299);");
    let project = java(&lines);
    let paths = graph(&project).paths(&project, &PathLimits::default());
    assert!(!paths.is_empty() && paths.len() <= 100);
    assert!(paths.iter().all(|path| path.steps.len() <= 20));
}

#[test]
fn helpers_that_fan_out_are_followed_within_the_cap() {
    let mut members = String::new();
    for level in 0..6 {
        let next = level + 1;
        let call = format!("h{next}(x);");
        let _ = writeln!(members, "void h{level}(int x) {{ {} }}", call.repeat(30));
    }
    members.push_str("void h6(int x) { assertTrue(x); }");
    let text = java_class(&members, "h0(1);");
    let project = project(&[("src/test/java/a/ATest.java", &text)]);
    assert!(graph(&project).nodes.len() < 40_000);
}

#[test]
fn calls_in_one_another_are_cut_at_a_depth() {
    let lines = format!("assertEquals(1, {}x{});", "f(".repeat(400), ")".repeat(400));
    let project = java(&lines);
    let _ = graph(&project).paths(&project, &PathLimits::default());
}

const SAMPLES: [(&str, &str); 5] = [
    ("src/test/java/FooTest.java", include_str!("../samples/FooTest.java")),
    ("test_fixtures.py", include_str!("../samples/test_fixtures.py")),
    ("cases.test.jsx", include_str!("../samples/cases.test.jsx")),
    ("suite_test.go", include_str!("../samples/suite_test.go")),
    ("tests/modules.rs", include_str!("../samples/modules.rs")),
];

/// A sample with a piece cut out and another doubled.
fn mutated() -> impl Strategy<Value = (&'static str, String)> {
    let cut = (0.0..1.0_f64, 0.0..1.0_f64);
    let piece = prop::sample::select(vec!["(", ")", "{", "}", "x = x;", "this.", "\"", "é"]);
    (0..SAMPLES.len(), cut, 0.0..1.0_f64, piece).prop_map(|(sample, (from, to), at, piece)| {
        let (path, text) = SAMPLES[sample];
        let mut text = text.to_owned();
        let place = |text: &str, share: f64| {
            let mut at = (text.len() as f64 * share) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (place(&text, from.min(to)), place(&text, from.max(to)));
        let removed: String = text.drain(from..to).collect();
        let at = place(&text, at);
        text.insert_str(at, piece);
        let at = place(&text, 0.5);
        text.insert_str(at, &removed);
        (path, text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn graphs_of_mutated_files_keep_every_promise((path, text) in mutated()) {
        let one = project(&[(path, &text)]);
        let again = project(&[(path, &text)]);
        for ((_, test), (_, same)) in one.tests().zip(again.tests()) {
            let graph = Graph::new(&one, test, None);
            prop_assert_eq!(&graph, &Graph::new(&again, same, None));
            for edge in &graph.edges {
                prop_assert!(edge.from.0 < edge.to.0, "edges lead forward");
            }
            let limits = PathLimits { most: 30, longest: 6 };
            let paths = graph.paths(&one, &limits);
            prop_assert_eq!(&paths, &graph.paths(&again, &limits));
            prop_assert!(paths.len() <= limits.most);
        }
    }
}
