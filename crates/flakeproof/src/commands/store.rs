//! `flakeproof store`: what the history holds, what it forgets, and its tables for other programs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flakeproof_core::foreign_text::as_cell;
use flakeproof_core::{ExitCode, HistoryError};
use flakeproof_store::{
    Cell, Compaction, Depth, ExportError, Pruning, SqliteHistory, Store, StoreLocation,
    StoredTable, SyncError,
};
use jiff::{SignedDuration, Timestamp};

use crate::cli::{
    ExportFormat, ExportTable, ListFormat, StoreAction, StoreArguments, StoreCompact, StoreExport,
    StorePrune, StoreStatistics, StoreSync,
};
use crate::problem::Problem;
use crate::session::{current_folder, history};
use crate::settings::{ConfigurationFile, StoreName, locate};
use crate::view;

#[cfg(feature = "parquet")]
use columns::ParquetFile;
#[cfg(not(feature = "parquet"))]
use missing::ParquetFile;

/// What is shown of what pruning would win.
const SHOWN_DAYS: u32 = 90;

/// Run the command.
pub(crate) fn run(typed: &StoreArguments) -> Result<ExitCode, Problem> {
    match &typed.action {
        StoreAction::Stats(typed) => statistics(typed)?,
        StoreAction::Prune(typed) => prune(typed)?,
        StoreAction::Export(typed) => export(typed)?,
        StoreAction::Sync(typed) => sync(typed)?,
        StoreAction::Compact(typed) => compact(typed)?,
    }
    Ok(ExitCode::Clean)
}

fn statistics(typed: &StoreStatistics) -> Result<(), Problem> {
    let history = look(typed.store.as_ref())?;
    let stats = history.stats().map_err(|error| unreadable(&error))?;
    let pruning = Pruning { before: days_ago(SHOWN_DAYS), depth: Depth::Details };
    let pruned = history.prune_outlook(&pruning).map_err(|error| unreadable(&error))?;
    let outlook = pruned.map(|pruned| {
        let bytes = stats.saving(&pruned);
        view::PruneOutlook { pruned, bytes, is_deep: false }
    });
    match typed.output_format {
        ListFormat::Text => view::store_statistics(&stats, outlook.as_ref(), SHOWN_DAYS),
        ListFormat::Json => view::store_statistics_json(&stats),
    }
    Ok(())
}

fn prune(typed: &StorePrune) -> Result<(), Problem> {
    let before = match (typed.before, typed.keep_days) {
        (Some(day), _) => day.to_string(),
        // One of the two is there, or clap has said so.
        (None, days) => days_ago(days.unwrap_or(u32::MAX)),
    };
    let depth = if typed.runs { Depth::Runs } else { Depth::Details };
    let pruning = Pruning { before, depth };
    if typed.dry_run {
        let history = look(typed.store.as_ref())?;
        let pruned = history.prune_outlook(&pruning).map_err(|error| unreadable(&error))?;
        let pruned = pruned.ok_or_else(not_pruned)?;
        let stats = history.stats().map_err(|error| unreadable(&error))?;
        let bytes = stats.saving(&pruned);
        view::prune_outlook(&view::PruneOutlook { pruned, bytes, is_deep: typed.runs });
        return Ok(());
    }
    let mut history = open_file(typed.store.as_ref())?;
    let size = history.bytes();
    let pruned = history.prune(&pruning).map_err(|error| unwritable(&error))?;
    let compaction = history.compact().map_err(|error| unwritable(&error))?;
    let is_compact = compaction == Compaction::Done;
    view::pruned(&pruned, size, history.bytes(), is_compact);
    Ok(())
}

/// Send what one history knows to another.
fn sync(typed: &StoreSync) -> Result<(), Problem> {
    let folder = current_folder()?;
    let from = match &typed.from {
        Some(name) => name.locate(&folder)?,
        None => StoreLocation::Project(ConfigurationFile::find(None, &folder)?.project),
    };
    let to = locate(typed.to.as_ref().or(typed.store.as_ref()), &folder)?;
    if from == to || (from.file().is_some() && from.file() == to.file()) {
        return Err(Problem::usage(
            format!("{from} cannot be sent to itself"),
            "name where it goes: `flakeproof store sync FROM TO`, or configure a `store`",
        ));
    }
    if !from.may_be_there() {
        return Err(missing(&from));
    }
    let source =
        Store::look(&from).or_else(|_| Store::open(&from)).map_err(|error| unreadable(&error))?;
    let mut target = Store::open(&to).map_err(|error| history::cannot_open(&error))?;
    let synced = flakeproof_store::sync(&source, &mut target).map_err(|error| match error {
        SyncError::From(error) => unreadable(&error),
        SyncError::To(error) => history::cannot_open(&error),
    })?;
    view::synced(&synced, &from.to_string(), &to.to_string());
    Ok(())
}

/// Fold small segments into large ones.
fn compact(typed: &StoreCompact) -> Result<(), Problem> {
    let location = place(typed.store.as_ref())?;
    match Store::open(&location).map_err(|error| unreadable(&error))? {
        Store::Objects(mut history) => {
            let folded = history.compact().map_err(|error| unreadable(&error))?;
            view::segments_skipped(history.skipped());
            view::folded(&folded, &location.to_string());
            Ok(())
        }
        Store::Sqlite(_) | Store::Postgres(_) => Err(Problem::usage(
            format!("{location} has no segments"),
            "a file is made smaller by `flakeproof store prune`",
        )),
    }
}

/// The time so many days ago.
fn days_ago(days: u32) -> String {
    let span = SignedDuration::from_hours(i64::from(days) * 24);
    let then = Timestamp::now().checked_sub(span).unwrap_or(Timestamp::MIN);
    then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The history, to look into it. One of an older version is brought up to date.
fn look(store: Option<&StoreName>) -> Result<Store, Problem> {
    let place = place(store)?;
    Store::look(&place).or_else(|_| Store::open(&place)).map_err(|error| unreadable(&error))
}

/// The file of the history, to write to it.
fn open_file(store: Option<&StoreName>) -> Result<Box<SqliteHistory>, Problem> {
    match Store::open(&place(store)?).map_err(|error| unwritable(&error))? {
        Store::Sqlite(history) => Ok(history),
        Store::Postgres(_) => Err(not_pruned()),
        Store::Objects(_) => Err(never_pruned()),
    }
}

/// Many may read and write a team's history at once, and one who only adds to it may not remove.
fn not_pruned() -> Problem {
    Problem::usage(
        "a history in PostgreSQL is not pruned by flakeproof",
        "whoever owns the tables removes what is old: see the guide \"One history for a team\"",
    )
}

/// Segments are only ever added.
fn never_pruned() -> Problem {
    Problem::usage(
        "a history in an object store is not pruned by flakeproof",
        "let a rule of the bucket remove what is old below `runs/`",
    )
}

/// What is there can be read as it is.
fn is_parquet() -> Problem {
    Problem::usage(
        "a history in an object store is Parquet already",
        "read it with DuckDB or Spark: see the reference \"Segments\"",
    )
}

/// Where the history is; a file that is not there is not made.
fn place(store: Option<&StoreName>) -> Result<StoreLocation, Problem> {
    let place = locate(store, &current_folder()?)?;
    if place.may_be_there() {
        return Ok(place);
    }
    Err(missing(&place))
}

fn missing(place: &StoreLocation) -> Problem {
    let next = "run your tests with `flakeproof run -- COMMAND`, or name a history with `--store`";
    Problem::usage(format!("there is no history at {place}"), next)
}

fn unreadable(error: &HistoryError) -> Problem {
    history::unreadable(error)
}

fn unwritable(error: &HistoryError) -> Problem {
    Problem::broken(
        error.to_string(),
        "try again when no other process writes; nothing was changed",
    )
}

/// Where bytes go.
pub(super) type Out = Box<dyn Write + Send>;

/// Write a table of the history for other programs, row by row.
fn export(typed: &StoreExport) -> Result<(), Problem> {
    let history = match look(typed.store.as_ref())? {
        Store::Sqlite(history) => history,
        Store::Postgres(_) => return Err(not_exported()),
        Store::Objects(_) => return Err(is_parquet()),
    };
    let table = match typed.table {
        ExportTable::Executions => StoredTable::Executions,
        ExportTable::Runs => StoredTable::Runs,
        ExportTable::Tests => StoredTable::Tests,
        ExportTable::Findings => StoredTable::Findings,
    };
    let place = Place::choose(&typed.out)?;
    let mut writer = Writer::new(format(typed), table, place.open()?)?;
    let mut rows = 0_u64;
    let exported = history.export(table, |cells| {
        rows += 1;
        writer.write(cells)
    });
    exported.map_err(|error| match error {
        ExportError::History(error) => unreadable(&error),
        ExportError::Taker(problem) => problem,
    })?;
    writer.finish()?;
    place.keep()?;
    view::exported(rows, &typed.out);
    Ok(())
}

fn not_exported() -> Problem {
    Problem::usage(
        "a history in PostgreSQL is not exported from there: its tables can be asked directly",
        "for files, copy it first: `flakeproof store sync URL copy.db`, then \
         `flakeproof store export OUT --store copy.db`",
    )
}

fn format(typed: &StoreExport) -> ExportFormat {
    typed.output_format.unwrap_or_else(|| match typed.out.extension().and_then(|it| it.to_str()) {
        Some("parquet") => ExportFormat::Parquet,
        _ => ExportFormat::Csv,
    })
}

/// Where a table is written. A file is written beside its place and moved there when it is whole.
enum Place {
    Stdout,
    File { half: PathBuf, whole: PathBuf },
}

impl Place {
    fn choose(out: &Path) -> Result<Self, Problem> {
        if out == Path::new("-") {
            return Ok(Self::Stdout);
        }
        if out.is_dir() {
            let what = format!("{} is a folder", out.display());
            return Err(Problem::usage(what, "name a file in it"));
        }
        let mut half = out.as_os_str().to_owned();
        half.push(".part");
        Ok(Self::File { half: half.into(), whole: out.to_path_buf() })
    }

    fn open(&self) -> Result<Out, Problem> {
        match self {
            Self::Stdout => Ok(Box::new(BufWriter::new(io::stdout()))),
            Self::File { half, .. } => {
                let file = File::create(half).map_err(|error| cannot_write(&error))?;
                Ok(Box::new(BufWriter::new(file)))
            }
        }
    }

    fn keep(&self) -> Result<(), Problem> {
        match self {
            Self::Stdout => Ok(()),
            Self::File { half, whole } => {
                std::fs::rename(half, whole).map_err(|error| cannot_write(&error))
            }
        }
    }
}

/// A table that is being written.
enum Writer {
    Csv(Box<csv::Writer<Out>>),
    Parquet(Box<ParquetFile>),
}

impl Writer {
    fn new(format: ExportFormat, table: StoredTable, out: Out) -> Result<Self, Problem> {
        match format {
            ExportFormat::Parquet => ParquetFile::new(table, out).map(Box::new).map(Self::Parquet),
            ExportFormat::Csv => {
                let mut writer = csv::Writer::from_writer(out);
                let names = table.columns().iter().map(|column| column.name);
                writer.write_record(names).map_err(|error| cannot_write(&error))?;
                Ok(Self::Csv(Box::new(writer)))
            }
        }
    }

    fn write(&mut self, cells: &[Cell<'_>]) -> Result<(), Problem> {
        match self {
            Self::Parquet(file) => file.write(cells),
            Self::Csv(writer) => {
                for cell in cells {
                    match cell {
                        Cell::Empty => writer.write_field(""),
                        Cell::Text(text) => writer.write_field(&*as_cell(text)),
                        Cell::Whole(number) => writer.write_field(number.to_string()),
                        Cell::Real(number) => writer.write_field(number.to_string()),
                    }
                    .map_err(|error| cannot_write(&error))?;
                }
                writer.write_record(None::<&[u8]>).map_err(|error| cannot_write(&error))
            }
        }
    }

    fn finish(self) -> Result<(), Problem> {
        match self {
            Self::Parquet(file) => file.finish(),
            Self::Csv(mut writer) => writer.flush().map_err(|error| cannot_write(&error)),
        }
    }
}

/// The table has no place.
pub(super) fn cannot_write(error: &dyn std::fmt::Display) -> Problem {
    Problem::broken(
        format!("the table cannot be written: {error}"),
        "name a file in a folder that can be written and has room",
    )
}

/// This program was built without Parquet.
#[cfg(not(feature = "parquet"))]
mod missing {
    use flakeproof_store::{Cell, StoredTable};

    use super::Out;
    use crate::problem::Problem;

    /// No file.
    pub(super) enum ParquetFile {}

    impl ParquetFile {
        pub(super) fn new(_: StoredTable, _: Out) -> Result<Self, Problem> {
            Err(Problem::usage(
                "this flakeproof was built without Parquet",
                "export to a file that ends in `.csv`, or build with `--features parquet`",
            ))
        }

        pub(super) fn write(&mut self, _: &[Cell<'_>]) -> Result<(), Problem> {
            match *self {}
        }

        pub(super) fn finish(self) -> Result<(), Problem> {
            match self {}
        }
    }
}

#[cfg(feature = "parquet")]
mod columns {
    use std::sync::Arc;

    use flakeproof_store::{Cell, Column, ColumnType, StoredTable};
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::{Out, cannot_write};
    use crate::problem::Problem;

    /// Rows that are kept in memory until they are written.
    const GROUP: usize = 100_000;

    /// A Parquet file that is being written.
    pub(super) struct ParquetFile {
        file: SerializedFileWriter<Out>,
        columns: Vec<Values>,
        rows: usize,
    }

    /// The values of a column, and for each row whether it has one.
    struct Values {
        of: Kind,
        is_there: Vec<i16>,
    }

    enum Kind {
        Text(Vec<ByteArray>),
        Whole(Vec<i64>),
        Real(Vec<f64>),
    }

    impl ParquetFile {
        pub(super) fn new(table: StoredTable, out: Out) -> Result<Self, Problem> {
            let columns: Vec<Values> = table.columns().iter().map(Values::empty).collect();
            let file = started(table.columns(), out).map_err(|error| cannot_write(&error))?;
            Ok(Self { file, columns, rows: 0 })
        }

        pub(super) fn write(&mut self, cells: &[Cell<'_>]) -> Result<(), Problem> {
            for (column, cell) in self.columns.iter_mut().zip(cells) {
                column.push(cell);
            }
            self.rows += 1;
            if self.rows == GROUP { self.write_group() } else { Ok(()) }
        }

        pub(super) fn finish(mut self) -> Result<(), Problem> {
            self.write_group()?;
            self.file.close().map(|_| ()).map_err(|error| cannot_write(&error))
        }

        fn write_group(&mut self) -> Result<(), Problem> {
            self.rows = 0;
            self.flush().map_err(|error| cannot_write(&error))
        }

        fn flush(&mut self) -> Result<(), ParquetError> {
            let mut group = self.file.next_row_group()?;
            for values in &mut self.columns {
                let Some(mut writer) = group.next_column()? else { break };
                let is_there = Some(values.is_there.as_slice());
                match &values.of {
                    Kind::Text(known) => {
                        writer.typed::<ByteArrayType>().write_batch(known, is_there, None)?;
                    }
                    Kind::Whole(known) => {
                        writer.typed::<Int64Type>().write_batch(known, is_there, None)?;
                    }
                    Kind::Real(known) => {
                        writer.typed::<DoubleType>().write_batch(known, is_there, None)?;
                    }
                }
                writer.close()?;
                values.clear();
            }
            group.close()?;
            Ok(())
        }
    }

    fn started(columns: &[Column], out: Out) -> Result<SerializedFileWriter<Out>, ParquetError> {
        let field = |column: &Column| match column.of {
            ColumnType::Text => format!("OPTIONAL BINARY {} (UTF8);", column.name),
            ColumnType::Whole => format!("OPTIONAL INT64 {};", column.name),
            ColumnType::Real => format!("OPTIONAL DOUBLE {};", column.name),
        };
        let fields: String = columns.iter().map(field).collect();
        let schema = parse_message_type(&format!("message history {{ {fields} }}"))?;
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED);
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))
    }

    impl Values {
        fn empty(column: &Column) -> Self {
            let of = match column.of {
                ColumnType::Text => Kind::Text(Vec::new()),
                ColumnType::Whole => Kind::Whole(Vec::new()),
                ColumnType::Real => Kind::Real(Vec::new()),
            };
            Self { of, is_there: Vec::new() }
        }

        /// A cell of another type than its column's has no value there.
        fn push(&mut self, cell: &Cell<'_>) {
            let is_there = match (&mut self.of, cell) {
                (Kind::Text(known), Cell::Text(text)) => {
                    known.push(ByteArray::from(text.as_bytes().to_vec()));
                    true
                }
                (Kind::Whole(known), Cell::Whole(number)) => {
                    known.push(*number);
                    true
                }
                (Kind::Real(known), Cell::Real(number)) => {
                    known.push(*number);
                    true
                }
                (Kind::Text(_) | Kind::Whole(_) | Kind::Real(_), _) => false,
            };
            self.is_there.push(i16::from(is_there));
        }

        fn clear(&mut self) {
            self.is_there.clear();
            match &mut self.of {
                Kind::Text(known) => known.clear(),
                Kind::Whole(known) => known.clear(),
                Kind::Real(known) => known.clear(),
            }
        }
    }
}
