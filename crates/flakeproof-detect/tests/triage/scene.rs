//! A scripted suite under triage, and what is asked about it afterwards.

use flakeproof_core::{
    Base, Change, ChangeStatus, ChangedFile, Dependencies, Evidence, Isolation, TestFinding,
    TestId, Verdict,
};
use flakeproof_detect::intersect::Facts;
use flakeproof_detect::triage::{Event, TriageSettings, Triaged, triage};
use flakeproof_runner::{Adapter, Cancel, Result};
use flakeproof_testkit::scripted::Scripted;

/// What changed, as far as the triage may know.
#[derive(Debug, Clone)]
pub(crate) enum Since {
    /// This file changed since the test was seen to pass.
    Pass(&'static str),
    /// This file changed since the branch began, where nobody saw the test pass.
    MergeBase(&'static str),
    /// Nobody knows.
    Unknown,
}

impl Since {
    fn facts(&self) -> Result<Facts, String> {
        let (base, path) = match self {
            Self::Pass(path) => (Base::PassOnRecord { revision: "abc".into() }, path),
            Self::MergeBase(path) => {
                (Base::MergeBase { revision: "abc".into(), branch: "main".into() }, path)
            }
            Self::Unknown => return Err("there is no repository".into()),
        };
        let status = ChangeStatus::Modified;
        let file = ChangedFile { path: (*path).to_owned(), status, lines: None };
        Ok(Facts {
            change: Change { base, root: "/r".into(), files: vec![file] },
            new_surroundings: Vec::new(),
            new_variables: Vec::new(),
            unversioned: Vec::new(),
        })
    }
}

/// Triage with settings, a change, an interrupt and somebody who listens.
pub(crate) fn try_triage(
    scripted: &Scripted,
    settings: &TriageSettings,
    since: &Since,
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<Triaged> {
    let suite = scripted.discover()?;
    let change = |_: &TestId, _: &Dependencies| since.facts();
    triage(scripted, &suite, settings, &change, cancel, sink)
}

/// Triage with settings and a change, where nothing of the tool's own breaks.
pub(crate) fn triaged_with(
    scripted: &Scripted,
    settings: &TriageSettings,
    since: &Since,
) -> Triaged {
    try_triage(scripted, settings, since, &Cancel::never(), &mut |_| {})
        .expect("the script has no trouble that ends the triage")
}

/// Triage where `changed.py` changed since the tests were seen to pass.
pub(crate) fn triaged(scripted: &Scripted) -> Triaged {
    triaged_with(scripted, &TriageSettings::default(), &Since::Pass("changed.py"))
}

/// What was found out about one test.
pub(crate) fn finding<'a>(triaged: &'a Triaged, test: &str) -> &'a TestFinding {
    let found = triaged.tests.iter().find(|finding| finding.id.as_str() == test);
    found.expect("the test ran")
}

pub(crate) fn verdict(triaged: &Triaged, test: &str) -> Option<Verdict> {
    finding(triaged, test).verdict
}

/// Every verdict, in the suite's order.
pub(crate) fn verdicts(triaged: &Triaged) -> Vec<Option<Verdict>> {
    triaged.tests.iter().map(|finding| finding.verdict).collect()
}

/// Whether there is a reason of this kind that has these words in it.
pub(crate) fn says(finding: &TestFinding, words: &str) -> bool {
    finding.evidence.iter().any(|evidence| match evidence {
        Evidence::Silent { reason } | Evidence::NotRerun { reason } => reason.contains(words),
        _ => false,
    })
}

/// The kinds of environment in which a test ran, in order.
pub(crate) fn places(scripted: &Scripted, test: &str) -> Vec<Isolation> {
    scripted.runs_of(test).into_iter().map(|ran| ran.isolation).collect()
}
