//! The graph in the language of Graphviz.

use std::fmt::Write as _;

use super::test_graph::{GraphEdge, GraphNode, TestGraph, ValueKind, beginning, file_name};
use crate::{Error, Renderer};

/// A longer text of a node is cut.
const LONGEST: usize = 60;

/// Renders a graph for Graphviz: `dot -Tsvg`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dot;

impl Renderer<TestGraph> for Dot {
    fn render(&self, graph: &TestGraph) -> Result<Vec<u8>, Error> {
        let mut dot = format!("digraph {} {{\n", quoted(graph.id.as_str()));
        dot.push_str("  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n");
        dot.push_str("  edge [fontname=\"monospace\", fontsize=10];\n");
        for (at, node) in graph.nodes.iter().enumerate() {
            let _ = writeln!(dot, "  n{at} [{}];", of_node(node));
        }
        for edge in &graph.edges {
            let _ = writeln!(dot, "  n{} -> n{} [{}];", edge.from, edge.to, of_edge(edge));
        }
        dot.push_str("}\n");
        Ok(dot.into_bytes())
    }
}

fn of_node(node: &GraphNode) -> String {
    let place = format!("{}:{}", file_name(&node.file), node.line);
    let mut lines = vec![beginning(&node.text, LONGEST), place];
    let mut styles = Vec::new();
    if node.start {
        lines.insert(0, "START".to_owned());
        styles.push("rounded");
    }
    if node.assertion.is_some() || node.kind == ValueKind::Assertion {
        lines.insert(0, "ASSERT".to_owned());
        styles.push("bold");
    }
    let label = quoted(&lines.join("\n"));
    if styles.is_empty() {
        return format!("label={label}");
    }
    format!("label={label}, style=\"{}\"", styles.join(","))
}

fn of_edge(edge: &GraphEdge) -> String {
    match &edge.code {
        None => format!("label={}", quoted(&edge.label())),
        Some(code) => {
            let label = quoted(&format!("{}\n{}", edge.label(), code.place()));
            format!("label={label}, style=dashed, tooltip={}", quoted(&code.name))
        }
    }
}

/// A text as it may stand in quotes: a line break is the two characters `\n`.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let text: String = text.chars().filter(|it| !it.is_control()).collect();
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn start_assert_and_calls_into_the_code_are_marked() {
        let dot = String::from_utf8(Dot.render(&sample::graph()).unwrap()).unwrap();
        insta::assert_snapshot!(dot);
    }

    #[test]
    fn no_text_ends_its_quotes() {
        assert_eq!(quoted("a\"b\\\nc\t"), "\"a\\\"b\\\\\\nc\"");
    }
}
