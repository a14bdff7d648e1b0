//! Tests that fail alike: what one cause breaks in many tests is one thing to mend.
//!
//! Two tests fail alike if both are broken, or both are flaky, and their latest failures have the
//! same [signature](flakeproof_core::Signature). Reports of CI do not say where a failure was raised;
//! there the message alone decides, unless it is that of an assertion, which reads alike everywhere.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{PastFailure, Signature, Standing, TestId};

use crate::overview::TestView;

/// Broken or flaky tests that fail alike; a test that fails like no other is one by itself.
#[derive(Debug, Clone)]
pub(crate) struct FailureGroup<'v, 'a> {
    /// What they are.
    pub(crate) standing: Standing,
    /// The tests, the worst first; there is at least one.
    pub(crate) tests: Vec<&'v TestView<'a>>,
}

impl FailureGroup<'_, '_> {
    /// What they burnt together.
    fn cost(&self) -> Duration {
        self.tests.iter().map(|view| view.cost()).sum()
    }

    /// Broken before flaky; then those of most tests if broken, those that cost most if flaky.
    fn urgency(&self) -> impl Ord + use<'_> {
        let is_flaky = self.standing != Standing::Broken;
        let broken_tests = if is_flaky { 0 } else { self.tests.len() };
        let worst = self.tests.first().map(|view| badness(view));
        (is_flaky, Reverse(broken_tests), Reverse(self.cost()), worst)
    }
}

/// The broken and flaky tests, those that fail alike together, what is to be mended first in front.
pub(crate) fn failure_groups<'v, 'a>(views: &'v [TestView<'a>]) -> Vec<FailureGroup<'v, 'a>> {
    let mut alike: BTreeMap<(Standing, String), Vec<&TestView<'_>>> = BTreeMap::new();
    let mut groups = Vec::new();
    for view in views {
        let standing = match view.standing() {
            Some(standing @ (Standing::Broken | Standing::Flaky)) => standing,
            Some(Standing::Unexplained | Standing::Mended | Standing::Steady) | None => continue,
        };
        match view.last_failure().and_then(|failure| signature_of(failure, view.id)) {
            Some(signature) => alike.entry((standing, signature)).or_default().push(view),
            None => groups.push(FailureGroup { standing, tests: vec![view] }),
        }
    }
    groups.extend(alike.into_iter().map(|((standing, _), mut tests)| {
        tests.sort_by_key(|view| badness(view));
        FailureGroup { standing, tests }
    }));
    groups.sort_by(|one, other| one.urgency().cmp(&other.urgency()));
    groups
}

/// What makes a failure the same as another's; `None` if it says nothing.
fn signature_of(failure: &PastFailure, test: &TestId) -> Option<String> {
    let message = failure.message.trim();
    let kept = failure.signature.clone();
    let signature = kept.unwrap_or_else(|| Signature::compute(message, None));
    // Where nobody knows the place, the test stands in for it.
    let placeless = signature.as_str().strip_suffix(&format!(" @ {test}"));
    let is_assertion = message.to_lowercase().starts_with("assert");
    match placeless {
        _ if message.is_empty() => None,
        Some(_) if is_assertion => None,
        Some(words) => Some(words.to_owned()),
        None => Some(signature.as_str().to_owned()),
    }
}

/// What sorts the worst test first: what it burnt, since how many runs it fails, how often it failed,
/// its id.
fn badness<'a>(view: &TestView<'a>) -> impl Ord + use<'a> {
    let score = view.score;
    let streak = score.and_then(|score| score.since.as_ref()).map_or(0, |since| since.runs);
    let failures = score.map_or(0, |score| score.rated().failures);
    (Reverse(view.cost()), Reverse(streak), Reverse(failures), view.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overview::views;
    use crate::sample;

    #[test]
    fn tests_that_are_broken_alike_are_one_group_and_come_before_flaky_ones() {
        let overview = sample::overview();
        let views = views(&overview);
        let groups = failure_groups(&views);
        let ids: Vec<&str> = groups[0].tests.iter().map(|view| view.id.as_str()).collect();
        assert_eq!((groups[0].standing, ids), (Standing::Broken, sample::BROKEN.to_vec()));
        assert!(groups[1..].iter().all(|group| group.standing == Standing::Flaky));
        let costs: Vec<Duration> = groups[1..].iter().map(FailureGroup::cost).collect();
        assert!(costs.is_sorted_by(|one, other| one >= other), "{costs:?}");
    }

    #[test]
    fn where_the_place_is_not_known_the_message_decides_unless_it_is_an_assertion() {
        let test = TestId::from("tests/test_a.py::test_x");
        let of = |message: &str, place: &str| {
            let kept = Signature::from_normalised(format!("{message} @ {place}"));
            let (message, signature, last) = (message.into(), Some(kept), String::new());
            signature_of(&PastFailure { message, signature, times: 1, last }, &test)
        };
        assert_eq!(of("db refused", test.as_str()).as_deref(), Some("db refused"));
        assert_eq!(of("AssertionError: no", test.as_str()), None);
        let placed = of("AssertionError: no", "tests/test_a.py:7");
        assert_eq!(placed.as_deref(), Some("AssertionError: no @ tests/test_a.py:7"));
    }

    #[test]
    fn a_failure_without_words_is_like_no_other() {
        let mut overview = sample::overview();
        for id in sample::BROKEN {
            let detail = overview.details.get_mut(id).unwrap();
            detail.failures[0].message.clear();
        }
        let views = views(&overview);
        let groups = failure_groups(&views);
        assert!(groups.iter().all(|group| group.tests.len() == 1));
    }
}
