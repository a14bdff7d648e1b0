//! The published JSON schemas are the ones that the code makes.

use std::path::Path;

use flakeproof_report::{
    cause_schema, fix_schema, graph_schema, hunt_schema, json_schema, overview_schema,
    prediction_schema, test_schema, verify_schema,
};

#[test]
fn the_schema_of_the_run_report_is_up_to_date() {
    assert_up_to_date("run-report.schema.json", &json_schema());
}

#[test]
fn the_schema_of_the_prediction_report_is_up_to_date() {
    assert_up_to_date("prediction-report.schema.json", &prediction_schema());
}

#[test]
fn the_schema_of_the_hunt_report_is_up_to_date() {
    assert_up_to_date("hunt-report.schema.json", &hunt_schema());
}

#[test]
fn the_schema_of_the_verify_report_is_up_to_date() {
    assert_up_to_date("verify-report.schema.json", &verify_schema());
}

#[test]
fn the_schema_of_the_fix_report_is_up_to_date() {
    assert_up_to_date("fix-report.schema.json", &fix_schema());
}

#[test]
fn the_schema_of_the_cause_report_is_up_to_date() {
    assert_up_to_date("cause-report.schema.json", &cause_schema());
}

#[test]
fn the_schema_of_the_graph_report_is_up_to_date() {
    assert_up_to_date("graph-report.schema.json", &graph_schema());
}

#[test]
fn the_schema_of_the_overview_is_up_to_date() {
    assert_up_to_date("overview-report.schema.json", &overview_schema());
}

#[test]
fn the_schema_of_the_test_report_is_up_to_date() {
    assert_up_to_date("test-report.schema.json", &test_schema());
}

fn assert_up_to_date(file: &str, made: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
    if std::env::var_os("UPDATE_SCHEMAS").is_some_and(|value| value == "1") {
        std::fs::write(&place, made).expect("the folder of the schemas can be written");
    }
    let published = std::fs::read_to_string(&place).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        published == made,
        "docs/reference/{file} is out of date; regenerate it with\n\
         UPDATE_SCHEMAS=1 cargo test -p flakeproof-report --test schema"
    );
}
