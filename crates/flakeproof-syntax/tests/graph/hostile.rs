//! Long, deep and broken tests cost bounded work and never end in a panic.

use std::fmt::Write;

use flakeproof_syntax::dependence::{Graph, PathLimits};
use proptest::prelude::*;

use crate::{graph, java, java_class, project};

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
