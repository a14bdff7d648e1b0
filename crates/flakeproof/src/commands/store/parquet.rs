//! A table as a Parquet file, written in groups of rows.

#[cfg(feature = "parquet")]
pub(super) use columns::ParquetFile;
#[cfg(not(feature = "parquet"))]
pub(super) use missing::ParquetFile;

/// This program was built without Parquet.
#[cfg(not(feature = "parquet"))]
mod missing {
    use flakeproof_store::{Cell, Table};

    use super::super::Out;
    use crate::problem::Problem;

    /// No file.
    pub(crate) enum ParquetFile {}

    impl ParquetFile {
        pub(crate) fn new(_: Table, _: Out) -> Result<Self, Problem> {
            Err(Problem::usage(
                "this flakeproof was built without Parquet",
                "export to a file that ends in `.csv`, or build with `--features parquet`",
            ))
        }

        pub(crate) fn write(&mut self, _: &[Cell<'_>]) -> Result<(), Problem> {
            match *self {}
        }

        pub(crate) fn finish(self) -> Result<(), Problem> {
            match self {}
        }
    }
}

#[cfg(feature = "parquet")]
mod columns {
    use std::sync::Arc;

    use flakeproof_store::{Cell, Column, ColumnType, Table};
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::{Out, cannot_write};
    use crate::problem::Problem;

    /// Rows that are kept in memory until they are written.
    const GROUP: usize = 100_000;

    /// A Parquet file that is being written.
    pub(crate) struct ParquetFile {
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
        pub(crate) fn new(table: Table, out: Out) -> Result<Self, Problem> {
            let columns: Vec<Values> = table.columns().iter().map(Values::empty).collect();
            let file = started(table.columns(), out).map_err(|error| cannot_write(&error))?;
            Ok(Self { file, columns, rows: 0 })
        }

        pub(crate) fn write(&mut self, cells: &[Cell<'_>]) -> Result<(), Problem> {
            for (column, cell) in self.columns.iter_mut().zip(cells) {
                column.push(cell);
            }
            self.rows += 1;
            if self.rows == GROUP { self.write_group() } else { Ok(()) }
        }

        pub(crate) fn finish(mut self) -> Result<(), Problem> {
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
