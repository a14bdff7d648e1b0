//! Each test expects to be fast, or another thread or the machine to be.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn quota_answer_comes_in_time() {
    let begin = Instant::now();
    thread::sleep(Duration::from_millis(100));
    assert!(begin.elapsed() < Duration::from_millis(700), "the answer came late");
}

#[test]
fn quota_timeout_too_short() {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(15));
        }
        let _ = done.send(());
    });
    let begin = Instant::now();
    is_done.recv().expect("it ends");
    assert!(begin.elapsed() < Duration::from_millis(700), "the work is not done in time");
}

#[test]
fn quota_fixed_sleep_before_a_look() {
    let paid = Arc::new(AtomicBool::new(false));
    let payer = Arc::clone(&paid);
    thread::spawn(move || {
        let total: u64 = (0..2_000_000_u64).map(|number| std::hint::black_box(number) % 7).sum();
        payer.store(total > 0, Ordering::SeqCst);
    });
    thread::sleep(Duration::from_millis(500));
    assert!(paid.load(Ordering::SeqCst), "not paid yet");
}

#[test]
fn scheduling_missed_notification() {
    let shared = Arc::new((Mutex::new(()), Condvar::new()));
    let waiting = Arc::clone(&shared);
    let waiter = thread::spawn(move || {
        let (lock, paid) = &*waiting;
        let guard = lock.lock().expect("nobody panics");
        // Whoever tells it before it waits is not heard: there is no flag beside the notification.
        let (_guard, told) =
            paid.wait_timeout(guard, Duration::from_millis(700)).expect("nobody panics");
        !told.timed_out()
    });
    thread::sleep(Duration::from_millis(40));
    shared.1.notify_all();
    assert!(waiter.join().expect("it ends"), "nobody said that it is paid");
}

#[test]
fn slow_calls_report_is_on_the_disk_in_time() {
    let path = std::env::temp_dir().join(format!("report-{}", std::process::id()));
    let begin = Instant::now();
    let mut report = File::create(&path).expect("a file");
    for _ in 0..3 {
        report.write_all(b"paid\n").expect("it is written");
        report.sync_all().expect("it is on the disk");
    }
    std::fs::remove_file(&path).expect("it is there");
    assert!(begin.elapsed() < Duration::from_millis(500), "the disk is too slow");
}

#[test]
fn slow_network_server_answers_in_time() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("it has one");
    thread::spawn(move || {
        let (mut client, _) = server.accept().expect("a client");
        let mut asked = [0; 4];
        client.read_exact(&mut asked).expect("it asks");
        client.write_all(b"paid").expect("it hears");
    });
    let begin = Instant::now();
    let mut client = TcpStream::connect(address).expect("a server");
    client.write_all(b"pay?").expect("it hears");
    let mut answer = [0; 4];
    client.read_exact(&mut answer).expect("it answers");
    assert!(begin.elapsed() < Duration::from_millis(250), "no answer in time");
}
