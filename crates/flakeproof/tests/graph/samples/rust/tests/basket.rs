use std::time::Instant;

use shop::basket::Basket;

fn filled(item: &str, count: usize) -> Basket {
    let mut basket = Basket::new(Instant::now());
    basket.add(item, count);
    basket
}

#[test]
fn expires() {
    let now = Instant::now();
    let basket = filled("apple", 3);
    assert_eq!(basket.size(), 3);
    assert!(basket.expires() > now);
}
