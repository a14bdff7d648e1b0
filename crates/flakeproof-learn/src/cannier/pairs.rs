//! Who changes whose outcome, as a table: `project`, `polluter`, `victim`.
//!
//! A pair is listed when the victim behaves otherwise right after the polluter than alone. A test
//! that stands in no pair as a polluter is none, unless the table of outcomes says so.

use std::collections::HashSet;

use serde::Deserialize;

use super::CsvError;
use super::outcomes::KnownTest;
use super::table::{self, Columns};

/// A victim and one of its polluters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownPair {
    /// The project of both.
    pub project: String,
    /// The test that changes the outcome of the other.
    pub polluter: String,
    /// The test whose outcome changes.
    pub victim: String,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    project: String,
    polluter: String,
    victim: String,
}

const COLUMNS: Columns = Columns {
    of: "pairs",
    known: &["project", "polluter", "victim"],
    needed: &["polluter", "victim"],
};

/// Read a table of pairs.
///
/// # Errors
/// When a column is missing or unknown, or at the first line that cannot be read.
pub fn read_pairs(text: &str) -> Result<Vec<KnownPair>, CsvError> {
    table::read(text, &COLUMNS, |line: Line| {
        if line.polluter == line.victim {
            return Err(format!("`{}` cannot be its own polluter", line.victim));
        }
        Ok(KnownPair { project: line.project, polluter: line.polluter, victim: line.victim })
    })
}

/// Say of each test whether it pollutes, where that is not known otherwise.
pub fn tell_polluters(known: &mut [KnownTest], pairs: &[KnownPair]) {
    let polluters: HashSet<(&str, &str)> =
        pairs.iter().map(|pair| (pair.project.as_str(), pair.polluter.as_str())).collect();
    for it in known {
        let pollutes = polluters.contains(&(it.project.as_str(), it.test.as_str()));
        it.outcomes.pollutes.get_or_insert(pollutes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::TestOutcomes;
    use super::*;

    #[test]
    fn pairs_tell_who_pollutes_where_outcomes_do_not() {
        let pairs = read_pairs("project,polluter,victim\np,a,b\np,a,c\n").expect("two pairs");
        let test = |project: &str, test: &str, pollutes| KnownTest {
            project: project.into(),
            test: test.into(),
            outcomes: TestOutcomes { pollutes, ..TestOutcomes::default() },
        };
        let mut known = [
            test("p", "a", None),
            test("p", "b", None),
            test("q", "a", None),
            test("p", "c", Some(true)),
        ];
        tell_polluters(&mut known, &pairs);
        let said = known.map(|it| it.outcomes.pollutes);
        assert_eq!(said, [Some(true), Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn nobody_pollutes_itself() {
        let error = read_pairs("polluter,victim\na,a\n").expect_err("it is wrong").to_string();
        assert_eq!(error, "line 2: `a` cannot be its own polluter");
        let error = read_pairs("polluter\na\n").expect_err("it is wrong").to_string();
        assert_eq!(error, "there is no column `victim` in the first line");
    }
}
