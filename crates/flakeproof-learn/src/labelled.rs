//! Tests whose flakiness is known: what a model learns from.

use flakeproof_core::Tally;
use flakeproof_syntax::Language;
use flakeproof_syntax::words::Comments;
use serde::Deserialize;

/// A test with its source and what is known about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelledTest {
    /// Its id, as its runner or its data set names it.
    pub id: String,
    /// The project it belongs to.
    pub project: String,
    /// The class, module or file it stands in.
    pub class: String,
    /// Its own name.
    pub name: String,
    /// Whether it is known to be flaky.
    pub flaky: bool,
    /// Why it is flaky, where that is known.
    pub category: Option<String>,
    /// How it fared when it was run again and again on the same code, where that is known.
    pub runs: Option<Tally>,
    /// How comments begin in its source.
    pub comments: Comments,
    /// Its source.
    pub source: String,
}

/// Why a line of training data cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// It is not the JSON of a labelled test.
    #[error("line {line} is no labelled test: {cause}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
}

/// A line of JSON as data sets have it. Fields that nobody needs are passed over.
#[derive(Debug, Deserialize)]
struct JsonTest {
    id: Option<String>,
    project: Option<String>,
    class: Option<String>,
    #[serde(alias = "name")]
    method: Option<String>,
    flaky: Option<JsonFlag>,
    category: Option<String>,
    failing_runs: Option<u32>,
    passing_runs: Option<u32>,
    file: Option<String>,
    #[serde(alias = "text")]
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum JsonFlag {
    Word(bool),
    Number(u8),
}

/// Read labelled tests, one JSON object a line: `source`, `flaky` (or `category`, which says that
/// it is), and where known `id`, `project`, `class`, `method`, `file`, whose ending tells the
/// language, and `failing_runs` with `passing_runs`. Empty lines are passed over.
///
/// # Errors
/// At the first line that is no such object.
pub fn read_json_lines(text: &str) -> Result<Vec<LabelledTest>, DataError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            read_line(line, number + 1).map_err(|cause| DataError::Line { line: number + 1, cause })
        })
        .collect()
}

fn read_line(line: &str, number: usize) -> Result<LabelledTest, String> {
    let line: JsonTest = serde_json::from_str(line).map_err(|error| {
        // The parser sees one line only; its own "line 1" would mislead.
        error.to_string().replace(" at line 1 column ", " at column ")
    })?;
    let flaky = match (&line.flaky, &line.category) {
        (Some(JsonFlag::Word(flaky)), _) => *flaky,
        (Some(JsonFlag::Number(flag @ 0..=1)), _) => *flag == 1,
        (Some(JsonFlag::Number(other)), _) => {
            return Err(format!("`flaky` is {other}, not 0 or 1"));
        }
        (None, Some(_)) => true,
        (None, None) => return Err("neither `flaky` nor `category` is there".to_owned()),
    };
    let name = line.method.unwrap_or_default();
    let id = line
        .id
        .unwrap_or_else(|| if name.is_empty() { format!("line {number}") } else { name.clone() });
    Ok(LabelledTest {
        id,
        project: line.project.unwrap_or_default(),
        class: line.class.unwrap_or_default(),
        name,
        flaky,
        category: line.category,
        runs: line
            .failing_runs
            .zip(line.passing_runs)
            .map(|(failures, passes)| Tally { runs: failures.saturating_add(passes), failures }),
        comments: line
            .file
            .and_then(|file| Language::of_path(&file))
            .map(Into::into)
            .unwrap_or_default(),
        source: line.source,
    })
}

/// The digest of labelled tests: the same tests in the same order have the same digest.
#[must_use]
pub fn digest(tests: &[LabelledTest]) -> String {
    let mut hasher = blake3::Hasher::new();
    for test in tests {
        let category = test.category.as_deref().unwrap_or_default();
        let label = if test.flaky { "1" } else { "0" };
        for field in [&test.id, &test.project, &test.class, category, label, &test.source] {
            hasher.update(&field.len().to_le_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_needs_a_source_and_a_label() {
        let tests = read_json_lines(concat!(
            r#"{"id":"p::A#a","project":"p","class":"A","method":"a","flaky":1,"source":"x"}"#,
            "\n\n",
            r#"{"category":"time","source":"sleep(1)","other":[1],"failing_runs":1,"passing_runs":2}"#,
        ))
        .expect("two good lines");
        assert!(tests.iter().all(|test| test.flaky));
        assert_eq!(tests[0].class, "A");
        assert_eq!(tests[1].id, "line 3");
        assert_eq!(tests[1].runs, Some(Tally { runs: 3, failures: 1 }));
    }

    #[test]
    fn a_bad_line_is_named_by_its_number() {
        let good = r#"{"flaky":false,"source":"x"}"#;
        for (bad, cause) in [
            ("{\"flaky\":", "EOF while parsing a value at column 9"),
            (r#"{"source":"x"}"#, "neither `flaky` nor `category` is there"),
            (r#"{"flaky":7,"source":"x"}"#, "`flaky` is 7, not 0 or 1"),
            (r#"{"flaky":true}"#, "missing field `source` at column 14"),
        ] {
            let error = read_json_lines(&format!("{good}\n{bad}")).expect_err("line 2 is bad");
            assert_eq!(error.to_string(), format!("line 2 is no labelled test: {cause}"));
        }
    }
}
