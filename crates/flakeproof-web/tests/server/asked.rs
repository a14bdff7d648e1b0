//! What polite clients ask for, that the API is as its description says, and that the server shows
//! the history as it is now, and reads it no oftener than it changes.

use std::io::Read as _;
use std::sync::atomic::Ordering;
use std::thread;

use boon::{Compiler, Schemas};
use flakeproof_web::{Route, SourceError, open_api};
use serde_json::{Value, json};

use crate::overview::{FLAKY, HOSTILE, overview};
use crate::scene::Scene;

const PLACE: &str = "http://localhost/openapi.json";

fn encoded(id: &str) -> String {
    id.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn the_page_is_a_page_that_loads_nothing() {
    let scene = Scene::open(overview(0));
    let page = scene.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    assert!(page.text().contains("shop"));
}

#[test]
fn the_page_says_where_its_feeds_are_and_they_are_there() {
    let scene = Scene::open(overview(0));
    let links = scene.get("/").header("link").to_owned();
    for (path, kind) in
        [("/feed.json", "application/feed+json"), ("/feed.atom", "application/atom+xml")]
    {
        assert!(
            links.contains(&format!("<{path}>; rel=\"alternate\"; type=\"{kind}\"")),
            "{links}"
        );
        let feed = scene.get(path);
        assert_eq!((feed.status, feed.header("content-type")), (200, kind));
        assert!(feed.text().contains(FLAKY), "{}", feed.text());
        let again = scene.ask("GET", path, &[("if-none-match", feed.header("etag"))]);
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
}

#[test]
fn every_answer_has_the_headers_that_keep_it_to_itself() {
    let scene = Scene::open(overview(0));
    for path in ["/", "/api", "/api/v1/overview", "/tests/x", "/nothing", "/api/v1/tests?x=1"] {
        let answer = scene.get(path);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("access-control-allow-origin"), "", "{path}");
    }
}

#[test]
fn a_head_is_answered_like_a_get_without_a_body() {
    let scene = Scene::open(overview(0));
    for path in ["/", "/api/v1/overview", "/nothing"] {
        let (got, head) = (scene.get(path), scene.ask("HEAD", path, &[]));
        assert_eq!((head.status, head.body.len()), (got.status, 0), "{path}");
        for name in ["etag", "content-type", "content-length"] {
            assert_eq!(head.header(name), got.header(name), "{path} {name}");
        }
    }
}

#[test]
fn what_the_client_has_is_not_sent_again_until_it_changes() {
    let scene = Scene::open(overview(0));
    let first = scene.get("/api/v1/overview");
    let again = scene.ask("GET", "/api/v1/overview", &[("if-none-match", first.header("etag"))]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    scene.source.tell(|| Ok(overview(1)));
    let changed = scene.ask("GET", "/api/v1/overview", &[("if-none-match", first.header("etag"))]);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), first.header("etag"));
}

#[test]
fn large_answers_are_packed_for_those_who_can_unpack_them() {
    let scene = Scene::open(overview(300));
    let plain = scene.get("/api/v1/overview");
    let packed = scene.ask("GET", "/api/v1/overview", &[("accept-encoding", "gzip, br")]);
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), ("", "gzip"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.body && packed.body.len() * 5 < plain.body.len());
    assert_ne!(plain.header("etag"), packed.header("etag"));
    let known = [("accept-encoding", "gzip"), ("if-none-match", packed.header("etag"))];
    assert_eq!(scene.ask("GET", "/api/v1/overview", &known).status, 304);
}

#[test]
fn tests_come_page_by_page() {
    let scene = Scene::open(overview(25));
    let mut path = "/api/v1/tests?q=steady&limit=10".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = scene.get(&path);
        assert_eq!((page.status, &page.json()["total"]), (200, &json!(25)));
        let tests = page.json()["tests"].as_array().cloned().unwrap();
        seen.extend(tests.iter().map(|test| test["id"].as_str().unwrap().to_owned()));
        let link = page.header("link");
        let Some(next) = link.strip_prefix('<').and_then(|link| link.split_once('>')) else {
            break;
        };
        path = next.0.to_owned();
    }
    assert_eq!(seen, (0..25).map(|number| format!("steady::{number:05}")).collect::<Vec<_>>());
}

#[test]
fn a_test_is_found_by_its_id_whatever_that_is() {
    let scene = Scene::open(overview(0));
    for id in HOSTILE.iter().chain([&FLAKY]) {
        let answer = scene.get(&format!("/api/v1/tests/{}", encoded(id)));
        assert_eq!(answer.status, 200, "{id}");
        assert!(answer.json().to_string().contains(&json!(id).to_string()), "{id}");
    }
    let plain = scene.get("/api/v1/tests/tests/test_pay.py::test_total%5Ba/b%5D");
    assert_eq!(plain.status, 200);
    let unknown = scene.get("/api/v1/tests/nobody");
    assert_eq!((unknown.status, &unknown.json()["status"]), (404, &json!(404)));
}

#[test]
fn a_link_to_a_test_leads_to_the_page_and_nowhere_else() {
    let scene = Scene::open(overview(0));
    let link = scene.get("/tests/tests/test_pay.py::test_total%5Ba/b%5D");
    let place = "/#test=tests%2Ftest_pay.py%3A%3Atest_total%5Ba%2Fb%5D";
    assert_eq!((link.status, link.header("location")), (303, place));
    for id in HOSTILE.iter().chain([&"//evil.example", &"\r\nx: y"]) {
        let link = scene.get(&format!("/tests/{}", encoded(id)));
        assert!(link.header("location").starts_with("/#test="), "{id}");
        assert_eq!((link.header("set-cookie"), link.header("x")), ("", ""), "{id}");
    }
}

#[test]
fn runs_and_outages_and_health_are_there() {
    let scene = Scene::open(overview(0));
    assert_eq!(scene.get("/api/v1/runs").json()["runs"].as_array().unwrap().len(), 4);
    assert_eq!(scene.get("/api/v1/outages").json()["outages"], json!([]));
    assert_eq!(scene.get("/health").json(), json!({ "status": "ok" }));
}

#[test]
fn trouble_is_told_with_a_next_step() {
    let scene = Scene::open(overview(0));
    for (path, status) in [("/nothing", 404), ("/api/v1/tests?limit=0", 400)] {
        let answer = scene.get(path);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (status, "application/problem+json")
        );
        let problem = answer.json();
        assert_eq!(problem["status"], status);
        assert!(!problem["next"].as_str().unwrap().is_empty(), "{problem}");
    }
}

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

#[test]
fn many_requests_read_an_unchanged_history_once() {
    let scene = Scene::open(overview(10));
    thread::scope(|threads| {
        for _ in 0..32 {
            threads.spawn(|| assert_eq!(scene.get("/").status, 200));
        }
    });
    assert_eq!(scene.source.reads.load(Ordering::SeqCst), 1);
}

#[test]
fn what_changed_shows_at_the_next_request() {
    let scene = Scene::open(overview(0));
    let count = || scene.get("/api/v1/tests?q=steady").json()["total"].as_u64().unwrap();
    for steady in [1, 5, 3] {
        scene.source.tell(move || Ok(overview(steady)));
        assert_eq!(count(), steady as u64);
    }
}

#[test]
fn answers_are_whole_while_the_history_changes() {
    let scene = Scene::open(overview(0));
    thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for _ in 0..10 {
                    let page = scene.get("/api/v1/tests?q=steady&limit=1000").json();
                    let tests = page["tests"].as_array().unwrap();
                    assert_eq!(page["total"], tests.len());
                }
            });
        }
        for steady in 0..40 {
            scene.source.tell(move || Ok(overview(steady)));
        }
    });
}

#[test]
fn a_history_that_cannot_be_read_is_said_and_read_again_later() {
    let scene = Scene::open(overview(0));
    scene
        .source
        .tell(|| Err(SourceError { what: "the disk is gone".into(), next: "plug it in".into() }));
    for path in ["/", "/health", "/api/v1/tests"] {
        let answer = scene.get(path);
        assert_eq!(answer.status, 503, "{path}");
        let problem = answer.json();
        assert_eq!(
            (&problem["detail"], &problem["next"]),
            (&json!("the disk is gone"), &json!("plug it in"))
        );
    }
    scene.source.tell(|| Ok(overview(0)));
    assert_eq!(scene.get("/health").status, 200);
}

#[test]
fn a_fault_in_the_program_ends_one_request_and_not_the_server() {
    let scene = Scene::open(overview(0));
    scene.source.tell(|| panic!("this panic is part of a test"));
    let answer = scene.get("/");
    assert_eq!(answer.status, 500);
    assert!(!answer.text().contains("panic"));
    scene.source.tell(|| Ok(overview(0)));
    assert_eq!(scene.get("/").status, 200);
}
