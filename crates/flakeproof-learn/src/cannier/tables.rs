//! Tables that forests learn from: the features of tests, and how tests fared.
//!
//! Features are what `flakeproof features --export` writes: one line for each run of each test. Every
//! feature has a column of its name, in any order; an empty cell is a missing value.
//!
//! Outcomes have one line for each test, with the columns `project`, `test`, `baseline_runs`,
//! `baseline_failures`, and where known `shuffled_runs`, `shuffled_failures` and `polluter` (1 or 0).

use flakeproof_core::foreign_text::{as_cell, of_cell};
use flakeproof_core::{Feature, Features, Tally};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::dataset::single;
use super::problem::TestOutcomes;

/// The features of one run of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTest {
    /// The project it belongs to.
    pub project: String,
    /// Its id.
    pub test: String,
    /// The run, counted from 1.
    pub run: u32,
    /// Its features in that run.
    pub features: Features,
}

/// A test whose outcomes are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTest {
    /// The project it belongs to.
    pub project: String,
    /// Its id.
    pub test: String,
    /// How it fared.
    pub outcomes: TestOutcomes,
}

/// Why a line of a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvError {
    /// The table lacks a column, or has one that nobody knows.
    #[error("{0}")]
    Columns(String),
    /// A line cannot be read.
    #[error("line {line}: {cause}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        cause: String,
    },
}

/// Read a table of features.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_features(text: &str) -> Result<Vec<MeasuredTest>, CsvError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = FeatureColumns::from_header(
        &reader.headers().map_err(|error| unreadable(&error))?.clone(),
    )?;
    reader
        .records()
        .map(|record| {
            let record = record.map_err(|error| unreadable(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            columns.read(&record).map_err(|cause| CsvError::Line { line, cause })
        })
        .collect()
}

/// A table of features, as [`read_features`] reads it.
#[must_use]
pub fn write_features(tests: &[MeasuredTest]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["project", "test", "run"].into_iter().chain(Features::NAMES);
    // Writing into memory does not fail.
    let _ = writer.write_record(header);
    for test in tests {
        let cell = |value: &Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let words = [&test.project, &test.test].map(|text| as_cell(text).into_owned());
        let place = words.into_iter().chain([test.run.to_string()]);
        let _ = writer.write_record(place.chain(test.features.values().iter().map(cell)));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What stands in which column.
struct FeatureColumns {
    project: Option<usize>,
    test: usize,
    run: Option<usize>,
    features: Vec<(usize, Feature)>,
}

impl FeatureColumns {
    fn from_header(header: &csv::StringRecord) -> Result<Self, CsvError> {
        let (mut project, mut test, mut run) = (None, None, None);
        let mut features = Vec::new();
        for (at, name) in header.iter().enumerate() {
            match name.trim() {
                "project" => project = Some(at),
                "test" => test = Some(at),
                "run" => run = Some(at),
                name => {
                    let feature = Feature::ALL.into_iter().find(|it| it.name() == name);
                    let feature = feature.ok_or_else(|| unknown_column(name))?;
                    if features.iter().any(|(_, known)| *known == feature) {
                        let twice = format!("the column `{name}` is there twice");
                        return Err(CsvError::Columns(twice));
                    }
                    features.push((at, feature));
                }
            }
        }
        let test = test.ok_or_else(|| {
            CsvError::Columns("there is no column `test` in the first line".to_owned())
        })?;
        if features.is_empty() {
            return Err(CsvError::Columns("there is no column of a feature".to_owned()));
        }
        Ok(Self { project, test, run, features })
    }

    fn read(&self, record: &csv::StringRecord) -> Result<MeasuredTest, String> {
        let cell = |at: usize| record.get(at).unwrap_or_default().trim();
        let mut features = Features::default();
        for (at, feature) in &self.features {
            features.set(*feature, number(cell(*at)).map_err(|it| it(feature.name()))?);
        }
        let run = self.run.map_or("", cell);
        let run = if run.is_empty() { Ok(1) } else { run.parse() };
        Ok(MeasuredTest {
            project: of_cell(self.project.map_or("", cell)).to_owned(),
            test: of_cell(cell(self.test)).to_owned(),
            run: run.map_err(|_| "`run` is no number".to_owned())?,
            features,
        })
    }
}

/// The number in a cell; an empty one and `nan` are missing.
fn number(cell: &str) -> Result<Option<f64>, impl Fn(&str) -> String> {
    let wrong =
        |cell: String, what: &'static str| move |name: &str| format!("`{name}` is {cell}, {what}");
    if cell.is_empty() {
        return Ok(None);
    }
    match cell.parse::<f64>() {
        Ok(value) if value.is_infinite() => Err(wrong(cell.to_owned(), "which is infinite")),
        Ok(value) if is_too_large(value) => Err(wrong(cell.to_owned(), "which is too large")),
        Ok(value) => Ok(Some(value).filter(|value| !value.is_nan())),
        Err(_) => Err(wrong(cell.to_owned(), "which is no number")),
    }
}

/// Whether forests, which work in single precision, have no number for it.
fn is_too_large(value: f64) -> bool {
    single(Some(value)).is_infinite()
}

fn unknown_column(name: &str) -> CsvError {
    let known = Features::NAMES.join(", ");
    CsvError::Columns(format!(
        "the column `{name}` is no feature; those are project, test, run, {known}"
    ))
}

fn unreadable(error: &csv::Error) -> CsvError {
    let line = error.position().map_or(1, csv::Position::line);
    let cause = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} cells, and the first line has {expected_len}")
        }
        _ => error.to_string(),
    };
    CsvError::Line { line, cause }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeLine {
    #[serde(default)]
    project: String,
    test: String,
    baseline_runs: Option<u32>,
    baseline_failures: Option<u32>,
    shuffled_runs: Option<u32>,
    shuffled_failures: Option<u32>,
    polluter: Option<u8>,
}

/// Read a table of outcomes.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_outcomes(text: &str) -> Result<Vec<KnownTest>, CsvError> {
    OUTCOME_COLUMNS.read(text, OutcomeLine::known)
}

const OUTCOME_COLUMNS: TableColumns = TableColumns {
    what: "outcomes",
    known: &[
        "project",
        "test",
        "baseline_runs",
        "baseline_failures",
        "shuffled_runs",
        "shuffled_failures",
        "polluter",
    ],
    needed: &["test"],
};

impl OutcomeLine {
    fn known(self) -> Result<KnownTest, String> {
        let baseline = tally(self.baseline_runs, self.baseline_failures, "baseline")?;
        let outcomes = TestOutcomes {
            baseline: baseline.unwrap_or_default(),
            shuffled: tally(self.shuffled_runs, self.shuffled_failures, "shuffled")?,
            pollutes: match self.polluter {
                None => None,
                Some(flag @ 0..=1) => Some(flag == 1),
                Some(other) => return Err(format!("`polluter` is {other}, not 0 or 1")),
            },
        };
        Ok(KnownTest { project: self.project, test: self.test, outcomes })
    }
}

fn tally(runs: Option<u32>, failures: Option<u32>, what: &str) -> Result<Option<Tally>, String> {
    match (runs, failures) {
        (None, None) => Ok(None),
        (Some(runs), Some(failures)) if failures <= runs => Ok(Some(Tally { runs, failures })),
        (Some(runs), Some(failures)) => {
            Err(format!("it failed {failures} times in {runs} {what} runs"))
        }
        _ => Err(format!("`{what}_runs` and `{what}_failures` belong together")),
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        read_features(text).expect_err("it cannot be read").to_string()
    }

    #[test]
    fn an_id_that_looks_like_a_formula_is_none_and_is_read_as_it_was() {
        let test = "=HYPERLINK(1)".to_owned();
        let measured =
            MeasuredTest { project: "@p".into(), test, run: 1, features: Features::default() };
        let table = write_features(std::slice::from_ref(&measured));
        assert!(table.contains("\n'@p,'=HYPERLINK(1),1,"), "{table}");
        assert_eq!(read_features(&table).unwrap(), [measured]);
    }

    #[test]
    fn columns_may_come_in_any_order_and_cells_may_be_empty() {
        let read = read_features("run_time,test,covered_lines\n0.5,a,\nnan,\"b,1\",7\n");
        let read = read.expect("two lines");
        assert_eq!(read[0].features.get(Feature::RunTime), Some(0.5));
        assert_eq!(read[0].features.get(Feature::CoveredLines), None);
        assert_eq!((read[1].test.as_str(), read[1].run), ("b,1", 1));
        assert_eq!(read[1].features.get(Feature::RunTime), None);
    }

    #[test]
    fn what_is_wrong_with_features_is_named() {
        assert_eq!(error("run_time\n1\n"), "there is no column `test` in the first line");
        assert_eq!(error("test\na\n"), "there is no column of a feature");
        assert!(error("test,colour\na,1\n").starts_with("the column `colour` is no feature"));
        let twice = "the column `run_time` is there twice";
        assert_eq!(error("test,run_time,run_time\na,1,2\n"), twice);
        let text = "test,run_time\na,1\nb,soon\n";
        assert_eq!(error(text), "line 3: `run_time` is soon, which is no number");
        assert_eq!(error("test,run_time\na,inf\n"), "line 2: `run_time` is inf, which is infinite");
        let large = "line 2: `run_time` is 1e39, which is too large";
        assert_eq!(error("test,run_time\na,1e39\n"), large);
        assert_eq!(error("test,run_time\na\n"), "line 2: it has 1 cells, and the first line has 2");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            lines in proptest::collection::vec((any::<String>(), 1u32..9, any::<f32>()), 0..20),
        ) {
            let tests: Vec<MeasuredTest> = lines
                .into_iter()
                .map(|(test, run, value)| {
                    let mut features = Features::default();
                    features.set(Feature::MaxMemory, Some(value.into()));
                    // Blanks around an id are not kept, and no runner has such ids.
                    let test = test.trim().to_owned();
                    MeasuredTest { project: "p".into(), test, run, features }
                })
                .collect();
            prop_assert_eq!(read_features(&write_features(&tests)), Ok(tests));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = read_features(&text);
        }
    }

    #[test]
    fn what_is_known_is_read_and_the_rest_is_not_guessed() {
        let text = "project,test,baseline_runs,baseline_failures,polluter\np,a,10,2,\np,b,10,0,1\n";
        let known = read_outcomes(text).expect("two lines");
        assert_eq!(known[0].outcomes.baseline, Tally { runs: 10, failures: 2 });
        assert_eq!((known[0].outcomes.shuffled, known[0].outcomes.pollutes), (None, None));
        assert_eq!(known[1].outcomes.pollutes, Some(true));
    }

    #[test]
    fn what_is_wrong_with_outcomes_is_named() {
        let error = |text: &str| read_outcomes(text).expect_err("it is wrong").to_string();
        let impossible = "test,baseline_runs,baseline_failures\na,3,4\n";
        assert_eq!(error(impossible), "line 2: it failed 4 times in 3 baseline runs");
        assert_eq!(error("test,polluter\na,2\n"), "line 2: `polluter` is 2, not 0 or 1");
        let half = "test,shuffled_runs\na,3\n";
        assert_eq!(error(half), "line 2: `shuffled_runs` and `shuffled_failures` belong together");
        assert!(
            error("test,colour\na,red\n").contains("colour"),
            "{}",
            error("test,colour\na,red\n")
        );
        assert_eq!(error("project\np\n"), "there is no column `test` in the first line");
        assert_eq!(error(""), "there is no column `test` in the first line");
    }
}
