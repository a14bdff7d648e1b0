//! Features as a table for other programs: comma-separated values or Parquet, by the file's ending.

use std::path::Path;

use flakeproof_learn::cannier::{MeasuredTest, write_features};

use crate::problem::Problem;

/// The bytes of the table: a line for each run of each test.
pub(super) fn bytes(path: &Path, tests: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => parquet_bytes(tests),
        _ => Ok(write_features(tests).into_bytes()),
    }
}

/// A column for each of project, test, run and every feature; what is missing is null.
#[cfg(feature = "parquet")]
fn parquet_bytes(tests: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    columns::written(tests).map_err(|error| {
        Problem::broken(
            format!("the features cannot be written as Parquet: {error}"),
            "export them as CSV; what was measured is in the history",
        )
    })
}

/// This program was built without Parquet.
#[cfg(not(feature = "parquet"))]
fn parquet_bytes(_: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    Err(Problem::usage(
        "this flakeproof was built without Parquet",
        "export to a file that ends in `.csv`, or build with `--features parquet`",
    ))
}

#[cfg(feature = "parquet")]
mod columns {
    use std::sync::Arc;

    use flakeproof_core::{Feature, Features};
    use flakeproof_learn::cannier::MeasuredTest;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    pub(super) fn written(tests: &[MeasuredTest]) -> Result<Vec<u8>, ParquetError> {
        let features = Features::NAMES.map(|name| format!("OPTIONAL DOUBLE {name};")).join(" ");
        let schema = parse_message_type(&format!(
            "message features {{ REQUIRED BINARY project (UTF8); REQUIRED BINARY test (UTF8); \
             REQUIRED INT32 run; {features} }}"
        ))?;
        let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED);
        let mut file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))?;
        let mut rows = file.next_row_group()?;
        let texts = |text: fn(&MeasuredTest) -> &str| -> Vec<ByteArray> {
            tests.iter().map(|test| ByteArray::from(text(test))).collect()
        };
        for column in [texts(|test| &test.project), texts(|test| &test.test)] {
            if let Some(mut writer) = rows.next_column()? {
                writer.typed::<ByteArrayType>().write_batch(&column, None, None)?;
                writer.close()?;
            }
        }
        let runs: Vec<i32> =
            tests.iter().map(|test| i32::try_from(test.run).unwrap_or(i32::MAX)).collect();
        if let Some(mut writer) = rows.next_column()? {
            writer.typed::<Int32Type>().write_batch(&runs, None, None)?;
            writer.close()?;
        }
        for feature in Feature::ALL {
            let values = tests.iter().map(|test| test.features.get(feature));
            let is_there: Vec<i16> =
                values.clone().map(|value| i16::from(value.is_some())).collect();
            let known: Vec<f64> = values.flatten().collect();
            if let Some(mut writer) = rows.next_column()? {
                writer.typed::<DoubleType>().write_batch(&known, Some(&is_there), None)?;
                writer.close()?;
            }
        }
        rows.close()?;
        file.into_inner()
    }
}
