//! A test changes a static variable and leaves it so.

use stock::settings;

#[test]
fn a_polluter_switches_currency() {
    *settings::CURRENCY.lock().unwrap() = "USD";
    assert_eq!(settings::show(250), "2.50 USD");
}

#[test]
fn b_victim_of_the_currency() {
    assert_eq!(settings::show(250), "2.50 EUR");
}
