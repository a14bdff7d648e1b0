//! What is read from source alone, as JSON documents: what a model predicts, and the dependency
//! graph of one test.
//!
//! Their schemas are published as `docs/reference/prediction-report.schema.json` and
//! `docs/reference/graph-report.schema.json`. Every test that was asked about is listed among the
//! predictions, whether it is called flaky or not: who wants another threshold than the model's can
//! choose again.

use flakeproof_core::{ModelFacts, Prediction, Predictions, TestId};
use schemars::JsonSchema;
use serde::Serialize;

use super::document;
use super::document::{Json, NoticeReport, ToolReport};
use crate::graph::{CodeLine, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph};
use crate::{Error, Renderer};

/// The version of the document's shape.
const PREDICTION_SCHEMA: u32 = 1;

impl Renderer<Predictions> for Json {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        document::bytes(&PredictionReport::new(predictions))
    }
}

/// The JSON schema of what [`Json`] makes of predictions, indented, with a newline at its end.
#[must_use]
pub fn prediction_schema() -> String {
    document::schema_of::<PredictionReport<'_>>()
}

/// What a model says about tests that were not run.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "flakeproof prediction report")]
struct PredictionReport<'a> {
    /// The version of this document's shape.
    #[schemars(extend("const" = PREDICTION_SCHEMA))]
    schema: u32,
    /// The program that wrote the document.
    tool: ToolReport<'a>,
    /// The model that spoke, and what its word is worth.
    model: &'a ModelFacts,
    /// Every test that was asked about, by file and line.
    tests: &'a [Prediction],
    /// What the reader should know besides.
    notices: Vec<NoticeReport<'a>>,
}

impl<'a> PredictionReport<'a> {
    fn new(predictions: &'a Predictions) -> Self {
        Self {
            schema: PREDICTION_SCHEMA,
            tool: ToolReport::new(&predictions.version),
            model: &predictions.model,
            tests: &predictions.tests,
            notices: predictions.notices.iter().map(NoticeReport::new).collect(),
        }
    }
}

/// The version of the document's shape.
const GRAPH_SCHEMA: u32 = 1;

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
    #[schemars(extend("const" = GRAPH_SCHEMA))]
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
            schema: GRAPH_SCHEMA,
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
    use serde_json::{Value, json};

    use super::*;
    use crate::sample;

    fn rendered_predictions(predictions: &Predictions) -> Value {
        serde_json::from_slice(&Json.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn all_predictions_have_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::predictions()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn tests_that_are_not_called_flaky_are_listed_too() {
        let report = rendered_predictions(&sample::predictions());
        let flaky: Vec<_> =
            report["tests"].as_array().unwrap().iter().map(|test| &test["flaky"]).collect();
        assert_eq!(flaky, [&json!(true), &json!(false), &json!(true)]);
    }

    #[test]
    fn what_is_not_known_is_null_and_never_left_out() {
        let mut predictions = sample::suspects(1);
        predictions.model.precision = None;
        let report = rendered_predictions(&predictions);
        assert_eq!(report["model"]["precision"], Value::Null);
        assert_eq!(
            report["tests"][0],
            json!({
                "id": "t.py::test_0", "file": "t.py", "line": 1, "end_line": 3,
                "language": "python", "probability": 0.5, "flaky": true, "rules": [],
                "category": null, "neighbours": [],
            })
        );
    }

    #[test]
    fn the_schema_of_predictions_requires_every_member() {
        let schema: Value = serde_json::from_str(&prediction_schema()).unwrap();
        let required = |of: &str| schema["$defs"][of]["required"].as_array().unwrap().len();
        assert_eq!(schema["required"].as_array().unwrap().len(), 5);
        assert_eq!(required("ModelFacts"), 11);
        assert_eq!(required("Prediction"), 10);
        assert_eq!(required("SimilarTest"), 6);
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }

    #[test]
    fn the_whole_graph_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::graph()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_schema_of_a_graph_requires_every_member() {
        let schema: Value = serde_json::from_str(&graph_schema()).unwrap();
        let required = |of: &str| schema["$defs"][of]["required"].as_array().unwrap().len();
        assert_eq!(schema["required"].as_array().unwrap().len(), 10);
        assert_eq!(required("GraphNode"), 6);
        assert_eq!(required("GraphEdge"), 4);
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }
}
