//! A table of the history for other programs, written row by row.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flakeproof_core::foreign_text::as_cell;
use flakeproof_store::{Cell, ExportError, Table};

use super::parquet::ParquetFile;
use crate::cli::{ExportFormat, ExportTable, StoreExport};
use crate::problem::Problem;
use crate::view;

/// Where bytes go.
pub(super) type Out = Box<dyn Write + Send>;

/// Run the command.
pub(super) fn run(typed: &StoreExport) -> Result<(), Problem> {
    let history = super::look(typed.store.as_deref())?;
    let table = match typed.table {
        ExportTable::Executions => Table::Executions,
        ExportTable::Runs => Table::Runs,
        ExportTable::Tests => Table::Tests,
        ExportTable::Findings => Table::Findings,
    };
    let place = Place::of(&typed.out)?;
    let mut writer = Writer::new(format(typed), table, place.open()?)?;
    let mut rows = 0_u64;
    let exported = history.export(table, |cells| {
        rows += 1;
        writer.write(cells)
    });
    exported.map_err(|error| match error {
        ExportError::History(error) => super::unreadable(&error),
        ExportError::Taker(problem) => problem,
    })?;
    writer.finish()?;
    place.keep()?;
    view::exported(rows, &typed.out);
    Ok(())
}

fn format(typed: &StoreExport) -> ExportFormat {
    typed.format.unwrap_or_else(|| match typed.out.extension().and_then(|it| it.to_str()) {
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
    fn of(out: &Path) -> Result<Self, Problem> {
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
    fn new(format: ExportFormat, table: Table, out: Out) -> Result<Self, Problem> {
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
