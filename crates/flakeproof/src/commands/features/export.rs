//! Features as comma-separated values.

use std::fmt::Write as _;

use flakeproof_core::Features;

use crate::view::FeatureTable;

/// One line per test: project, test, the number of runs behind the means, and the features in the
/// order of Table 1. What is missing is empty.
pub(super) fn csv(table: &FeatureTable) -> String {
    let mut text = format!("project,test,runs,{}\n", Features::NAMES.join(","));
    for row in &table.rows {
        let _ =
            write!(text, "{},{},{}", quoted(&table.project), quoted(row.test.as_str()), row.runs);
        for value in row.features.values() {
            text.push(',');
            if let Some(value) = value {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    text
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_would_break_a_line_are_quoted() {
        assert_eq!(quoted("test_a.py::test_x[1]"), "test_a.py::test_x[1]");
        assert_eq!(quoted("test_a.py::test_x[\"a\",\n]"), "\"test_a.py::test_x[\"\"a\"\",\n]\"");
    }
}
