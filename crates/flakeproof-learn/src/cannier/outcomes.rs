//! How tests fared, as a table: one line for each test.
//!
//! Columns: `project`, `test`, `baseline_runs`, `baseline_failures`, and where known `shuffled_runs`,
//! `shuffled_failures` and `polluter` (1 or 0).

use flakeproof_core::Tally;
use serde::Deserialize;

use super::CsvError;
use super::problem::TestOutcomes;
use super::table::TableColumns;

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
    COLUMNS.read(text, OutcomeLine::known)
}

const COLUMNS: TableColumns = TableColumns {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_and_the_rest_is_not_guessed() {
        let text = "project,test,baseline_runs,baseline_failures,polluter\np,a,10,2,\np,b,10,0,1\n";
        let known = read_outcomes(text).expect("two lines");
        assert_eq!(known[0].outcomes.baseline, Tally { runs: 10, failures: 2 });
        assert_eq!((known[0].outcomes.shuffled, known[0].outcomes.pollutes), (None, None));
        assert_eq!(known[1].outcomes.pollutes, Some(true));
    }

    #[test]
    fn what_is_wrong_is_named() {
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
