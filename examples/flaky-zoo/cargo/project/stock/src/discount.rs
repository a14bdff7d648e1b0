//! The discount of the day, in percent.

use std::sync::atomic::{AtomicU32, Ordering};

pub static PERCENT: AtomicU32 = AtomicU32::new(0);

pub fn reduced(price: u32) -> u32 {
    price * (100 - PERCENT.load(Ordering::SeqCst)) / 100
}
