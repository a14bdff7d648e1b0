//! Which failure a reader should see first.

use flakeproof_core::{Findings, TestFinding, Verdict};

/// The failures, real ones first, then unknown, then flaky; equals in the suite's order.
pub(super) fn ranked(findings: &Findings) -> Vec<(Verdict, &TestFinding)> {
    let mut failures: Vec<_> = findings
        .failures()
        .filter_map(|test| test.verdict.map(|verdict| (verdict, test)))
        .collect();
    failures.sort_by_key(|(verdict, _)| rank(*verdict));
    failures
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Real => 0,
        Verdict::Unknown => 1,
        Verdict::NewlyFlaky => 2,
        Verdict::Unrelated => 3,
        Verdict::Flaky => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn real_comes_before_unknown_and_unknown_before_flaky() {
        let findings = sample::findings();
        let verdicts: Vec<_> = ranked(&findings).into_iter().map(|(verdict, _)| verdict).collect();
        let (real, unknown, flaky) = (Verdict::Real, Verdict::Unknown, Verdict::Flaky);
        assert_eq!(verdicts, [real, unknown, unknown, flaky, flaky, flaky, flaky]);
    }
}
