//! Tests whose failures are known and, for a while, not held against the build.
//!
//! A quarantined test still runs. Its failure is excused only where the test is shown to be flaky: one
//! that fails every time, or of which nothing is known, is not hidden by an entry.

use serde::{Deserialize, Serialize};

use crate::{Evidence, Outcome, TestFinding, TestId, Verdict};

/// One entry of the quarantine, as the file in the repository has it. Days are `2026-11-15`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QuarantineEntry {
    /// The test. `test_x[*]` is `test_x` with every parameter.
    pub id: String,
    /// Who will mend it.
    pub owner: String,
    /// Why it is here.
    pub reason: String,
    /// Where it is followed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The only branch it holds on; `*` stands for anything. Without it, it holds on all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The day on which it was added.
    pub added: String,
    /// The last day on which it holds.
    pub expires: String,
}

impl QuarantineEntry {
    /// Whether it is about this test.
    #[must_use]
    pub fn covers(&self, test: &TestId) -> bool {
        match self.id.strip_suffix("[*]") {
            Some(plain) => test
                .as_str()
                .strip_prefix(plain)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('[')),
            None => self.id == test.as_str(),
        }
    }

    /// Whether it holds on this branch. Where the branch is not known, only an entry for all does.
    #[must_use]
    pub fn holds_on(&self, branch: Option<&str>) -> bool {
        match (&self.branch, branch) {
            (None, _) => true,
            (Some(pattern), Some(branch)) => matches(pattern, branch),
            (Some(_), None) => false,
        }
    }

    /// Whether its last day is over.
    #[must_use]
    pub fn is_expired(&self, today: &str) -> bool {
        *self.expires < *today
    }
}

/// The quarantine as it is today on one branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quarantine {
    /// All entries of the file.
    pub entries: Vec<QuarantineEntry>,
    /// The day, as `2026-11-15`.
    pub today: String,
    /// The branch checked out, if one is.
    pub branch: Option<String>,
}

impl Quarantine {
    /// The entry for a test; of several, the one that holds longest.
    #[must_use]
    pub fn entry_for(&self, test: &TestId) -> Option<&QuarantineEntry> {
        let branch = self.branch.as_deref();
        let mine = self.entries.iter().filter(|it| it.covers(test) && it.holds_on(branch));
        mine.max_by(|a, b| a.expires.cmp(&b.expires))
    }

    /// What the quarantine is to a test that failed.
    #[must_use]
    pub fn judge(&self, test: &TestFinding) -> Option<Quarantined> {
        test.verdict?;
        let entry = self.entry_for(&test.id)?.clone();
        let hold = match () {
            () if entry.is_expired(&self.today) => Hold::Expired,
            () if test.verdict == Some(Verdict::NewlyFlaky) => Hold::NewWithChange,
            () if test.verdict.is_some_and(Verdict::is_shown_flaky) => Hold::Excused,
            () if test.verdict == Some(Verdict::Real) || fails_every_time(test) => {
                Hold::FailsAlways
            }
            () => Hold::NotShown,
        };
        Some(Quarantined { entry, hold })
    }
}

/// A failing test for which there is an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quarantined {
    /// The entry.
    pub entry: QuarantineEntry,
    /// What it does for this failure.
    pub hold: Hold,
}

/// What an entry does for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// The failure does not fail the build.
    Excused,
    /// The change made it flaky, or more so: that is not what it was put here for, and fails the build.
    NewWithChange,
    /// The test fails every time now: that is no flakiness, and fails the build.
    FailsAlways,
    /// That this failure is flaky was not shown: it counts like any other.
    NotShown,
    /// The entry's last day is over: the failure counts like any other.
    Expired,
}

/// Whether it failed in every execution, fresh environments included.
fn fails_every_time(test: &TestFinding) -> bool {
    let has_passed = test.attempts.iter().any(|it| it.execution.outcome == Outcome::Passed);
    let is_proven = test.evidence.iter().any(|it| matches!(it, Evidence::FailedFresh { .. }));
    is_proven && !has_passed
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter(|at| text.is_char_boundary(*at)).any(|at| matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Attempt, Execution, Isolation, Stage};

    fn entry(id: &str) -> QuarantineEntry {
        QuarantineEntry {
            id: id.into(),
            owner: "team".into(),
            reason: "a port".into(),
            issue: None,
            branch: None,
            added: "2026-11-01".into(),
            expires: "2026-11-30".into(),
        }
    }

    fn quarantine(entries: Vec<QuarantineEntry>) -> Quarantine {
        Quarantine { entries, today: "2026-11-15".into(), branch: Some("main".into()) }
    }

    fn failed(outcomes: &[Outcome], evidence: Vec<Evidence>, verdict: Verdict) -> TestFinding {
        let attempt = |(number, outcome): (u32, &Outcome)| Attempt {
            stage: Stage::First,
            isolation: Isolation::Same,
            number,
            position: None,
            execution: Execution::new("t", *outcome, Duration::ZERO),
        };
        TestFinding {
            id: "t".into(),
            location: None,
            outcome: Outcome::Failed,
            verdict: Some(verdict),
            kind: None,
            evidence,
            attempts: (1..).zip(outcomes).map(attempt).collect(),
            reproduce: None,
            group: None,
            quarantine: None,
        }
    }

    fn hold(quarantine: &Quarantine, test: &TestFinding) -> Option<Hold> {
        quarantine.judge(test).map(|it| it.hold)
    }

    #[test]
    fn an_entry_covers_its_test_or_all_its_parameters() {
        assert!(entry("a::t").covers(&"a::t".into()));
        assert!(!entry("a::t").covers(&"a::t[1]".into()));
        for covered in ["a::t", "a::t[1]", "a::t[x[y]]"] {
            assert!(entry("a::t[*]").covers(&covered.into()), "{covered}");
        }
        assert!(!entry("a::t[*]").covers(&"a::tt[1]".into()));
    }

    #[test]
    fn an_entry_for_a_branch_holds_there_only() {
        let on = |pattern: &str| QuarantineEntry { branch: Some(pattern.into()), ..entry("t") };
        assert!(on("release/*").holds_on(Some("release/2.0")));
        assert!(!on("release/*").holds_on(Some("main")));
        assert!(!on("main").holds_on(None));
        assert!(entry("t").holds_on(None));
        assert!(on("*a*b").holds_on(Some("xaybab")));
    }

    #[test]
    fn a_test_that_also_passes_is_excused() {
        let flaky = failed(&[Outcome::Failed, Outcome::Passed], Vec::new(), Verdict::Flaky);
        assert_eq!(hold(&quarantine(vec![entry("t")]), &flaky), Some(Hold::Excused));
    }

    #[test]
    fn a_test_that_fails_every_time_is_not_excused() {
        let fresh = Evidence::FailedFresh { attempts: 3, pass_rate_not_ruled_out: 0.6 };
        let broken = failed(&[Outcome::Failed; 4], vec![fresh], Verdict::Unknown);
        let quarantine = quarantine(vec![entry("t")]);
        assert_eq!(hold(&quarantine, &broken), Some(Hold::FailsAlways));
        let real = failed(&[Outcome::Failed], Vec::new(), Verdict::Real);
        assert_eq!(hold(&quarantine, &real), Some(Hold::FailsAlways));
    }

    #[test]
    fn a_failure_that_is_not_shown_to_be_flaky_is_not_excused() {
        let passes = [Outcome::Failed, Outcome::Passed];
        let open = failed(&passes, Vec::new(), Verdict::Unknown);
        assert_eq!(hold(&quarantine(vec![entry("t")]), &open), Some(Hold::NotShown));
    }

    #[test]
    fn the_last_day_still_counts_and_the_day_after_does_not() {
        let flaky = failed(&[Outcome::Failed, Outcome::Passed], Vec::new(), Verdict::Flaky);
        let mut quarantine = quarantine(vec![entry("t")]);
        quarantine.today = "2026-11-30".into();
        assert_eq!(hold(&quarantine, &flaky), Some(Hold::Excused));
        quarantine.today = "2026-12-01".into();
        assert_eq!(hold(&quarantine, &flaky), Some(Hold::Expired));
    }
}
