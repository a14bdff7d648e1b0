//! What GitHub shows beside the code: failures, the most serious ones first, with one outage as one
//! annotation however many tests it hit; or the tests that a model calls flaky, the most probable
//! first.
//!
//! An annotation is a workflow command on a line of its own. GitHub shows ten annotations of a step
//! and drops the rest without a word, so there are never more than ten here. Whatever a test writes
//! ends up inside a command and cannot start one of its own.

use std::collections::BTreeSet;

use flakeproof_core::foreign_text::on_one_line;
use flakeproof_core::{
    Findings, Group, GroupCause, Location, Prediction, Predictions, TestFinding, Verdict,
};

use crate::{Error, Renderer, words};

/// What GitHub shows of one step.
const SHOWN: usize = 10;

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
        Ok(lines(&self.annotations(findings)).into_bytes())
    }
}

impl Renderer<Predictions> for GithubAnnotations {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        let model = words::model(&predictions.model);
        let suspects = predictions.suspects();
        let annotations: Vec<_> =
            suspects.into_iter().map(|test| self.suspicion(test, &model)).collect();
        Ok(lines(&annotations).into_bytes())
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
                    annotations.push(workflow_command(level(verdict), &title, &message));
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
        workflow_command(level, &properties, &failure_message(test))
    }

    fn suspicion(&self, test: &Prediction, model: &str) -> String {
        let properties = [
            ("file", self.path_in_repository(&test.file)),
            ("line", test.rules.first().map_or(test.line, |rule| rule.line).to_string()),
            ("endLine", test.rules.first().map_or(test.end_line, |rule| rule.line).to_string()),
            ("title", format!("may be flaky ({}): {}", words::ground(test), test.id)),
        ];
        let properties = properties.each_ref().map(|(name, value)| (*name, value.as_str()));
        workflow_command(Level::Warning, &properties, &suspicion_message(test, model))
    }

    /// The file, named from the project's root, as GitHub wants it.
    fn path_in_repository(&self, file: &str) -> String {
        let folder = self.folder.trim_end_matches('/');
        if folder.is_empty() || file.starts_with('/') {
            file.to_owned()
        } else {
            format!("{folder}/{file}")
        }
    }
}

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

fn failure_message(test: &TestFinding) -> String {
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

/// How serious an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
}

fn suspicion_message(test: &Prediction, model: &str) -> String {
    let mut lines = vec![words::suspicion(test)];
    lines.extend(words::nearest_flaky(test));
    lines.push(format!("what to do: {}", words::advice(test.category.as_deref())));
    if test.rules.is_empty() {
        lines.push(model.to_owned());
    }
    lines.join("\n")
}

/// The annotations that GitHub shows, one per line, and how many there are besides.
fn lines(annotations: &[String]) -> String {
    let mut text = String::new();
    for annotation in annotations.iter().take(SHOWN) {
        text.push_str(annotation);
        text.push('\n');
    }
    if let Some(more @ 1..) = annotations.len().checked_sub(SHOWN) {
        let more = words::counted(more, "more annotation");
        text.push_str(&format!("{more} left out, because GitHub shows {SHOWN}\n"));
    }
    text
}

/// One annotation, on one line.
fn workflow_command(level: Level, properties: &[(&str, &str)], message: &str) -> String {
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let properties = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped_property(value)))
        .collect::<Vec<_>>()
        .join(",");
    format!("::{level} {properties}::{}", escaped(message))
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

fn escaped(text: &str) -> String {
    // GitHub has codes for the ends of lines; what else is not shown as it is, is escaped by us.
    let mut escaped = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\r', '\n']) {
        let line = piece.trim_end_matches(['\r', '\n']);
        escaped.push_str(&on_one_line(line).replace('%', "%25"));
        escaped.push_str(&piece[line.len()..].replace('\r', "%0D").replace('\n', "%0A"));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Outcome, SimilarTest};
    use proptest::collection::vec;
    use proptest::prelude::*;

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
        let text = rendered(&sample::findings_of(tests));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("::error "), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("::")).count(), 10);
        assert_eq!(lines[10], "3 more annotations left out, because GitHub shows 10");
    }

    #[test]
    fn ten_failures_leave_nothing_out() {
        assert_eq!(rendered(&sample::findings_of(failures(10, Verdict::Real))).lines().count(), 10);
    }

    #[test]
    fn a_test_cannot_write_a_command_of_its_own() {
        let test = sample::Test::new("t\n::error::a", Outcome::Failed)
            .message("b, 100%")
            .reproduce("c\r\n::stop-commands::d")
            .verdict(Verdict::Real)
            .end();
        insta::assert_snapshot!(
            rendered(&sample::findings_of(vec![test])),
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

    fn rendered_predictions(predictions: &Predictions) -> String {
        let in_a_monorepo = GithubAnnotations { folder: "services/api".into() };
        String::from_utf8(in_a_monorepo.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn each_suspect_is_one_line() {
        insta::assert_snapshot!(rendered_predictions(&sample::predictions()));
    }

    #[test]
    fn the_ten_most_probable_are_shown_and_the_others_counted() {
        let text = rendered_predictions(&sample::suspects(12));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].contains("t.py%3A%3Atest_11::"), "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("::warning ")).count(), 10);
        assert_eq!(lines[10], "2 more annotations left out, because GitHub shows 10");
    }

    #[test]
    fn without_suspects_nothing_is_written() {
        assert_eq!(rendered_predictions(&sample::suspects(0)), "");
    }

    fn odd_text() -> impl Strategy<Value = String> {
        "[a\r\n\t:,%|<\u{85}\u{2028}`]{0,12}"
    }

    proptest! {
        #[test]
        fn whatever_the_texts_hold_an_annotation_is_one_line(
            texts in vec([odd_text(), odd_text(), odd_text(), odd_text()], 0..13),
            name in odd_text(),
        ) {
            let mut predictions = sample::suspects(0);
            predictions.model.name = name;
            for [id, file, category, neighbour] in texts {
                let [mut test] = <[_; 1]>::try_from(sample::suspects(1).tests).unwrap();
                test.id = id.into();
                test.file = file;
                test.category = Some(category);
                test.neighbours = vec![SimilarTest {
                    id: neighbour.clone(),
                    project: neighbour,
                    ..sample::predictions().tests[0].neighbours[0].clone()
                }];
                predictions.tests.push(test);
            }
            let text = rendered_predictions(&predictions);
            let shown = predictions.tests.len().min(10);
            let counted = usize::from(predictions.tests.len() > 10);
            prop_assert!(!text.contains('\r'));
            prop_assert_eq!(text.split_terminator('\n').count(), shown + counted);
            let commands = text.lines().filter(|line| line.starts_with("::warning file=")).count();
            prop_assert_eq!(commands, shown);
        }
    }

    #[test]
    fn real_comes_before_unknown_and_unknown_before_flaky() {
        let findings = sample::findings();
        let verdicts: Vec<_> = ranked(&findings).into_iter().map(|(verdict, _)| verdict).collect();
        let (real, unknown, flaky) = (Verdict::Real, Verdict::Unknown, Verdict::Flaky);
        assert_eq!(verdicts, [real, unknown, unknown, flaky, flaky, flaky, flaky]);
    }

    #[test]
    fn a_message_changes_neither_direction_nor_screen() {
        assert_eq!(escaped("a\u{202e}b\u{9b}c\r\n100%"), r"a\u{202e}b\u{9b}c%0D%0A100%25");
    }
}
