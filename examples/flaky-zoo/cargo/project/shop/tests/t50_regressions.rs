//! Pass before the change and fail after it, because of it.

#[test]
fn real_regression_by_added_lines_only() {
    assert_eq!(shop::shipping::cost(2500, "abroad"), 1100);
}

#[test]
fn real_regression_by_an_added_file() {
    assert_eq!(shop::offers::best_price(1000), 950);
}

#[test]
fn real_regression_in_code() {
    let mut basket = shop::basket::Basket::default();
    basket.add(40, 3);
    basket.add(250, 1);
    assert_eq!(basket.total(), 370);
}
