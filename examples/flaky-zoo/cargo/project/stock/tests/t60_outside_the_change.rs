//! Fails while a service outside the project is down: the change, in another crate, has no part.

#[test]
fn outage_of_a_service_that_the_change_does_not_touch() {
    assert_eq!(stock::service::count("apple"), 12);
}
