//! SARIF 2.1.0, the format in which code scanners tell editors and servers what they suspect.
//!
//! One run with one result for each test that is called flaky, the most probable first. The rules
//! are `flaky-test` and one for each category met, such as `flaky-test/async_wait`; each says what
//! to do next. What the model says about itself is in the run's properties, and what the reader
//! should know besides is among the invocation's notifications. Only what is needed of the format
//! (OASIS, "Static Analysis Results Interchange Format", 2.1.0) is here.

use std::collections::BTreeSet;
use std::fmt::Write;

use flakeproof_core::{
    ModelFacts, Notice, Prediction, Predictions, RuleFacts, RuleFinding, TestId,
};
use serde::Serialize;

use crate::{Error, Renderer, words};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The rule for a suspect without a category, and the start of all other rules' ids.
const RULE: &str = "flaky-test";

/// From this probability on, a suspect is worth more than a note.
const WARNING_FROM: f64 = 0.5;

/// Renders one SARIF log, indented, with a newline at its end.
///
/// Files are named relative to `%SRCROOT%`, which is the project's root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sarif;

impl Renderer<Predictions> for Sarif {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        let mut bytes = serde_json::to_vec_pretty(&Log::new(predictions))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
struct Run<'a> {
    tool: Tool<'a>,
    invocations: [Invocation; 1],
    results: Vec<Finding>,
    properties: RunProperties<'a>,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'static str,
    version: &'a str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Message,
    full_description: Message,
    help: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: Level,
    message: Message,
}

/// What the format calls a result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: String,
    rule_index: usize,
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<f64>,
    message: Message,
    locations: [Location; 1],
    partial_fingerprints: Fingerprints,
    properties: FindingProperties,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Note,
    Warning,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    end_line: u32,
}

/// What stays the same when the lines above a test change.
#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "testId/v1")]
    test_id: String,
}

#[derive(Serialize)]
struct RunProperties<'a> {
    model: &'a ModelFacts,
}

#[derive(Serialize)]
struct FindingProperties {
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

impl<'a> Log<'a> {
    fn new(predictions: &'a Predictions) -> Self {
        Self { schema: SCHEMA, version: "2.1.0", runs: [Run::new(predictions)] }
    }
}

impl<'a> Run<'a> {
    fn new(predictions: &'a Predictions) -> Self {
        let suspects = predictions.suspects();
        let categories: BTreeSet<&str> =
            suspects.iter().filter_map(|test| test.category.as_deref()).collect();
        let mut rules = vec![Rule::new(None)];
        rules.extend(categories.into_iter().map(|category| Rule::new(Some(category))));
        rules.extend(predictions.rules.iter().map(Rule::of_rule));
        let mut results = Vec::new();
        for test in suspects {
            if test.rules.is_empty() {
                results.push(Finding::new(test, &rules));
            }
            let found = test.rules.iter();
            results.extend(found.filter_map(|it| Finding::of_rule(test, it, &rules)));
        }
        Self {
            tool: Tool {
                driver: Driver { name: "flakeproof", version: &predictions.version, rules },
            },
            invocations: [Invocation::new(&predictions.notices)],
            results,
            properties: RunProperties { model: &predictions.model },
        }
    }
}

impl Rule {
    fn new(category: Option<&str>) -> Self {
        let because = match category {
            Some(category) => format!(" because of {}", words::category(category)),
            None => String::new(),
        };
        let full = format!(
            "The test is like known tests that are flaky{because}: they pass and fail on the same \
             code. Nothing was run, so this is no proof."
        );
        Self {
            id: rule_id(category),
            short_description: Message { text: format!("Test may be flaky{because}") },
            full_description: Message { text: full },
            help: Message { text: words::sentence(words::advice(category)) },
        }
    }
}

impl Rule {
    fn of_rule(rule: &RuleFacts) -> Self {
        Self {
            id: rule.id.clone(),
            short_description: Message { text: rule.name.clone() },
            full_description: Message { text: rule.summary.clone() },
            help: Message { text: words::sentence(&rule.advice) },
        }
    }
}

impl Invocation {
    fn new(notices: &[Notice]) -> Self {
        let notification = |notice: &Notice| Notification {
            level: Level::Note,
            message: Message { text: format!("{}; {}", notice.what, notice.next) },
        };
        Self {
            execution_successful: true,
            tool_execution_notifications: notices.iter().map(notification).collect(),
        }
    }
}

impl Finding {
    fn new(test: &Prediction, rules: &[Rule]) -> Self {
        let rule_id = rule_id(test.category.as_deref());
        let rule_index = rules
            .iter()
            .position(|rule| rule.id == rule_id)
            .expect("the rules are made from the categories of the same tests");
        Self {
            rule_id,
            rule_index,
            level: if test.probability < WARNING_FROM { Level::Note } else { Level::Warning },
            rank: test.is_judged().then(|| rank(test.probability)),
            message: Message { text: message(test) },
            locations: [Location { physical_location: PhysicalLocation::new(test) }],
            partial_fingerprints: Fingerprints { test_id: digest(&test.id) },
            properties: FindingProperties {
                probability: test.is_judged().then_some(test.probability),
            },
        }
    }
}

impl Finding {
    /// What a rule found; nothing where nobody knows the rule.
    fn of_rule(test: &Prediction, found: &RuleFinding, rules: &[Rule]) -> Option<Self> {
        let rule_index = rules.iter().position(|rule| rule.id == found.id)?;
        let line = found.line.max(1);
        let mut place = PhysicalLocation::new(test);
        place.region = Region { start_line: line, end_line: line };
        let key = format!("{} {}", test.id, found.id);
        Some(Self {
            rule_id: found.id.clone(),
            rule_index,
            level: Level::Warning,
            rank: None,
            message: Message { text: format!("{}: {}.", test.id, found.message) },
            locations: [Location { physical_location: place }],
            partial_fingerprints: Fingerprints {
                test_id: blake3::hash(key.as_bytes()).to_hex().to_string(),
            },
            properties: FindingProperties {
                probability: test.is_judged().then_some(test.probability),
            },
        })
    }
}

impl PhysicalLocation {
    fn new(test: &Prediction) -> Self {
        let start_line = test.line.max(1);
        Self {
            artifact_location: ArtifactLocation { uri: uri(&test.file), uri_base_id: "%SRCROOT%" },
            region: Region { start_line, end_line: test.end_line.max(start_line) },
        }
    }
}

fn rule_id(category: Option<&str>) -> String {
    match category {
        Some(category) => format!("{RULE}/{category}"),
        None => RULE.to_owned(),
    }
}

/// The probability from 0 to 100, without the digits that the multiplication adds.
fn rank(probability: f64) -> f64 {
    ((probability * 1e6).round() / 1e4).clamp(0.0, 100.0)
}

fn message(test: &Prediction) -> String {
    let mut text = format!("{} {}.", test.id, words::suspicion(test));
    if let Some(nearest) = words::nearest_flaky(test) {
        text.push_str(&format!(" It {nearest}."));
    }
    text
}

fn digest(id: &TestId) -> String {
    blake3::hash(id.as_str().as_bytes()).to_hex().to_string()
}

/// A relative path as a relative reference (RFC 3986): all but unreserved characters encoded.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::sample;

    fn text(predictions: &Predictions) -> String {
        String::from_utf8(Sarif.render(predictions).unwrap()).unwrap()
    }

    fn run(predictions: &Predictions) -> Value {
        let log: Value = serde_json::from_str(&text(predictions)).unwrap();
        log["runs"][0].clone()
    }

    #[test]
    fn the_whole_log_reads_like_a_code_scanners() {
        insta::assert_snapshot!(text(&sample::predictions()));
    }

    #[test]
    fn every_result_points_at_its_rule_and_at_real_lines() {
        let mut predictions = sample::predictions();
        predictions.tests[0].category = None;
        predictions.tests[2].line = 0;
        predictions.tests[2].end_line = 0;
        let run = run(&predictions);
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        for result in results {
            let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][at]["id"], result["ruleId"]);
            let region = &result["locations"][0]["physicalLocation"]["region"];
            let (start, end) = (region["startLine"].as_u64(), region["endLine"].as_u64());
            assert!(start >= Some(1) && end >= start, "{region}");
        }
    }

    #[test]
    fn a_rule_is_there_for_each_category_met_and_no_other() {
        let run = run(&sample::predictions());
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["flaky-test", "flaky-test/async_wait", "flaky-test/moonlight"]);
    }

    #[test]
    fn what_a_rule_found_is_a_result_of_that_rule_on_its_line() {
        let mut predictions = sample::suspects(1);
        predictions.rules = vec![RuleFacts {
            id: "FP040".into(),
            name: "fixed-port".into(),
            summary: "A server listens on a port that is written in the test.".into(),
            advice: "listen on port 0".into(),
        }];
        let message = "port 8080 may be taken".to_owned();
        predictions.tests[0].rules = vec![RuleFinding { id: "FP040".into(), line: 2, message }];
        predictions.tests[0].probability = f64::NAN;
        let run = run(&predictions);
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!(results[0]["ruleId"], "FP040");
        assert_eq!(results[0]["rank"], Value::Null);
        let region = &results[0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], 2);
        assert_eq!(run["tool"]["driver"]["rules"][1]["help"]["text"], "Listen on port 0.");
    }

    #[test]
    fn a_fingerprint_survives_a_move_and_differs_between_tests() {
        let mut predictions = sample::predictions();
        let fingerprints = |predictions: &Predictions| {
            let run = run(predictions);
            [0, 1].map(|at| run["results"][at]["partialFingerprints"].clone())
        };
        let before = fingerprints(&predictions);
        predictions.tests[0].line += 10;
        predictions.tests[0].end_line += 10;
        assert_eq!(fingerprints(&predictions), before);
        assert_ne!(before[0], before[1]);
    }

    #[test]
    fn a_rank_has_no_digits_that_the_probability_lacks() {
        assert_eq!([0.29, 0.873, 1.0].map(rank).map(|it| it.to_string()), ["29", "87.3", "100"]);
    }

    #[test]
    fn a_path_becomes_a_relative_reference() {
        assert_eq!(uri("tests/a 100%.py"), "tests/a%20100%25.py");
        assert_eq!(uri("c:/größe#?.py"), "c%3A/gr%C3%B6%C3%9Fe%23%3F.py");
    }

    proptest! {
        #[test]
        fn every_path_can_be_read_back(path in ".{0,40}") {
            let uri = uri(&path);
            let mut bytes = Vec::new();
            let mut rest = uri.as_bytes();
            while let [first, tail @ ..] = rest {
                let (byte, tail) = match (first, tail) {
                    (b'%', [high, low, tail @ ..]) => {
                        let hex = String::from_utf8(vec![*high, *low]).unwrap();
                        (u8::from_str_radix(&hex, 16).unwrap(), tail)
                    }
                    _ => (*first, tail),
                };
                bytes.push(byte);
                rest = tail;
            }
            prop_assert_eq!(String::from_utf8(bytes).unwrap(), path);
        }
    }
}
