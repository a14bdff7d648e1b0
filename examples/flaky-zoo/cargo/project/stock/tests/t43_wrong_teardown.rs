//! A guard puts back a value that was not there before.

use std::sync::atomic::Ordering;

use stock::discount;

struct HappyHour;

impl Drop for HappyHour {
    fn drop(&mut self) {
        discount::PERCENT.store(10, Ordering::SeqCst);
    }
}

#[test]
fn a_polluter_whose_guard_restores_the_wrong_value() {
    let _happy_hour = HappyHour;
    discount::PERCENT.store(20, Ordering::SeqCst);
    assert_eq!(discount::reduced(1000), 800);
}

#[test]
fn b_victim_of_the_wrong_teardown() {
    assert_eq!(discount::reduced(1000), 1000);
}
