//! What a model predicts, as one JSON document.
//!
//! Its schema is published as `docs/reference/prediction-report.schema.json`. Every test that was
//! asked about is listed, whether it is called flaky or not: who wants another threshold than the
//! model's can choose again.

use flakeproof_core::{ModelFacts, Prediction, Predictions};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{self, Json, NoticeReport, ToolReport};
use crate::{Error, Renderer};

/// The version of the document's shape.
const SCHEMA: u32 = 1;

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
    #[schemars(extend("const" = SCHEMA))]
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
            schema: SCHEMA,
            tool: ToolReport::new(&predictions.version),
            model: &predictions.model,
            tests: &predictions.tests,
            notices: predictions.notices.iter().map(NoticeReport::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::sample;

    fn rendered(predictions: &Predictions) -> Value {
        serde_json::from_slice(&Json.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_document_has_the_published_shape() {
        let text = String::from_utf8(Json.render(&sample::predictions()).unwrap()).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn tests_that_are_not_called_flaky_are_listed_too() {
        let report = rendered(&sample::predictions());
        let flaky: Vec<_> =
            report["tests"].as_array().unwrap().iter().map(|test| &test["flaky"]).collect();
        assert_eq!(flaky, [&json!(true), &json!(false), &json!(true)]);
    }

    #[test]
    fn what_is_not_known_is_null_and_never_left_out() {
        let mut predictions = sample::suspects(1);
        predictions.model.precision = None;
        let report = rendered(&predictions);
        assert_eq!(report["model"]["precision"], Value::Null);
        assert_eq!(
            report["tests"][0],
            json!({
                "id": "t.py::test_0", "file": "t.py", "line": 1, "end_line": 3,
                "language": "python", "probability": 0.5, "flaky": true, "category": null,
                "neighbours": [],
            })
        );
    }

    #[test]
    fn the_schema_requires_every_member() {
        let schema: Value = serde_json::from_str(&prediction_schema()).unwrap();
        let required = |of: &str| schema["$defs"][of]["required"].as_array().unwrap().len();
        assert_eq!(schema["required"].as_array().unwrap().len(), 5);
        assert_eq!(required("ModelFacts"), 11);
        assert_eq!(required("Prediction"), 9);
        assert_eq!(required("SimilarTest"), 6);
        assert_eq!(schema["properties"]["schema"]["const"], 1);
    }
}
