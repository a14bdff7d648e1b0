//! Clients that take too much are cut off, and others do not notice; and when it is told to stop, the
//! server ends soon, whatever clients do.

use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use flakeproof_web::Limits;

use crate::overview::overview;
use crate::scene::Scene;

/// However busy the machine is, who waits longer than this waits for a client.
const PATIENCE: Duration = Duration::from_secs(60);

/// Clients may take longer than any test waits: whoever is answered did not wait for one.
fn patient() -> Limits {
    let long = Duration::from_secs(3600);
    Limits { head_time: long, connection_time: long, ..Limits::default() }
}

#[test]
fn a_huge_head_is_refused() {
    let scene = Scene::open(overview(0));
    let long = "x".repeat(100_000);
    let status = |bytes: String| scene.send(bytes.as_bytes()).map(|answer| answer.status);
    let header = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {long}\r\n\r\n");
    assert!(matches!(status(header), None | Some(431)));
    let address = format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(matches!(status(address), None | Some(414 | 431)));
    let many = "x: y\r\n".repeat(65);
    assert_eq!(status(format!("GET / HTTP/1.1\r\nhost: localhost\r\n{many}\r\n")), Some(431));
    assert_eq!(scene.get("/health").status, 200);
}

#[test]
fn who_does_not_finish_a_request_is_hung_up_on() {
    let limits = Limits { head_time: Duration::from_millis(500), ..patient() };
    let scene = Scene::with(overview(0), None, limits);
    let mut slow = scene.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
    let mut rest = Vec::new();
    // Comes back when the server hangs up; otherwise the client's patience ends as an error.
    let ended = slow.read_to_end(&mut rest);
    assert!(!matches!(ended.map_err(|error| error.kind()), Err(std::io::ErrorKind::WouldBlock)));
}

#[test]
fn clients_that_say_nothing_do_not_keep_others_out() {
    let scene = Scene::with(overview(0), None, Limits { connections: 2, ..patient() });
    let _quiet: Vec<_> = (0..4).map(|_| scene.connect()).collect();
    assert_eq!(scene.get("/health").status, 200);
}

#[test]
fn half_open_connections_do_not_keep_others_waiting() {
    let scene = Scene::with(overview(0), None, patient());
    let _half_open: Vec<_> = (0..190)
        .map(|_| {
            let mut client = scene.connect();
            client.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
            client
        })
        .collect();
    assert_eq!(scene.get("/health").status, 200);
}

#[test]
fn who_does_not_read_the_answer_is_hung_up_on() {
    let connection_time = Duration::from_millis(200);
    let limits = Limits { connection_time, connections: 1, ..Limits::default() };
    let scene = Scene::with(overview(20_000), None, limits);
    let mut deaf = scene.connect();
    deaf.write_all(b"GET /api/v1/overview HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // There is room for one: it is answered only when the other one is gone.
    let mut answered = scene.connect();
    answered.write_all(b"GET /api HTTP/1.0\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    answered.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    drop(deaf);
}

#[test]
fn it_ends_while_clients_hold_on() {
    let mut scene = Scene::with(overview(0), None, patient());
    let mut quiet = scene.connect();
    quiet.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /").unwrap();
    assert_eq!(scene.get("/health").status, 200);
    let start = Instant::now();
    scene.end();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn it_ends_while_the_history_is_being_read() {
    let mut scene = Scene::with(overview(0), None, patient());
    let (has_begun, begins) = mpsc::sync_channel(1);
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    scene.source.tell(move || {
        let _ = has_begun.send(());
        let _ = released.lock().map(|it| it.recv());
        Ok(overview(0))
    });
    let mut waiting = scene.connect();
    waiting.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    begins.recv().unwrap();
    let start = Instant::now();
    scene.end();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    drop(release);
}
