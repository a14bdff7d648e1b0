//! What the numbered invocations of a test were called with.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use flakeproof_core::TestId;

/// The case of each numbered invocation, as it was first seen.
///
/// `Set.of`, and sets of enums or of objects without a hash of their own, come in another order in each
/// JVM. Where they are the arguments of a test, its third invocation is another case each time, and a pass
/// of it says nothing of the failure before.
#[derive(Debug, Default)]
pub(super) struct Cases(Mutex<HashMap<TestId, String>>);

impl Cases {
    /// Whether this case belongs to another invocation of the same method. What nobody had before may
    /// be new in each JVM (an address, the time), and says nothing.
    pub(super) fn is_of_another(&self, test: &TestId, case: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = known.entry(test.clone()).or_insert_with(|| case.to_owned());
        first != case
            && known.iter().any(|(other, of_other)| {
                other != test && of_other == case && method(other) == method(test)
            })
    }
}

/// An id without its number.
fn method(test: &TestId) -> &str {
    let text = test.as_str();
    text.rsplit_once('[').map_or(text, |(method, _)| method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TestId {
        TestId::from(text)
    }

    #[test]
    fn an_invocation_that_changed_places_is_of_another() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(!cases.is_of_another(&id("T#t[2]"), "blue"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(cases.is_of_another(&id("T#t[1]"), "blue"));
    }

    #[test]
    fn a_case_that_is_new_each_time_is_the_tests_own() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "Shop@1a2b"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "Shop@3c4d"));
    }

    #[test]
    fn another_method_may_have_the_same_case() {
        let cases = Cases::default();
        assert!(!cases.is_of_another(&id("T#t[1]"), "red"));
        assert!(!cases.is_of_another(&id("T#u[1]"), "blue"));
        assert!(!cases.is_of_another(&id("T#t[1]"), "blue"));
    }
}
