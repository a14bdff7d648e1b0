//! Hunts, their trials and what they found.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use flakeproof_core::{
    FrontPoint, HuntFindings, HuntOverview, HuntRecord, HuntSummary, HuntedTest, KnownFlaky,
    TestId, TrialRecord,
};
use postgres::{Row, Transaction};

use super::connection::{Done, Fault};
use super::numbers::{digest, numbers};
use super::runs::microseconds;
use super::words::{from_json, given, json, kept};
use crate::hunts::{decided, is_over, ranges, summary_of};

/// The key of a row of `hunt`.
pub(super) type HuntNumber = i64;

const INSERT_HUNT: &str = "
    INSERT INTO hunt (project, id, started, command, fingerprint, seed, settings, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (project, id) DO NOTHING";

/// The key of the hunt's row, which is made if it is missing.
pub(super) fn open(
    transaction: &mut Transaction<'_>,
    project: i64,
    hunt: &HuntRecord,
) -> Done<HuntNumber> {
    transaction.execute(
        INSERT_HUNT,
        &[
            &project,
            &kept(&hunt.id),
            &hunt.started,
            &json(&hunt.command)?,
            &hunt.fingerprint,
            &hunt.seed,
            &kept(&hunt.settings),
            &hunt.version,
        ],
    )?;
    let find = "SELECT number FROM hunt WHERE project = $1 AND id = $2";
    Ok(transaction.query_one(find, &[&project, &kept(&hunt.id)])?.get(0))
}

/// The latest that was found in each hunt of a project, by the order of hunts.
const PLACED: &str = "
    WITH ended AS (
        SELECT DISTINCT ON (hunt.number) hunt.number AS hunt, hunt_end.number AS ending,
               hunt_end.is_over, hunt_end.summary
          FROM hunt JOIN hunt_end ON hunt_end.hunt = hunt.number
         WHERE hunt.project = $1
         ORDER BY hunt.number, hunt_end.number DESC),
    placed AS (
        SELECT hunt.*, ended.ending, coalesce(ended.is_over, false) AS is_over, ended.summary,
               row_number() OVER (ORDER BY hunt.started COLLATE \"C\", hunt.number) AS place
          FROM hunt LEFT JOIN ended ON ended.hunt = hunt.number
         WHERE hunt.project = $1)";

/// The latest hunt of a command that was not finished.
pub(super) fn unfinished(
    transaction: &mut Transaction<'_>,
    project: i64,
    command: &[String],
) -> Done<Option<HuntRecord>> {
    let find = format!(
        "{PLACED}
         SELECT id, started, command, fingerprint, seed, settings, version
           FROM placed WHERE NOT is_over AND command = $2
          ORDER BY place DESC LIMIT 1"
    );
    let row = transaction.query_opt(&find, &[&project, &json(&command)?])?;
    row.as_ref().map(hunt_record).transpose()
}

/// The first seven columns of a row as a hunt.
pub(super) fn hunt_record(row: &Row) -> Done<HuntRecord> {
    Ok(HuntRecord {
        id: given(row.get(0)),
        started: row.get(1),
        command: from_json(row.get(2))?,
        fingerprint: row.get(3),
        seed: row.get(4),
        settings: given(row.get(5)),
        version: row.get(6),
    })
}

const PUT_TRIAL: &str = "
    INSERT INTO trial (hunt, key, key_digest, token, letters, failures, executions, microseconds)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT DO NOTHING";

/// Keep a trial; whoever sends it twice sends the same token. Says whether it is new.
pub(super) fn put_trial(
    transaction: &mut Transaction<'_>,
    hunt: HuntNumber,
    token: &[u8],
    key: &str,
    trial: &TrialRecord,
) -> Done<u64> {
    let added = transaction.execute(
        PUT_TRIAL,
        &[
            &hunt,
            &kept(key),
            &digest(key.as_bytes()),
            &token,
            &trial.letters(),
            &json(&trial.failures)?,
            &i32::try_from(trial.executions).unwrap_or(i32::MAX),
            &microseconds(trial.duration),
        ],
    )?;
    Ok(added)
}

const GET_TRIAL: &str = "
    SELECT letters, failures, executions, microseconds
      FROM trial
     WHERE hunt = $1 AND key_digest = $2
     ORDER BY number DESC
     LIMIT 1";

/// The trial with this key.
pub(super) fn get_trial(
    transaction: &mut Transaction<'_>,
    hunt: HuntNumber,
    key: &str,
) -> Done<Option<TrialRecord>> {
    let row = transaction.query_opt(GET_TRIAL, &[&hunt, &digest(key.as_bytes())])?;
    row.as_ref().map(trial_record).transpose()
}

/// The first four columns of a row as a trial.
pub(super) fn trial_record(row: &Row) -> Done<TrialRecord> {
    let unknown = || Fault::Damaged("a letter stands for no outcome".to_owned());
    Ok(TrialRecord {
        outcomes: TrialRecord::outcomes_of(row.get(0)).ok_or_else(unknown)?,
        failures: from_json(row.get(1))?,
        executions: row.get::<_, i32>(2).unsigned_abs(),
        duration: Duration::from_micros(row.get::<_, i64>(3).unsigned_abs()),
    })
}

const INSERT_END: &str = "
    INSERT INTO hunt_end (hunt, token, is_over, summary) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING
    RETURNING number";

pub(super) const INSERT_HUNTED: &str = "
    INSERT INTO hunted (hunt_end, test, kind, found)
    SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[])";

pub(super) const INSERT_LOOKED_AT: &str = "
    INSERT INTO looked_at (hunt_end, first, last)
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[])";

/// Keep what a hunt found; from now on that counts and not what it had found before.
pub(super) fn finish(
    transaction: &mut Transaction<'_>,
    project: i64,
    hunt: HuntNumber,
    token: &[u8],
    findings: &HuntFindings,
) -> Done<()> {
    let summary = json(&summary_of(findings))?;
    let parameters: [&(dyn postgres::types::ToSql + Sync); 4] =
        [&hunt, &token, &is_over(findings), &summary];
    // It is there already, with all that belongs to it, if an interrupted try was not in vain.
    let Some(row) = transaction.query_opt(INSERT_END, &parameters)? else { return Ok(()) };
    let ending: i64 = row.get(0);
    let known = numbers(transaction, project, decided(findings).map(|test| &test.id))?;
    let number = |test: &TestId| known.get(&digest(test.as_str().as_bytes())).copied();
    let flaky: Vec<(i64, &HuntedTest)> = decided(findings)
        .filter(|test| test.kind.is_some())
        .filter_map(|test| Some((number(&test.id)?, test)))
        .collect();
    let tests: Vec<i64> = flaky.iter().map(|(number, _)| *number).collect();
    let kinds: Vec<&str> =
        flaky.iter().map(|(_, test)| test.kind.map_or("", |kind| kind.word())).collect();
    let found: Vec<String> = flaky.iter().map(|(_, test)| json(test)).collect::<Done<_>>()?;
    transaction.execute(INSERT_HUNTED, &[&ending, &tests, &kinds, &found])?;
    let (first, last): (Vec<i64>, Vec<i64>) =
        ranges(known.into_values().collect()).into_iter().unzip();
    transaction.execute(INSERT_LOOKED_AT, &[&ending, &first, &last])?;
    Ok(())
}

/// Every test that is known to be flaky, by its id: of each what the latest hunt says that has an opinion
/// about it.
pub(super) fn known_flaky(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<Vec<KnownFlaky>> {
    let find = format!(
        "{PLACED}
         SELECT placed.id, started, command, fingerprint, seed, settings, version, hunted.found
           FROM placed
           JOIN hunted ON hunted.hunt_end = placed.ending
          WHERE NOT EXISTS (
                SELECT 1 FROM placed AS later
                  JOIN looked_at ON looked_at.hunt_end = later.ending
                 WHERE later.place > placed.place
                   AND hunted.test BETWEEN looked_at.first AND looked_at.last)"
    );
    let known = |row: &Row| {
        Ok(KnownFlaky { hunt: hunt_record(row)?, test: from_json::<HuntedTest>(row.get(7))? })
    };
    let known: Vec<KnownFlaky> =
        transaction.query(&find, &[&project])?.iter().map(known).collect::<Done<_>>()?;
    // In the order of ids as we know it, not as the database's language has it.
    let known: BTreeMap<TestId, KnownFlaky> =
        known.into_iter().map(|it| (it.test.id.clone(), it)).collect();
    Ok(known.into_values().collect())
}

/// The latest hunt.
pub(super) fn latest(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<Option<HuntOverview>> {
    let find =
        format!("{PLACED} SELECT started, summary, ending FROM placed ORDER BY place DESC LIMIT 1");
    let Some(row) = transaction.query_opt(&find, &[&project])? else { return Ok(None) };
    let summary: Option<HuntSummary> = row.get::<_, Option<&str>>(1).map(from_json).transpose()?;
    let ending: Option<i64> = row.get(2);
    let found = transaction.query("SELECT found FROM hunted WHERE hunt_end = $1", &[&ending])?;
    let flaky: Vec<HuntedTest> =
        found.iter().map(|row| from_json(row.get(0))).collect::<Done<_>>()?;
    let front = summary.as_ref().map(|it| FrontPoint::front(it.tests, &flaky)).unwrap_or_default();
    Ok(Some(HuntOverview { started: row.get(0), flaky: flaky.len(), summary, front }))
}

/// All trials of a hunt, each key once.
pub(super) fn trials(
    transaction: &mut Transaction<'_>,
    hunt: HuntNumber,
) -> Done<HashMap<String, TrialRecord>> {
    const ALL: &str = "
        SELECT letters, failures, executions, microseconds, key
          FROM trial WHERE hunt = $1 ORDER BY number";
    let trial = |row: &Row| Ok((given(row.get(4)), trial_record(row)?));
    transaction.query(ALL, &[&hunt])?.iter().map(trial).collect()
}
