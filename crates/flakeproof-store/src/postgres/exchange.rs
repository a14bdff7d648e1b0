//! Whole runs, hunts and experiments out of PostgreSQL, and into it.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use flakeproof_core::{
    CauseRecord, Feature, Features, FlakyKind, HistoryError, HuntRecord, HuntedTest, Isolation,
    Kind, Mark, Origin, Outcome, RunRecord, Seed, Signature, Stage, TestId, Verdict,
};
use postgres::{Row, Transaction};

use super::connection::{Done, Fault};
use super::numbers::{digest, numbers};
use super::runs::{ExecutionRows, FindingRows, RunNumber};
use super::words::{from_json, given, json, kept};
use super::{PostgresHistory, hunts, past, runs};
use crate::exchange::{KeptAttempt, RunEnd, WholeFinding, WholeHunt, WholeRun};
use crate::hunts::ranges;
use crate::marks::{Marks, Unpacking};
use crate::worded::Worded;

/// So many executions are sent at once.
const BATCH: usize = 5000;

impl PostgresHistory {
    /// All runs, oldest first, and whether each is finished.
    pub(crate) fn run_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        const STATES: &str = "
            SELECT run.id, run_end.run IS NOT NULL
              FROM run LEFT JOIN run_end ON run_end.run = run.number
             WHERE run.project = $1
             ORDER BY run.number";
        self.ask(|transaction, project| states(transaction, STATES, project))
    }

    /// The run with this id.
    pub(crate) fn whole_run(&self, id: &str) -> Result<Option<WholeRun>, HistoryError> {
        self.ask(|transaction, project| whole_run(transaction, project, id))
    }

    /// Keep a run, unless it is there and finished; says whether that added anything.
    pub(crate) fn put_run(&mut self, run: &WholeRun) -> Result<bool, HistoryError> {
        self.write(|transaction, project, _| put_run(transaction, project, run))
    }

    /// All hunts, oldest first, and whether each is over.
    pub(crate) fn hunt_states(&self) -> Result<Vec<(String, bool)>, HistoryError> {
        const STATES: &str = "
            SELECT hunt.id, coalesce((SELECT is_over FROM hunt_end WHERE hunt_end.hunt = hunt.number
                                       ORDER BY hunt_end.number DESC LIMIT 1), false)
              FROM hunt WHERE hunt.project = $1
             ORDER BY hunt.number";
        self.ask(|transaction, project| states(transaction, STATES, project))
    }

    /// The hunt with this id.
    pub(crate) fn whole_hunt(&self, id: &str) -> Result<Option<WholeHunt>, HistoryError> {
        self.ask(|transaction, project| whole_hunt(transaction, project, id))
    }

    /// Keep a hunt; says whether that added anything.
    pub(crate) fn put_hunt(&mut self, hunt: &WholeHunt) -> Result<bool, HistoryError> {
        self.write(|transaction, project, _| put_hunt(transaction, project, hunt))
    }

    /// Every experiment, oldest first.
    pub(crate) fn all_causes(&self) -> Result<Vec<CauseRecord>, HistoryError> {
        self.ask(past::all_causes)
    }
}

fn states(
    transaction: &mut Transaction<'_>,
    query: &str,
    project: i64,
) -> Done<Vec<(String, bool)>> {
    let rows = transaction.query(query, &[&project])?;
    Ok(rows.iter().map(|row| (given(row.get(0)), row.get(1))).collect())
}

const RUN: &str = "
    SELECT run.number, run.id, started, command, folder, seed, tree, surroundings, version, origin,
           job, rules, unsettled.run IS NULL, run_end.run IS NOT NULL,
           finished, exit_code, marks
      FROM run
      LEFT JOIN run_end ON run_end.run = run.number
      LEFT JOIN unsettled ON unsettled.run = run.number
     WHERE run.project = $1 AND run.id = $2";

fn whole_run(transaction: &mut Transaction<'_>, project: i64, id: &str) -> Done<Option<WholeRun>> {
    let Some(row) = transaction.query_opt(RUN, &[&project, &kept(id)])? else { return Ok(None) };
    let number: RunNumber = row.get(0);
    let seed: u64 = row
        .get::<_, &str>(5)
        .parse()
        .map_err(|_| Fault::Damaged(format!("the seed of run {id} is no number")))?;
    let job: Option<String> = row.get::<_, Option<String>>(10).map(given);
    let is_finished: bool = row.get(13);
    let marks: Option<Vec<u8>> = row.get::<_, Option<Vec<u8>>>(16).filter(|_| is_finished);
    Ok(Some(WholeRun {
        record: RunRecord {
            id: given(row.get(1)),
            started: row.get(2),
            command: from_json(row.get(3))?,
            folder: given(row.get(4)),
            seed: Seed(seed),
            tree: from_json(row.get(6))?,
            surroundings: from_json(row.get(7))?,
            version: row.get(8),
            origin: match row.get(9) {
                "run" => Origin::Run,
                _ => Origin::Reports { job },
            },
        },
        rules: i64::from(row.get::<_, i32>(11)),
        is_settled: row.get(12),
        end: is_finished.then(|| RunEnd { finished: row.get(14), exit_code: row.get(15) }),
        attempts: attempts(transaction, number)?.into_iter().map(Into::into).collect(),
        marks: match marks {
            Some(marks) => marked(transaction, number, &marks)?,
            None => Vec::new(),
        },
        findings: findings(transaction, number)?,
        features: features(transaction, number)?,
    }))
}

fn attempts(transaction: &mut Transaction<'_>, run: RunNumber) -> Done<Vec<KeptAttempt>> {
    const ATTEMPTS: &str = "
        SELECT test.id, attempt, stage, isolation, position, outcome, microseconds, signature.text,
               message
          FROM execution
          JOIN test ON test.number = execution.test
          LEFT JOIN signature ON signature.number = execution.signature
         WHERE run = $1
         ORDER BY execution.number";
    let attempt = |row: &Row| {
        Ok(KeptAttempt {
            test: given(row.get(0)).into(),
            number: row.get::<_, i32>(1).unsigned_abs(),
            stage: Stage::of(row.get(2))?,
            isolation: Isolation::of(row.get(3))?,
            position: row.get::<_, Option<i32>>(4).map(i32::unsigned_abs),
            outcome: Outcome::of(row.get(5))?,
            duration: Duration::from_micros(row.get::<_, i64>(6).unsigned_abs()),
            signature: row.get::<_, Option<String>>(7).map(given),
            message: row.get::<_, Option<String>>(8).map(given),
        })
    };
    transaction.query(ATTEMPTS, &[&run])?.iter().map(attempt).collect()
}

fn marked(
    transaction: &mut Transaction<'_>,
    run: RunNumber,
    marks: &[u8],
) -> Done<Vec<(TestId, Mark)>> {
    let marks: Vec<(i64, Mark)> = Unpacking::new(0, marks)
        .collect::<Result<_, _>>()
        .map_err(|_| Fault::Damaged(format!("the digest of run {run} is damaged")))?;
    let tests: Vec<i64> = marks.iter().map(|(test, _)| *test).collect();
    let rows =
        transaction.query("SELECT number, id FROM test WHERE number = ANY($1)", &[&tests])?;
    let ids: HashMap<i64, TestId> =
        rows.iter().map(|row| (row.get(0), given(row.get(1)).into())).collect();
    Ok(marks.into_iter().filter_map(|(test, mark)| Some((ids.get(&test)?.clone(), mark))).collect())
}

fn findings(transaction: &mut Transaction<'_>, run: RunNumber) -> Done<Vec<WholeFinding>> {
    const FINDINGS: &str = "
        SELECT test.id, verdict, kind, evidence
          FROM finding JOIN test ON test.number = finding.test
         WHERE run = $1
         ORDER BY finding.test";
    let finding = |row: &Row| {
        Ok(WholeFinding {
            test: given(row.get(0)).into(),
            verdict: row.get::<_, Option<&str>>(1).map(Verdict::of).transpose()?,
            kind: row.get::<_, Option<&str>>(2).map(Kind::of).transpose()?,
            evidence: from_json(row.get(3))?,
        })
    };
    transaction.query(FINDINGS, &[&run])?.iter().map(finding).collect()
}

fn features(transaction: &mut Transaction<'_>, run: RunNumber) -> Done<Vec<(TestId, Features)>> {
    const FEATURES: &str = "
        SELECT test.id, measured FROM feature JOIN test ON test.number = feature.test
         WHERE run = $1
         ORDER BY feature.test";
    let of_test = |row: &Row| {
        let known: BTreeMap<String, f64> = from_json(row.get(1))?;
        let mut features = Features::default();
        for (name, feature) in Features::NAMES.iter().zip(Feature::ALL) {
            features.set(feature, known.get(*name).copied());
        }
        Ok((given(row.get(0)).into(), features))
    };
    transaction.query(FEATURES, &[&run])?.iter().map(of_test).collect()
}

const END: &str = "
    INSERT INTO run_end (run, finished, exit_code, marks, brief) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING";

/// Keep a run; of one that is there, what is missing.
fn put_run(transaction: &mut Transaction<'_>, project: i64, run: &WholeRun) -> Done<bool> {
    let rules = i32::try_from(run.rules).unwrap_or(i32::MAX);
    let (number, is_new) = match runs::insert_run(transaction, project, &run.record, rules)? {
        Some(number) => (number, true),
        None => {
            let there = runs::run_number(transaction, project, &run.record.id)?;
            let gone = || Fault::Damaged(format!("run {} is gone", run.record.id));
            (there.ok_or_else(gone)?, false)
        }
    };
    let tests = run.attempts.iter().map(|attempt| &attempt.execution.test);
    let tests = tests.chain(run.marks.iter().map(|(test, _)| test));
    let tests = tests.chain(run.findings.iter().map(|finding| &finding.test));
    let tests = tests.chain(run.features.iter().map(|(test, _)| test));
    let tests = numbers(transaction, project, tests)?;
    let of = |test: &TestId| tests.get(&digest(test.as_str().as_bytes())).copied();
    let signatures = run.attempts.iter().filter_map(|it| it.execution.failure.as_ref());
    let signatures: HashMap<Vec<u8>, i64> =
        numbers::<Signature>(transaction, project, signatures.map(|it| &it.signature))?;
    let mut added = u64::from(is_new);
    for (attempts, first) in run.attempts.chunks(BATCH).zip((0_i32..).step_by(BATCH)) {
        let mut rows = ExecutionRows::default();
        for (attempt, number) in attempts.iter().zip(first..) {
            let failure = attempt.execution.failure.as_ref();
            let signature =
                failure.and_then(|it| signatures.get(&digest(it.signature.as_str().as_bytes())));
            if let Some(test) = of(&attempt.execution.test) {
                rows.push(number, test, signature.copied(), attempt);
            }
        }
        added += rows.insert(transaction, number)?;
    }
    let mut rows = FindingRows::default();
    for it in &run.findings {
        if let Some(test) = of(&it.test) {
            rows.push(test, it.verdict, it.kind, json(&it.evidence)?);
        }
    }
    added += rows.insert(transaction, number)?;
    let measured: Vec<(i64, Features)> =
        run.features.iter().filter_map(|(test, it)| Some((of(test)?, *it))).collect();
    added += runs::insert_features(transaction, number, &measured)?;
    if !run.is_settled {
        added += transaction.execute(
            "INSERT INTO unsettled (run) VALUES ($1) ON CONFLICT DO NOTHING",
            &[&number],
        )?;
    }
    if let Some(end) = &run.end {
        let marks: BTreeMap<i64, Mark> =
            run.marks.iter().filter_map(|(test, mark)| Some((of(test)?, *mark))).collect();
        // An older version left the time out of some.
        let finished = end.finished.as_ref().unwrap_or(&run.record.started);
        let marks = Marks::from(marks);
        let (marks, brief) = (marks.packed(), marks.brief());
        added += transaction.execute(END, &[&number, finished, &end.exit_code, &marks, &brief])?;
    }
    Ok(added > 0)
}

const HUNT: &str = "
    SELECT id, started, command, fingerprint, seed, settings, version, number
      FROM hunt WHERE project = $1 AND id = $2";

fn whole_hunt(
    transaction: &mut Transaction<'_>,
    project: i64,
    id: &str,
) -> Done<Option<WholeHunt>> {
    let Some(row) = transaction.query_opt(HUNT, &[&project, &kept(id)])? else { return Ok(None) };
    let record: HuntRecord = hunts::hunt_record(&row)?;
    let number: i64 = row.get(7);
    const END: &str = "
        SELECT number, is_over, summary FROM hunt_end WHERE hunt = $1 ORDER BY number DESC LIMIT 1";
    const FLAKY: &str = "SELECT found FROM hunted WHERE hunt_end = $1 ORDER BY test";
    const LOOKED_AT: &str = "
        SELECT test.id FROM looked_at
          JOIN test ON test.number BETWEEN looked_at.first AND looked_at.last
         WHERE hunt_end = $1 AND test.project = $2
         ORDER BY test.number";
    let mut hunt = WholeHunt {
        record,
        is_over: false,
        summary: None,
        flaky: Vec::new(),
        looked_at: Vec::new(),
        trials: Vec::new(),
    };
    if let Some(end) = transaction.query_opt(END, &[&number])? {
        let ending: i64 = end.get(0);
        (hunt.is_over, hunt.summary) = (end.get(1), end.get(2));
        let flaky = transaction.query(FLAKY, &[&ending])?;
        hunt.flaky =
            flaky.iter().map(|row| from_json::<HuntedTest>(row.get(0))).collect::<Done<_>>()?;
        let tests = transaction.query(LOOKED_AT, &[&ending, &project])?;
        hunt.looked_at = tests.iter().map(|row| given(row.get(0)).into()).collect();
    }
    if !hunt.is_over {
        let trials: BTreeMap<_, _> = hunts::trials(transaction, number)?.into_iter().collect();
        hunt.trials = trials.into_iter().collect();
    }
    Ok(Some(hunt))
}

const HUNT_END: &str = "
    INSERT INTO hunt_end (hunt, token, is_over, summary) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING
    RETURNING number";

/// Keep a hunt. What it says of itself is the key, so that it is kept once.
fn put_hunt(transaction: &mut Transaction<'_>, project: i64, hunt: &WholeHunt) -> Done<bool> {
    let number = hunts::open(transaction, project, &hunt.record)?;
    let token = |what: &str, said: &str| {
        digest(format!("{project}\n{}\n{what}\n{said}", hunt.record.id).as_bytes())
    };
    let mut added = 0;
    for (key, trial) in &hunt.trials {
        let said = format!("{key}\n{}\n{}", trial.letters(), json(&trial.failures)?);
        let token = token("trial", &said);
        added += hunts::put_trial(transaction, number, &token, key, trial)?;
    }
    let flaky: Vec<String> = hunt.flaky.iter().map(json).collect::<Done<_>>()?;
    let said = json(&(&hunt.is_over, &hunt.summary, &flaky, &hunt.looked_at))?;
    let token = token("end", &said);
    let has_end = hunt.is_over || hunt.summary.is_some();
    let row = match has_end {
        true => {
            transaction.query_opt(HUNT_END, &[&number, &token, &hunt.is_over, &hunt.summary])?
        }
        false => None,
    };
    let Some(row) = row else { return Ok(added > 0) };
    let ending: i64 = row.get(0);
    let tests = hunt.looked_at.iter().chain(hunt.flaky.iter().map(|test| &test.id));
    let tests = numbers(transaction, project, tests)?;
    let of = |test: &TestId| tests.get(&digest(test.as_str().as_bytes())).copied();
    let found = hunt.flaky.iter().zip(&flaky).filter_map(|(test, found)| {
        Some((of(&test.id)?, test.kind.map_or("", FlakyKind::word), found))
    });
    let (mut numbers, mut kinds, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, kind, text) in found {
        numbers.push(number);
        kinds.push(kind);
        texts.push(text);
    }
    transaction.execute(hunts::INSERT_HUNTED, &[&ending, &numbers, &kinds, &texts])?;
    let looked_at = hunt.looked_at.iter().filter_map(of).collect();
    let (first, last): (Vec<i64>, Vec<i64>) = ranges(looked_at).into_iter().unzip();
    transaction.execute(hunts::INSERT_LOOKED_AT, &[&ending, &first, &last])?;
    Ok(true)
}
