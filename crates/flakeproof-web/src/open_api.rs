//! The API's description: for programs as OpenAPI 3.1 has it, made of the schemas that the documents
//! have, and for people as a page that is whole in itself, without a script.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::Route;
use crate::route::{Description, ID, Parameter, Reply};

/// Where OpenAPI keeps schemas.
const PLACE: &str = "#/components/schemas/";

/// What stands above the addresses.
const TOP: &str = include_str!("api.html");

/// The API's description: every [`Route`], with the schema of what it answers.
#[must_use]
pub fn open_api() -> Value {
    let paths: Map<String, Value> =
        Route::ALL.iter().map(|route| (route.path().to_owned(), path(*route))).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "flakeproof serve",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What the history says about a project's tests. Nothing can be changed.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "servers": [{ "url": "/" }],
        // Without a token, nothing is needed; with one, it is needed everywhere.
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn path(route: Route) -> Value {
    let description = Description::new(route);
    let mut operation = json!({
        "operationId": format!("{route:?}"),
        "summary": description.summary,
        "responses": responses(description.reply),
    });
    if !description.parameters.is_empty() {
        let parameters = description.parameters.iter().map(parameter);
        operation["parameters"] = parameters.collect();
    }
    json!({ "get": operation })
}

fn parameter(parameter: &Parameter) -> Value {
    let is_in_path = parameter.name == ID;
    let mut described = json!({
        "name": parameter.name,
        "in": if is_in_path { "path" } else { "query" },
        "required": is_in_path,
        "description": parameter.what,
        "schema": parameter.schema,
    });
    if parameter.schema["type"] == "array" {
        described["style"] = "form".into();
        described["explode"] = false.into();
    }
    described
}

fn responses(reply: Reply) -> Value {
    let problem = json!({
        "description": "What is wrong, and what to do next",
        "content": {
            "application/problem+json": { "schema": { "$ref": format!("{PLACE}Problem") } },
        },
    });
    match reply {
        Reply::Page => json!({
            "200": { "description": "A page", "content": { "text/html": {} } },
            "default": problem,
        }),
        Reply::Feed(media_type) => json!({
            "200": { "description": "A feed", "content": { media_type: {} } },
            "304": { "description": "The client has it already" },
            "default": problem,
        }),
        Reply::Elsewhere => json!({
            "303": { "description": "Where it is on the page" },
            "default": problem,
        }),
        Reply::Document(name) => json!({
            "200": {
                "description": "A document",
                "content": {
                    "application/json": { "schema": { "$ref": format!("{PLACE}{name}") } },
                },
            },
            "304": { "description": "The client has it already" },
            "default": problem,
        }),
    }
}

fn schemas() -> Map<String, Value> {
    let mut all = Map::new();
    let overview = hoisted(&flakeproof_report::overview_schema(), &mut all);
    let test = hoisted(&flakeproof_report::test_schema(), &mut all);
    let member = |name: &str| overview["properties"][name].clone();
    all.insert("RunList".into(), list_of("runs", &member("runs")));
    all.insert("OutageList".into(), list_of("outages", &member("outages")));
    all.insert("ClusterList".into(), list_of("clusters", &member("clusters")));
    all.insert("TestList".into(), test_list(&member("tests")));
    all.insert("Overview".into(), overview);
    all.insert("Test".into(), test);
    all.insert("Health".into(), object(&json!({ "status": { "const": "ok" } })));
    all.insert("OpenApi".into(), json!({ "type": "object" }));
    all.insert("Problem".into(), problem());
    all
}

/// A published schema, whose parts are put among all others.
fn hoisted(published: &str, all: &mut Map<String, Value>) -> Value {
    // It is made by our own code, and tests read it.
    let mut schema: Value = serde_json::from_str(published).unwrap_or_default();
    redirect(&mut schema);
    if let Value::Object(members) = &mut schema {
        members.remove("$schema");
        if let Some(Value::Object(parts)) = members.remove("$defs") {
            all.extend(parts);
        }
    }
    schema
}

/// Let references point to where OpenAPI keeps schemas.
fn redirect(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", PLACE);
            }
            members.values_mut().for_each(redirect);
        }
        Value::Array(items) => items.iter_mut().for_each(redirect),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn list_of(name: &str, list: &Value) -> Value {
    object(&json!({ "schema": { "const": 1 }, name: list }))
}

fn test_list(list: &Value) -> Value {
    object(&json!({
        "schema": { "const": 1 },
        "total": { "type": "integer", "minimum": 0, "description": "Tests on all pages." },
        "tests": list,
        "next": {
            "type": ["string", "null"],
            "description": "What `after` is for the next page; `null` on the last.",
        },
    }))
}

fn problem() -> Value {
    object(&json!({
        "type": { "type": "string" },
        "title": { "type": "string" },
        "status": { "type": "integer" },
        "detail": { "type": "string", "description": "What happened." },
        "next": { "type": "string", "description": "What to do about it." },
    }))
}

/// An object that has all these members.
fn object(members: &Value) -> Value {
    let required: Vec<&String> =
        members.as_object().map(|it| it.keys().collect()).unwrap_or_default();
    json!({ "type": "object", "properties": members, "required": required })
}

/// The page.
pub(crate) fn api_page(open_api: &Value) -> String {
    let mut page = TOP.to_owned();
    for route in Route::ALL {
        section(&mut page, route, open_api);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn section(page: &mut String, route: Route, open_api: &Value) {
    let description = Description::new(route);
    let (path, summary) = (escaped(route.path()), escaped(description.summary));
    let _ = writeln!(page, "<section>\n<h2><code>{path}</code></h2>\n<p>{summary}.</p>");
    if !description.parameters.is_empty() {
        page.push_str("<dl>\n");
        for parameter in &description.parameters {
            let (name, what) = (escaped(parameter.name), escaped(parameter.what));
            let schema = escaped(&parameter.schema.to_string());
            let _ = writeln!(
                page,
                "<dt><code>{name}</code></dt><dd>{what}. <code>{schema}</code></dd>"
            );
        }
        page.push_str("</dl>\n");
    }
    match description.reply {
        Reply::Document(name) => {
            let schema = &open_api["components"]["schemas"][name];
            let schema = escaped(&format!("{schema:#}"));
            let _ =
                writeln!(page, "<details><summary>Schema</summary><pre>{schema}</pre></details>");
        }
        Reply::Page | Reply::Feed(_) | Reply::Elsewhere => {}
    }
    page.push_str("</section>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_described() {
        let description = open_api();
        for route in Route::ALL {
            let summary = &description["paths"][route.path()]["get"]["summary"];
            assert!(summary.is_string(), "{route:?}");
        }
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        let description = open_api();
        let text = description.to_string();
        let references = text.split("\"$ref\":\"#").skip(1).map(|it| it.split('"').next().unwrap());
        let mut seen = 0;
        for reference in references {
            assert!(description.pointer(reference).is_some(), "{reference}");
            seen += 1;
        }
        assert!(seen > 10 && !text.contains("$defs"));
    }

    #[test]
    fn parts_with_the_same_name_are_the_same() {
        let parts = |published: &str| {
            let schema: Value = serde_json::from_str(published).unwrap();
            schema["$defs"].as_object().cloned().unwrap_or_default()
        };
        let overview = parts(&flakeproof_report::overview_schema());
        for (name, part) in parts(&flakeproof_report::test_schema()) {
            assert!(overview.get(&name).is_none_or(|other| *other == part), "{name}");
        }
    }

    #[test]
    fn the_page_has_every_address_and_loads_nothing() {
        let page = api_page(&crate::open_api());
        for route in Route::ALL {
            assert!(page.contains(&format!("<code>{}</code>", route.path())), "{route:?}");
        }
        for loading in ["<script", "<img", "src=", "url(", "@import", "//"] {
            assert!(!page.contains(loading), "{loading}");
        }
    }
}
