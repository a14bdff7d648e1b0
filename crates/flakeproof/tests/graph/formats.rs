//! The same graph for Graphviz, as a picture and as JSON, on stdout and in files; and its paths through
//! set-up, fixtures, helpers and the code under test, in every language that has graphs.

use crate::{graph, graph_json, list, sample, stdout};

const TEST: &str = "BasketTest#expiresInAnHour";

fn drawn(format: &str) -> String {
    let ran = graph(&sample("java"), &[TEST, "--format", format]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    stdout(&ran)
}

#[test]
fn graphviz_gets_marks_operations_and_places() {
    insta::assert_snapshot!(drawn("dot"));
}

#[test]
fn json_has_nodes_edges_paths_and_lines() {
    let document = drawn("json").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    insta::assert_snapshot!(document);
}

#[test]
fn a_picture_needs_nothing_but_itself() {
    let svg = drawn("svg");
    assert!(svg.starts_with("<svg xmlns="), "{svg}");
    assert!(svg.contains("prefers-color-scheme:dark"), "{svg}");
    assert!(svg.contains("src/main/java/com/acme/shop/Basket.java:26"), "{svg}");
    assert!(!svg.contains("<script") && !svg.contains("href="), "{svg}");
}

#[test]
fn only_so_many_paths_are_shown_and_the_rest_is_counted() {
    let ran = graph(&sample("java"), &[TEST, "--show", "1"]);
    assert!(stdout(&ran).contains("and 7 more paths: `--show 8` shows all"), "{}", ran.text());
}

#[test]
fn every_path_leads_from_node_to_node_along_its_edges() {
    let document = graph_json(&sample("java"), TEST);
    let edges = list(&document, "edges");
    assert_eq!(list(&document, "paths").len(), 8);
    for path in list(&document, "paths") {
        let nodes = list(path, "nodes");
        for (step, edge) in list(path, "edges").iter().enumerate() {
            let edge = &edges[edge.as_u64().and_then(|it| usize::try_from(it).ok()).unwrap()];
            assert_eq!((&edge["from"], &edge["to"]), (&nodes[step], &nodes[step + 1]));
        }
    }
}

#[test]
fn a_file_gets_what_stdout_would_without_colours() {
    let project = sample("java");
    let ran = graph(&project, &[TEST, "--color", "always", "-o", "out/graph.txt"]);
    assert_eq!((ran.code(), stdout(&ran).as_str()), (Some(0), ""), "{}", ran.text());
    let written = std::fs::read_to_string(project.path().join("out/graph.txt")).unwrap();
    assert_eq!(written, stdout(&graph(&project, &[TEST, "--color", "never"])));
    let coloured = stdout(&graph(&project, &[TEST, "--color", "always"]));
    assert!(coloured.contains('\u{1b}') && !written.contains('\u{1b}'));
}

#[test]
fn where_the_test_is_and_where_its_code_is_may_differ() {
    let project = sample("java");
    let whole = graph(&project, &[TEST]);
    let only_tests = graph(&project, &[TEST, "src/test"]);
    assert_eq!(stdout(&whole), stdout(&only_tests));
}

#[test]
fn the_guide_shows_what_the_program_says() {
    let guide = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/");
        std::fs::read_to_string(format!("{folder}{name}")).unwrap().replace("\r\n", "\n")
    };
    let page = guide("graph.md");
    let (_, block) = page.split_once("```text\n").expect("there is an example");
    let (block, _) = block.split_once("\n```").expect("it ends");
    let said = stdout(&graph(&sample("java"), &["expiresInAnHour", "--show", "8"]));
    for part in block.split("\n…\n") {
        assert!(said.contains(part.trim()), "{part}\nis not in\n{said}");
    }
    assert_eq!(guide("graph.svg"), drawn("svg"));
}

#[track_caller]
fn shown(language: &str, test: &str) -> String {
    let ran = graph(&sample(language), &[test, "--show", "100"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    stdout(&ran)
}

#[test]
fn java_goes_through_base_classes_and_before_methods() {
    insta::assert_snapshot!(shown("java", "BasketTest#expiresInAnHour"));
}

#[test]
fn python_goes_through_fixtures_of_conftest() {
    insta::assert_snapshot!(shown("python", "test_basket.py::test_expires"));
}

#[test]
fn typescript_goes_through_before_each() {
    insta::assert_snapshot!(shown("typescript", "expires in an hour"));
}

#[test]
fn go_goes_through_conditions_that_fail_the_test() {
    insta::assert_snapshot!(shown("go", "TestExpires"));
}

#[test]
fn rust_goes_through_macros() {
    insta::assert_snapshot!(shown("rust", "basket::expires"));
}
