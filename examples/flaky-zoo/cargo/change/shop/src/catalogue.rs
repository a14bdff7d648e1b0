//! The catalogue, parsed once and kept.

use std::sync::Mutex;

const ROWS: [&str; 3] = ["apple;0.40", "bread;2.50", "tea;3,20"];

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// All names.
pub fn names() -> Vec<String> {
    let mut names = NAMES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if names.is_empty() {
        for row in ROWS {
            let (name, price) = row.split_once(';').unwrap();
            let price: f64 = price.parse().expect("a price");
            if price >= 0.0 {
                names.push(name.to_owned());
            }
        }
    }
    names.clone()
}
