//! The server shows the history as it is now, and reads it no oftener than it changes.

use std::sync::atomic::Ordering;
use std::thread;

use flakeproof_web::SourceError;
use serde_json::json;

use crate::overview::overview;
use crate::scene::Scene;

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
