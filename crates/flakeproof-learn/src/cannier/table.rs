//! Reading tables of comma-separated values whose columns are known by name.

use serde::de::DeserializeOwned;

use super::CsvError;
use super::measured_test::unreadable;

/// The columns of a table.
pub(super) struct Columns {
    /// What the table holds, as one word.
    pub(super) of: &'static str,
    /// Every column that it may have.
    pub(super) known: &'static [&'static str],
    /// Those that it must have.
    pub(super) needed: &'static [&'static str],
}

/// Read each line, and make of it what is meant.
pub(super) fn read<L: DeserializeOwned, T>(
    text: &str,
    columns: &Columns,
    meant: impl Fn(L) -> Result<T, String>,
) -> Result<Vec<T>, CsvError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| unreadable(&error))?.clone();
    columns.check(&header)?;
    reader
        .records()
        .map(|record| {
            let record = record.map_err(|error| unreadable(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            let at_line = |cause: String| CsvError::Line { line, cause };
            let read = record.deserialize(Some(&header)).map_err(|error| {
                at_line(match error.kind() {
                    csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
                    _ => error.to_string(),
                })
            })?;
            meant(read).map_err(at_line)
        })
        .collect()
}

impl Columns {
    /// A table without a line would hide what is wrong with its columns.
    fn check(&self, header: &csv::StringRecord) -> Result<(), CsvError> {
        if let Some(name) = header.iter().find(|name| !self.known.contains(name)) {
            return Err(CsvError::Columns(format!(
                "the column `{name}` is none of {}; those are {}",
                self.of,
                self.known.join(", ")
            )));
        }
        match self.needed.iter().find(|needed| !header.iter().any(|name| name == **needed)) {
            Some(missing) => {
                Err(CsvError::Columns(format!("there is no column `{missing}` in the first line")))
            }
            None => Ok(()),
        }
    }
}
