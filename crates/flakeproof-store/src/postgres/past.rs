//! Experiments, and what pages show besides scores: what was said about failures, and how tests failed.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_core::{CauseRecord, Kind, PastFailure, PastFinding, Signature, TestId, Verdict};
use postgres::{Row, Transaction};

use super::connection::Done;
use super::numbers::{digest, known_numbers, numbers};
use super::words::{from_json, given, json, kept};
use crate::past::MOST_OF_A_TEST;
use crate::worded::Worded;

const PUT_CAUSE: &str = "
    INSERT INTO cause (project, id, token, started, command, seed, test, found, progress)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT DO NOTHING";

/// Keep an experiment; from now on this counts and not what was kept of it before.
pub(super) fn put_cause(
    transaction: &mut Transaction<'_>,
    project: i64,
    token: &[u8],
    cause: &CauseRecord,
) -> Done<()> {
    let known = numbers(transaction, project, std::iter::once(&cause.test))?;
    let test = known.get(&digest(cause.test.as_str().as_bytes()));
    transaction.execute(
        PUT_CAUSE,
        &[
            &project,
            &kept(&cause.id),
            &token,
            &cause.started,
            &json(&cause.command)?,
            &cause.seed,
            &test,
            &cause.found.as_ref().map(json).transpose()?,
            &json(&cause.progress)?,
        ],
    )?;
    Ok(())
}

/// The latest that was kept of each experiment.
const CAUSES: &str = "
    WITH latest AS (
        SELECT DISTINCT ON (id) number, id, started, command, seed, test, found, progress
          FROM cause WHERE project = $1
         ORDER BY id, number DESC)
    SELECT latest.id, started, command, seed, test.id, found, progress
      FROM latest JOIN test ON test.number = latest.test";

/// The latest answer about each test.
pub(super) fn causes(transaction: &mut Transaction<'_>, project: i64) -> Done<Vec<CauseRecord>> {
    let find =
        format!("{CAUSES} WHERE found IS NOT NULL ORDER BY started COLLATE \"C\", latest.number");
    let rows = transaction.query(&find, &[&project])?;
    let records: Vec<CauseRecord> = rows.iter().map(cause_record).collect::<Done<_>>()?;
    let latest: BTreeMap<TestId, CauseRecord> =
        records.into_iter().map(|it| (it.test.clone(), it)).collect();
    Ok(latest.into_values().collect())
}

/// The latest experiment with a test, if it was not finished.
pub(super) fn unfinished_cause(
    transaction: &mut Transaction<'_>,
    project: i64,
    test: &TestId,
    command: &[String],
) -> Done<Option<CauseRecord>> {
    let find = format!(
        "{CAUSES} WHERE test.digest = $2 AND command = $3
         ORDER BY started COLLATE \"C\" DESC, latest.number DESC LIMIT 1"
    );
    let sought = digest(test.as_str().as_bytes());
    let row = transaction.query_opt(&find, &[&project, &sought, &json(&command)?])?;
    let found = row.as_ref().map(cause_record).transpose()?;
    Ok(found.filter(|cause| cause.found.is_none()))
}

/// Every experiment, as it was kept last, oldest first.
pub(super) fn all_causes(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<Vec<CauseRecord>> {
    let find = format!("{CAUSES} ORDER BY started COLLATE \"C\", latest.number");
    transaction.query(&find, &[&project])?.iter().map(cause_record).collect()
}

fn cause_record(row: &Row) -> Done<CauseRecord> {
    Ok(CauseRecord {
        id: given(row.get(0)),
        started: row.get(1),
        command: from_json(row.get(2))?,
        seed: row.get(3),
        test: given(row.get(4)).into(),
        found: row.get::<_, Option<&str>>(5).map(from_json).transpose()?,
        progress: from_json(row.get(6))?,
    })
}

const FINDINGS: &str = "
    SELECT id, run, started, verdict, kind, evidence FROM (
        SELECT test.id, run.id AS run, run.started, run.number, finding.verdict, finding.kind,
               finding.evidence,
               row_number() OVER (PARTITION BY finding.test
                                  ORDER BY run.started COLLATE \"C\" DESC, run.number DESC) AS place
          FROM finding
          JOIN test ON test.number = finding.test
          JOIN run ON run.number = finding.run
         WHERE run.project = $1 AND finding.verdict IS NOT NULL) AS placed
     WHERE place <= $2
     ORDER BY id, place";

/// What runs said about failures, the latest first.
pub(super) fn findings(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<BTreeMap<TestId, Vec<PastFinding>>> {
    let mut all: BTreeMap<TestId, Vec<PastFinding>> = BTreeMap::new();
    for row in transaction.query(FINDINGS, &[&project, &most()])? {
        all.entry(given(row.get(0)).into()).or_default().push(PastFinding {
            run: given(row.get(1)),
            started: row.get(2),
            verdict: Verdict::of(row.get(3))?,
            kind: row.get::<_, Option<&str>>(4).map(Kind::of).transpose()?,
            evidence: from_json(row.get(5))?,
        });
    }
    Ok(all)
}

fn most() -> i64 {
    i64::try_from(MOST_OF_A_TEST).unwrap_or(i64::MAX)
}

/// A way's signature is that of its latest execution.
const FAILURES: &str = "
    SELECT test.id, way.message, way.times, way.last, signature.text FROM (
        SELECT execution.test, coalesce(execution.message, '') AS message,
               count(DISTINCT execution.run) AS times,
               max(run.started COLLATE \"C\") AS last,
               (array_agg(execution.signature
                          ORDER BY run.started COLLATE \"C\" DESC, execution.run DESC,
                                   execution.number DESC))[1] AS signature,
               row_number() OVER (PARTITION BY execution.test
                                  ORDER BY max(run.started COLLATE \"C\") DESC) AS place
          FROM execution
          JOIN run ON run.number = execution.run
         WHERE run.project = $1 AND execution.outcome NOT IN ('passed', 'skipped')
           AND ($3::bigint[] IS NULL OR execution.test = ANY($3))
         GROUP BY execution.test, coalesce(execution.message, '')) AS way
      JOIN test ON test.number = way.test
      LEFT JOIN signature ON signature.number = way.signature
     WHERE way.place <= $2
     ORDER BY test.id, way.place";

/// How these tests failed, or all, the latest first, each way once.
pub(super) fn failures(
    transaction: &mut Transaction<'_>,
    project: i64,
    of: Option<&BTreeSet<TestId>>,
) -> Done<BTreeMap<TestId, Vec<PastFailure>>> {
    let of = of.map(|of| known_numbers(transaction, project, of.iter())).transpose()?;
    let mut all: BTreeMap<TestId, Vec<PastFailure>> = BTreeMap::new();
    for row in transaction.query(FAILURES, &[&project, &most(), &of])? {
        let signature: Option<String> = row.get(4);
        all.entry(given(row.get(0)).into()).or_default().push(PastFailure {
            message: given(row.get(1)),
            signature: signature.map(|text| Signature::from_normalised(given(text))),
            times: u32::try_from(row.get::<_, i64>(2)).unwrap_or(u32::MAX),
            last: row.get(3),
        });
    }
    Ok(all)
}
