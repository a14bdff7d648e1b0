//! Which files are attempts at the same tests.

use std::sync::LazyLock;

use regex::Regex;

use super::looked_at::Report;

/// A word for an attempt, as a part of its own.
static ATTEMPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(^|[-_./ ])(?:attempt|retry|rerun|try)[-_. ]?\d*($|[-_./ ])")
        .expect("the pattern is fixed and compiles")
});

/// A number for each file; files of the same number are attempts at the same tests: all of them if
/// the user says so, else those whose paths differ in nothing but the number of the attempt.
pub(super) fn groups(reports: &[&Report], are_attempts: bool) -> Vec<u32> {
    let mut known: Vec<String> = Vec::new();
    let group = |report: &&Report| {
        let key = if are_attempts { String::new() } else { without_attempt(&report.input.name) };
        let at = known.iter().position(|it| *it == key).unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    };
    reports.iter().map(group).collect()
}

fn without_attempt(path: &str) -> String {
    ATTEMPT.replace_all(path, "$2").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_told_by_their_names() {
        let is_same = |one: &str, two: &str| without_attempt(one) == without_attempt(two);
        assert!(is_same("out/attempt-1/junit.xml", "out/attempt-2/junit.xml"));
        assert!(is_same("junit.xml", "junit-rerun.xml"));
        assert!(is_same("junit_retry_1.xml", "junit_retry_2.xml"));
        assert!(!is_same("linux/junit.xml", "windows/junit.xml"));
        assert!(!is_same("shard-1.xml", "shard-2.xml"));
        assert!(!is_same("TEST-a.RetryTest.xml", "TEST-a.Test.xml"));
    }
}
