//! What it costs to send a parcel, in cents.

pub fn cost(grams: u32, country: &str) -> u32 {
    let base = if country == "home" { 400 } else { 900 };
    base + 100 * (grams / 1000)
}
