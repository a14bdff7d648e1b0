//! Tests that fail alike: what one cause breaks in many tests is one thing to mend.
//!
//! Two tests fail alike if both are broken, or both are flaky, and their latest failures have the
//! same [signature](flakeproof_core::Signature).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{PastFailure, Signature, Standing};

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
        match view.last_failure().and_then(signature) {
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
fn signature(failure: &PastFailure) -> Option<String> {
    let kept = failure.signature.clone();
    let signature = kept.unwrap_or_else(|| Signature::compute(&failure.message, None));
    (!failure.message.trim().is_empty()).then(|| signature.as_str().to_owned())
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
