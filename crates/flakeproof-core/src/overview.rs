//! All that is known about a project's tests, ready for a page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Cause, Cluster, Evidence, HuntCost, HuntEnd, HuntedTest, Kind, Notice, Prediction,
    QuarantineEntry, Reason, Scores, Signature, Tally, TestId, Timeline, Verdict,
};

/// All that is known about a project's tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// What people call the project.
    pub project: String,
    /// When this was put together, as an RFC 3339 time stamp.
    pub made: String,
    /// The version of flakeproof.
    pub version: String,
    /// How every test fared in every run.
    pub timeline: Timeline,
    /// What that comes to.
    pub scores: Scores,
    /// Who owns each test, for those that somebody owns.
    pub owners: BTreeMap<TestId, Vec<String>>,
    /// What tests were called before, the latest first, for those that were renamed or moved.
    pub formerly: BTreeMap<TestId, Vec<TestId>>,
    /// Tests that fail together beyond chance.
    pub clusters: Vec<Cluster>,
    /// What else is known, for the tests of which something is.
    pub details: BTreeMap<TestId, TestDetail>,
    /// The latest hunt.
    pub hunt: Option<HuntOverview>,
    /// What the reader should know besides.
    pub notices: Vec<Notice>,
}

/// What else is known about one test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestDetail {
    /// What the latest hunt that looked at it says.
    pub hunted: Option<HuntedTest>,
    /// What runs said about its failures, the latest first.
    pub findings: Vec<PastFinding>,
    /// How it failed, the latest first, each way once.
    pub failures: Vec<PastFailure>,
    /// What a model says about its source.
    pub prediction: Option<Prediction>,
    /// What of its measured features speaks for flakiness or against it (SHAP), the strongest first.
    pub features: Vec<Reason>,
    /// Its entry in the quarantine.
    pub quarantine: Option<QuarantineEntry>,
    /// A command that shows the failure again.
    pub reproduce: Option<String>,
    /// What makes it fail, by experiment.
    pub cause: Option<Cause>,
}

/// What a run said about a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct PastFinding {
    /// The run's id.
    pub run: String,
    /// When the run started.
    pub started: String,
    /// What the failure is.
    pub verdict: Verdict,
    /// How it is flaky, where the evidence shows it.
    pub kind: Option<Kind>,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
}

/// A way in which a test failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFailure {
    /// The failure in one line.
    pub message: String,
    /// What makes it the same failure as another test's; `None` if nobody kept it.
    pub signature: Option<Signature>,
    /// In how many runs it failed so; reruns in the same run do not count.
    pub times: u32,
    /// When it last failed so.
    pub last: String,
}

/// The latest hunt, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct HuntOverview {
    /// When it started.
    pub started: String,
    /// How many tests it found to be flaky.
    pub flaky: usize,
    /// What it took and why it ended; `None` if it is not over, or older than this is kept.
    pub summary: Option<HuntSummary>,
    /// What finding costs: how many of its flaky tests would be known, on average, had each been run
    /// less often. The cheapest point first; every point finds more than all cheaper ones.
    pub front: Vec<FrontPoint>,
}

/// What a hunt took and why it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntSummary {
    /// How many tests it looked at.
    pub tests: usize,
    /// What it took.
    pub cost: HuntCost,
    /// Why it ended.
    pub end: HuntEnd,
}

/// A point on the way of a hunt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontPoint {
    /// Executions of tests.
    pub executions: u64,
    /// How many flaky tests would be known by then, on average.
    pub flaky: f64,
}

impl FrontPoint {
    /// The front of a hunt over so many tests, by how often its flaky tests failed.
    ///
    /// A test is known to be flaky once it was seen to pass and to fail; which of its runs come first
    /// is chance.
    #[must_use]
    pub fn front(tests: usize, flaky: &[HuntedTest]) -> Vec<Self> {
        let tallies: Vec<Tally> = flaky.iter().map(HuntedTest::telling).collect();
        let most = tallies.iter().map(|tally| tally.runs).max().unwrap_or_default();
        let mut front: Vec<Self> = Vec::new();
        for runs in 1..=most {
            let known: f64 = tallies.iter().map(|tally| chance_to_know(*tally, runs)).sum();
            let executions = tests as u64 * u64::from(runs);
            if front.last().map_or(0.0, |last| last.flaky) + 1e-9 < known {
                front.push(Self { executions, flaky: known });
            }
        }
        front
    }
}

/// The chance that so many runs, drawn from all of a test, show both a pass and a failure.
fn chance_to_know(tally: Tally, drawn: u32) -> f64 {
    let drawn = drawn.min(tally.runs);
    // The chance that none of the drawn runs is one of `marked`.
    let none_of = |marked: u32| -> f64 {
        (0..marked)
            .map(|taken| {
                let left = f64::from(tally.runs - taken);
                ((left - f64::from(drawn)) / left).max(0.0)
            })
            .product()
    };
    let (failures, passes) = (tally.failures, tally.runs.saturating_sub(tally.failures));
    if failures == 0 || passes == 0 || drawn < 2 {
        return 0.0;
    }
    (1.0 - none_of(failures) - none_of(passes)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_show_all_that_the_hunt_found() {
        let test = |failures| HuntedTest {
            kind: Some(crate::FlakyKind::Nod),
            baseline: Tally { runs: 10, failures },
            ..HuntedTest::new("test".into(), None)
        };
        let front = FrontPoint::front(100, &[test(1), test(5)]);
        let last = front.last().copied().unwrap();
        assert_eq!((last.executions, last.flaky.round()), (1000, 2.0));
        assert!(front.windows(2).all(|pair| pair[0].flaky < pair[1].flaky));
        // Of two runs, one of the five failing and one of the five passing ones: 5 of 9.
        assert!((chance_to_know(Tally { runs: 10, failures: 5 }, 2) - 5.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn a_hunt_that_found_nothing_has_no_front() {
        assert_eq!(FrontPoint::front(100, &[]), []);
    }
}
