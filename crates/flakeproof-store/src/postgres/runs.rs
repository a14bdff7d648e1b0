//! Runs, their executions, what was found and what was measured, as rows.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{
    Attempt, ExitCode, Feature, FeatureRecord, Features, Findings, Kind, Outcome, PassRecord,
    PastOutcome, RunRecord, Signature, Surroundings, TestId, TreeState, Verdict,
};
use postgres::{GenericClient, Row, Transaction};

use super::connection::{Done, Fault, Try};
use super::numbers::digest;
use super::words::{from_json, given, json, kept};
use crate::runs::RULES;
use crate::worded::Worded;

/// The key of a row of `run`.
pub(super) type RunNumber = i64;

const INSERT_RUN: &str = "
    INSERT INTO run (project, id, started, command, seed, revision, branch, tree, is_complete, code,
                     surroundings, version, origin, job, folder, rules)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
    ON CONFLICT (project, id) DO NOTHING
    RETURNING number";

const FIND_RUN: &str = "SELECT number FROM run WHERE project = $1 AND id = $2";

/// The number of a run that is there.
pub(super) fn run_number(
    client: &mut impl GenericClient,
    project: i64,
    id: &str,
) -> Done<Option<RunNumber>> {
    Ok(client.query_opt(FIND_RUN, &[&project, &kept(id)])?.map(|row| row.get(0)))
}

/// Open a run; `None` if there is one of its id.
pub(super) fn insert_run(
    transaction: &mut Transaction<'_>,
    project: i64,
    run: &RunRecord,
    rules: i32,
) -> Done<Option<RunNumber>> {
    let text = |text: &Option<String>| text.as_deref().map(|text| kept(text).into_owned());
    let job = run.origin.job().map(|job| kept(job).into_owned());
    let row = transaction.query_opt(
        INSERT_RUN,
        &[
            &project,
            &kept(&run.id),
            &run.started,
            &json(&run.command)?,
            &run.seed.0.to_string(),
            &text(&run.tree.revision),
            &text(&run.tree.branch),
            &json(&run.tree)?,
            &run.tree.is_complete,
            &code(&run.tree, &run.surroundings)?,
            &json(&run.surroundings)?,
            &run.version,
            &run.origin.word(),
            &job,
            &kept(&run.folder),
            &rules,
        ],
    )?;
    Ok(row.map(|row| row.get(0)))
}

/// Open a run of our own; a second one of its id is an error, unless it is the same that an interrupted try
/// began.
pub(super) fn begin(
    transaction: &mut Transaction<'_>,
    which: Try,
    project: i64,
    run: &RunRecord,
) -> Done<RunNumber> {
    let rules = i32::try_from(RULES).unwrap_or(i32::MAX);
    match insert_run(transaction, project, run, rules)? {
        Some(number) => Ok(number),
        None => match (which, run_number(transaction, project, &run.id)?) {
            (Try::Again, Some(number)) => Ok(number),
            _ => Err(Fault::Refused(format!("it has a run {} already", run.id))),
        },
    }
}

/// Runs of the same code have the same tree, runtime and packages.
fn code(tree: &TreeState, surroundings: &Surroundings) -> Done<Vec<u8>> {
    let Surroundings { runtime, packages, .. } = surroundings;
    Ok(digest(json(&(tree, runtime, packages))?.as_bytes()))
}

const INSERT_EXECUTIONS: &str = "
    INSERT INTO execution (run, number, test, attempt, stage, isolation, position, outcome,
                           microseconds, signature, message)
    SELECT $1, * FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::int[],
                             $8::text[], $9::bigint[], $10::bigint[], $11::text[])
    ON CONFLICT DO NOTHING";

/// Executions as columns, to be sent in one statement.
#[derive(Debug, Default)]
pub(super) struct ExecutionRows {
    numbers: Vec<i32>,
    tests: Vec<i64>,
    attempts: Vec<i32>,
    stages: Vec<&'static str>,
    isolations: Vec<&'static str>,
    positions: Vec<Option<i32>>,
    outcomes: Vec<&'static str>,
    microseconds: Vec<i64>,
    signatures: Vec<Option<i64>>,
    messages: Vec<Option<String>>,
}

impl ExecutionRows {
    /// Add an attempt as the execution of this number.
    pub(super) fn push(
        &mut self,
        number: i32,
        test: i64,
        signature: Option<i64>,
        attempt: &Attempt,
    ) {
        let execution = &attempt.execution;
        let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        self.numbers.push(number);
        self.tests.push(test);
        self.attempts.push(small(attempt.number));
        self.stages.push(attempt.stage.word());
        self.isolations.push(attempt.isolation.word());
        self.positions.push(attempt.position.map(small));
        self.outcomes.push(execution.outcome.word());
        self.microseconds.push(microseconds(execution.duration));
        self.signatures.push(signature);
        let message = execution.failure.as_ref().map(|it| kept(&it.message).into_owned());
        self.messages.push(message);
    }

    /// Keep them in a run; says how many are new.
    pub(super) fn insert(&self, transaction: &mut Transaction<'_>, run: RunNumber) -> Done<u64> {
        if self.numbers.is_empty() {
            return Ok(0);
        }
        let added = transaction.execute(
            INSERT_EXECUTIONS,
            &[
                &run,
                &self.numbers,
                &self.tests,
                &self.attempts,
                &self.stages,
                &self.isolations,
                &self.positions,
                &self.outcomes,
                &self.microseconds,
                &self.signatures,
                &self.messages,
            ],
        )?;
        Ok(added)
    }
}

pub(super) fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The end is reckoned from the start and the duration, so that nobody asks a clock twice.
const END_RUN: &str = "
    INSERT INTO run_end (run, finished, exit_code, marks, brief)
    SELECT number,
           to_char((started::timestamptz + make_interval(secs => $2)) AT TIME ZONE 'UTC',
                   'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'),
           $3, $4, $5
      FROM run WHERE number = $1
    ON CONFLICT DO NOTHING";

/// Close a run.
pub(super) fn end_run(
    transaction: &mut Transaction<'_>,
    run: RunNumber,
    took: Duration,
    exit: Option<ExitCode>,
    (marks, brief): (&[u8], &[u8]),
) -> Done<()> {
    let seconds = (took.as_secs_f64() * 1000.0).round() / 1000.0;
    let exit = exit.map(|exit| i32::from(exit.number()));
    transaction.execute(END_RUN, &[&run, &seconds, &exit, &marks, &brief])?;
    Ok(())
}

const INSERT_FINDINGS: &str = "
    INSERT INTO finding (run, test, verdict, kind, evidence)
    SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[])
    ON CONFLICT DO NOTHING";

/// What was found about tests as columns, to be sent in one statement.
#[derive(Debug, Default)]
pub(super) struct FindingRows {
    tests: Vec<i64>,
    verdicts: Vec<Option<&'static str>>,
    kinds: Vec<Option<&'static str>>,
    evidence: Vec<String>,
}

impl FindingRows {
    /// Add what was found about a test; its evidence is JSON.
    pub(super) fn push(
        &mut self,
        test: i64,
        verdict: Option<Verdict>,
        kind: Option<Kind>,
        evidence: String,
    ) {
        self.tests.push(test);
        self.verdicts.push(verdict.map(Verdict::word));
        self.kinds.push(kind.map(Kind::word));
        self.evidence.push(evidence);
    }

    /// Keep them in a run; says how many are new.
    pub(super) fn insert(&self, transaction: &mut Transaction<'_>, run: RunNumber) -> Done<u64> {
        let Self { tests, verdicts, kinds, evidence } = self;
        if tests.is_empty() {
            return Ok(0);
        }
        Ok(transaction.execute(INSERT_FINDINGS, &[&run, tests, verdicts, kinds, evidence])?)
    }
}

/// Keep what was found about tests with these numbers.
pub(super) fn insert_findings(
    transaction: &mut Transaction<'_>,
    run: RunNumber,
    findings: &Findings,
    numbers: &BTreeMap<TestId, i64>,
) -> Done<()> {
    let mut rows = FindingRows::default();
    for finding in findings.failures() {
        if let Some(number) = numbers.get(&finding.id) {
            rows.push(*number, finding.verdict, finding.kind, json(&finding.evidence)?);
        }
    }
    rows.insert(transaction, run)?;
    Ok(())
}

const INSERT_FEATURES: &str = "
    INSERT INTO feature (run, test, measured)
    SELECT $1, * FROM unnest($2::bigint[], $3::text[])
    ON CONFLICT DO NOTHING";

/// Keep the features of tests with these numbers in a run.
pub(super) fn insert_features(
    transaction: &mut Transaction<'_>,
    run: RunNumber,
    measured: &[(i64, Features)],
) -> Done<u64> {
    let tests: Vec<i64> = measured.iter().map(|(test, _)| *test).collect();
    let texts: Vec<String> =
        measured.iter().map(|(_, features)| json(&by_name(features))).collect::<Done<_>>()?;
    Ok(transaction.execute(INSERT_FEATURES, &[&run, &tests, &texts])?)
}

fn by_name(features: &Features) -> BTreeMap<&'static str, f64> {
    let known = Features::NAMES.iter().zip(features.values());
    known.filter_map(|(name, value)| Some((*name, (*value)?))).collect()
}

/// The features on the code that was measured last, by run and test.
const FEATURES: &str = "
    SELECT test.id, dense_rank() OVER (ORDER BY feature.run), feature.measured
      FROM feature
      JOIN run ON run.number = feature.run
      JOIN test ON test.number = feature.test
     WHERE run.project = $1
       AND run.code = (SELECT run.code FROM run JOIN feature ON feature.run = run.number
                        WHERE run.project = $1 ORDER BY run.number DESC LIMIT 1)
     ORDER BY feature.run, feature.test";

pub(super) fn features(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<Vec<FeatureRecord>> {
    let record = |row: &Row| {
        let known: BTreeMap<String, f64> = from_json(row.get(2))?;
        let mut features = Features::default();
        for (name, feature) in Features::NAMES.iter().zip(Feature::ALL) {
            features.set(feature, known.get(*name).copied());
        }
        let run = u32::try_from(row.get::<_, i64>(1)).unwrap_or(u32::MAX);
        Ok(FeatureRecord { test: given(row.get(0)).into(), run, features })
    };
    transaction.query(FEATURES, &[&project])?.iter().map(record).collect()
}

/// One look into the index `execution_test`, for as long as the test passes.
fn last_pass_query() -> String {
    format!(
        "SELECT run.id, run.started, run.tree, run.surroundings
           FROM execution JOIN run ON run.number = execution.run
          WHERE execution.test = {}
            AND execution.stage = 'first' AND execution.outcome = 'passed'
            AND {EARLIER}
          ORDER BY execution.run DESC
          LIMIT 1",
        super::numbers::TEST
    )
}

/// Runs of ours before one, in the same folder, whose code stayed the same.
const EARLIER: &str = "
    execution.run < $3 AND run.origin = 'run'
    AND NOT EXISTS (SELECT 1 FROM unsettled WHERE unsettled.run = run.number)
    AND run.folder = coalesce((SELECT folder FROM run WHERE number = $3), run.folder)";

/// The latest pass of a test in runs before one.
pub(super) fn last_pass(
    transaction: &mut Transaction<'_>,
    project: i64,
    test: &TestId,
    before: RunNumber,
) -> Done<Option<PassRecord>> {
    let parameters = digest(test.as_str().as_bytes());
    let row = transaction.query_opt(&last_pass_query(), &[&project, &parameters, &before])?;
    let record = |row: Row| {
        Ok(PassRecord {
            run: given(row.get(0)),
            started: row.get(1),
            tree: from_json(row.get(2))?,
            surroundings: from_json(row.get(3))?,
        })
    };
    row.map(record).transpose()
}

/// How a test fared at its first attempt in runs before one, the latest first.
pub(super) fn past_outcomes(
    transaction: &mut Transaction<'_>,
    project: i64,
    test: &TestId,
    before: RunNumber,
) -> Done<Vec<PastOutcome>> {
    let query = format!(
        "SELECT run.revision, run.tree, execution.outcome, signature.text,
                CASE WHEN run.rules = $4 THEN finding.verdict END, finding.kind,
                execution.message
           FROM execution
           JOIN run ON run.number = execution.run
           LEFT JOIN signature ON signature.number = execution.signature
           LEFT JOIN finding ON finding.run = execution.run AND finding.test = execution.test
          WHERE execution.test = {} AND execution.stage = 'first' AND {EARLIER}
          ORDER BY execution.run DESC
          LIMIT 1000",
        super::numbers::TEST
    );
    let rules = i32::try_from(RULES).unwrap_or(i32::MAX);
    let parameters = digest(test.as_str().as_bytes());
    let rows = transaction.query(&query, &[&project, &parameters, &before, &rules])?;
    let outcome = |row: &Row| {
        let tree: TreeState = from_json(row.get(1))?;
        let signature: Option<String> = row.get(3);
        Ok(PastOutcome {
            revision: row.get::<_, Option<String>>(0).map(given),
            is_clean: tree.is_complete && tree.edited.is_empty(),
            outcome: Outcome::of(row.get(2))?,
            signature: signature.map(|text| Signature::from_normalised(given(text))),
            verdict: row.get::<_, Option<&str>>(4).map(Verdict::of).transpose()?,
            kind: row.get::<_, Option<&str>>(5).map(Kind::of).transpose()?,
            message: row.get::<_, Option<String>>(6).map(given),
        })
    };
    rows.iter().map(outcome).collect()
}

/// One look into the index `execution_test` for each test.
const DURATIONS: &str = "
    SELECT test.id, pass.microseconds
      FROM test
      CROSS JOIN LATERAL (
           SELECT microseconds FROM execution
            WHERE execution.test = test.number AND outcome = 'passed'
            ORDER BY run DESC, number DESC
            LIMIT 1) AS pass
     WHERE test.project = $1";

/// How long each test took when it last passed.
pub(super) fn durations(
    transaction: &mut Transaction<'_>,
    project: i64,
) -> Done<BTreeMap<TestId, Duration>> {
    let duration = |row: &Row| {
        let microseconds: i64 = row.get(1);
        (TestId::from(given(row.get(0))), Duration::from_micros(microseconds.unsigned_abs()))
    };
    Ok(transaction.query(DURATIONS, &[&project])?.iter().map(duration).collect())
}
