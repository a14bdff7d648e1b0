//! Failures as annotations: the most serious ones first, with one outage as one annotation however
//! many tests it hit.

use std::collections::BTreeSet;

use flakeproof_core::{Findings, Group, GroupCause, Location, TestFinding, Verdict};

use super::command::{self, Level};
use super::ranking::ranked;
use crate::{Error, Renderer, words};

/// Renders workflow commands (`::error …::…`), one per line, to be written to stdout: the failures
/// that a run found, or the tests that a model calls flaky.
///
/// ```
/// use flakeproof_report::GithubAnnotations;
///
/// let at_the_root = GithubAnnotations::default();
/// let in_a_monorepo = GithubAnnotations { folder: "services/api".to_owned() };
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GithubAnnotations {
    /// The project's root as seen from the repository's root; empty if they are the same.
    ///
    /// Reports name files from the project's root, GitHub wants them from the repository's.
    pub folder: String,
}

impl Renderer for GithubAnnotations {
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error> {
        Ok(command::lines(&self.annotations(findings)).into_bytes())
    }
}

impl GithubAnnotations {
    fn annotations(&self, findings: &Findings) -> Vec<String> {
        let mut annotations = Vec::new();
        let mut outages_told = BTreeSet::new();
        for (verdict, test) in ranked(findings) {
            match outage(verdict, test, findings) {
                Some((at, group)) if outages_told.insert(at) => {
                    let title = [("title", "one outage")];
                    let message = words::group(group);
                    annotations.push(command::annotation(level(verdict), &title, &message));
                }
                Some(_) => {}
                None => annotations.push(self.annotation(verdict, test)),
            }
        }
        annotations
    }

    fn annotation(&self, verdict: Verdict, test: &TestFinding) -> String {
        let location = best_location(test);
        let file = location.map(|location| self.path_in_repository(&location.file));
        let line = location.and_then(|location| location.line).map(|line| line.to_string());
        let title = format!("{}: {}", words::verdict(verdict), test.id);
        let mut properties = Vec::new();
        if let Some(file) = &file {
            properties.push(("file", file.as_str()));
        }
        if let Some(line) = &line {
            properties.push(("line", line.as_str()));
        }
        properties.push(("title", title.as_str()));
        let level = if test.is_excused() { Level::Warning } else { level(verdict) };
        command::annotation(level, &properties, &message(test))
    }

    /// The file, named from the project's root, as GitHub wants it.
    pub(super) fn path_in_repository(&self, file: &str) -> String {
        let folder = self.folder.trim_end_matches('/');
        if folder.is_empty() || file.starts_with('/') {
            file.to_owned()
        } else {
            format!("{folder}/{file}")
        }
    }
}

/// The outage that a flaky test is part of. A failure with any other verdict speaks for itself.
fn outage<'a>(
    verdict: Verdict,
    test: &TestFinding,
    findings: &'a Findings,
) -> Option<(usize, &'a Group)> {
    let at = test.group?;
    let group = findings.groups.get(at)?;
    (verdict == Verdict::Flaky && group.cause == GroupCause::Outage).then_some((at, group))
}

/// The line that failed if it is in the test's own file, else the line that defines the test.
fn best_location(test: &TestFinding) -> Option<&Location> {
    let defined = test.location.as_ref()?;
    let failed = test
        .first_failure()
        .and_then(|attempt| attempt.execution.failure.as_ref())
        .and_then(|failure| failure.location.as_ref())
        .filter(|failed| failed.file == defined.file && failed.line.is_some());
    Some(failed.unwrap_or(defined))
}

fn message(test: &TestFinding) -> String {
    let mut lines = Vec::new();
    lines.extend(test.first_failure().map(|attempt| words::excerpt(&words::failure(attempt))));
    lines.extend(test.evidence.iter().map(words::evidence));
    lines.extend(test.kind.map(|kind| words::kind(kind).to_owned()));
    lines.extend(test.reproduce.iter().map(|command| format!("reproduce: {command}")));
    lines.join("\n")
}

fn level(verdict: Verdict) -> Level {
    match verdict {
        Verdict::Real | Verdict::Unknown | Verdict::NewlyFlaky | Verdict::Unrelated => Level::Error,
        Verdict::Flaky => Level::Warning,
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Outcome;

    use super::*;
    use crate::sample;

    fn rendered(findings: &Findings) -> String {
        String::from_utf8(GithubAnnotations::default().render(findings).unwrap()).unwrap()
    }

    fn failures(count: usize, verdict: Verdict) -> Vec<TestFinding> {
        (0..count)
            .map(|n| sample::Test::new(&format!("t{n}"), Outcome::Failed).verdict(verdict).end())
            .collect()
    }

    #[test]
    fn each_failure_is_one_line_and_an_outage_is_one_failure() {
        insta::assert_snapshot!(rendered(&sample::findings()));
    }

    #[test]
    fn at_most_ten_are_shown_and_real_ones_are_among_them() {
        let mut tests = failures(12, Verdict::Flaky);
        tests.extend(failures(1, Verdict::Real));
        let text = rendered(&sample::of(tests));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("::error "), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("::")).count(), 10);
        assert_eq!(lines[10], "3 more annotations left out, because GitHub shows 10");
    }

    #[test]
    fn ten_failures_leave_nothing_out() {
        assert_eq!(rendered(&sample::of(failures(10, Verdict::Real))).lines().count(), 10);
    }

    #[test]
    fn a_test_cannot_write_a_command_of_its_own() {
        let test = sample::Test::new("t\n::error::a", Outcome::Failed)
            .message("b, 100%")
            .reproduce("c\r\n::stop-commands::d")
            .verdict(Verdict::Real)
            .end();
        insta::assert_snapshot!(
            rendered(&sample::of(vec![test])),
            @"::error title=real failure%3A t%0A%3A%3Aerror%3A%3Aa::b, 100%25%0Areproduce: c%0D%0A::stop-commands::d"
        );
    }

    #[test]
    fn a_real_failure_is_told_even_if_its_group_is_an_outage() {
        let mut findings = sample::findings();
        findings.tests[8].verdict = Some(Verdict::Real);
        let text = rendered(&findings);
        assert!(text.contains("real failure%3A tests/test_net.py%3A%3Atest_post"), "{text}");
    }

    #[test]
    fn the_line_that_failed_wins_in_the_tests_own_file() {
        let mut test = sample::Test::new("t", Outcome::Failed).at("t.py", 3).message("no").end();
        let failed_at = |test: &mut TestFinding, file: &str| {
            let failure = test.attempts[0].execution.failure.as_mut().unwrap();
            failure.location = Some(Location { file: file.into(), line: Some(9) });
        };
        failed_at(&mut test, "t.py");
        assert_eq!(best_location(&test).unwrap().to_string(), "t.py:9");
        failed_at(&mut test, "helper.py");
        assert_eq!(best_location(&test).unwrap().to_string(), "t.py:3");
    }

    #[test]
    fn files_are_named_from_the_repositorys_root() {
        let renderer = GithubAnnotations { folder: "services/api/".into() };
        assert_eq!(renderer.path_in_repository("tests/a.py"), "services/api/tests/a.py");
        assert_eq!(renderer.path_in_repository("/usr/lib/a.py"), "/usr/lib/a.py");
    }
}
