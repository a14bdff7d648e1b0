//! A backup job holds the till for a while: three tests fail together, and pass later.

use stock::backup;

#[test]
fn bursty_till_in_use_when_counting() {
    assert_eq!(backup::open_till(), 8080);
}

#[test]
fn bursty_till_in_use_when_refunding() {
    assert!(backup::open_till() > 0);
}

#[test]
fn bursty_till_in_use_when_selling() {
    assert_ne!(backup::open_till(), 80);
}
