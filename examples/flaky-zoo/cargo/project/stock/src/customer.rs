//! The customer who is logged in.

use std::sync::Mutex;

static CURRENT: Mutex<Option<String>> = Mutex::new(None);

pub fn log_in(name: &str) {
    *CURRENT.lock().unwrap() = Some(name.to_owned());
}

pub fn greeting() -> String {
    let current = CURRENT.lock().unwrap().clone();
    format!("Hello, {}", current.expect("somebody is logged in"))
}
