//! Runs as a Parquet file that other programs can read, too: `docs/reference/segments.md` is its
//! description.
//!
//! A row of `row = 'test'` says how a test fared in a run, all attempts together, and one of
//! `row = 'execution'` tells of an attempt. What belongs to a run as a whole is JSON in the file's own
//! metadata. Equal runs give equal bytes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flakeproof_core::{
    Again, Attempt, Evidence, Feature, Features, Isolation, Kind, Mark, Origin, Outcome, RunRecord,
    Seed, Stage, Surroundings, TestId, TreeState, Verdict,
};
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};

use crate::exchange::KeptAttempt;
use crate::worded::Worded;
use crate::{RunEnd, WholeFinding, WholeRun};

/// A column of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Row,
    Run,
    Test,
    Started,
    Revision,
    Branch,
    Job,
    Outcome,
    Stage,
    Isolation,
    Again,
    Verdict,
    Kind,
    Signature,
    Message,
    Finding,
    Features,
}

/// A column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Attempt,
    Position,
    Microseconds,
    Milliseconds,
    AgainMilliseconds,
}

/// The names of columns, those of text first.
const TEXTS: [&str; 17] = [
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
    "features",
];
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

/// A column that is written: for each row whether it has a value, and the values.
#[derive(Debug, Default)]
struct Written<T> {
    is_there: Vec<i16>,
    values: Vec<T>,
}

/// All columns that are written.
#[derive(Debug, Default)]
struct Table {
    texts: [Written<ByteArray>; TEXTS.len()],
    numbers: [Written<i64>; NUMBERS.len()],
    rows: usize,
}

impl Table {
    /// Begin a row; cells that are not given a value are empty.
    fn begin(&mut self) {
        self.rows += 1;
        self.texts.iter_mut().for_each(|it| it.is_there.push(0));
        self.numbers.iter_mut().for_each(|it| it.is_there.push(0));
    }

    fn text(&mut self, column: Text, value: impl Into<ByteArray>) {
        self.texts[column as usize].set(value.into());
    }

    fn number(&mut self, column: Number, value: impl Into<i64>) {
        self.numbers[column as usize].set(value.into());
    }
}

impl<T> Written<T> {
    fn set(&mut self, value: T) {
        if let Some(is_there) = self.is_there.last_mut() {
            *is_there = 1;
            self.values.push(value);
        }
    }
}

/// Finished runs as a file.
pub(super) fn encode(runs: &[WholeRun]) -> Result<Vec<u8>, SegmentError> {
    let documents: Vec<RunDocument> = runs.iter().map(document).collect();
    let mut table = Table::default();
    for run in runs {
        write_run(run, &mut table)?;
    }
    let columns = TEXTS.iter().map(|name| format!("OPTIONAL BINARY {name} (UTF8);"));
    let numbers = NUMBERS.iter().map(|name| format!("OPTIONAL INT64 {name};"));
    let fields: String = columns.chain(numbers).collect();
    let schema = parse_message_type(&format!("message flakeproof {{ {fields} }}"))?;
    let metadata = KeyValue::new(RUNS.to_owned(), serde_json::to_string(&documents)?);
    // Ids differ little from those before them, and places by one.
    let test = ColumnPath::from(TEXTS[Text::Test as usize]);
    let position = ColumnPath::from(NUMBERS[Number::Position as usize]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_column_dictionary_enabled(test.clone(), false)
        .set_column_encoding(test, Encoding::DELTA_BYTE_ARRAY)
        .set_column_dictionary_enabled(position.clone(), false)
        .set_column_encoding(position, Encoding::DELTA_BINARY_PACKED)
        .set_key_value_metadata(Some(vec![metadata]));
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for column in &table.texts {
        let Some(mut writer) = group.next_column()? else { break };
        let Written { is_there, values } = column;
        writer.typed::<ByteArrayType>().write_batch(values, Some(is_there), None)?;
        writer.close()?;
    }
    for column in &table.numbers {
        let Some(mut writer) = group.next_column()? else { break };
        let Written { is_there, values } = column;
        writer.typed::<Int64Type>().write_batch(values, Some(is_there), None)?;
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
struct Every {
    run: ByteArray,
    started: ByteArray,
    others: [(Text, Option<ByteArray>); 3],
}

impl Every {
    fn of(run: &WholeRun) -> Self {
        let record = &run.record;
        let shared = |text: Option<&str>| text.map(ByteArray::from);
        Self {
            run: record.id.as_str().into(),
            started: record.started.as_str().into(),
            others: [
                (Text::Revision, shared(record.tree.revision.as_deref())),
                (Text::Branch, shared(record.tree.branch.as_deref())),
                (Text::Job, shared(record.origin.job())),
            ],
        }
    }

    fn begin_row(&self, table: &mut Table, kind: &'static str, test: &TestId) {
        table.begin();
        table.text(Text::Row, kind);
        table.text(Text::Run, self.run.clone());
        table.text(Text::Test, test.as_str());
        table.text(Text::Started, self.started.clone());
        for (column, value) in &self.others {
            if let Some(value) = value {
                table.text(*column, value.clone());
            }
        }
    }
}

fn write_run(run: &WholeRun, table: &mut Table) -> Result<(), SegmentError> {
    let every = Every::of(run);
    let marks: HashMap<&TestId, &Mark> = run.marks.iter().map(|(test, it)| (test, it)).collect();
    let findings: HashMap<&TestId, &WholeFinding> =
        run.findings.iter().map(|finding| (&finding.test, finding)).collect();
    let features: HashMap<&TestId, &Features> =
        run.features.iter().map(|(test, features)| (test, features)).collect();
    let tests = run.findings.iter().map(|finding| &finding.test);
    let tests = tests.chain(run.marks.iter().map(|(test, _)| test));
    let tests = tests.chain(run.features.iter().map(|(test, _)| test));
    let mut written: HashSet<&TestId> = HashSet::new();
    for test in tests.filter(|test| written.insert(*test)) {
        every.begin_row(table, "test", test);
        if let Some(mark) = marks.get(test) {
            table.text(Text::Outcome, mark.outcome.word());
            table.text(Text::Again, word_of_again(mark.again));
            table.number(Number::Milliseconds, mark.milliseconds);
            table.number(Number::AgainMilliseconds, mark.again_milliseconds);
            if let Some(verdict) = mark.verdict {
                table.text(Text::Verdict, verdict.word());
            }
        }
        if let Some(finding) = findings.get(test) {
            let WholeFinding { verdict, kind, evidence, .. } = (*finding).clone();
            if let Some(kind) = kind {
                table.text(Text::Kind, kind.word());
            }
            let document = FindingDocument { verdict, kind, evidence };
            table.text(Text::Finding, serde_json::to_string(&document)?.as_str());
        }
        if let Some(features) = features.get(test) {
            table.text(Text::Features, written_features(features).as_str());
        }
    }
    for attempt in &run.attempts {
        let execution = &attempt.execution;
        every.begin_row(table, "execution", &execution.test);
        table.text(Text::Outcome, execution.outcome.word());
        table.text(Text::Stage, attempt.stage.word());
        table.text(Text::Isolation, attempt.isolation.word());
        table.number(Number::Attempt, attempt.number);
        if let Some(position) = attempt.position {
            table.number(Number::Position, position);
        }
        let microseconds = i64::try_from(execution.duration.as_micros()).unwrap_or(i64::MAX);
        table.number(Number::Microseconds, microseconds);
        if let Some(failure) = &execution.failure {
            table.text(Text::Signature, failure.signature.as_str());
            table.text(Text::Message, failure.message.as_str());
        }
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
fn written_features(features: &Features) -> String {
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
    for group in 0..file.num_row_groups() {
        let mut columns = Columns::read(&*file.get_row_group(group)?)?;
        while let Some(cells) = columns.next_row()? {
            let at = places.get(cells.must(Text::Run)?).copied();
            let at = at.ok_or_else(|| SegmentError::Content("a row is of no run of its".into()))?;
            cells.into_run(&mut runs[at])?;
        }
    }
    Ok(runs)
}

/// A column that is read: for each row whether it has a value, and the values.
#[derive(Debug)]
struct Read<T> {
    is_there: std::vec::IntoIter<i16>,
    values: std::vec::IntoIter<T>,
}

impl<T> Default for Read<T> {
    fn default() -> Self {
        Self { is_there: Vec::new().into_iter(), values: Vec::new().into_iter() }
    }
}

impl<T> Read<T> {
    fn all<D: DataType<T = T>>(
        reader: &mut ColumnReaderImpl<D>,
        rows: usize,
    ) -> Result<Self, SegmentError> {
        let (mut is_there, mut values) = (Vec::with_capacity(rows), Vec::new());
        while is_there.len() < rows {
            let (read, _, _) = reader.read_records(rows, Some(&mut is_there), None, &mut values)?;
            if read == 0 {
                break;
            }
        }
        Ok(Self { is_there: is_there.into_iter(), values: values.into_iter() })
    }

    /// The value of the next row; a column that the file lacks is empty.
    fn next(&mut self) -> Option<T> {
        match self.is_there.next() {
            Some(1) => self.values.next(),
            _ => None,
        }
    }
}

/// The columns of a group of rows.
struct Columns {
    texts: [Read<ByteArray>; TEXTS.len()],
    numbers: [Read<i64>; NUMBERS.len()],
    rows: usize,
}

impl Columns {
    fn read(group: &dyn RowGroupReader) -> Result<Self, SegmentError> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut columns = Self { texts: Default::default(), numbers: Default::default(), rows };
        for (at, column) in group.metadata().columns().iter().enumerate() {
            let name = column.column_descr().name();
            let place = |names: &[&str]| names.iter().position(|it| *it == name);
            match group.get_column_reader(at)? {
                ColumnReader::ByteArrayColumnReader(mut reader) => {
                    if let Some(place) = place(&TEXTS) {
                        columns.texts[place] = Read::all(&mut reader, rows)?;
                    }
                }
                ColumnReader::Int64ColumnReader(mut reader) => {
                    if let Some(place) = place(&NUMBERS) {
                        columns.numbers[place] = Read::all(&mut reader, rows)?;
                    }
                }
                // Not one of ours.
                _ => {}
            }
        }
        Ok(columns)
    }

    fn next_row(&mut self) -> Result<Option<Cells>, SegmentError> {
        let Some(left) = self.rows.checked_sub(1) else { return Ok(None) };
        self.rows = left;
        let texts = self.texts.each_mut().map(Read::next);
        if texts.iter().flatten().any(|text| text.as_utf8().is_err()) {
            return Err(SegmentError::Content("a text is not UTF-8".into()));
        }
        Ok(Some(Cells { texts, numbers: self.numbers.each_mut().map(Read::next) }))
    }
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
struct Cells {
    texts: [Option<ByteArray>; TEXTS.len()],
    numbers: [Option<i64>; NUMBERS.len()],
}

impl Cells {
    fn text(&self, column: Text) -> Option<&str> {
        self.texts[column as usize].as_ref()?.as_utf8().ok()
    }

    fn must(&self, column: Text) -> Result<&str, SegmentError> {
        let missing =
            || SegmentError::Content(format!("a row has no `{}`", TEXTS[column as usize]));
        self.text(column).ok_or_else(missing)
    }

    fn word<T: Worded>(&self, column: Text) -> Result<T, SegmentError> {
        let name = TEXTS[column as usize];
        T::of(self.must(column)?).map_err(|error| SegmentError::Content(format!("{name}: {error}")))
    }

    fn number<T: TryFrom<i64>>(&self, column: Number) -> Option<T> {
        T::try_from(self.numbers[column as usize]?).ok()
    }

    fn must_number<T: TryFrom<i64>>(&self, column: Number) -> Result<T, SegmentError> {
        let name = NUMBERS[column as usize];
        self.number(column).ok_or_else(|| SegmentError::Content(format!("a row has no `{name}`")))
    }

    fn into_run(self, run: &mut WholeRun) -> Result<(), SegmentError> {
        match self.must(Text::Row)? {
            "test" => self.test_into(run),
            "execution" => {
                run.attempts.push(self.attempt()?);
                Ok(())
            }
            other => Err(SegmentError::Content(format!("a row is a `{other}`"))),
        }
    }

    fn test_into(&self, run: &mut WholeRun) -> Result<(), SegmentError> {
        let test = TestId::from(self.must(Text::Test)?);
        if self.text(Text::Outcome).is_some() {
            let again = match self.must(Text::Again)? {
                "passed" => Again::Passed,
                "failed" => Again::Failed,
                _ => Again::Never,
            };
            let verdict = self
                .text(Text::Verdict)
                .map(|_| self.word::<Verdict>(Text::Verdict))
                .transpose()?;
            run.marks.push((
                test.clone(),
                Mark {
                    run: 0,
                    outcome: self.word::<Outcome>(Text::Outcome)?,
                    again,
                    verdict,
                    milliseconds: self.must_number(Number::Milliseconds)?,
                    again_milliseconds: self.must_number(Number::AgainMilliseconds)?,
                },
            ));
        }
        if let Some(finding) = self.text(Text::Finding) {
            let FindingDocument { verdict, kind, evidence } = serde_json::from_str(finding)?;
            run.findings.push(WholeFinding { test: test.clone(), verdict, kind, evidence });
        }
        if let Some(features) = self.text(Text::Features) {
            run.features.push((test, measured(features)));
        }
        Ok(())
    }

    fn attempt(&self) -> Result<Attempt, SegmentError> {
        Ok(Attempt::from(KeptAttempt {
            test: self.must(Text::Test)?.into(),
            number: self.must_number(Number::Attempt)?,
            stage: self.word::<Stage>(Text::Stage)?,
            isolation: self.word::<Isolation>(Text::Isolation)?,
            position: self.number(Number::Position),
            outcome: self.word::<Outcome>(Text::Outcome)?,
            duration: Duration::from_micros(self.must_number(Number::Microseconds)?),
            signature: self.text(Text::Signature).map(str::to_owned),
            message: self.text(Text::Message).map(str::to_owned),
        }))
    }
}
