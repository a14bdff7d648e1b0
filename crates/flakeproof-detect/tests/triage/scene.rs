//! A scripted suite under triage, and what is asked about it afterwards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeproof_core::{
    Base, Change, ChangeStatus, ChangedFile, Evidence, Isolation, TestFinding, Verdict,
};
use flakeproof_detect::intersect::Facts;
use flakeproof_detect::triage::{
    BaseProject, Event, Experiments, Record, TriageSettings, Triaged, triage,
};
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
            maybe_made_of_it: None,
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
    triage_by(scripted, settings, since, &|| Duration::ZERO, cancel, sink)
}

fn triage_by(
    scripted: &Scripted,
    settings: &TriageSettings,
    since: &Since,
    clock: &(dyn Fn() -> Duration + Sync),
    cancel: &Cancel,
    sink: &mut dyn FnMut(Event),
) -> Result<Triaged> {
    let suite = scripted.discover()?;
    let experiments = Experiments {
        since_pass: &|_, _| since.facts(),
        // Without a change to judge, what is tried is what the technique itself asks for.
        since_base: &|_, _| since.facts().map(without_files),
        hidden_change: &|| None,
        record: &|_, _| Record::default(),
        base: &|| Err("there is no base".into()),
        clock,
    };
    triage(scripted, &suite, settings, &experiments, cancel, sink)
}

/// The same, where each look at the clock takes so many seconds.
pub(crate) fn triaged_by_clock(
    scripted: &Scripted,
    settings: &TriageSettings,
    since: &Since,
    seconds: u64,
) -> Triaged {
    let now = AtomicU64::new(0);
    let clock = || Duration::from_secs(now.fetch_add(seconds, Ordering::Relaxed));
    triage_by(scripted, settings, since, &clock, &Cancel::never(), &mut |_| {})
        .expect("the script has no trouble that ends the triage")
}

fn without_files(mut facts: Facts) -> Facts {
    facts.change.files.clear();
    facts
}

/// What is known of the code before the change.
#[derive(Default)]
pub(crate) struct Before {
    /// What is on record.
    pub(crate) record: Record,
    /// Runs it, where it can be had.
    pub(crate) base: Option<fn() -> Scripted>,
    /// Why the change cannot be seen.
    pub(crate) hidden: Option<&'static str>,
    /// Code of the head that is used there all the same.
    pub(crate) foreign: Option<&'static str>,
}

/// Triage with a change and what is known of the code before it.
pub(crate) fn triaged_after(scripted: &Scripted, since: &Since, before: &Before) -> Triaged {
    let suite = scripted.discover().expect("scripts are found");
    let foreign = before.foreign;
    let experiments = Experiments {
        since_pass: &|_, _| since.facts(),
        since_base: &|_, _| since.facts(),
        hidden_change: &|| before.hidden.map(str::to_owned),
        record: &|_, _| before.record.clone(),
        base: &|| {
            let base = before.base.ok_or("there is no base")?;
            Ok(BaseProject {
                order: base().discover().map_err(|error| error.to_string())?.ids(),
                order_doubt: None,
                adapter: Box::new(base()),
                revision: "abc".into(),
                foreign_code: Box::new(move |_| foreign.map(str::to_owned)),
                bring_the_rest: Box::new(|| false),
                checkout: Box::new(()),
            })
        },
        clock: &|| Duration::ZERO,
    };
    let settings = TriageSettings::default();
    triage(scripted, &suite, &settings, &experiments, &Cancel::never(), &mut |_| {})
        .expect("the script has no trouble that ends the triage")
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
        Evidence::Silent { reason }
        | Evidence::NotRerun { reason }
        | Evidence::Undecided { reason } => reason.contains(words),
        _ => false,
    })
}

/// The kinds of environment in which a test ran, in order.
pub(crate) fn places(scripted: &Scripted, test: &str) -> Vec<Isolation> {
    scripted.runs_of(test).into_iter().map(|ran| ran.isolation).collect()
}
