//! What a test touched and used, from what its process left: coverage, the files that it opened, and what
//! the system counted.

use std::collections::BTreeSet;
use std::time::Duration;

use flakeproof_core::{BlindSpot, Covered, Dependencies, Measured};

use crate::coverage::CoverageFormat;
use crate::opens::{Opens, TestsBegin};
use crate::process::{Peak, Usage};

/// What a test touched, by the code that ran and, where that is seen, the files that were opened.
pub(super) fn touched(
    covered: Dependencies,
    opens: Option<Opens>,
    format: CoverageFormat,
    begin: Option<&TestsBegin>,
) -> Option<Dependencies> {
    if !has_the_tests(&covered, format, begin) {
        return None;
    }
    let Some(opens) = opens else { return Some(covered) };
    let opens = match format {
        CoverageFormat::V8 => opens,
        _ => without_code(opens, &covered.followed, begin?),
    };
    let Opens { opened, listed, prepared, tellers, .. } = opens;
    let mut blind_spots = vec![BlindSpot::Caches];
    blind_spots.extend(tellers);
    Some(Dependencies { opened, listed, prepared, blind_spots, ..covered })
}

/// Whether the process in which the tests ran told its part: V8 writes a report for each process, and one
/// that was killed has none.
fn has_the_tests(
    covered: &Dependencies,
    format: CoverageFormat,
    begin: Option<&TestsBegin>,
) -> bool {
    match begin {
        Some(TestsBegin::WithFile(file)) if format == CoverageFormat::V8 => {
            covered.code.contains(&*file.to_string_lossy())
        }
        _ => true,
    }
}

/// Without files of code, where a runner or a compiler reads more of them than run: which run, the
/// coverage says.
fn without_code(mut opens: Opens, followed: &BTreeSet<String>, begin: &TestsBegin) -> Opens {
    let is_code = |path: &String| followed.iter().any(|it| path.ends_with(it.as_str()));
    opens.prepared.retain(|path| !is_code(path));
    if let TestsBegin::WithFile(_) = begin {
        opens.opened.retain(|path| !is_code(path));
    }
    opens
}

/// What the process of one test used, the runner's own part included.
pub(in crate::adapters) fn measured(used: Usage, peak: Peak, covered: Covered) -> Measured {
    Measured {
        read_count: used.reads,
        write_count: used.writes,
        run_time: Duration::ZERO,
        wait_time: peak.wait_time,
        context_switches: used.context_switches,
        max_threads: peak.threads.max(1),
        max_children: Some(peak.children),
        max_memory: used.max_memory,
        covered,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_report_without_the_tests_own_file_tells_nothing() {
        let begin = TestsBegin::WithFile(PathBuf::from("/p/a.test.js"));
        let covered = |code: &[&str]| Dependencies {
            code: code.iter().map(|it| (*it).to_owned()).collect(),
            ..Dependencies::default()
        };
        let of_worker = covered(&["/p/a.test.js", "/p/shop.js"]);
        let of_server = covered(&["/p/vitest.config.js"]);
        let told = |covered, format| touched(covered, None, format, Some(&begin));
        assert_eq!(told(of_worker.clone(), CoverageFormat::V8), Some(of_worker));
        assert_eq!(told(of_server.clone(), CoverageFormat::V8), None);
        assert!(told(of_server, CoverageFormat::Lcov).is_some(), "it leaves tests out");
    }
}
