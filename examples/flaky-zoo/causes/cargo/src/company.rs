//! Each test fails because of a copy of itself.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

#[test]
fn beside_itself_fixed_port() {
    let server = TcpListener::bind("127.0.0.1:18767").expect("the port is free");
    thread::sleep(Duration::from_millis(300));
    drop(server);
}

#[test]
fn beside_itself_fixed_temporary_folder() {
    let folder = std::env::temp_dir().join("pay-of-the-zoo");
    std::fs::create_dir(&folder).expect("nobody else pays");
    thread::sleep(Duration::from_millis(300));
    std::fs::remove_dir(&folder).expect("it is empty");
}
