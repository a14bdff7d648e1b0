use std::time::{Duration, Instant};

pub struct Basket {
    items: Vec<String>,
    started: Instant,
}

impl Basket {
    pub fn new(started: Instant) -> Self {
        Self { items: Vec::new(), started }
    }

    pub fn add(&mut self, item: &str, count: usize) {
        for _ in 0..count {
            self.items.push(item.to_owned());
        }
    }

    pub fn size(&self) -> usize {
        self.items.len()
    }

    pub fn expires(&self) -> Instant {
        self.started + Duration::from_secs(3600)
    }
}
