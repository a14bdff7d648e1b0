//! The API is as its description says.

use boon::{Compiler, Schemas};
use flakeproof_web::{Route, open_api};
use serde_json::Value;

use crate::overview::{FLAKY, overview};
use crate::scene::Scene;

const PLACE: &str = "http://localhost/openapi.json";

fn assert_valid(description: &Value, schema: &Value, document: &Value, path: &str) {
    let reference = schema["$ref"].as_str().expect("every schema is a reference");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource(PLACE, description.clone()).unwrap();
    let schema = compiler.compile(&format!("{PLACE}{reference}"), &mut schemas).unwrap();
    if let Err(error) = schemas.validate(document, schema) {
        panic!("{path}: {error:#}");
    }
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let scene = Scene::open(overview(3));
    let description = scene.get("/api/openapi.json").json();
    assert_eq!(description, open_api());
    let id: String = FLAKY.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for route in Route::ALL {
        let path = route.path().replace("{id}", &id);
        let answer = scene.get(&path);
        let described = &description["paths"][route.path()]["get"]["responses"];
        let described = &described[answer.status.to_string()];
        assert!(described.is_object(), "{path}: {} is not described", answer.status);
        let schema = &described["content"]["application/json"]["schema"];
        assert_eq!(
            schema.is_object(),
            answer.header("content-type") == "application/json" && answer.status == 200,
            "{path}"
        );
        if schema.is_object() {
            assert_valid(&description, schema, &answer.json(), &path);
        }
    }
}

#[test]
fn trouble_is_as_its_schema_says() {
    let scene = Scene::open(overview(0));
    let description = open_api();
    let responses = &description["paths"]["/api/v1/tests"]["get"]["responses"];
    let schema = &responses["default"]["content"]["application/problem+json"]["schema"];
    for path in ["/api/v1/tests?limit=x", "/api/v1/tests/nobody", "/nothing"] {
        assert_valid(&description, schema, &scene.get(path).json(), path);
    }
}

#[test]
fn a_schema_that_does_not_fit_is_noticed() {
    let description = open_api();
    let schema = &description["paths"]["/health"]["get"]["responses"]["200"]["content"];
    let schema = &schema["application/json"]["schema"];
    let wrong = serde_json::json!({ "status": "bad" });
    let is_noticed = std::panic::catch_unwind(|| assert_valid(&description, schema, &wrong, "/"));
    assert!(is_noticed.is_err());
}
