//! `hunt --provoke`: after the hunt, the suite runs under a few cheap levers, for what only fails there.

use std::collections::BTreeSet;
use std::time::Duration;

use flakeproof_core::{
    Cause, CauseProgress, CauseRecord, HuntFindings, LeverName, Notice, Suite, TestId,
};
use flakeproof_detect::provoke::{Provocation, Provoked, provoke};
use flakeproof_runner::levers::{self, InForce, Machine, Setting};
use flakeproof_runner::{Adapter, Cancel, Result};

use crate::session::Recorder;
use crate::view::ProvokeProgress;

/// The levers that cost no more than a run of the suite, and how many values of each are tried.
const CHEAP: [(LeverName, usize); 5] = [
    (LeverName::Zone, 2),
    (LeverName::HashSeed, 2),
    (LeverName::Order, 2),
    (LeverName::OneCore, 1),
    (LeverName::Quota, 1),
];

/// Who provokes, and until when.
pub(super) struct Provoker<'a> {
    pub(super) adapter: &'a dyn Adapter,
    pub(super) in_force: &'a InForce,
    pub(super) suite: &'a Suite,
    pub(super) clock: &'a dyn Fn() -> Duration,
    pub(super) until: Option<Duration>,
    pub(super) timeout: Option<Duration>,
}

impl Provoker<'_> {
    /// Look for tests that fail under a lever, among those that always passed, and add what is proven.
    ///
    /// # Errors
    /// When the runner itself breaks without anything changed.
    pub(super) fn provoke(&self, findings: &mut HuntFindings, cancel: &Cancel) -> Result<()> {
        let suite: Vec<TestId> = self.suite.tests.iter().map(|test| test.id.clone()).collect();
        let steady: BTreeSet<TestId> = findings
            .tests
            .iter()
            .filter(|it| it.kind.is_none() && it.all().failures == 0)
            .map(|it| it.id.clone())
            .collect();
        let provocation = Provocation {
            suite: &suite,
            steady: &steady,
            settings: cheap_settings(self.adapter),
            seed: findings.run.seed,
            until: self.until,
            timeout: self.timeout,
        };
        let mut progress = ProvokeProgress::start(provocation.settings.len());
        let mut sink = |event| progress.show(&event);
        let provoked =
            provoke(self.adapter, self.in_force, &provocation, self.clock, cancel, &mut sink)?;
        findings.cost.executions += provoked.executions;
        findings.notices.extend(notices(&provoked));
        findings.latent = provoked.latent;
        Ok(())
    }
}

/// What is worth a run of the whole suite here.
fn cheap_settings(adapter: &dyn Adapter) -> Vec<(LeverName, Setting)> {
    let machine = Machine::probe_for(adapter);
    let mut settings = Vec::new();
    for (name, most) in CHEAP {
        let lever = levers::by_name(name).filter(|_| adapter.obstacle_to(name).is_none());
        // What cannot be tried here is what `cause` names; a hunt has enough to say.
        let found = lever.and_then(|lever| lever.settings(&machine).ok()).unwrap_or_default();
        // The suite's own order is what the hunt ran.
        let is_new = |it: &Setting| !it.value.starts_with("after those before");
        settings.extend(found.into_iter().filter(is_new).take(most).map(|it| (name, it)));
    }
    settings
}

fn notices(provoked: &Provoked) -> Vec<Notice> {
    let mut notices = Vec::new();
    for test in &provoked.failed_plainly {
        notices.push(Notice {
            what: format!("`{test}` also failed without a lever while that was looked at"),
            next: "hunt again with more runs: it may be flaky".into(),
        });
    }
    if !provoked.unproven.is_empty() {
        let named: Vec<String> = provoked.unproven.iter().map(|it| format!("`{it}`")).collect();
        notices.push(Notice {
            what: format!(
                "failed once under a lever, and not when that was tried alone: {}",
                named.join(", ")
            ),
            next: "`flakeproof cause TEST` looks closer".into(),
        });
    }
    if !provoked.is_whole {
        notices.push(Notice {
            what: "there was no time for every lever".into(),
            next: "give more with `--budget`".into(),
        });
    }
    notices
}

/// Keep what was proven, for `list`, `explain`, `repro` and `verify`.
pub(super) fn keep(findings: &HuntFindings, recorder: &Recorder) {
    let history = recorder.shared();
    for (at, cause) in findings.latent.iter().enumerate() {
        // Trouble with the history is told once, with the hunt itself.
        let _ = history.borrow_mut().keep_cause(&record(findings, at, cause));
    }
}

fn record(findings: &HuntFindings, at: usize, cause: &Cause) -> CauseRecord {
    let run = &findings.run;
    CauseRecord {
        id: format!("{}-latent-{at}", run.id),
        started: run.started.clone(),
        command: run.command.clone(),
        seed: run.seed.to_string(),
        test: cause.test.clone(),
        found: Some(cause.clone()),
        progress: CauseProgress::default(),
    }
}
