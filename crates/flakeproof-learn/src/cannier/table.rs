//! Reading tables of comma-separated values whose columns are known by name.

use serde::de::DeserializeOwned;

use super::CsvError;
use super::measured_test::unreadable;

/// The columns of a table.
#[derive(Debug)]
pub struct TableColumns {
    /// What the table holds, as one word.
    pub what: &'static str,
    /// Every column that it may have.
    pub known: &'static [&'static str],
    /// Those that it must have.
    pub needed: &'static [&'static str],
}

impl TableColumns {
    /// Read each line of a table, and make of it what is meant.
    ///
    /// # Errors
    /// When a column is missing or unknown, or at the first line that cannot be read.
    pub fn read<L: DeserializeOwned, T>(
        &self,
        text: &str,
        meant: impl Fn(L) -> Result<T, String>,
    ) -> Result<Vec<T>, CsvError> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| unreadable(&error))?.clone();
        self.check(&header)?;
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

    /// A table without a line would hide what is wrong with its columns.
    fn check(&self, header: &csv::StringRecord) -> Result<(), CsvError> {
        if let Some(name) = header.iter().find(|name| !self.known.contains(name)) {
            return Err(CsvError::Columns(format!(
                "the column `{name}` is none of {}; those are {}",
                self.what,
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
