//! Every pair of texts, in every language that has graphs, can be lowered, indexed and drawn, and
//! the graphs and their paths keep what they promise.
//!
//! The first byte chooses the language, the rest is the text of the tests and, after a byte 0, that
//! of the code under test.

#![no_main]

use std::cell::RefCell;

use flakeproof_syntax::dependence::{Graph, PathLimits};
use flakeproof_syntax::project::{ProjectIndex, ReachLimits};
use flakeproof_syntax::{Finder, Layout, SourceFile};
use libfuzzer_sys::fuzz_target;

/// Where the tests are, and where the code is.
const PATHS: [(&str, &str); 7] = [
    ("src/test/java/a/FooTest.java", "src/main/java/a/Foo.java"),
    ("tests/test_foo.py", "src/foo.py"),
    ("src/foo.test.js", "src/foo.js"),
    ("src/foo.test.ts", "src/foo.ts"),
    ("src/foo.test.tsx", "src/foo.tsx"),
    ("pkg/foo_test.go", "pkg/foo.go"),
    ("tests/foo.rs", "src/lib.rs"),
];

/// Garbage can hold a test on every line; some are enough.
const MOST_TESTS: usize = 8;

thread_local! {
    static FINDER: RefCell<Finder> = RefCell::default();
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let (tests, code) = PATHS[usize::from(*choice) % PATHS.len()];
    let mut texts = rest.splitn(2, |byte| *byte == 0).map(String::from_utf8_lossy);
    let units = [tests, code].map(|path| {
        let text = texts.next().unwrap_or_default();
        let file = SourceFile { path, text: &text };
        FINDER.with_borrow_mut(|finder| finder.lower(&file, &Layout::default()).unit)
    });
    let project = ProjectIndex::new(units.into());
    let limits = PathLimits::default();
    for (id, test) in project.tests().take(MOST_TESTS) {
        assert!(project.find_test(id).is_some(), "{id} is lost");
        let graph = Graph::new(&project, test, None);
        assert_sound(&project, &graph, limits);
        let reached = project.reach_of_test(test, None, ReachLimits::default());
        assert!(reached.len() <= ReachLimits::default().functions);
    }
});

fn assert_sound(project: &ProjectIndex, graph: &Graph, limits: PathLimits) {
    for edge in &graph.edges {
        assert!(edge.from < edge.to, "an edge leads back: {edge:?}");
        assert!(graph.node(edge.to).is_some(), "an edge leads nowhere: {edge:?}");
    }
    for node in &graph.nodes {
        let unit = project.units().get(node.unit as usize).expect("a node is in a file");
        let span = node.span.start as usize..node.span.end as usize;
        assert!(unit.text.get(span).is_some(), "a node has no text: {node:?}");
    }
    let paths = graph.paths(project, &limits);
    assert!(paths.len() <= limits.most);
    for path in paths {
        assert!((2..=limits.longest).contains(&path.steps.len()), "{path:?}");
        for pair in path.steps.windows(2) {
            let edge = pair[0].1.and_then(|edge| graph.edge(edge)).expect("steps have edges");
            assert_eq!((edge.from, edge.to), (pair[0].0, pair[1].0));
        }
    }
}
