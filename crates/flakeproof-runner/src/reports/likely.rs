//! Whether a file that nobody named is a report of tests at all.

use super::Format;

/// Whether what begins like this may be a report of tests, rather than a build file, a lock file or
/// a report of coverage.
#[must_use]
pub fn may_be_report(beginning: &[u8]) -> bool {
    let has = |word: &str| beginning.windows(word.len()).any(|window| window == word.as_bytes());
    let has_line = |word: &str| {
        beginning
            .split(|byte| *byte == b'\n')
            .any(|line| line.trim_ascii().starts_with(word.as_bytes()))
    };
    match Format::of(beginning) {
        Format::Junit => ["<testsuite", "<testcase", "<TestRun"].iter().any(|tag| has(tag)),
        Format::GoJson => has("\"Test\":") || has("\"Package\":"),
        Format::Ctrf | Format::JestJson | Format::RspecJson => {
            (has("\"results\"") && has("\"tests\""))
                || has("\"testResults\"")
                || (has("\"examples\"") && has("\"status\""))
        }
        Format::Tap => ["TAP version", "1..", "ok ", "not ok "].iter().any(|word| has_line(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_from_what_lies_beside_them() {
        for report in [
            "<?xml version='1.0'?>\n<testsuites/>",
            "<TestRun id='1'>",
            "{\"Action\":\"start\",\"Package\":\"a\"}",
            "{\"results\":{\"tests\":[]}}",
            "{\"numTotalTests\":1,\"testResults\":[]}",
            "TAP version 14\n1..0",
        ] {
            assert!(may_be_report(report.as_bytes()), "{report}");
        }
        for other in [
            "<project><artifactId>a</artifactId></project>",
            "<coverage line-rate='1'/>",
            "{\"name\":\"a\",\"scripts\":{\"test\":\"jest\"}}",
            "",
        ] {
            assert!(!may_be_report(other.as_bytes()), "{other}");
        }
    }
}
