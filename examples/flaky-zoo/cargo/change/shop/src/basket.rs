//! What a customer is about to buy.

use std::collections::BTreeMap;

/// Items with their price in cents and how many of each.
#[derive(Default)]
pub struct Basket {
    items: BTreeMap<u32, u32>,
}

impl Basket {
    pub fn add(&mut self, price: u32, count: u32) {
        self.items.insert(price, count);
    }

    pub fn total(&self) -> u32 {
        self.items.keys().sum()
    }
}
