//! What pages show besides scores: what was said about failures, how tests failed, the latest hunt.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_core::{
    FrontPoint, HuntOverview, HuntSummary, HuntedTest, Kind, PastFailure, PastFinding, PastOutcome,
    Signature, TestId, TreeState,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params_from_iter};

use crate::runs::{RULES, RunNumber, from_json, json};
use crate::worded::Worded;

const OUTCOMES: &str = "
    SELECT run.revision, run.tree, execution.outcome, signature.text,
           CASE run.rules WHEN :rules THEN finding.verdict END, finding.kind,
           execution.message
      FROM execution
      JOIN run ON run.number = execution.run
      LEFT JOIN signature ON signature.number = execution.signature
      LEFT JOIN finding ON finding.run = execution.run AND finding.test = execution.test
     WHERE execution.test = (SELECT number FROM test WHERE id = :test)
       AND execution.stage = 'first' AND execution.run < :before
       AND run.origin = 'run' AND run.is_settled = 1
       AND run.folder = coalesce((SELECT folder FROM run WHERE number = :before), run.folder)
     ORDER BY execution.run DESC
     LIMIT 1000";

/// How a test fared at its first attempt in runs before one, the latest first.
pub(crate) fn outcomes(
    connection: &Connection,
    test: &TestId,
    before: RunNumber,
) -> rusqlite::Result<Vec<PastOutcome>> {
    let mut statement = connection.prepare_cached(OUTCOMES)?;
    let parameters = named_params! { ":test": test.as_str(), ":before": before, ":rules": RULES };
    let read = |row: &Row<'_>| {
        let tree: TreeState = from_json(row, 1)?;
        let outcome: String = row.get(2)?;
        let signature: Option<String> = row.get(3)?;
        let verdict: Option<String> = row.get(4)?;
        let kind: Option<String> = row.get(5)?;
        Ok(PastOutcome {
            revision: row.get(0)?,
            is_clean: tree.is_complete && tree.edited.is_empty(),
            outcome: worded(2, &outcome)?,
            signature: signature.as_deref().map(Signature::from_normalised),
            verdict: verdict.map(|verdict| worded(4, &verdict)).transpose()?,
            kind: kind.map(|kind| worded(5, &kind)).transpose()?,
            message: row.get(6)?,
        })
    };
    statement.query_map(parameters, read)?.collect()
}

/// So much is told of one test.
pub(crate) const MOST_OF_A_TEST: usize = 10;

const FINDINGS: &str = "
    SELECT test.id, run.id, run.started, finding.verdict, finding.kind, finding.evidence
      FROM finding
      JOIN test ON test.number = finding.test
      JOIN run ON run.number = finding.run
     ORDER BY run.started DESC, run.number DESC";

/// What runs said about failures, the latest first.
pub(crate) fn findings(
    connection: &Connection,
) -> rusqlite::Result<BTreeMap<TestId, Vec<PastFinding>>> {
    few_of_each(connection, FINDINGS, &[], |row| {
        let verdict: String = row.get(3)?;
        let kind: Option<String> = row.get(4)?;
        Ok(PastFinding {
            run: row.get(1)?,
            started: row.get(2)?,
            verdict: worded(3, &verdict)?,
            kind: kind.map(|kind| worded::<Kind>(4, &kind)).transpose()?,
            evidence: from_json(row, 5)?,
        })
    })
}

/// What a column's word names.
pub(crate) fn worded<T: Worded>(column: usize, word: &str) -> rusqlite::Result<T> {
    T::of(word)
        .map_err(|why| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into()))
}

/// Of all tests; of these alone where `{of}` says so.
const FAILURES: &str = "
    SELECT test.id, coalesce(execution.message, ''), count(DISTINCT execution.run),
           max(run.started) AS last, signature.text
      FROM execution
      JOIN test ON test.number = execution.test
      JOIN run ON run.number = execution.run
      LEFT JOIN signature ON signature.number = execution.signature
     WHERE execution.outcome NOT IN ('passed', 'skipped') {of}
     GROUP BY execution.test, execution.message
     ORDER BY last DESC";

/// How tests failed, the latest first, each way once. A way's signature is that of its latest
/// execution: SQLite takes the other columns from the row that has the greatest time.
pub(crate) fn failures(
    connection: &Connection,
    of: Option<&BTreeSet<TestId>>,
) -> rusqlite::Result<BTreeMap<TestId, Vec<PastFailure>>> {
    const OF: &str = "
       AND execution.test IN (SELECT number FROM test
                               WHERE id IN (SELECT value FROM json_each(?1)))";
    let query = FAILURES.replace("{of}", if of.is_some() { OF } else { "" });
    let of = of.map(json).transpose()?;
    few_of_each(connection, &query, of.as_slice(), |row| {
        let signature: Option<String> = row.get(4)?;
        Ok(PastFailure {
            message: row.get(1)?,
            signature: signature.map(Signature::from_normalised),
            times: row.get(2)?,
            last: row.get(3)?,
        })
    })
}

/// What rows say, by the test of their first column; of each test only the first few.
fn few_of_each<T>(
    connection: &Connection,
    query: &str,
    parameters: &[String],
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<BTreeMap<TestId, Vec<T>>> {
    let mut all: BTreeMap<TestId, Vec<T>> = BTreeMap::new();
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params_from_iter(parameters))?;
    while let Some(row) = rows.next()? {
        let of_test = all.entry(row.get::<_, String>(0)?.into()).or_default();
        if of_test.len() < MOST_OF_A_TEST {
            of_test.push(read(row)?);
        }
    }
    Ok(all)
}

/// The latest hunt.
pub(crate) fn latest_hunt(connection: &Connection) -> rusqlite::Result<Option<HuntOverview>> {
    const LATEST: &str = "SELECT number, started, summary FROM hunt ORDER BY number DESC LIMIT 1";
    const FOUND: &str = "SELECT found FROM hunted WHERE hunt = ?1";
    let latest = connection
        .prepare_cached(LATEST)?
        .query_row([], |row| {
            let is_known = row.get_ref(2)?.as_str_or_null()?.is_some();
            let summary: Option<HuntSummary> = is_known.then(|| from_json(row, 2)).transpose()?;
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, summary))
        })
        .optional()?;
    let Some((number, started, summary)) = latest else { return Ok(None) };
    let flaky: Vec<HuntedTest> = connection
        .prepare_cached(FOUND)?
        .query_map([number], |row| from_json(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    let front = summary.as_ref().map(|it| FrontPoint::front(it.tests, &flaky)).unwrap_or_default();
    Ok(Some(HuntOverview { started, flaky: flaky.len(), summary, front }))
}
