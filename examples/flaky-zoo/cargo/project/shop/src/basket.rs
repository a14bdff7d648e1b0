//! What a customer is about to buy.

/// Items with their price in cents and how many of each.
#[derive(Default)]
pub struct Basket {
    items: Vec<(u32, u32)>,
}

impl Basket {
    pub fn add(&mut self, price: u32, count: u32) {
        self.items.push((price, count));
    }

    pub fn total(&self) -> u32 {
        self.items.iter().map(|(price, count)| price * count).sum()
    }
}
