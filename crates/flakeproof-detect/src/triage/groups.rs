//! Failures that look alike (thesis, chapter 8): one cause is not many flaky tests.

use std::collections::HashMap;

use flakeproof_core::{Evidence, Group, GroupCause, Kind, Signature, TestFinding, Verdict};

/// Say of failures without an answer that one which looks the same is real.
pub(super) fn tell_what_is_alike(tests: &mut [TestFinding]) {
    let signature = |test: &TestFinding| {
        let failure = test.first_failure()?.execution.failure.as_ref()?;
        Some(failure.signature.clone())
    };
    let real = tests.iter().filter(|test| test.verdict == Some(Verdict::Real));
    let real: HashMap<Signature, String> =
        real.rev().filter_map(|test| Some((signature(test)?, test.id.to_string()))).collect();
    for test in tests.iter_mut().filter(|test| test.verdict == Some(Verdict::Unknown)) {
        if let Some(other) = signature(test).and_then(|signature| real.get(&signature)) {
            test.evidence.push(Evidence::AlikeReal { test: other.clone() });
        }
    }
}

/// Put failures with the same signature into groups, and name the cause of each.
pub(super) fn name_causes(tests: &mut [TestFinding]) -> Vec<Group> {
    let mut members: HashMap<Signature, Vec<usize>> = HashMap::new();
    for (at, test) in tests.iter().enumerate().filter(|(_, test)| test.verdict.is_some()) {
        let failure = test.first_failure().and_then(|attempt| attempt.execution.failure.as_ref());
        if let Some(failure) = failure {
            members.entry(failure.signature.clone()).or_default().push(at);
        }
    }
    let mut groups: Vec<(Signature, Vec<usize>)> =
        members.into_iter().filter(|(_, members)| members.len() > 1).collect();
    groups.sort_by_key(|(_, members)| members[0]);
    groups
        .into_iter()
        .enumerate()
        .map(|(number, (signature, members))| {
            for at in &members {
                tests[*at].group = Some(number);
            }
            let findings: Vec<&TestFinding> = members.iter().map(|at| &tests[*at]).collect();
            let ids = findings.iter().map(|finding| finding.id.clone()).collect();
            Group { cause: cause(&findings), tests: ids, signature }
        })
        .collect()
}

/// All healed after a while: an outage. All healed in fresh environments: shared state.
///
/// Tests that each passed at once when rerun had no common cause that lasted.
fn cause(members: &[&TestFinding]) -> GroupCause {
    let have_all_healed =
        |kind| members.iter().all(|it| it.verdict == Some(Verdict::Flaky) && it.kind == Some(kind));
    if have_all_healed(Kind::Bursty) {
        GroupCause::Outage
    } else if have_all_healed(Kind::StateDependent) {
        GroupCause::SharedState
    } else {
        GroupCause::SameFailure
    }
}
