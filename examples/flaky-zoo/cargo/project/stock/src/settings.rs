//! Settings of the shop, shared by everything in the process.

use std::sync::Mutex;

pub static CURRENCY: Mutex<&str> = Mutex::new("EUR");

pub fn show(cents: u32) -> String {
    format!(
        "{}.{:02} {}",
        cents / 100,
        cents % 100,
        CURRENCY.lock().unwrap()
    )
}
