//! The dependency graph of one test, as one JSON document.
//!
//! Its schema is published as `docs/reference/graph-report.schema.json`.

use flakeproof_core::TestId;
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, ToolReport};
use crate::graph::{CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph};
use crate::{Error, Renderer};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

impl Renderer<TestGraph> for Json {
    fn render(&self, graph: &TestGraph) -> Result<Vec<u8>, Error> {
        document::bytes(&GraphReport::new(graph))
    }
}

/// The JSON schema of what [`Json`] makes of a graph, indented, with a newline at its end.
#[must_use]
pub fn graph_schema() -> String {
    document::schema_of::<GraphReport<'_>>()
}

/// Which values of a test flow into which others, and into what it asserts.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof graph report")]
struct GraphReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// The test.
    test: TestReport<'a>,
    /// The values, in the order they come to be.
    nodes: &'a [GraphNode],
    /// What flows, in the order it does.
    edges: &'a [GraphEdge],
    /// What values end in, in the order of the run.
    assertions: &'a [GraphAssertion],
    /// How values come to be asserted.
    paths: &'a [GraphPath],
    /// The lines of code that the values stand on, in the order they first run.
    lines: &'a [CodeLine],
    /// Whether the test is too long to be read to its end.
    cut: bool,
    /// What the reader should know besides.
    notices: Vec<NoticeReport<'a>>,
}

/// A test.
#[derive(Serialize, JsonSchema)]
struct TestReport<'a> {
    /// Its id, as its runner writes it.
    id: &'a TestId,
    /// Its file.
    file: &'a str,
    /// The line it begins on.
    line: u32,
    /// The language it is written in.
    language: &'a str,
}

impl<'a> GraphReport<'a> {
    fn new(graph: &'a TestGraph) -> Self {
        let TestGraph { id, file, line, language, .. } = graph;
        Self {
            schema: SCHEMA,
            tool: ToolReport::new(&graph.version),
            test: TestReport { id, file, line: *line, language },
            nodes: &graph.nodes,
            edges: &graph.edges,
            assertions: &graph.assertions,
            paths: &graph.paths,
            lines: &graph.lines,
            cut: graph.is_cut,
            notices: graph.notices.iter().map(NoticeReport::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::graph()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_schema_requires_every_member() {
        let schema: Value = serde_json::from_str(&graph_schema()).unwrap();
        let required = |of: &str| schema["$defs"][of]["required"].as_array().unwrap().len();
        assert_eq!(schema["required"].as_array().unwrap().len(), 10);
        assert_eq!(required("GraphNode"), 6);
        assert_eq!(required("GraphEdge"), 4);
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }
}
