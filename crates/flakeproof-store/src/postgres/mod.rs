//! A history in PostgreSQL, for a team: several projects in one database.
//!
//! Whoever writes only adds rows, so that a role that can neither change nor remove anything is enough.
//! Every row has a key that the writer chooses: what is sent a second time, after a connection was cut, is
//! kept once. One process holds one connection.

mod address;
mod connection;
mod exchange;
mod fleet;
mod hunts;
mod numbers;
mod past;
mod runs;
mod schema;
mod stats;
mod timeline;
mod words;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use flakeproof_core::{
    Attempt, CauseRecord, ExitCode, FeatureRecord, Features, Findings, History, HistoryError,
    HuntFindings, HuntOverview, HuntRecord, KnownFlaky, Origin, PassRecord, PastFailure,
    PastFinding, PastOutcome, RunRecord, Signature, Stage, TestId, Timeline, TrialRecord,
};
use postgres::Transaction;

pub use self::address::PostgresAddress;
use self::connection::{Connection, Done, Fault, Try};
pub use self::fleet::{
    Claim, Collected, CoordinatorPulse, FleetCoordinator, FleetFound, FleetPlan, FleetPulse,
    FleetTaken, FleetUnit, FleetWorker, QueuedTrial, StuckTrial, UnitKept,
};
use self::hunts::HuntNumber;
use self::numbers::{digest, numbers};
use self::runs::{ExecutionRows, RunNumber};
use crate::hunts::is_over;
use crate::marks::Marks;

/// A history in PostgreSQL.
#[derive(Debug)]
pub struct PostgresHistory {
    connection: Connection,
    /// The number of the project, once it is known to be there.
    project: Cell<Option<i64>>,
    open: Option<OpenRun>,
    /// The numbers of tests that were met already.
    tests: HashMap<TestId, i64>,
    open_hunt: Option<HuntNumber>,
}

/// The run that is open, and how its tests fared so far.
#[derive(Debug)]
struct OpenRun {
    place: Place,
    /// The number of the next execution.
    next: i32,
    marks: Marks,
}

/// Where executions of the open run go.
#[derive(Debug)]
enum Place {
    /// Into this row, as they come.
    Row(RunNumber),
    /// Nowhere until the run is whole: it is read from reports, which can be read again.
    Waiting(Box<RunRecord>, Box<ExecutionRows>),
}

/// Whatever run there is.
const NO_RUN: RunNumber = RunNumber::MAX;

impl PostgresHistory {
    /// Open the history at an address, or make it there.
    ///
    /// # Errors
    /// `Unreachable` when the server does not answer or lets nobody in, `Newer` when a newer version
    /// wrote it, `Unwritable` when tables are to be made and may not.
    pub fn open(address: PostgresAddress) -> Result<Self, HistoryError> {
        Connection::open(address).map(Self::new)
    }

    /// Open an existing history for looking only.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and `Unreadable` when there is none.
    pub fn look(address: PostgresAddress) -> Result<Self, HistoryError> {
        Connection::look(address).map(Self::new)
    }

    fn new(connection: Connection) -> Self {
        Self {
            connection,
            project: Cell::default(),
            open: None,
            tests: HashMap::new(),
            open_hunt: None,
        }
    }

    /// A text that differs once anybody has written to the project.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn stamp(&self) -> Result<String, HistoryError> {
        const STAMP: &str = "
            SELECT concat_ws(' ',
                (SELECT max(number) FROM run WHERE project = $1),
                (SELECT count(*) FROM run_end JOIN run ON run.number = run_end.run
                  WHERE run.project = $1),
                (SELECT max(hunt_end.number) FROM hunt_end JOIN hunt ON hunt.number = hunt_end.hunt
                  WHERE hunt.project = $1),
                (SELECT max(number) FROM cause WHERE project = $1))";
        self.ask(|transaction, project| Ok(transaction.query_one(STAMP, &[&project])?.get(0)))
    }

    /// Ask a question about the project that changes nothing.
    fn ask<T>(
        &self,
        question: impl Fn(&mut Transaction<'_>, i64) -> Done<T>,
    ) -> Result<T, HistoryError> {
        self.connection.work(|transaction, _| {
            let project = match self.project.get() {
                Some(project) => project,
                None => self.find_project(transaction)?.unwrap_or(NO_PROJECT),
            };
            question(transaction, project)
        })
    }

    /// Write to the project.
    fn write<T>(
        &self,
        work: impl Fn(&mut Transaction<'_>, i64, Try) -> Done<T>,
    ) -> Result<T, HistoryError> {
        if self.project.get().is_none() {
            let name = self.connection.address().project();
            let number =
                self.connection.work(|transaction, _| numbers::project(transaction, name))?;
            self.project.set(Some(number));
        }
        let project = self.project.get().unwrap_or(NO_PROJECT);
        self.connection.work(|transaction, which| work(transaction, project, which))
    }

    fn find_project(&self, transaction: &mut Transaction<'_>) -> Done<Option<i64>> {
        let name = words::kept(self.connection.address().project());
        let row = transaction.query_opt("SELECT number FROM project WHERE name = $1", &[&name])?;
        let number = row.map(|row| row.get(0));
        self.project.set(number);
        Ok(number)
    }

    fn no_run(&self) -> HistoryError {
        self.refusal("no run is open")
    }

    fn refusal(&self, cause: &str) -> HistoryError {
        let cause = Fault::Refused(cause.to_owned());
        connection::error_of(self.connection.address(), cause)
    }

    fn open_hunt(&self) -> Result<HuntNumber, HistoryError> {
        self.open_hunt.ok_or_else(|| self.refusal("no hunt is open"))
    }

    /// The number of the open run's row, or of none.
    fn open_number(&self) -> RunNumber {
        match &self.open {
            Some(OpenRun { place: Place::Row(number), .. }) => *number,
            Some(OpenRun { place: Place::Waiting(..), .. }) | None => NO_RUN,
        }
    }

    /// The numbers of these tests, which are remembered.
    fn number_all<'t>(
        &mut self,
        tests: impl Iterator<Item = &'t TestId> + Clone,
    ) -> Result<(), HistoryError> {
        let new: Vec<&TestId> = tests.filter(|test| !self.tests.contains_key(*test)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let known = self
            .write(|transaction, project, _| numbers(transaction, project, new.iter().copied()))?;
        self.tests.extend(new.into_iter().filter_map(|test| {
            let number = known.get(&digest(test.as_str().as_bytes()))?;
            Some((test.clone(), *number))
        }));
        Ok(())
    }

    /// End the open run: with findings if it is one of ours.
    fn end(
        &mut self,
        took: Duration,
        exit: Option<ExitCode>,
        findings: Option<&Findings>,
    ) -> Result<(), HistoryError> {
        let failures = || findings.into_iter().flat_map(Findings::failures);
        if self.open.is_none() {
            return Err(self.no_run());
        }
        self.number_all(failures().map(|test| &test.id).collect::<Vec<_>>().into_iter())?;
        let tests: BTreeMap<TestId, i64> = failures()
            .filter_map(|test| Some((test.id.clone(), *self.tests.get(&test.id)?)))
            .collect();
        let mut open = self.open.take().ok_or_else(|| self.no_run())?;
        for test in failures() {
            if let (Some(number), Some(verdict)) = (tests.get(&test.id), test.verdict) {
                open.marks.judge(*number, verdict);
            }
        }
        let (marks, brief) = (open.marks.packed(), open.marks.brief());
        self.write(|transaction, project, which| {
            let run = match &open.place {
                Place::Row(number) => *number,
                Place::Waiting(record, rows) => {
                    let run = runs::begin(transaction, which, project, record)?;
                    rows.insert(transaction, run)?;
                    run
                }
            };
            if let Some(findings) = findings {
                runs::insert_findings(transaction, run, findings, &tests)?;
            }
            runs::end_run(transaction, run, took, exit, (&marks, &brief))
        })
    }
}

/// The number of no project.
const NO_PROJECT: i64 = 0;

impl History for PostgresHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        let place = match run.origin {
            Origin::Run => Place::Row(self.write(|transaction, project, which| {
                runs::begin(transaction, which, project, run)
            })?),
            Origin::Reports { .. } if self.has_run(&run.id)? => {
                return Err(self.refusal(&format!("it has a run {} already", run.id)));
            }
            Origin::Reports { .. } => Place::Waiting(Box::new(run.clone()), Box::default()),
        };
        self.open = Some(OpenRun { place, next: 0, marks: Marks::default() });
        Ok(())
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        if self.open.is_none() {
            return Err(self.no_run());
        }
        if attempts.is_empty() {
            return Ok(());
        }
        self.number_all(attempts.iter().map(|attempt| &attempt.execution.test))?;
        let signatures: Vec<&Signature> = attempts
            .iter()
            .filter_map(|attempt| attempt.execution.failure.as_ref())
            .map(|failure| &failure.signature)
            .collect();
        let signatures = match signatures.is_empty() {
            true => HashMap::new(),
            false => self.write(|transaction, project, _| {
                numbers(transaction, project, signatures.iter().copied())
            })?,
        };
        let Some(mut open) = self.open.take() else { return Err(self.no_run()) };
        let kept = self.keep(&mut open, attempts, &signatures);
        self.open = Some(open);
        kept
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        self.end(findings.run.duration, Some(findings.exit), Some(findings))
    }

    fn close(&mut self, took: Duration) -> Result<(), HistoryError> {
        self.end(took, None, None)
    }

    fn has_run(&self, id: &str) -> Result<bool, HistoryError> {
        self.ask(|transaction, project| Ok(runs::run_number(transaction, project, id)?.is_some()))
    }

    fn timeline(&self) -> Result<Timeline, HistoryError> {
        self.ask(timeline::timeline)
    }

    fn brief_timeline(&self, with: &[TestId]) -> Result<Timeline, HistoryError> {
        self.ask(|transaction, project| timeline::brief_timeline(transaction, project, with))
    }

    fn unsettle(&mut self) -> Result<(), HistoryError> {
        const UNSETTLE: &str = "INSERT INTO unsettled (run) VALUES ($1) ON CONFLICT DO NOTHING";
        match &self.open {
            None => Err(self.no_run()),
            Some(OpenRun { place: Place::Waiting(..), .. }) => Ok(()),
            Some(OpenRun { place: Place::Row(number), .. }) => {
                self.write(|transaction, _, _| Ok(transaction.execute(UNSETTLE, &[number])?))?;
                Ok(())
            }
        }
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        let before = self.open_number();
        self.ask(|transaction, project| runs::last_pass(transaction, project, test, before))
    }

    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError> {
        let before = self.open_number();
        self.ask(|transaction, project| runs::past_outcomes(transaction, project, test, before))
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        self.ask(runs::durations)
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        let Some(OpenRun { place: Place::Row(run), .. }) = self.open else {
            return Err(self.no_run());
        };
        self.number_all(measured.iter().map(|(test, _)| test))?;
        let measured: Vec<(i64, Features)> = measured
            .iter()
            .filter_map(|(test, features)| Some((*self.tests.get(test)?, *features)))
            .collect();
        self.write(|transaction, _, _| runs::insert_features(transaction, run, &measured))?;
        Ok(())
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        self.ask(runs::features)
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        let number =
            self.write(|transaction, project, _| hunts::open(transaction, project, hunt))?;
        self.open_hunt = Some(number);
        Ok(())
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        self.ask(|transaction, project| hunts::unfinished(transaction, project, command))
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        let (hunt, token) = (self.open_hunt()?, self.token()?);
        self.write(|transaction, _, _| hunts::put_trial(transaction, hunt, &token, key, trial))?;
        Ok(())
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        let Some(hunt) = self.open_hunt else { return Ok(None) };
        self.ask(|transaction, _| hunts::get_trial(transaction, hunt, key))
    }

    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError> {
        let (hunt, token) = (self.open_hunt()?, self.token()?);
        self.write(|transaction, project, _| {
            hunts::finish(transaction, project, hunt, &token, findings)
        })?;
        if is_over(findings) {
            self.open_hunt = None;
        }
        Ok(())
    }

    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError> {
        self.ask(hunts::known_flaky)
    }

    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        let token = self.token()?;
        self.write(|transaction, project, _| past::put_cause(transaction, project, &token, cause))
    }

    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.ask(past::causes)
    }

    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError> {
        self.ask(|transaction, project| past::unfinished_cause(transaction, project, test, command))
    }

    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError> {
        self.ask(past::findings)
    }

    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError> {
        self.ask(|transaction, project| past::failures(transaction, project, of))
    }

    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError> {
        self.ask(hunts::latest)
    }
}

impl PostgresHistory {
    /// Keep attempts of a run whose tests and signatures have numbers.
    fn keep(
        &self,
        open: &mut OpenRun,
        attempts: &[Attempt],
        signatures: &HashMap<Vec<u8>, i64>,
    ) -> Result<(), HistoryError> {
        let mut fresh = ExecutionRows::default();
        let mut next = open.next;
        let is_own = matches!(open.place, Place::Row(_));
        let rows = match &mut open.place {
            Place::Row(_) => &mut fresh,
            Place::Waiting(_, rows) => rows,
        };
        for attempt in attempts {
            let Some(test) = self.tests.get(&attempt.execution.test) else { continue };
            // A plain pass that was read from a report is in the digest, and nobody asks for more.
            let is_telling =
                attempt.stage != Stage::First || attempt.execution.outcome.is_failure();
            if is_own || is_telling {
                let failure = attempt.execution.failure.as_ref();
                let signature = failure.and_then(|failure| {
                    signatures.get(&digest(failure.signature.as_str().as_bytes())).copied()
                });
                rows.push(next, *test, signature, attempt);
                next += 1;
            }
        }
        if let Place::Row(run) = open.place {
            self.write(|transaction, _, _| fresh.insert(transaction, run))?;
        }
        // Only what was committed counts.
        open.next = next;
        for attempt in attempts {
            if let Some(test) = self.tests.get(&attempt.execution.test) {
                open.marks.count(*test, attempt);
            }
        }
        Ok(())
    }

    /// A key that nobody else chooses, for what is sent once more if a connection is cut.
    fn token(&self) -> Result<[u8; 16], HistoryError> {
        let mut token = [0; 16];
        getrandom::fill(&mut token)
            .map_err(|error| self.refusal(&format!("there is no chance to be had: {error}")))?;
        Ok(token)
    }
}
