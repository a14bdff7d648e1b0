//! What travels from one history to another: runs, hunts and experiments, each whole and by its id.
//!
//! Something that is there already is left as it is, unless it was not finished there. So sending twice,
//! or from two machines, changes nothing.

mod sqlite;

pub(crate) use self::sqlite::TestNumbers;

use std::collections::HashMap;

use flakeproof_core::{
    Attempt, CauseRecord, Evidence, Execution, Failure, Features, HistoryError, HuntRecord,
    HuntedTest, Isolation, Kind, Mark, Outcome, Phase, RunRecord, Signature, Stage, TestId,
    TrialRecord, Verdict,
};

use crate::Store;

/// A run with everything that is kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeRun {
    /// What was known when it began.
    pub record: RunRecord,
    /// Whether its code stayed the same while it ran.
    pub is_settled: bool,
    /// The rules of evidence by which its findings were made.
    pub rules: i64,
    /// How it ended; `None` while it goes on, and if it was killed.
    pub end: Option<RunEnd>,
    /// The attempts that are kept, in the order in which they were recorded. Of a failure its line and its
    /// signature are known.
    pub attempts: Vec<Attempt>,
    /// How each test fared. Empty while it goes on.
    pub marks: Vec<(TestId, Mark)>,
    /// What was said about failures.
    pub findings: Vec<WholeFinding>,
    /// What was measured.
    pub features: Vec<(TestId, Features)>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// When, as an RFC 3339 time stamp, if that is known.
    pub finished: Option<String>,
    /// Its exit code, if it had one.
    pub exit_code: Option<i32>,
}

/// What was said about a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeFinding {
    /// The test.
    pub test: TestId,
    /// What it is.
    pub verdict: Option<Verdict>,
    /// How it is flaky.
    pub kind: Option<Kind>,
    /// What that rests on.
    pub evidence: Vec<Evidence>,
}

/// A hunt with everything that is kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeHunt {
    /// What was known when it began.
    pub record: HuntRecord,
    /// Whether it ended by itself.
    pub is_over: bool,
    /// What it took and why it ended, as JSON, if it ended at all.
    pub summary: Option<String>,
    /// The flaky tests that it found.
    pub flaky: Vec<HuntedTest>,
    /// The tests that it has an opinion about.
    pub looked_at: Vec<TestId>,
    /// What is not run again when it is taken up again.
    pub trials: Vec<(String, TrialRecord)>,
}

/// An attempt as it is kept.
pub(crate) struct KeptAttempt {
    pub(crate) test: TestId,
    pub(crate) number: u32,
    pub(crate) stage: Stage,
    pub(crate) isolation: Isolation,
    pub(crate) position: Option<u32>,
    pub(crate) outcome: Outcome,
    pub(crate) duration: std::time::Duration,
    pub(crate) signature: Option<String>,
    pub(crate) message: Option<String>,
}

impl From<KeptAttempt> for Attempt {
    fn from(kept: KeptAttempt) -> Self {
        let failure = (kept.message.is_some() || kept.signature.is_some()).then(|| Failure {
            phase: Phase::Call,
            message: kept.message.unwrap_or_default(),
            text: String::new(),
            location: None,
            signature: Signature::from_normalised(kept.signature.unwrap_or_default()),
        });
        Self {
            stage: kept.stage,
            isolation: kept.isolation,
            number: kept.number,
            position: kept.position,
            execution: Execution {
                failure,
                ..Execution::new(kept.test, kept.outcome, kept.duration)
            },
        }
    }
}

/// What was sent from one history to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Synced {
    /// Runs.
    pub runs: usize,
    /// Executions in them that are kept as rows.
    pub executions: usize,
    /// Hunts.
    pub hunts: usize,
    /// Experiments.
    pub causes: usize,
    /// Runs, hunts and experiments that were there already.
    pub known: usize,
}

/// Why not everything was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncError {
    /// The history that it comes from.
    From(HistoryError),
    /// The history that it goes to.
    To(HistoryError),
}

/// Send what one history knows and another does not, oldest first. What was sent before an error stays.
///
/// # Errors
/// When one cannot be read or the other cannot be written.
pub fn sync(from: &Store, to: &mut Store) -> Result<Synced, SyncError> {
    let mut synced = Synced::default();
    let known: HashMap<String, bool> =
        to.run_states().map_err(SyncError::To)?.into_iter().collect();
    for (id, _) in from.run_states().map_err(SyncError::From)? {
        let is_sent = known.get(&id).is_none_or(|is_finished| !is_finished)
            && match from.whole_run(&id).map_err(SyncError::From)? {
                Some(run) if to.put_run(&run).map_err(SyncError::To)? => {
                    synced.runs += 1;
                    synced.executions += run.attempts.len();
                    true
                }
                _ => false,
            };
        synced.known += usize::from(!is_sent);
    }
    let known: HashMap<String, bool> =
        to.hunt_states().map_err(SyncError::To)?.into_iter().collect();
    for (id, _) in from.hunt_states().map_err(SyncError::From)? {
        let is_sent = known.get(&id).is_none_or(|is_over| !is_over)
            && match from.whole_hunt(&id).map_err(SyncError::From)? {
                Some(hunt) => to.put_hunt(&hunt).map_err(SyncError::To)?,
                None => false,
            };
        synced.hunts += usize::from(is_sent);
        synced.known += usize::from(!is_sent);
    }
    let known: HashMap<String, CauseRecord> = to
        .all_causes()
        .map_err(SyncError::To)?
        .into_iter()
        .map(|cause| (cause.id.clone(), cause))
        .collect();
    for cause in from.all_causes().map_err(SyncError::From)? {
        let is_new = known.get(&cause.id).is_none_or(|it| it.found.is_none() && *it != cause);
        if is_new {
            to.keep_cause(&cause).map_err(SyncError::To)?;
        }
        synced.causes += usize::from(is_new);
        synced.known += usize::from(!is_new);
    }
    Ok(synced)
}
