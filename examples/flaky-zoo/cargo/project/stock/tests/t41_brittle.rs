//! A test that needs what another one leaves behind, and comes before it.

use stock::customer;

#[test]
fn a_brittle_needs_a_customer() {
    assert_eq!(customer::greeting(), "Hello, ada");
}

#[test]
fn b_state_setter_logs_a_customer_in() {
    customer::log_in("ada");
    assert_eq!(customer::greeting(), "Hello, ada");
}
