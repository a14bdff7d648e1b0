//! Runs as a Parquet file that other programs can read, too: `docs/reference/segments.md` is its
//! description.
//!
//! A row of `row = 'test'` says how a test fared in a run, all attempts together, and one of
//! `row = 'execution'` tells of an attempt. What belongs to a run as a whole is JSON in the file's own
//! metadata. Equal runs give equal bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flakeproof_core::{
    Again, Attempt, Evidence, Feature, Features, Isolation, Kind, Mark, Origin, Outcome, RunRecord,
    Seed, Stage, Surroundings, TestId, TreeState, Verdict,
};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde::{Deserialize, Serialize};

use crate::exchange::KeptAttempt;
use crate::worded::Worded;
use crate::{RunEnd, WholeFinding, WholeRun};

/// Rows of text come first.
const TEXTS: [&str; 16] = [
    "row",
    "run",
    "test",
    "started",
    "revision",
    "branch",
    "job",
    "outcome",
    "stage",
    "isolation",
    "again",
    "verdict",
    "kind",
    "signature",
    "message",
    "finding",
];
const MEASURED: &str = "features";
const NUMBERS: [&str; 5] =
    ["attempt", "position", "microseconds", "milliseconds", "again_milliseconds"];

/// Where the runs stand in the file's metadata.
const RUNS: &str = "flakeproof.runs";

/// Why a segment says nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    #[error("it is no whole Parquet file: {0}")]
    Parquet(#[from] ParquetError),
    #[error("what it says of its runs cannot be understood: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Content(String),
}

/// A run as a whole, as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct RunDocument {
    id: String,
    started: String,
    command: Vec<String>,
    folder: String,
    seed: u64,
    tree: TreeState,
    surroundings: Surroundings,
    version: String,
    origin: String,
    job: Option<String>,
    is_settled: bool,
    rules: i64,
    finished: Option<String>,
    exit_code: Option<i32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FindingDocument {
    verdict: Option<Verdict>,
    kind: Option<Kind>,
    evidence: Vec<Evidence>,
}

/// The cells of a row that are not empty, by column.
type Row = HashMap<&'static str, Value>;

#[derive(Debug, Clone)]
enum Value {
    Text(String),
    Number(i64),
}

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// Finished runs as a file.
pub(super) fn encode(runs: &[WholeRun]) -> Result<Vec<u8>, SegmentError> {
    let documents: Vec<RunDocument> = runs.iter().map(document).collect();
    let mut rows = Vec::new();
    for run in runs {
        rows_of(run, &mut rows)?;
    }
    let columns =
        TEXTS.iter().chain([&MEASURED]).map(|name| format!("OPTIONAL BINARY {name} (UTF8);"));
    let numbers = NUMBERS.iter().map(|name| format!("OPTIONAL INT64 {name};"));
    let fields: String = columns.chain(numbers).collect();
    let schema = parse_message_type(&format!("message flakeproof {{ {fields} }}"))?;
    let metadata = KeyValue::new(RUNS.to_owned(), serde_json::to_string(&documents)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_key_value_metadata(Some(vec![metadata]));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for name in TEXTS.into_iter().chain([MEASURED]).chain(NUMBERS) {
        let Some(mut writer) = group.next_column()? else { break };
        let cells = || rows.iter().map(|row| row.get(name));
        let is_there: Vec<i16> = cells().map(|cell| i16::from(cell.is_some())).collect();
        if NUMBERS.contains(&name) {
            let known: Vec<i64> = cells()
                .filter_map(|cell| match cell? {
                    Value::Number(number) => Some(*number),
                    Value::Text(_) => None,
                })
                .collect();
            writer.typed::<Int64Type>().write_batch(&known, Some(&is_there), None)?;
        } else {
            let known: Vec<ByteArray> = cells()
                .filter_map(|cell| match cell? {
                    Value::Text(text) => Some(ByteArray::from(text.as_str())),
                    Value::Number(_) => None,
                })
                .collect();
            writer.typed::<ByteArrayType>().write_batch(&known, Some(&is_there), None)?;
        }
        writer.close()?;
    }
    group.close()?;
    Ok(file.into_inner()?)
}

fn document(run: &WholeRun) -> RunDocument {
    let record = run.record.clone();
    let end = run.end.clone().unwrap_or(RunEnd { finished: None, exit_code: None });
    RunDocument {
        job: record.origin.job().map(str::to_owned),
        origin: record.origin.word().to_owned(),
        id: record.id,
        started: record.started,
        command: record.command,
        folder: record.folder,
        seed: record.seed.0,
        tree: record.tree,
        surroundings: record.surroundings,
        version: record.version,
        is_settled: run.is_settled,
        rules: run.rules,
        finished: end.finished,
        exit_code: end.exit_code,
    }
}

/// What every row of a run says of it.
fn row_of(run: &WholeRun, kind: &str, test: &TestId) -> Row {
    let record = &run.record;
    let mut row = Row::from([
        ("row", text(kind)),
        ("run", text(&record.id)),
        ("test", text(test.as_str())),
        ("started", text(&record.started)),
    ]);
    let job = record.origin.job().map(str::to_owned);
    for (name, value) in [
        ("revision", record.tree.revision.clone()),
        ("branch", record.tree.branch.clone()),
        ("job", job),
    ] {
        row.extend(value.map(|value| (name, Value::Text(value))));
    }
    row
}

fn rows_of(run: &WholeRun, rows: &mut Vec<Row>) -> Result<(), SegmentError> {
    let mut of_tests: BTreeMap<&TestId, Row> = BTreeMap::new();
    let mut order: Vec<&TestId> = Vec::new();
    let tests = run.findings.iter().map(|finding| &finding.test);
    let tests = tests.chain(run.marks.iter().map(|(test, _)| test));
    for test in tests.chain(run.features.iter().map(|(test, _)| test)) {
        of_tests.entry(test).or_insert_with(|| {
            order.push(test);
            row_of(run, "test", test)
        });
    }
    for (test, mark) in &run.marks {
        let Some(row) = of_tests.get_mut(test) else { continue };
        row.insert("outcome", text(mark.outcome.word()));
        row.insert("again", text(word_of_again(mark.again)));
        row.insert("milliseconds", Value::Number(i64::from(mark.milliseconds)));
        row.insert("again_milliseconds", Value::Number(i64::from(mark.again_milliseconds)));
        row.extend(mark.verdict.map(|verdict| ("verdict", text(verdict.word()))));
    }
    for finding in &run.findings {
        let Some(row) = of_tests.get_mut(&finding.test) else { continue };
        let WholeFinding { verdict, kind, evidence, .. } = finding.clone();
        row.extend(kind.map(|kind| ("kind", text(kind.word()))));
        let document = FindingDocument { verdict, kind, evidence };
        row.insert("finding", Value::Text(serde_json::to_string(&document)?));
    }
    for (test, features) in &run.features {
        let Some(row) = of_tests.get_mut(test) else { continue };
        row.insert(MEASURED, Value::Text(written(features)));
    }
    rows.extend(order.into_iter().filter_map(|test| of_tests.remove(test)));
    for attempt in &run.attempts {
        let execution = &attempt.execution;
        let mut row = row_of(run, "execution", &execution.test);
        row.insert("outcome", text(execution.outcome.word()));
        row.insert("stage", text(attempt.stage.word()));
        row.insert("isolation", text(attempt.isolation.word()));
        row.insert("attempt", Value::Number(i64::from(attempt.number)));
        row.extend(attempt.position.map(|at| ("position", Value::Number(i64::from(at)))));
        let microseconds = i64::try_from(execution.duration.as_micros()).unwrap_or(i64::MAX);
        row.insert("microseconds", Value::Number(microseconds));
        if let Some(failure) = &execution.failure {
            row.insert("signature", text(failure.signature.to_string()));
            row.insert("message", text(&failure.message));
        }
        rows.push(row);
    }
    Ok(())
}

fn word_of_again(again: Again) -> &'static str {
    match again {
        Again::Never => "never",
        Again::Passed => "passed",
        Again::Failed => "failed",
    }
}

/// What was measured, as text that comes back as the very same numbers.
fn written(features: &Features) -> String {
    let value = |feature: Feature| {
        features.get(feature).map(|value| format!("{}={value:?}", feature.name()))
    };
    Feature::ALL.into_iter().filter_map(value).collect::<Vec<_>>().join(" ")
}

fn measured(text: &str) -> Features {
    let mut features = Features::default();
    for part in text.split(' ') {
        let Some((name, value)) = part.split_once('=') else { continue };
        let feature = Feature::ALL.into_iter().find(|feature| feature.name() == name);
        if let Some(feature) = feature {
            features.set(feature, value.parse().ok());
        }
    }
    features
}

/// The runs in a file.
pub(super) fn decode(bytes: Bytes) -> Result<Vec<WholeRun>, SegmentError> {
    let file = SerializedFileReader::new(bytes)?;
    let metadata = file.metadata().file_metadata().key_value_metadata();
    let documents = metadata.into_iter().flatten().find(|it| it.key == RUNS);
    let documents = documents.and_then(|it| it.value.as_ref());
    let documents = documents.ok_or_else(|| SegmentError::Content("it names no runs".into()))?;
    let documents: Vec<RunDocument> = serde_json::from_str(documents)?;
    let mut runs: Vec<WholeRun> = documents.into_iter().map(run_of).collect();
    let places: HashMap<String, usize> =
        runs.iter().enumerate().map(|(at, run)| (run.record.id.clone(), at)).collect();
    for row in file.get_row_iter(None)? {
        let row = row?;
        let cells: HashMap<&str, &Field> =
            row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
        let cells = Cells(cells);
        let at = places.get(cells.must("run")?).copied();
        let at = at.ok_or_else(|| SegmentError::Content("a row is of no run of its".into()))?;
        cells.into_run(&mut runs[at])?;
    }
    Ok(runs)
}

fn run_of(document: RunDocument) -> WholeRun {
    let origin = match document.origin.as_str() {
        "run" => Origin::Run,
        _ => Origin::Reports { job: document.job },
    };
    WholeRun {
        record: RunRecord {
            id: document.id,
            started: document.started,
            command: document.command,
            folder: document.folder,
            seed: Seed(document.seed),
            tree: document.tree,
            surroundings: document.surroundings,
            version: document.version,
            origin,
        },
        is_settled: document.is_settled,
        rules: document.rules,
        end: Some(RunEnd { finished: document.finished, exit_code: document.exit_code }),
        attempts: Vec::new(),
        marks: Vec::new(),
        findings: Vec::new(),
        features: Vec::new(),
    }
}

/// A row that is read.
struct Cells<'r>(HashMap<&'r str, &'r Field>);

impl Cells<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Field::Str(text) => Some(text),
            _ => None,
        }
    }

    fn must(&self, name: &str) -> Result<&str, SegmentError> {
        self.text(name).ok_or_else(|| SegmentError::Content(format!("a row has no `{name}`")))
    }

    fn word<T: Worded>(&self, name: &str) -> Result<T, SegmentError> {
        T::of(self.must(name)?).map_err(|error| SegmentError::Content(format!("{name}: {error}")))
    }

    fn number<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        match self.0.get(name)? {
            Field::Long(number) => T::try_from(*number).ok(),
            _ => None,
        }
    }

    fn must_number<T: TryFrom<i64>>(&self, name: &str) -> Result<T, SegmentError> {
        self.number(name).ok_or_else(|| SegmentError::Content(format!("a row has no `{name}`")))
    }

    fn into_run(self, run: &mut WholeRun) -> Result<(), SegmentError> {
        match self.must("row")? {
            "test" => self.test_into(run),
            "execution" => {
                run.attempts.push(self.attempt()?);
                Ok(())
            }
            other => Err(SegmentError::Content(format!("a row is a `{other}`"))),
        }
    }

    fn test_into(&self, run: &mut WholeRun) -> Result<(), SegmentError> {
        let test = TestId::from(self.must("test")?);
        if self.text("outcome").is_some() {
            let again = match self.must("again")? {
                "passed" => Again::Passed,
                "failed" => Again::Failed,
                _ => Again::Never,
            };
            let verdict =
                self.text("verdict").map(|_| self.word::<Verdict>("verdict")).transpose()?;
            run.marks.push((
                test.clone(),
                Mark {
                    run: 0,
                    outcome: self.word::<Outcome>("outcome")?,
                    again,
                    verdict,
                    milliseconds: self.must_number("milliseconds")?,
                    again_milliseconds: self.must_number("again_milliseconds")?,
                },
            ));
        }
        if let Some(finding) = self.text("finding") {
            let FindingDocument { verdict, kind, evidence } = serde_json::from_str(finding)?;
            run.findings.push(WholeFinding { test: test.clone(), verdict, kind, evidence });
        }
        if let Some(features) = self.text(MEASURED) {
            run.features.push((test, measured(features)));
        }
        Ok(())
    }

    fn attempt(&self) -> Result<Attempt, SegmentError> {
        Ok(Attempt::from(KeptAttempt {
            test: self.must("test")?.into(),
            number: self.must_number("attempt")?,
            stage: self.word::<Stage>("stage")?,
            isolation: self.word::<Isolation>("isolation")?,
            position: self.number("position"),
            outcome: self.word::<Outcome>("outcome")?,
            duration: Duration::from_micros(self.must_number("microseconds")?),
            signature: self.text("signature").map(str::to_owned),
            message: self.text("message").map(str::to_owned),
        }))
    }
}
