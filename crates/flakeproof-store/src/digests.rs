//! The timeline of all runs, read from their digests.

use std::collections::HashMap;
use std::time::Duration;

use flakeproof_core::{Mark, Outcome, PastRun, TestId, TestTimeline, Timeline, Verdict};
use rusqlite::{Connection, MAIN_DB, Row, named_params, params};

use crate::brief::{self, DamagedRun, Told};
use crate::marks::{Marks, Unpacking};
use crate::runs::json;

const PUT: &str = "INSERT OR REPLACE INTO digest (run, marks) VALUES (:run, :marks)";

/// Keep how tests fared in a run.
pub(crate) fn put(connection: &Connection, run: i64, marks: &Marks) -> rusqlite::Result<()> {
    connection
        .prepare_cached(PUT)?
        .execute(named_params! { ":run": run, ":marks": marks.packed() })?;
    put_brief(connection, run, &marks.brief())
}

fn put_brief(connection: &Connection, run: i64, brief: &[u8]) -> rusqlite::Result<()> {
    const PUT: &str = "INSERT OR REPLACE INTO brief (run, marks) VALUES (?1, ?2)";
    connection.prepare_cached(PUT)?.execute(params![run, brief]).map(drop)
}

/// How every test fared in every run.
pub(crate) fn timeline(connection: &Connection) -> rusqlite::Result<Timeline> {
    if !connection.is_readonly(MAIN_DB)? {
        keep_missing(connection)?;
    }
    let (runs, packed) = runs(connection, Form::Whole)?;
    let (numbers, ids) = tests(connection)?;
    unpacked(runs, &packed, &numbers, ids).map_err(|DamagedDigest(run)| damaged(run))
}

/// How the tests fared about which there is something to say, and these.
pub(crate) fn brief_timeline(
    connection: &Connection,
    with: &[TestId],
) -> rusqlite::Result<Timeline> {
    const WITH: &str = "SELECT number FROM test WHERE id IN (SELECT value FROM json_each(?1))";
    const IDS: &str = "
        SELECT number, id FROM test WHERE number IN (SELECT value FROM json_each(?1))";
    if !connection.is_readonly(MAIN_DB)? {
        keep_missing(connection)?;
    }
    let (runs, packed) = runs(connection, Form::Brief)?;
    let (numbers, packed): (Vec<i64>, Vec<Vec<u8>>) = packed.into_iter().unzip();
    let with: Vec<i64> = connection
        .prepare_cached(WITH)?
        .query_map([json(&with)?], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let told = Told::of(&packed, &with).map_err(|DamagedRun(at)| damaged(numbers[at]))?;
    let ids: HashMap<i64, TestId> = connection
        .prepare_cached(IDS)?
        .query_map([json(&told.tests)?], |row| {
            Ok((row.get(0)?, TestId::from(row.get::<_, String>(1)?)))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(told.timeline(runs, &ids))
}

/// The digest of the run with this number cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedDigest(pub(crate) i64);

/// The timeline of runs, of which each has a digest, and of tests by their numbers, which rise.
pub(crate) fn unpacked(
    mut runs: Vec<PastRun>,
    packed: &[Packed],
    numbers: &[i64],
    ids: Vec<TestId>,
) -> Result<Timeline, DamagedDigest> {
    let mut columns = Vec::with_capacity(packed.len());
    for ((number, bytes), index) in packed.iter().zip(0..) {
        columns.push(Column::new(*number, Unpacking::new(index, bytes))?);
    }
    let marks = read_side_by_side(&mut columns, numbers)?;
    let tests = ids.into_iter().zip(marks).map(|(test, marks)| TestTimeline { test, marks });
    let tests = tests.filter(|test| !test.marks.is_empty()).collect();
    for (run, column) in runs.iter_mut().zip(&columns) {
        if run.duration.is_zero() {
            run.duration = Duration::from_millis(column.milliseconds);
        }
    }
    Ok(Timeline { runs, tests, others: Vec::new() })
}

/// All tests by number: their numbers and their ids.
fn tests(connection: &Connection) -> rusqlite::Result<(Vec<i64>, Vec<TestId>)> {
    connection
        .prepare_cached("SELECT number, id FROM test ORDER BY number")?
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, TestId::from(row.get::<_, String>(1)?))))?
        .collect::<rusqlite::Result<(Vec<i64>, Vec<TestId>)>>()
}

/// The marks of each test in all runs, the older half of the runs beside the newer one.
fn read_side_by_side(
    columns: &mut [Column<'_>],
    tests: &[i64],
) -> Result<Vec<Vec<Mark>>, DamagedDigest> {
    let all = columns.len();
    let (older, newer) = columns.split_at_mut(all / 2);
    let (older, newer) = std::thread::scope(|scope| {
        let room = all - older.len();
        let other = scope.spawn(move || read(newer, tests, room));
        let older = read(older, tests, all);
        // A thread that reads bytes does not panic; if it did, so would this one.
        (older, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut marks = older?;
    for (marks, newer) in marks.iter_mut().zip(newer?) {
        marks.extend(newer);
    }
    Ok(marks)
}

/// Test by test through runs at once: each test's marks are written in one go.
fn read(
    columns: &mut [Column<'_>],
    tests: &[i64],
    room: usize,
) -> Result<Vec<Vec<Mark>>, DamagedDigest> {
    let of_test = |test: &i64| {
        let mut marks = Vec::with_capacity(room);
        for column in &mut *columns {
            marks.extend(column.take(*test)?);
        }
        Ok(marks)
    };
    tests.iter().map(of_test).collect()
}

/// A run's digest, read along with those of all others.
struct Column<'b> {
    run: i64,
    rest: Unpacking<'b>,
    next: Option<(i64, Mark)>,
    /// What all its tests took.
    milliseconds: u64,
}

impl<'b> Column<'b> {
    fn new(run: i64, rest: Unpacking<'b>) -> Result<Self, DamagedDigest> {
        let mut column = Self { run, rest, next: None, milliseconds: 0 };
        column.advance()?;
        Ok(column)
    }

    /// The mark of a test; tests are asked for by rising numbers. Marks of tests that nobody asks
    /// for are passed over.
    fn take(&mut self, test: i64) -> Result<Option<Mark>, DamagedDigest> {
        while self.next.is_some_and(|(next, _)| next < test) {
            self.advance()?;
        }
        match self.next {
            Some((next, mark)) if next == test => {
                self.milliseconds +=
                    u64::from(mark.milliseconds) + u64::from(mark.again_milliseconds);
                self.advance()?;
                Ok(Some(mark))
            }
            _ => Ok(None),
        }
    }

    fn advance(&mut self) -> Result<(), DamagedDigest> {
        self.next = self.rest.next().transpose().map_err(|_| DamagedDigest(self.run))?;
        Ok(())
    }
}

/// The digest of a run, with the run's number.
pub(crate) type Packed = (i64, Vec<u8>);

/// In which form digests are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Brief,
}

/// All runs, oldest first, and the digest of each.
fn runs(connection: &Connection, form: Form) -> rusqlite::Result<(Vec<PastRun>, Vec<Packed>)> {
    let open = of_executions(connection, &not_digested(connection)?)?;
    let (mut runs, mut packed, mut codes) = (Vec::new(), Vec::new(), HashMap::new());
    let mut statement = connection.prepare_cached(RUNS)?;
    let mut rows = statement.query([form == Form::Brief])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get("number")?;
        let brief = row.get_ref("brief")?.as_blob_or_null()?;
        let whole = row.get_ref("marks")?.as_blob_or_null()?;
        let bytes = match (form, brief, whole) {
            (Form::Brief, Some(brief), _) => brief.to_vec(),
            (Form::Brief, None, Some(whole)) => {
                brief::of_digest(whole).map_err(|_| damaged(number))?
            }
            (Form::Brief, None, None) => open.get(&number).map(Marks::brief).unwrap_or_default(),
            (Form::Whole, _, Some(whole)) => whole.to_vec(),
            (Form::Whole, _, None) => open.get(&number).map(Marks::packed).unwrap_or_default(),
        };
        runs.push(past_run(row, &mut codes)?);
        packed.push((number, bytes));
    }
    Ok((runs, packed))
}

/// The digest of a run cannot be read.
pub(crate) fn damaged(run: i64) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        0,
        rusqlite::types::Type::Blob,
        format!("the digest of run {run} is damaged").into(),
    )
}

/// Runs of the same code have the same tree, runtime and packages. Times sort as text; of runs of the
/// same time the later one has the greater number. Of reports that were not read to their end, only
/// failures are known: they would make every test look bad.
const RUNS: &str = "
    SELECT run.number, run.id, run.started, run.finished, run.revision, run.branch, run.job,
           CASE WHEN run.tree ->> 'is_complete'
                THEN run.tree || (run.surroundings ->> 'runtime') || (run.surroundings ->> 'packages')
           END AS code,
           coalesce((julianday(run.finished) - julianday(run.started)) * 86400, 0) AS seconds,
           CASE WHEN ?1 THEN brief.marks END AS brief,
           CASE WHEN NOT ?1 OR brief.run IS NULL THEN digest.marks END AS marks
      FROM run
      LEFT JOIN digest ON digest.run = run.number
      LEFT JOIN brief ON brief.run = run.number
     WHERE run.origin = 'run' OR run.state = 'finished'
     ORDER BY run.started, run.number";

fn past_run(row: &Row<'_>, codes: &mut HashMap<String, u32>) -> rusqlite::Result<PastRun> {
    let next = u32::try_from(codes.len()).unwrap_or(u32::MAX);
    let code: Option<String> = row.get("code")?;
    let seconds: f64 = row.get("seconds")?;
    Ok(PastRun {
        id: row.get("id")?,
        started: row.get("started")?,
        duration: Duration::try_from_secs_f64((seconds * 1000.0).round() / 1000.0)
            .unwrap_or_default(),
        revision: row.get("revision")?,
        branch: row.get("branch")?,
        job: row.get("job")?,
        code: code.map(|code| *codes.entry(code).or_insert(next)),
    })
}

/// A run that is open for longer than this was killed.
const KILLED: &str = "-1 day";

/// Make the digests of runs that an older version kept, and of runs that were killed long ago.
pub(crate) fn keep_missing(connection: &Connection) -> rusqlite::Result<()> {
    const MISSING: &str = "
        SELECT number FROM run
         WHERE number NOT IN (SELECT run FROM digest)
           AND (state = 'finished'
                OR origin = 'run' AND julianday(started) < julianday('now', ?1))";
    let missing: Vec<i64> = connection
        .prepare_cached(MISSING)?
        .query_map([KILLED], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let digests = of_executions(connection, &missing)?;
    let empty = Marks::default();
    missing.iter().try_for_each(|run| put(connection, *run, digests.get(run).unwrap_or(&empty)))?;
    keep_missing_briefs(connection)
}

/// Make the brief form of the digests that an older version kept.
fn keep_missing_briefs(connection: &Connection) -> rusqlite::Result<()> {
    const MISSING: &str = "SELECT run, marks FROM digest WHERE run NOT IN (SELECT run FROM brief)";
    let mut statement = connection.prepare_cached(MISSING)?;
    let missing: Vec<Packed> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    missing.iter().try_for_each(|(run, digest)| {
        // One that is damaged is told when it is read.
        brief::of_digest(digest).map_or(Ok(()), |brief| put_brief(connection, *run, &brief))
    })
}

fn not_digested(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    const MISSING: &str = "SELECT number FROM run WHERE number NOT IN (SELECT run FROM digest)";
    connection.prepare_cached(MISSING)?.query_map([], |row| row.get(0))?.collect()
}

/// Executions are not sorted by run, so all runs are read at once.
const EXECUTIONS: &str = "
    SELECT run, test, stage, outcome, microseconds FROM execution
     WHERE run IN (SELECT value FROM json_each(?1))
     ORDER BY number";

fn of_executions(connection: &Connection, runs: &[i64]) -> rusqlite::Result<HashMap<i64, Marks>> {
    let mut digests: HashMap<i64, Marks> = HashMap::new();
    if runs.is_empty() {
        return Ok(digests);
    }
    let mut statement = connection.prepare_cached(EXECUTIONS)?;
    let mut rows = statement.query([json(&runs)?])?;
    while let Some(row) = rows.next()? {
        let outcome = row.get_ref(3)?.as_str()?;
        let Some(outcome) = Outcome::from_word(outcome) else { continue };
        let took = Duration::from_micros(row.get::<_, i64>(4)?.unsigned_abs());
        let is_first = row.get_ref(2)?.as_str()? == "first";
        digests.entry(row.get(0)?).or_default().add(row.get(1)?, is_first, outcome, took);
    }
    add_verdicts(connection, &mut digests)?;
    Ok(digests)
}

fn add_verdicts(
    connection: &Connection,
    digests: &mut HashMap<i64, Marks>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT run, test, verdict FROM finding")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let word = row.get_ref(2)?.as_str()?;
        let known = Verdict::ALL.into_iter().find(|verdict| verdict.word() == word);
        let verdict = known.unwrap_or(Verdict::Unknown);
        if let Some(marks) = digests.get_mut(&row.get(0)?) {
            marks.judge(row.get(1)?, verdict);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{
        Attempt, Execution, History, Origin, Outcome, RunRecord, Seed, Surroundings, TreeState,
    };

    use crate::SqliteHistory;

    fn run(started: &str) -> RunRecord {
        RunRecord {
            id: "reports-1".into(),
            started: started.into(),
            command: Vec::new(),
            folder: String::new(),
            seed: Seed(0),
            tree: TreeState::default(),
            surroundings: Surroundings::default(),
            version: "0.1.0".into(),
            origin: Origin::Reports { job: None },
        }
    }

    fn failed() -> Attempt {
        Attempt::first(Execution::new("test_a", Outcome::Failed, std::time::Duration::ZERO))
    }

    #[test]
    fn reports_that_were_not_read_to_their_end_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        // Also not when their run was long ago, so that it cannot be under way.
        let run = run("2020-01-01T00:00:00Z");
        let mut history = SqliteHistory::in_project(folder.path()).unwrap();
        history.begin(&run).unwrap();
        history.record(&[failed()]).unwrap();
        drop(history);
        let mut history = SqliteHistory::in_project(folder.path()).unwrap();
        assert!(history.timeline().unwrap().runs.is_empty());
        assert!(history.timeline().unwrap().tests.is_empty());
        history.begin(&run).unwrap();
        history.record(&[failed()]).unwrap();
        history.close(std::time::Duration::ZERO).unwrap();
        assert_eq!(history.timeline().unwrap().runs.len(), 1);
    }
}
