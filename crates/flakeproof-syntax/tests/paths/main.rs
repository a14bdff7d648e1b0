//! What every contextual path promises, over programs made at random, and the order of paths.

use std::collections::HashSet;
use std::fmt::Write;

use flakeproof_syntax::dependence::{ContextualPath, Graph, PathLimits};
use flakeproof_syntax::project::Project;
use flakeproof_syntax::{Finder, Layout, SourceFile};
use proptest::prelude::*;

fn drawn(lines: &str) -> (Project, Graph) {
    let text =
        format!("public class ATest {{ int f = 1;\n@Test public void test() {{\n{lines}\n}} }}");
    let file = SourceFile { path: "src/test/java/ATest.java", text: &text };
    let project = Project::new(vec![Finder::default().lower(&file, &Layout::default()).unit]);
    let test = project.find_method("ATest", "test").expect("the test is found");
    let graph = Graph::new(&project, test, None);
    (project, graph)
}

fn texts(project: &Project, graph: &Graph, path: &ContextualPath) -> Vec<String> {
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
