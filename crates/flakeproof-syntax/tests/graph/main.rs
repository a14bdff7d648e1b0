//! What flows into what, in tests of each language.

mod calls;
mod java;
mod languages;
mod promises;

use flakeproof_syntax::dependence::{EdgeId, Graph, NodeId, PathLimits};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::{Finder, Layout, SourceFile};

/// The project of these files, each given as its path and its text.
fn project(files: &[(&str, &str)]) -> ProjectIndex {
    let manifests = files.iter().filter(|(path, _)| Layout::is_manifest(path)).copied();
    let layout = Layout::of_manifests(manifests);
    let mut finder = Finder::default();
    let mut lower = |path, text| finder.lower(&SourceFile { path, text }, &layout).unit;
    let sources = files.iter().filter(|(path, _)| !Layout::is_manifest(path));
    ProjectIndex::new(sources.map(|(path, text)| lower(path, text)).collect())
}

/// A test of JUnit with these lines, in a class with these members.
fn java_class(members: &str, lines: &str) -> String {
    format!(
        "package a;\nimport org.junit.*;\npublic class ATest {{\n{members}\n@Test \
         public void test() {{\n{lines}\n}}\n}}"
    )
}

/// The project of one test of JUnit with these lines.
fn java(lines: &str) -> ProjectIndex {
    project(&[("src/test/java/a/ATest.java", &java_class("", lines))])
}

/// The graph of the only test.
fn graph(project: &ProjectIndex) -> Graph {
    let (_, test) = project.tests().next().expect("there is a test");
    Graph::new(project, test, None)
}

/// `from -operation-> to` of each edge, in order.
fn edges(project: &ProjectIndex, graph: &Graph) -> Vec<String> {
    (0..)
        .zip(&graph.edges)
        .map(|(id, edge)| {
            let arrow = arrow(project, graph, EdgeId(id));
            format!("{}{arrow}{}", node(project, graph, edge.from), node(project, graph, edge.to))
        })
        .collect()
}

/// The paths of a test, each as one line.
fn paths(project: &ProjectIndex, graph: &Graph) -> Vec<String> {
    let paths = graph.paths(project, &PathLimits::default());
    paths
        .iter()
        .map(|path| {
            let step = |(id, edge): &(NodeId, Option<EdgeId>)| {
                let arrow = edge.map_or(String::new(), |edge| arrow(project, graph, edge));
                format!("{}{arrow}", graph.node_text(project, *id))
            };
            path.steps.iter().map(step).collect()
        })
        .collect()
}

/// The paths of the only test.
fn all_paths(project: &ProjectIndex) -> Vec<String> {
    paths(project, &graph(project))
}

/// ` -operation-> `, with the class and function of the code it leads into.
fn arrow(project: &ProjectIndex, graph: &Graph, id: EdgeId) -> String {
    let edge = graph.edge(id).expect("the edge exists");
    let words: Vec<&str> = edge.operation.texts(project).collect();
    let code = edge.code.map_or(String::new(), |code| format!(" {{{}}}", name(project, code)));
    format!(" -{}{code}-> ", words.join(" "))
}

/// `Class.function(parameters)`, the parameters by their types where those are written.
fn name(project: &ProjectIndex, declared: Declared) -> String {
    let unit = project.unit(declared).expect("the file exists");
    let function = project.function(declared).expect("the function exists");
    let owner = function.owner.and_then(|owner| unit.types.get(owner as usize));
    let owner = owner.map_or(String::new(), |owner| format!("{}.", owner.name));
    let types: Vec<&str> = function
        .parameters
        .iter()
        .map(|parameter| unit.text_of(parameter.declared.unwrap_or(parameter.name)))
        .collect();
    format!("{owner}{}({})", function.name, types.join(", "))
}

/// `text@line`, with `^` where values begin and `!` where they are asserted.
fn node(project: &ProjectIndex, graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id).expect("the node exists");
    let start = if node.is_start { "^" } else { "" };
    let assert = if node.assertion.is_some() { "!" } else { "" };
    format!("{}@{}{start}{assert}", graph.node_text(project, id), node.span.line)
}
