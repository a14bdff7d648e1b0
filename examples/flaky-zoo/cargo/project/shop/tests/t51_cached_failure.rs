//! Fails after the change; called again in the same process it finds a half-filled cache.

#[test]
fn real_failure_that_a_cache_hides_from_reruns() {
    assert_eq!(shop::catalogue::names()[0], "apple");
}
