//! Nothing that can be changed from outside makes these fail, or makes them pass: no lever may be named.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

#[test]
fn nothing_first_of_ten_tags() {
    // The order of a map is drawn anew in each process, by nothing that can be set.
    let tags: HashSet<usize> = (0..10).collect();
    assert_ne!(tags.iter().next(), Some(&0));
}

#[test]
fn nothing_fails_one_time_in_three() {
    assert_ne!(RandomState::new().hash_one(0) % 3, 0);
}

#[test]
fn nothing_never_fails() {
    assert!(HashMap::from([(1, 2)]).contains_key(&1));
}
