//! The timeline of all runs, read from their digests.

use std::collections::HashMap;
use std::time::Duration;

use flakeproof_core::{Outcome, PastRun, TestId, Timeline, Verdict};
use postgres::{Row, Transaction};

use super::connection::{Done, Fault};
use super::numbers::known_numbers;
use super::words::given;
use crate::brief::{self, DamagedRun, Told};
use crate::digests::{DamagedDigest, Packed, unpacked};
use crate::marks::Marks;
use crate::worded::Worded;

/// Times sort as text, letter by letter; of runs of the same time the later one has the greater number.
const RUNS: &str = "
    SELECT run.number, run.id, run.started, run.revision, run.branch, run.job,
           CASE WHEN run.is_complete THEN run.code END,
           coalesce(extract(epoch FROM run_end.finished::timestamptz - run.started::timestamptz),
                    0)::float8,
           CASE WHEN NOT $2 OR coalesce(run_end.brief, killed.brief) IS NULL
                THEN coalesce(run_end.marks, killed.marks) END,
           CASE WHEN $2 THEN coalesce(run_end.brief, killed.brief) END
      FROM run
      LEFT JOIN run_end ON run_end.run = run.number
      LEFT JOIN killed ON killed.run = run.number
     WHERE run.project = $1
     ORDER BY run.started COLLATE \"C\", run.number";

const TESTS: &str = "SELECT number, id FROM test WHERE project = $1 ORDER BY number";

/// How every test fared in every run.
pub(super) fn timeline(transaction: &mut Transaction<'_>, project: i64) -> Done<Timeline> {
    let (mut runs, mut packed): (Vec<PastRun>, Vec<Packed>) = (Vec::new(), Vec::new());
    for run in runs_of(transaction, project, Form::Whole)? {
        packed.push((run.number, run.digest.unwrap_or_else(|| run.killed.packed())));
        runs.push(run.run);
    }
    let rows = transaction.query(TESTS, &[&project])?;
    let test = |row: &Row| (row.get::<_, i64>(0), TestId::from(given(row.get(1))));
    let (numbers, ids): (Vec<i64>, Vec<TestId>) = rows.iter().map(test).unzip();
    unpacked(runs, &packed, &numbers, ids).map_err(|DamagedDigest(run)| damaged(run))
}

/// How the tests fared about which there is something to say, and these.
pub(super) fn brief_timeline(
    transaction: &mut Transaction<'_>,
    project: i64,
    with: &[TestId],
) -> Done<Timeline> {
    const IDS: &str = "SELECT number, id FROM test WHERE number = ANY($1)";
    let (mut runs, mut briefs, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs_of(transaction, project, Form::Brief)? {
        let of_digest =
            |digest: &Vec<u8>| brief::of_digest(digest).map_err(|_| damaged(run.number));
        briefs.push(match (run.brief, &run.digest) {
            (Some(brief), _) => brief,
            (None, Some(digest)) => of_digest(digest)?,
            (None, None) => run.killed.brief(),
        });
        numbers.push(run.number);
        runs.push(run.run);
    }
    let with = known_numbers(transaction, project, with.iter())?;
    let told = Told::of(&briefs, &with).map_err(|DamagedRun(at)| damaged(numbers[at]))?;
    let rows = transaction.query(IDS, &[&told.tests])?;
    let ids = rows.iter().map(|row| (row.get(0), TestId::from(given(row.get(1))))).collect();
    Ok(told.timeline(runs, &ids))
}

fn damaged(run: i64) -> Fault {
    Fault::Damaged(format!("the digest of run {run} is damaged"))
}

/// In which form digests are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Brief,
}

/// A run with how its tests fared.
struct DigestedRun {
    number: i64,
    run: PastRun,
    /// Where the brief form was asked for, only if there is none.
    digest: Option<Vec<u8>>,
    brief: Option<Vec<u8>>,
    /// The same of a run that did not end.
    killed: Marks,
}

/// All runs, oldest first.
fn runs_of(transaction: &mut Transaction<'_>, project: i64, form: Form) -> Done<Vec<DigestedRun>> {
    let mut killed = of_executions(transaction, project)?;
    let rows = transaction.query(RUNS, &[&project, &(form == Form::Brief)])?;
    let mut codes = HashMap::new();
    let run = |row: &Row| DigestedRun {
        number: row.get(0),
        run: past_run(row, &mut codes),
        digest: row.get(8),
        brief: row.get(9),
        killed: killed.remove(&row.get(0)).unwrap_or_default(),
    };
    Ok(rows.iter().map(run).collect())
}

fn past_run(row: &Row, codes: &mut HashMap<Vec<u8>, u32>) -> PastRun {
    let next = u32::try_from(codes.len()).unwrap_or(u32::MAX);
    let text = |column: usize| row.get::<_, Option<String>>(column).map(given);
    let seconds: f64 = row.get(7);
    PastRun {
        id: given(row.get(1)),
        started: row.get(2),
        duration: Duration::try_from_secs_f64((seconds * 1000.0).round() / 1000.0)
            .unwrap_or_default(),
        revision: text(3),
        branch: text(4),
        job: text(5),
        code: row.get::<_, Option<Vec<u8>>>(6).map(|code| *codes.entry(code).or_insert(next)),
    }
}

/// Runs that go on, or were killed lately.
const OPEN: &str = "
    SELECT run.number, run.arrived < now() - interval '1 day',
           has_table_privilege('killed', 'INSERT')
      FROM run
     WHERE run.project = $1
       AND NOT EXISTS (SELECT 1 FROM run_end WHERE run_end.run = run.number)
       AND NOT EXISTS (SELECT 1 FROM killed WHERE killed.run = run.number)";

const EXECUTIONS: &str = "
    SELECT run, test, stage = 'first', outcome, microseconds FROM execution
     WHERE run = ANY($1)
     ORDER BY run, number";

const BURY: &str = "
    INSERT INTO killed (run, marks, brief) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";

/// How tests fared in runs without a digest. Those that were killed long ago get one where this role may
/// write, so that their executions are not read each time.
fn of_executions(transaction: &mut Transaction<'_>, project: i64) -> Done<HashMap<i64, Marks>> {
    let rows = transaction.query(OPEN, &[&project])?;
    let open: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    let mut digests: HashMap<i64, Marks> = HashMap::new();
    if open.is_empty() {
        return Ok(digests);
    }
    for row in transaction.query(EXECUTIONS, &[&open])? {
        let took = Duration::from_micros(row.get::<_, i64>(4).unsigned_abs());
        let outcome = Outcome::of(row.get(3))?;
        digests.entry(row.get(0)).or_default().add(row.get(1), row.get(2), outcome, took);
    }
    const VERDICTS: &str = "SELECT run, test, verdict FROM finding WHERE run = ANY($1)";
    for row in transaction.query(VERDICTS, &[&open])? {
        let verdict = row.get::<_, Option<&str>>(2).map(Verdict::of).transpose()?;
        if let (Some(verdict), Some(marks)) = (verdict, digests.get_mut(&row.get(0))) {
            marks.judge(row.get(1), verdict);
        }
    }
    for row in rows.iter().filter(|row| row.get(1) && row.get(2)) {
        let number: i64 = row.get(0);
        let marks = digests.get(&number);
        let (whole, brief) = (marks.map(Marks::packed), marks.map(Marks::brief));
        let (whole, brief) = (whole.unwrap_or_default(), brief.unwrap_or_default());
        transaction.execute(BURY, &[&number, &whole, &brief])?;
    }
    Ok(digests)
}
