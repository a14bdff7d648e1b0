//! What it costs to send a parcel, in cents.

pub fn cost(grams: u32, country: &str) -> u32 {
    let base = if country == "home" { 400 } else { 900 };
    let base = if grams > 2000 { 1500 } else { base };
    base + 100 * (grams / 1000)
}
