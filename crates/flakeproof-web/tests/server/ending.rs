//! When it is told to stop, the server ends soon, whatever clients do.

use std::io::Write as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::overview::overview;
use crate::scene::Scene;

/// What a person at a terminal calls at once.
const SOON: Duration = Duration::from_secs(1);

#[test]
fn it_ends_while_clients_hold_on() {
    let mut scene = Scene::open(overview(0));
    let mut quiet = scene.connect();
    quiet.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\nGET /").unwrap();
    assert_eq!(scene.get("/health").status, 200);
    let start = Instant::now();
    scene.end();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn it_ends_while_the_history_is_being_read() {
    let mut scene = Scene::open(overview(0));
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
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    drop(release);
}
