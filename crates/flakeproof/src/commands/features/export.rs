//! Features as a table for other programs: comma-separated values or Parquet, by the file's ending.

use std::path::Path;

use flakeproof_learn::cannier::{MeasuredTest, write_features};

use crate::problem::Problem;

/// The bytes of the table: a line for each run of each test.
pub(super) fn bytes(path: &Path, tests: &[MeasuredTest]) -> Result<Vec<u8>, Problem> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => super::parquet::bytes(tests),
        _ => Ok(write_features(tests).into_bytes()),
    }
}
