//! What to mend first: the three most urgent failures, each with all that is needed to begin.

use flakeproof_core::{Outage, Overview, PastRun, Standing, TestId};
use serde::Serialize;

use super::frame::{minute, visible};
use crate::failure_groups::FailureGroup;
use crate::overview::TestView;
use crate::words;

/// So many failures are shown; a longer list would be the table again.
const SHOWN: usize = 3;

/// A failure to be mended, and the test to begin with.
#[derive(Serialize)]
pub(super) struct FirstFix {
    standing: &'static str,
    id: String,
    /// The part of the page's address that opens the test.
    address: String,
    /// How many other tests fail alike.
    others: usize,
    /// The part of the page's address that shows them all.
    alike: Option<String>,
    message: Option<String>,
    cause: Option<String>,
    since: Option<String>,
    rate: Option<String>,
    owner: Option<String>,
    cost: Option<String>,
    command: String,
}

impl FirstFix {
    /// The most urgent of all groups of failures.
    pub(super) fn all(overview: &Overview, groups: &[FailureGroup<'_, '_>]) -> Vec<Self> {
        let shown = groups.iter().enumerate().take(SHOWN);
        shown.filter_map(|(number, group)| Self::new(overview, number, group)).collect()
    }

    fn new(overview: &Overview, number: usize, group: &FailureGroup<'_, '_>) -> Option<Self> {
        let view = *group.tests.first()?;
        let score = view.telling()?;
        let is_broken = group.standing == Standing::Broken;
        let others = group.tests.len() - 1;
        let held = view.detail.and_then(|detail| detail.quarantine.as_ref());
        let by_files = || (!view.owners.is_empty()).then(|| view.owners.join(" "));
        let owner = held.map(|entry| entry.owner.clone()).or_else(by_files);
        Some(Self {
            standing: group.standing.word(),
            id: visible(view.id.as_str()),
            address: encoded(view.id.as_str()),
            others,
            alike: (others > 0).then(|| number.to_string()),
            message: message(view),
            cause: cause(view),
            since: words::since(score).or_else(|| first_failure(overview, view)),
            rate: (!is_broken).then(|| view.rate_in_words()),
            owner: owner.map(|owner| visible(&owner)),
            cost: cost(view),
            command: view.reproduce().map_or_else(|| explain(view.id), visible),
        })
    }
}

fn message(view: &TestView<'_>) -> Option<String> {
    let failure = view.last_failure()?;
    let message = words::excerpt(failure.message.trim());
    (!message.is_empty()).then(|| visible(&message))
}

/// Who makes it fail, else how it is flaky.
fn cause(view: &TestView<'_>) -> Option<String> {
    let detail = view.detail?;
    let hunted = detail.hunted.as_ref();
    let polluters = hunted.and_then(|test| test.polluters.first());
    let by_run = || detail.findings.iter().find_map(|finding| finding.kind).map(words::kind);
    let kind = hunted.and_then(|test| test.kind).map(words::flaky_kind).or_else(by_run);
    match (polluters, kind) {
        (Some(set), _) => Some(visible(&format!("fails after {}", words::together(set)))),
        (None, Some(kind)) => Some(kind.to_owned()),
        (None, None) => None,
    }
}

/// The first run in which it failed, outages left out: `first failed at 83e14cb0a1, 2026-11-15 10:15`.
fn first_failure(overview: &Overview, view: &TestView<'_>) -> Option<String> {
    let outages = &overview.scores.outages;
    let is_outage = |run: u32| outages.iter().any(|outage: &Outage| outage.run == run);
    let mark = view.marks.iter().find(|mark| mark.has_failed() && !is_outage(mark.run))?;
    let run: &PastRun = overview.timeline.runs.get(mark.run as usize)?;
    let started = minute(&run.started);
    Some(match &run.revision {
        Some(revision) => format!("first failed at {}, {started}", visible(words::short(revision))),
        None => format!("first failed {started}"),
    })
}

fn cost(view: &TestView<'_>) -> Option<String> {
    let builds = view.score.map_or(0, |score| score.failed_builds);
    let burnt = (!view.cost().is_zero()).then(|| words::burnt(view.cost()))?;
    Some(match builds {
        0 => format!("{burnt} of CI"),
        _ => format!("{burnt} of CI, {} failed", words::counted(builds as usize, "build")),
    })
}

fn explain(test: &TestId) -> String {
    let words = ["flakeproof", "explain", test.as_str()].map(str::to_owned);
    visible(&words::command(&words))
}

/// The text as part of an address: everything but letters and digits by its bytes.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_groups::failure_groups;
    use crate::overview::views;
    use crate::sample;

    fn shown(overview: &Overview) -> Vec<FirstFix> {
        let views = views(overview);
        FirstFix::all(overview, &failure_groups(&views))
    }

    #[test]
    fn three_failures_are_shown_and_the_broken_one_says_since_when() {
        let shown = shown(&sample::overview());
        assert_eq!(shown.len(), 3);
        assert_eq!((shown[0].standing, shown[0].others), ("broken", 1));
        let since = shown[0].since.as_deref().unwrap_or_default();
        assert!(since.starts_with("fails since ") && since.ends_with("4 of 4 runs"), "{since}");
        assert_eq!(shown[0].message.as_deref(), Some("ConnectionError: search:9200 refused"));
        assert_eq!((shown[0].owner.as_deref(), &shown[0].rate), (Some("@shop/search @ana"), &None));
    }

    #[test]
    fn a_flaky_test_comes_with_cause_first_revision_owner_cost_and_command() {
        let shown = shown(&sample::overview());
        let worst = &shown[1];
        assert_eq!(worst.id, sample::WORST);
        assert_eq!(worst.cause.as_deref(), Some("fails after tests/test_cart.py::test_currency"));
        assert_eq!(worst.owner.as_deref(), Some("@payments"));
        assert!(worst.since.as_deref().is_some_and(|since| since.starts_with("first failed at")));
        assert!(worst.cost.as_deref().is_some_and(|cost| cost.contains("min of CI")));
        assert!(worst.command.starts_with("flakeproof repro"), "{}", worst.command);
    }

    #[test]
    fn an_address_has_nothing_that_html_or_an_address_reads() {
        assert_eq!(encoded("a::b[\"<"), "a%3A%3Ab%5B%22%3C");
    }
}
