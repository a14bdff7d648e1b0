//! What a proof changes in what is known.
//!
//! A test that is proven to be mended leaves the list of known flaky tests, as it does after a hunt
//! that finds nothing. If nothing changed since the hunt that found it, nothing can have been mended:
//! then it stays, and the reader is told.

use std::path::PathBuf;

use flakeproof_core::{
    ExitCode, FixFindings, FixVerdict, HuntCost, HuntEnd, HuntFindings, HuntRecord, HuntedTest,
    KnownFlaky, Notice, Suite, Surroundings,
};

use super::super::hunt::fingerprint::Fingerprint;
use crate::session::{Code, Recorder};
use crate::settings::Store;

/// What is here now, beside what a hunt had before it.
pub(super) struct Since {
    now: Fingerprint,
    /// The revision checked out.
    pub(super) revision: Option<String>,
    /// Whether a hunt found the test, and something changed since.
    has_changed: bool,
    /// What to say if nothing did, or nobody knows.
    pub(super) notice: Option<Notice>,
}

impl Since {
    /// Compare what is about to run with what the hunt ran.
    pub(super) fn of(
        known: Option<&KnownFlaky>,
        code: Code,
        suite: &Suite,
        surroundings: &Surroundings,
    ) -> Self {
        let now = Fingerprint::of(&code, suite, surroundings);
        let is_same = |known: &KnownFlaky| now.changed_since(&known.hunt.fingerprint).is_none();
        let notice = known.filter(|it| is_same(it)).map(|_| Notice {
            what: match &code.repository {
                Ok(_) => "neither code nor packages changed since the hunt that found it".into(),
                Err(why) => format!("whether the code changed since the hunt is not known: {why}"),
            },
            next: "it stays in `flakeproof list` until a hunt finds it sound".into(),
        });
        let has_changed = known.is_some() && notice.is_none();
        Self { now, revision: code.tree.revision, has_changed, notice }
    }

    /// Keep that a test is mended, if it is; gives what went wrong with that.
    pub(super) fn keep(&self, findings: &FixFindings, store: PathBuf) -> Option<Notice> {
        if !self.has_changed || findings.verdict != Some(FixVerdict::Fixed) {
            return None;
        }
        let mut recorder = Recorder::open(&Store::File(store));
        let run = &findings.run;
        recorder.begin_hunt(&HuntRecord {
            id: run.id.clone(),
            started: run.started.clone(),
            command: run.command.clone(),
            fingerprint: self.now.text(),
            seed: run.seed.to_string(),
            settings: "verify".to_owned(),
            version: run.version.clone(),
        });
        recorder.finish_hunt(&as_hunt(findings));
        recorder.hunt_notice().map(|notice| Notice {
            what: notice.what,
            next: "the verdict stands; `flakeproof list` shows the test until the next hunt".into(),
        })
    }
}

/// A hunt that looked at one test and found it sound.
fn as_hunt(findings: &FixFindings) -> HuntFindings {
    let mut test = HuntedTest::new(findings.test.clone(), None);
    if findings.orders.iter().all(|order| order.len() == 1) {
        test.alone = findings.runs.tally();
    } else {
        test.shuffled = findings.runs.tally();
    }
    let (executions, time) = (findings.executions, findings.run.duration);
    HuntFindings {
        run: findings.run.clone(),
        tests: vec![test],
        cost: HuntCost { executions, time, ..HuntCost::default() },
        end: HuntEnd::Finished,
        hidden: None,
        notices: Vec::new(),
        exit: ExitCode::Clean,
    }
}
