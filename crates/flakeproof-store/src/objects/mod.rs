//! A history in an object store: segments that are only ever added, with a file before them.
//!
//! A job writes its run into the file and, when the run is finished, sends it as one segment, so that it
//! needs no right but to add objects. Whoever reads brings the file up to date first: it lists the
//! segments and fetches those that it has not seen. The name of a segment has a digest of its content,
//! so that sending twice writes nothing twice and a damaged one is known by its name; a run is taken
//! from whichever segment has it first.

mod address;
mod bucket;
mod document;
mod segment;
mod shared_hunt;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use flakeproof_core::{
    Attempt, CauseRecord, FeatureRecord, Features, Findings, History, HistoryError, HuntEnd,
    HuntFindings, HuntOverview, HuntRecord, HuntSummary, KnownFlaky, PassRecord, PastFailure,
    PastFinding, PastOutcome, RunRecord, TestId, Timeline, TrialRecord,
};

use self::bucket::{Asked, Bucket};
use self::document::Found;
use crate::exchange::TestNumbers;
use crate::{SqliteHistory, WholeHunt, WholeRun};

pub use self::address::ObjectsAddress;
pub use self::shared_hunt::SharedHunt;

/// The version of segments that this program writes, and the newest that it reads.
const VERSION: u32 = 1;
/// So many runs are folded into one segment.
const FOLDED: usize = 200;

/// What there is: each kind has a folder, and below it one for each version.
const KINDS: [&str; 3] = ["runs", "hunts", "causes"];

/// A history in an object store.
pub struct ObjectHistory {
    cache: SqliteHistory,
    bucket: Bucket,
    /// The id of the run that is open.
    open: Option<String>,
    open_hunt: Option<String>,
    skipped: Vec<Skipped>,
    may_list: bool,
}

/// A segment that counts for nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub segment: String,
    /// What is wrong with it.
    pub why: String,
}

/// What folding came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// Segments that are gone.
    pub segments: usize,
    /// Runs that are in larger ones now.
    pub runs: usize,
}

impl fmt::Debug for ObjectHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectHistory").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// What is known to be in the object store: segments by name, and runs, hunts and experiments by id.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS shared (what TEXT PRIMARY KEY) WITHOUT ROWID";

impl ObjectHistory {
    /// Open the history at an address, fetch what is new there, and send what could not be sent before.
    ///
    /// # Errors
    /// `Unreachable` when the store does not answer, `Newer` when it has segments of a newer version, and
    /// those of the file that is kept on this machine.
    pub fn open(address: &ObjectsAddress) -> Result<Self, HistoryError> {
        let mut history = Self::look(address)?;
        history.send_what_waits()?;
        Ok(history)
    }

    /// The same, and nothing is sent.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn look(address: &ObjectsAddress) -> Result<Self, HistoryError> {
        let mut cache = SqliteHistory::open(&address.cache()?)?;
        cache.write(|transaction| transaction.execute_batch(TABLE))?;
        let bucket = Bucket::open(address)?;
        let mut history = Self {
            cache,
            bucket,
            open: None,
            open_hunt: None,
            skipped: Vec::new(),
            may_list: true,
        };
        history.fetch()?;
        Ok(history)
    }

    /// Segments that could not be used.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The file on this machine.
    pub(crate) fn cache(&self) -> &SqliteHistory {
        &self.cache
    }

    /// Fetch every segment that was not seen yet. Credentials that may not list or read see only what this
    /// machine wrote.
    ///
    /// # Errors
    /// When the store does not answer, or has segments of a newer version.
    pub fn fetch(&mut self) -> Result<(), HistoryError> {
        self.skipped.clear();
        let mut tests = TestNumbers::default();
        for kind in KINDS {
            let Asked::Answer(names) = self.bucket.list(kind)? else {
                self.may_list = false;
                return Ok(());
            };
            let seen = self.shared("segment:")?;
            for name in names.iter().filter(|name| !seen.contains(*name)) {
                self.check_version(kind, name)?;
                let Asked::Answer(content) = self.bucket.get(name)? else {
                    self.may_list = false;
                    return Ok(());
                };
                // Gone meanwhile: what was in it is in a larger one, which is listed next time.
                let Some(content) = content else { continue };
                match document::read(kind, name, content) {
                    Ok(found) => self.take_in(found, name, &mut tests)?,
                    Err(why) => self.skipped.push(Skipped { segment: name.clone(), why }),
                }
            }
        }
        Ok(())
    }

    fn check_version(&self, kind: &str, name: &str) -> Result<(), HistoryError> {
        let version = name.split('/').skip_while(|part| *part != kind).nth(1);
        let version = version.and_then(|part| part.strip_prefix('v')?.parse::<u32>().ok());
        match version {
            Some(found) if found > VERSION => {
                Err(HistoryError::Newer { place: name.to_owned(), found, known: VERSION })
            }
            _ => Ok(()),
        }
    }

    fn take_in(
        &mut self,
        found: Found,
        name: &str,
        tests: &mut TestNumbers,
    ) -> Result<(), HistoryError> {
        let mut known = vec![format!("segment:{name}")];
        match found {
            Found::Runs(mut runs) => {
                runs.sort_by(|one, other| one.record.started.cmp(&other.record.started));
                for run in &runs {
                    self.cache.put_run_with(run, tests)?;
                    known.push(format!("run:{}", run.record.id));
                }
            }
            Found::Hunt(hunt) => {
                let there = self.cache.whole_hunt(&hunt.record.id)?;
                if there.is_none_or(|there| is_news(&hunt, &there)) {
                    self.cache.put_hunt(&hunt)?;
                }
                if Progress::of(&hunt).is_finished {
                    known.push(format!("hunt:{}", hunt.record.id));
                }
            }
            Found::Cause(cause) => {
                known.push(format!("cause:{}", cause.id));
                self.cache.keep_cause(&cause)?;
            }
        }
        self.note(&known)
    }

    /// What of a kind is known to be in the store.
    fn shared(&self, kind: &str) -> Result<BTreeSet<String>, HistoryError> {
        const ALL: &str =
            "SELECT substr(what, ?2) FROM shared WHERE what >= ?1 AND what < ?1 || x'ff'";
        let from = i64::try_from(kind.len() + 1).unwrap_or(i64::MAX);
        self.cache.ask(|connection| {
            connection.prepare_cached(ALL)?.query_map((kind, from), |row| row.get(0))?.collect()
        })
    }

    fn note(&mut self, known: &[String]) -> Result<(), HistoryError> {
        self.cache.write(|transaction| {
            let mut insert = transaction.prepare("INSERT OR IGNORE INTO shared VALUES (?1)")?;
            known.iter().try_for_each(|what| insert.execute([what]).map(drop))
        })
    }

    /// Send what is finished here and not in the store.
    fn send_what_waits(&mut self) -> Result<(), HistoryError> {
        let sent = self.shared("run:")?;
        for (id, is_finished) in self.cache.run_states()? {
            if is_finished && !sent.contains(&id) {
                self.send_run(&id)?;
            }
        }
        let sent = self.shared("hunt:")?;
        for (id, is_over) in self.cache.hunt_states()? {
            if is_over && !sent.contains(&id) {
                self.send_hunt(&id)?;
            }
        }
        let sent = self.shared("cause:")?;
        for cause in self.cache.all_causes()? {
            if cause.found.is_some() && !sent.contains(&cause.id) {
                self.send_cause(&cause)?;
            }
        }
        Ok(())
    }

    fn send_run(&mut self, id: &str) -> Result<(), HistoryError> {
        let Some(run) = self.cache.whole_run(id)? else { return Ok(()) };
        let day = run.record.started.get(..10).unwrap_or("undated").to_owned();
        let content = segment::encode(std::slice::from_ref(&run));
        let content = content.map_err(|error| self.cannot_write(id, &error.to_string()))?;
        let name = document::name("runs", &format!("{day}/{id}"), &content, "parquet");
        let (name, _) = self.bucket.create(&name, content)?;
        self.note(&[format!("segment:{name}"), format!("run:{id}")])
    }

    fn send_hunt(&mut self, id: &str) -> Result<(), HistoryError> {
        let Some(hunt) = self.cache.whole_hunt(id)? else { return Ok(()) };
        let content = document::of_hunt(&hunt);
        let content = content.map_err(|error| self.cannot_write(id, &error.to_string()))?;
        let name = document::name("hunts", id, &content, "json");
        let (name, _) = self.bucket.create(&name, content)?;
        // What was found by then is sent again when the hunt goes on.
        let whole = hunt.is_over.then(|| format!("hunt:{id}"));
        self.note(&[vec![format!("segment:{name}")], Vec::from_iter(whole)].concat())
    }

    fn send_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        let content = document::of_cause(cause);
        let content = content.map_err(|error| self.cannot_write(&cause.id, &error.to_string()))?;
        let name = document::name("causes", &cause.id, &content, "json");
        let (name, _) = self.bucket.create(&name, content)?;
        self.note(&[format!("segment:{name}"), format!("cause:{}", cause.id)])
    }

    fn cannot_write(&self, id: &str, cause: &str) -> HistoryError {
        HistoryError::Unwritable { place: format!("segment of {id}"), cause: cause.to_owned() }
    }

    /// Fold segments of single runs into larger ones. The larger one is written and read back before any
    /// of the others goes, and only what was read back goes; who writes meanwhile is left alone.
    ///
    /// # Errors
    /// When the store does not answer, or these credentials may not read or delete.
    pub fn compact(&mut self) -> Result<Folded, HistoryError> {
        let denied = |doing: &str| HistoryError::Unreachable {
            place: "the object store".into(),
            cause: format!("these credentials may not {doing}"),
        };
        let Asked::Answer(names) = self.bucket.list("runs")? else { return Err(denied("list")) };
        let single: Vec<String> =
            names.into_iter().filter(|name| !name.contains("/folded/")).collect();
        let mut folded = Folded::default();
        for names in single.chunks(FOLDED).filter(|names| names.len() > 1) {
            let (mut runs, mut read) = (Vec::<WholeRun>::new(), Vec::new());
            let mut seen = BTreeSet::new();
            for name in names {
                self.check_version("runs", name)?;
                let Asked::Answer(content) = self.bucket.get(name)? else {
                    return Err(denied("read"));
                };
                let Some(content) = content else { continue };
                match document::read("runs", name, content) {
                    Ok(Found::Runs(found)) => {
                        read.push(name);
                        let new =
                            found.into_iter().filter(|run| seen.insert(run.record.id.clone()));
                        runs.extend(new);
                    }
                    Ok(Found::Hunt(_) | Found::Cause(_)) => {}
                    Err(why) => self.skipped.push(Skipped { segment: name.clone(), why }),
                }
            }
            if read.len() < 2 {
                continue;
            }
            let content = segment::encode(&runs);
            let content = content.map_err(|error| self.cannot_write("runs", &error.to_string()))?;
            let first = runs.first().map_or("runs", |run| run.record.id.as_str());
            let name = document::name("runs", &format!("folded/{first}"), &content, "parquet");
            let (name, _) = self.bucket.create(&name, content)?;
            let Asked::Answer(Some(back)) = self.bucket.get(&name)? else {
                return Err(denied("read"));
            };
            let is_whole = match document::read("runs", &name, back) {
                Ok(Found::Runs(back)) => back == runs,
                Ok(Found::Hunt(_) | Found::Cause(_)) | Err(_) => false,
            };
            if !is_whole {
                return Err(HistoryError::Unreadable {
                    place: name,
                    cause: "it does not come back as it was written; nothing was removed".into(),
                });
            }
            self.take_in(Found::Runs(runs.clone()), &name, &mut TestNumbers::default())?;
            for name in &read {
                self.bucket.delete(name)?;
            }
            folded.segments += read.len();
            folded.runs += runs.len();
        }
        Ok(folded)
    }

    /// All runs, and whether each is in the store.
    pub(crate) fn run_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        let sent = self.shared("run:")?;
        let states = self.cache.run_states()?;
        Ok(states.into_iter().map(|(id, _)| (id.clone(), sent.contains(&id))).collect())
    }

    /// All hunts, and whether each is in the store.
    pub(crate) fn hunt_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        let sent = self.shared("hunt:")?;
        let states = self.cache.hunt_states()?;
        Ok(states.into_iter().map(|(id, _)| (id.clone(), sent.contains(&id))).collect())
    }

    /// Keep a run that ended, unless the store has it; says whether that changed anything.
    pub(crate) fn put_run(&mut self, run: &WholeRun) -> Result<bool, HistoryError> {
        if run.end.is_none() || self.shared("run:")?.contains(&run.record.id) {
            return Ok(false);
        }
        self.cache.put_run(run)?;
        self.send_run(&run.record.id).map(|()| true)
    }

    /// Keep a hunt that is over, unless the store has it; says whether that changed anything.
    pub(crate) fn put_hunt(&mut self, hunt: &WholeHunt) -> Result<bool, HistoryError> {
        if !hunt.is_over || self.shared("hunt:")?.contains(&hunt.record.id) {
            return Ok(false);
        }
        self.cache.put_hunt(hunt)?;
        self.send_hunt(&hunt.record.id).map(|()| true)
    }
}

/// How far a hunt got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Progress {
    is_finished: bool,
    executions: u64,
}

impl Progress {
    fn of(hunt: &WholeHunt) -> Self {
        let summary = hunt.summary.as_deref().and_then(|text| serde_json::from_str(text).ok());
        summary.map_or_else(Self::default, |summary: HuntSummary| Self {
            is_finished: summary.end == HuntEnd::Finished,
            executions: summary.cost.executions,
        })
    }
}

/// Whether a hunt got further than what is there of it. One that goes on here is left alone until it is finished
/// elsewhere.
fn is_news(hunt: &WholeHunt, there: &WholeHunt) -> bool {
    let (now, before) = (Progress::of(hunt), Progress::of(there));
    now > before && (there.is_over || now.is_finished)
}

impl History for ObjectHistory {
    fn begin(&mut self, run: &RunRecord) -> Result<(), HistoryError> {
        self.cache.begin(run)?;
        self.open = Some(run.id.clone());
        Ok(())
    }

    fn record(&mut self, attempts: &[Attempt]) -> Result<(), HistoryError> {
        self.cache.record(attempts)
    }

    fn finish(&mut self, findings: &Findings) -> Result<(), HistoryError> {
        self.cache.finish(findings)?;
        self.open.take().map_or(Ok(()), |id| self.send_run(&id))
    }

    fn close(&mut self, took: Duration) -> Result<(), HistoryError> {
        self.cache.close(took)?;
        self.open.take().map_or(Ok(()), |id| self.send_run(&id))
    }

    fn has_run(&self, id: &str) -> Result<bool, HistoryError> {
        self.cache.has_run(id)
    }

    fn timeline(&self) -> Result<Timeline, HistoryError> {
        self.cache.timeline()
    }

    fn brief_timeline(&self, with: &[TestId]) -> Result<Timeline, HistoryError> {
        self.cache.brief_timeline(with)
    }

    fn unsettle(&mut self) -> Result<(), HistoryError> {
        self.cache.unsettle()
    }

    fn last_pass(&self, test: &TestId) -> Result<Option<PassRecord>, HistoryError> {
        self.cache.last_pass(test)
    }

    fn past_outcomes(&self, test: &TestId) -> Result<Vec<PastOutcome>, HistoryError> {
        self.cache.past_outcomes(test)
    }

    fn durations(&self) -> Result<BTreeMap<TestId, Duration>, HistoryError> {
        self.cache.durations()
    }

    fn record_features(&mut self, measured: &[(TestId, Features)]) -> Result<(), HistoryError> {
        self.cache.record_features(measured)
    }

    fn features(&self) -> Result<Vec<FeatureRecord>, HistoryError> {
        self.cache.features()
    }

    fn begin_hunt(&mut self, hunt: &HuntRecord) -> Result<(), HistoryError> {
        self.cache.begin_hunt(hunt)?;
        self.open_hunt = Some(hunt.id.clone());
        Ok(())
    }

    fn unfinished_hunt(&self, command: &[String]) -> Result<Option<HuntRecord>, HistoryError> {
        self.cache.unfinished_hunt(command)
    }

    fn record_trial(&mut self, key: &str, trial: &TrialRecord) -> Result<(), HistoryError> {
        self.cache.record_trial(key, trial)
    }

    fn trial(&self, key: &str) -> Result<Option<TrialRecord>, HistoryError> {
        self.cache.trial(key)
    }

    fn finish_hunt(&mut self, findings: &HuntFindings) -> Result<(), HistoryError> {
        self.cache.finish_hunt(findings)?;
        let Some(id) = self.open_hunt.clone() else { return Ok(()) };
        // Of machines that went through the same hunt, one sends it.
        self.fetch()?;
        match self.shared("hunt:")?.contains(&id) {
            true => Ok(()),
            false => self.send_hunt(&id),
        }
    }

    fn known_flaky(&self) -> Result<Vec<KnownFlaky>, HistoryError> {
        self.cache.known_flaky()
    }

    fn keep_cause(&mut self, cause: &CauseRecord) -> Result<(), HistoryError> {
        self.cache.keep_cause(cause)?;
        if cause.found.is_some() { self.send_cause(cause) } else { Ok(()) }
    }

    fn causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.cache.causes()
    }

    fn unfinished_cause(
        &self,
        test: &TestId,
        command: &[String],
    ) -> Result<Option<CauseRecord>, HistoryError> {
        self.cache.unfinished_cause(test, command)
    }

    fn past_findings(&self) -> Result<BTreeMap<TestId, Vec<PastFinding>>, HistoryError> {
        self.cache.past_findings()
    }

    fn past_failures(
        &self,
        of: Option<&BTreeSet<TestId>>,
    ) -> Result<BTreeMap<TestId, Vec<PastFailure>>, HistoryError> {
        self.cache.past_failures(of)
    }

    fn latest_hunt(&self) -> Result<Option<HuntOverview>, HistoryError> {
        self.cache.latest_hunt()
    }
}
