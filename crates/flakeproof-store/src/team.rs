//! A team's history with the project's own before it.
//!
//! Everything is written to the project's own history first, and sent to the team's as well. Once the
//! team's history fails, nothing more is sent and the own one answers, so that a run ends as it would
//! have; what was not sent is found by its id when the two are synchronised. Attempts travel in
//! batches, because each trip to a server takes longer than many a test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flakeproof_core::{
    Attempt, CauseRecord, FeatureRecord, Features, Findings, History, HistoryError, HuntFindings,
    HuntOverview, HuntRecord, KnownFlaky, PassRecord, PastFailure, PastFinding, PastOutcome,
    RunRecord, TestId, Timeline, TrialRecord,
};

use crate::MemoryHistory;

/// So many attempts are sent at once.
const BATCH: usize = 500;

/// An attempt waits so long for others to be sent with.
const PATIENCE: Duration = Duration::from_secs(1);

/// A team's history with the project's own before it.
pub struct TeamHistory {
    own: Box<dyn History>,
    team: Option<Box<dyn History>>,
    unsent: Unsent,
    /// Attempts of the open run that are still to be sent.
    waiting: Vec<Attempt>,
    waiting_since: Option<Instant>,
}

/// Whether everything that was written reached the team's history, as far as is known now.
#[derive(Debug, Clone, Default)]
pub struct Unsent(Arc<Mutex<Troubles>>);

#[derive(Debug, Default)]
struct Troubles {
    own: Option<HistoryError>,
    team: Option<HistoryError>,
}

impl Unsent {
    /// What keeps the team's history from having everything; `None` if it has.
    #[must_use]
    pub fn trouble(&self) -> Option<HistoryError> {
        self.troubles().team.clone()
    }

    /// Whether the project's own history has everything.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.troubles().own.is_none()
    }

    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_team(&self, error: HistoryError) {
        self.troubles().team.get_or_insert(error);
    }

    fn note_own(&self, error: HistoryError) {
        self.troubles().own.get_or_insert(error);
    }
}

impl TeamHistory {
    /// A team's history with the project's own before it, each as far as it could be opened.
    ///
    /// # Errors
    /// When neither can be used, and the own one is damaged or of a newer version.
    pub fn new(
        own: Result<Box<dyn History>, HistoryError>,
        team: Result<Box<dyn History>, HistoryError>,
    ) -> Result<Self, HistoryError> {
        let unsent = Unsent::default();
        let team = team.map_err(|error| unsent.note_team(error)).ok();
        let own = match own {
            Ok(own) => own,
            Err(damaged @ (HistoryError::Newer { .. } | HistoryError::Unreadable { .. }))
                if team.is_none() =>
            {
                return Err(damaged);
            }
            Err(error) => {
                unsent.note_own(error);
                Box::new(MemoryHistory::new())
            }
        };
        Ok(Self { own, team, unsent, waiting: Vec::new(), waiting_since: None })
    }

    /// Whether everything reached the team's history, also once this history is in other hands.
    #[must_use]
    pub fn unsent(&self) -> Unsent {
        self.unsent.clone()
    }

    /// The team's history, as long as it answers.
    fn team(&self) -> Option<&dyn History> {
        self.team.as_deref().filter(|_| self.unsent.trouble().is_none())
    }

    /// Ask the team, and where it fails the own history.
    fn ask<T>(
        &self,
        question: impl Fn(&dyn History) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        if let Some(team) = self.team() {
            match question(team) {
                Err(error) => self.unsent.note_team(error),
                answer => return answer,
            }
        }
        question(&*self.own)
    }

    /// Write to both. Only what neither took is an error.
    fn write(
        &mut self,
        work: impl Fn(&mut dyn History) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        let own = work(&mut *self.own);
        let team = self.send(work);
        match own {
            Err(error) if !team => Err(error),
            Err(error) => {
                self.unsent.note_own(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Write to the team's history; says whether it took it.
    fn send(&mut self, work: impl Fn(&mut dyn History) -> Result<(), HistoryError>) -> bool {
        if self.unsent.trouble().is_some() {
            return false;
        }
        let Some(team) = &mut self.team else { return false };
        match work(&mut **team) {
            Ok(()) => true,
            Err(error) => {
                self.unsent.note_team(error);
                false
            }
        }
    }

    /// Send the attempts that wait.
    fn flush(&mut self) {
        self.waiting_since = None;
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.send(|team| team.record(&waiting));
        }
    }
}

impl History for TeamHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        self.flush();
        self.write(|history| history.begin(run))
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        let own = self.own.record(attempts);
        if self.team().is_none() {
            return own;
        }
        own.unwrap_or_else(|error| self.unsent.note_own(error));
        self.waiting.extend_from_slice(attempts);
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        if self.waiting.len() >= BATCH || since.elapsed() >= PATIENCE {
            self.flush();
        }
        Ok(())
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        self.flush();
        self.write(|history| history.finish(findings))
    }

    fn close(&mut self, took: Duration) -> Result<(), HistoryError> {
        self.flush();
        self.write(|history| history.close(took))
    }

    fn has_run(&self, id: &str) -> Result<bool, HistoryError> {
        Ok(self.ask(|history| history.has_run(id))? || self.own.has_run(id)?)
    }

    fn timeline(&self) -> Result<Timeline, HistoryError> {
        self.ask(|history| history.timeline())
    }

    fn brief_timeline(&self, with: &[TestId]) -> Result<Timeline, HistoryError> {
        self.ask(|history| history.brief_timeline(with))
    }

    fn unsettle(&mut self) -> Result<(), HistoryError> {
        self.write(|history| history.unsettle())
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        self.ask(|history| history.last_pass(test))
    }

    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError> {
        self.ask(|history| history.past_outcomes(test))
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        self.ask(|history| history.durations())
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        self.write(|history| history.record_features(measured))
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        self.ask(|history| history.features())
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        self.write(|history| history.begin_hunt(hunt))
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        match self.ask(|history| history.unfinished_hunt(command))? {
            None => self.own.unfinished_hunt(command),
            found => Ok(found),
        }
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        self.write(|history| history.record_trial(key, trial))
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        match self.own.trial(key)? {
            None => self.ask(|history| history.trial(key)),
            found => Ok(found),
        }
    }

    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError> {
        self.write(|history| history.finish_hunt(findings))
    }

    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError> {
        self.ask(|history| history.known_flaky())
    }

    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        self.write(|history| history.keep_cause(cause))
    }

    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.ask(|history| history.causes())
    }

    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError> {
        self.ask(|history| history.unfinished_cause(test, command))
    }

    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError> {
        self.ask(|history| history.past_findings())
    }

    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError> {
        self.ask(|history| history.past_failures(of))
    }

    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError> {
        self.ask(|history| history.latest_hunt())
    }
}
