//! The sentences by which runners say that they fail for something else than their tests.
//!
//! A runner has one exit code for all that can go wrong. Where tests fail as well, only what it
//! prints tells that there is more. A test that prints such a sentence makes a red run that has
//! failures stay red: the safe side.

/// A line contains all of one of these.
const SENTENCES: [&[&str]; 8] = [
    // jest
    &["Jest: ", "coverage threshold for"],
    &["Jest: Coverage data for"],
    // vitest, c8, nyc
    &["ERROR: Coverage for", "does not meet"],
    &["Vitest caught", "unhandled error"],
    // node:test
    &["coverage does not meet threshold"],
    // SimpleCov
    &["is below the expected minimum coverage"],
    // go
    &["testing: race detected outside of test execution"],
    // RSpec
    &["error", "occurred outside of examples"],
];

/// The line in which a runner says so.
pub(super) fn said(output: &str) -> Option<&str> {
    let is_sentence =
        |line: &&str| SENTENCES.iter().any(|parts| parts.iter().all(|part| line.contains(part)));
    output.lines().find(is_sentence).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coverage_threshold_is_told_from_failing_tests() {
        let line = "Jest: \"global\" coverage threshold for statements (90%) not met: 50%";
        assert_eq!(said(&format!("FAIL a.test.js\n{line}\n")), Some(line));
        assert_eq!(said("Tests: 1 failed, 2 passed"), None);
    }
}
