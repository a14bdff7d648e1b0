//! The test dependency graph of one test, as a value that can be drawn: values, what flows between
//! them, and the lines of code they stand on. [`Dot`] writes it in the language of Graphviz.

use std::fmt::Write as _;

use flakeproof_core::{Notice, TestId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Error, Renderer};

/// A longer text of a node is cut.
const LONGEST: usize = 60;

/// Which values of a test flow into which others, and into what it asserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestGraph {
    /// The version of the program.
    pub version: String,
    /// The test.
    pub id: TestId,
    /// Its file, relative to where the program was started.
    pub file: String,
    /// The line it begins on.
    pub line: u32,
    /// The language it is written in.
    pub language: String,
    /// The values, in the order they come to be.
    pub nodes: Vec<GraphNode>,
    /// What flows, in the order it does.
    pub edges: Vec<GraphEdge>,
    /// What values end in, in the order of the run.
    pub assertions: Vec<GraphAssertion>,
    /// How values come to be asserted.
    pub paths: Vec<GraphPath>,
    /// The lines of code that the values stand on, in the order they first run.
    pub lines: Vec<CodeLine>,
    /// Whether the test is too long to be read to its end.
    pub is_cut: bool,
    /// What the reader should know besides.
    pub notices: Vec<Notice>,
}

/// A value: a variable, a literal, what a call gives back, or an assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Its text, white space joined.
    pub text: String,
    /// What it is.
    pub kind: ValueKind,
    /// The file it stands in.
    pub file: String,
    /// The line there.
    pub line: u32,
    /// Whether values begin here.
    pub start: bool,
    /// The assertion it is looked at in, by its place among the assertions; `null` for none.
    pub assertion: Option<u32>,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A variable, a field or a parameter.
    Variable,
    /// A literal.
    Literal,
    /// What a call gives back.
    Call,
    /// An assertion, or what stands for one.
    Assertion,
}

/// A flow of a value into another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphEdge {
    /// From which node, by its place among the nodes.
    pub from: u32,
    /// Into which node.
    pub to: u32,
    /// Through what: the names of functions, operators.
    pub operation: Vec<String>,
    /// The function of the code under test that is called on the way; `null` for none.
    pub code: Option<CalledCode>,
}

/// A function of the code under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CalledCode {
    /// Its name, with that of its class.
    pub name: String,
    /// The file it is declared in.
    pub file: String,
    /// The line there.
    pub line: u32,
}

/// What values end in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphAssertion {
    /// What stands for it in the code.
    pub words: Vec<String>,
    /// The nodes looked at, by their places.
    pub nodes: Vec<u32>,
}

/// How a value comes to be asserted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphPath {
    /// The nodes, from where the value begins to the assertion, by their places.
    pub nodes: Vec<u32>,
    /// The edges between them, by their places: one less than nodes.
    pub edges: Vec<u32>,
    /// Whether it goes on before its first node.
    pub cut: bool,
}

/// A line of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeLine {
    /// The file it stands in.
    pub file: String,
    /// Its number.
    pub line: u32,
    /// Its text.
    pub text: String,
}

impl GraphEdge {
    /// Its operation, in one line.
    #[must_use]
    pub fn label(&self) -> String {
        self.operation.join(" ")
    }
}

impl CalledCode {
    /// Where it is declared: `src/basket.py:31`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Renders a graph for Graphviz: `dot -Tsvg`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dot;

impl Renderer<TestGraph> for Dot {
    fn render(&self, graph: &TestGraph) -> Result<Vec<u8>, Error> {
        let mut dot = format!("digraph {} {{\n", quoted(graph.id.as_str()));
        dot.push_str("  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n");
        dot.push_str("  edge [fontname=\"monospace\", fontsize=10];\n");
        for (at, node) in graph.nodes.iter().enumerate() {
            let _ = writeln!(dot, "  n{at} [{}];", node_attributes(node));
        }
        for edge in &graph.edges {
            let _ = writeln!(dot, "  n{} -> n{} [{}];", edge.from, edge.to, edge_attributes(edge));
        }
        dot.push_str("}\n");
        Ok(dot.into_bytes())
    }
}

/// The beginning of a text that is longer than this many characters.
pub(crate) fn beginning(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    kept + "…"
}

/// The name of a file without its folders.
pub(crate) fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn node_attributes(node: &GraphNode) -> String {
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

fn edge_attributes(edge: &GraphEdge) -> String {
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
