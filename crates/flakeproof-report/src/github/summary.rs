//! The whole result as Markdown, for the page of the job: what a run or a hunt found out, what a
//! model predicts, or all that is known about a project's tests.
//!
//! GitHub takes at most 1 MiB from a step and drops a longer summary as a whole, so each part has
//! its share of that room, and a part that is cut says how many rows are missing.

use flakeproof_core::{
    Findings, FlakyKind, Group, HuntFindings, HuntedTest, Overview, Prediction, Predictions,
    Standing, TestFinding, TestId, Verdict,
};

use super::annotations::ranked;
use crate::markdown::{Flavour, HEAD, code, heading, name, next_step, notice, prose, row, text};
use crate::overview::{Totals, views, worst};
use crate::{Error, Renderer, words};

/// Sets of tests named in a cell; the rest is counted.
const NAMED: usize = 5;

/// What GitHub takes from one step, in bytes.
const LIMIT: usize = 1024 * 1024;

/// Room for the line that says how many rows are missing, and for the blank lines around it.
const ROOM_FOR_LEFT_OUT: usize = 200;

/// Renders GitHub-flavoured Markdown, to be appended to the file that `GITHUB_STEP_SUMMARY` names:
/// every failure of a run, or every test that a model calls flaky.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GithubSummary;

impl Renderer for GithubSummary {
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error> {
        Ok(run_summary(findings, LIMIT).into_bytes())
    }
}

impl Renderer<HuntFindings> for GithubSummary {
    fn render(&self, findings: &HuntFindings) -> Result<Vec<u8>, Error> {
        Ok(hunt_summary(findings, LIMIT).into_bytes())
    }
}

impl Renderer<Predictions> for GithubSummary {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        Ok(prediction_summary(predictions, LIMIT).into_bytes())
    }
}

impl Renderer<Overview> for GithubSummary {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        Ok(overview_summary(overview, LIMIT).into_bytes())
    }
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for groups.
fn run_summary(findings: &Findings, limit: usize) -> String {
    let mut page = Page::new(run_heading(findings));
    page.part(None, findings.notices.iter().map(notice), limit / 8);
    let failures = ranked(findings).into_iter().map(|(verdict, test)| run_row(verdict, test));
    let head = "| verdict | test | failure | evidence | reproduce |\n|---|---|---|---|---|\n";
    page.part(Some(head), failures, limit / 8 * 7);
    let head = "| failed together | tests |\n|---|---|\n";
    page.part(Some(head), findings.groups.iter().map(group_row), limit);
    page.into_text()
}

fn run_heading(findings: &Findings) -> String {
    let run = &findings.run;
    let mut facts = vec![
        code(&words::excerpt(&words::command(&run.command))),
        text(&run.runner),
        format!(
            "{} in {:.1} s",
            words::counted(findings.suite.run, "test"),
            run.duration.as_secs_f64()
        ),
        format!("seed {}", run.seed),
    ];
    facts.extend(run.revision.iter().map(|revision| format!("revision {}", code(revision))));
    facts.retain(|fact| !fact.is_empty());
    format!("## flakeproof: {}\n\n{}\n", run_headline(findings), facts.join(" · "))
}

fn run_headline(findings: &Findings) -> String {
    let counts: Vec<_> = Verdict::ALL
        .into_iter()
        .map(|verdict| (findings.count(verdict), verdict))
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("{count} {verdict}"))
        .collect();
    let failures = findings.failures().count();
    match failures {
        0 => "no failures".to_owned(),
        _ => format!("{} ({})", words::counted(failures, "failure"), counts.join(", ")),
    }
}

fn run_row(verdict: Verdict, test: &TestFinding) -> String {
    let mut evidence: Vec<_> = test.evidence.iter().map(words::evidence).collect();
    evidence.extend(test.kind.map(|kind| words::kind(kind).to_owned()));
    let evidence: Vec<_> = evidence.iter().map(|sentence| prose(sentence)).collect();
    let failure = test.first_failure().map(words::failure).unwrap_or_default();
    format!(
        "| **{verdict}** | {} | {} | {} | {} |\n",
        code(test.id.as_str()),
        text(&words::excerpt(&failure)),
        evidence.join("<br>"),
        code(test.reproduce.as_deref().unwrap_or_default()),
    )
}

fn group_row(group: &Group) -> String {
    let tests: Vec<_> = group.tests.iter().map(|test| code(test.as_str())).collect();
    format!("| {} | {} |\n", text(&words::group(group)), tests.join("<br>"))
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for broken tests.
fn hunt_summary(findings: &HuntFindings, limit: usize) -> String {
    let mut page = Page::new(hunt_heading(findings));
    page.part(None, findings.notices.iter().map(notice), limit / 8);
    let head = "| kind | test | how often | because of | healed by | reproduce |\n\
                |---|---|---|---|---|---|\n";
    page.part(Some(head), by_kind(findings).map(hunt_row), limit / 8 * 7);
    let head = "| set aside: fails every time | failure |\n|---|---|\n";
    page.part(Some(head), findings.always_failing().map(broken_row), limit);
    page.into_text()
}

fn hunt_heading(findings: &HuntFindings) -> String {
    let run = &findings.run;
    let mut facts = vec![
        code(&words::excerpt(&words::command(&run.command))),
        text(&run.runner),
        words::hunt_cost(findings),
        format!("seed {}", run.seed),
    ];
    facts.extend(run.revision.iter().map(|revision| format!("revision {}", code(revision))));
    facts.retain(|fact| !fact.is_empty());
    let rest = words::rest(findings);
    let mut lines = vec![facts.join(" · ")];
    lines.extend(words::hunt_end(findings.end).map(words::sentence));
    if rest.passed > 0 {
        lines.push(words::sentence(&words::always_passed(&rest)));
    }
    lines.extend(findings.hidden.map(|hidden| words::sentence(&words::hidden(hidden))));
    format!("## flakeproof: {}\n\n{}\n", words::flaky_tests(findings), lines.join("\n\n"))
}

fn by_kind(findings: &HuntFindings) -> impl Iterator<Item = &HuntedTest> {
    FlakyKind::ALL
        .into_iter()
        .flat_map(|kind| findings.tests.iter().filter(move |test| test.kind == Some(kind)))
}

fn hunt_row(test: &HuntedTest) -> String {
    let causes: Vec<String> = match test.kind {
        Some(FlakyKind::Brittle) => test.setters.iter().map(|set| set_of(set)).collect(),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => {
            test.polluters.iter().map(|set| set_of(set)).collect()
        }
        Some(FlakyKind::Id) => {
            test.implementation.iter().flat_map(|it| &it.calls).map(|call| code(call)).collect()
        }
    };
    let causes = match test.kind {
        Some(FlakyKind::Brittle) if !causes.is_empty() => {
            format!("passes only after<br>{}", some_of(&causes))
        }
        _ => some_of(&causes),
    };
    let cleaners: Vec<String> = test.cleaners.iter().map(|test| code(test.as_str())).collect();
    let reproduce = test.reproduction.as_ref().map(|it| code(&it.command)).unwrap_or_default();
    format!(
        "| **{}** | {} | {} | {causes} | {} | {reproduce} |\n",
        test.kind.map(FlakyKind::word).unwrap_or_default(),
        code(test.id.as_str()),
        prose(&words::fared(test)),
        some_of(&cleaners),
    )
}

fn set_of(set: &[TestId]) -> String {
    set.iter().map(|test| code(test.as_str())).collect::<Vec<_>>().join(" with ")
}

fn some_of(cells: &[String]) -> String {
    let shown = cells.iter().take(NAMED).cloned().collect::<Vec<_>>().join("<br>");
    match cells.len().checked_sub(NAMED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown}<br>and {more} more"),
    }
}

fn broken_row(test: &HuntedTest) -> String {
    let failure = test.failure.as_ref().map(|failure| words::excerpt(&failure.message));
    format!("| {} | {} |\n", code(test.id.as_str()), text(&failure.unwrap_or_default()))
}

/// The summary in at most `limit` bytes: up to an eighth for notices.
fn prediction_summary(predictions: &Predictions, limit: usize) -> String {
    let suspects = predictions.suspects();
    let mut page = Page::new(prediction_heading(predictions, suspects.len()));
    page.part(None, predictions.notices.iter().map(notice), limit / 8);
    let head = "| probability | test | where | category | nearest known flaky test |\n\
                |---|---|---|---|---|\n";
    page.part(Some(head), suspects.into_iter().map(prediction_row), limit);
    page.into_text()
}

fn prediction_heading(predictions: &Predictions, suspects: usize) -> String {
    let tests = words::counted(predictions.tests.len(), "test");
    let headline = match suspects {
        0 => format!("none of {tests} looks flaky"),
        _ => format!("{suspects} of {tests} may be flaky"),
    };
    let model = text(&words::sentence(&words::model(&predictions.model)));
    format!("## flakeproof: {headline}\n\n{model}\n")
}

fn prediction_row(test: &Prediction) -> String {
    let nearest = words::flaky_neighbours(test).next().map(|known| {
        let how_near = format!("of {} (similarity {:.2})", known.project, known.similarity);
        format!("{} {}", code(&known.id), text(&how_near))
    });
    format!(
        "| **{}** | {} | {} | {} | {} |\n",
        words::ground(test),
        code(test.id.as_str()),
        code(&format!("{}:{}", test.file, test.line)),
        text(test.category.as_deref().unwrap_or_default()),
        nearest.unwrap_or_default(),
    )
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for broken tests.
fn overview_summary(overview: &Overview, limit: usize) -> String {
    let views = views(overview);
    let totals = Totals::new(overview, &views);
    let worst = worst(&views);
    let mut page = Page::new(heading(overview, &totals, Flavour::Github));
    if worst.is_empty() {
        page.part(None, std::iter::once(next_step(&totals).to_owned()), limit);
    }
    page.part(None, overview.notices.iter().map(notice), limit / 8);
    page.part(Some(HEAD), worst.iter().map(|view| row(view)), limit / 8 * 7);
    let broken = views.iter().filter(|view| view.standing() == Some(Standing::Broken));
    let rows = broken.map(|view| {
        let sentence = view.score.map(words::score).unwrap_or_default();
        format!("| {} | {sentence} |\n", name(view))
    });
    let head = "| broken: fails in every run of late | what the history says |\n|---|---|\n";
    page.part(Some(head), rows, limit);
    page.into_text()
}

/// A text that grows part by part, each up to a limit.
struct Page {
    text: String,
}

impl Page {
    /// A page that starts with this text.
    fn new(text: String) -> Self {
        Self { text }
    }

    /// All that was put on the page.
    fn into_text(self) -> String {
        self.text
    }

    /// Add rows below their head while the page stays within `limit`, then count the others.
    fn part(&mut self, head: Option<&str>, rows: impl Iterator<Item = String>, limit: usize) {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return;
        }
        let head = head.unwrap_or_default();
        let room = limit.saturating_sub(self.text.len() + head.len() + ROOM_FOR_LEFT_OUT);
        let mut shown = String::new();
        let mut left_out = 0;
        for row in rows {
            if shown.len() + row.len() <= room {
                shown.push_str(&row);
            } else {
                left_out += 1;
            }
        }
        self.text.push('\n');
        if !shown.is_empty() {
            self.text.push_str(head);
            self.text.push_str(&shown);
        }
        if left_out > 0 {
            let rows = words::counted(left_out, "more row");
            let line = format!("\n{rows} left out, because GitHub takes at most 1 MiB.\n");
            self.text.push_str(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Outcome;

    use super::*;
    use crate::sample;

    fn rendered_run(findings: &Findings) -> String {
        String::from_utf8(GithubSummary.render(findings).unwrap()).unwrap()
    }

    fn failures(count: usize) -> Findings {
        let test = |n| {
            sample::Test::new(&format!("tests/test_a.py::test_{n}"), Outcome::Failed)
                .message("AssertionError: assert 1 == 2")
                .verdict(Verdict::Real)
                .end()
        };
        sample::findings_of((0..count).map(test).collect())
    }

    #[test]
    fn the_whole_summary_lists_every_failure() {
        insta::assert_snapshot!(rendered_run(&sample::findings()));
    }

    #[test]
    fn a_clean_run_says_so_and_has_no_table() {
        let findings = sample::findings_of(vec![sample::passed("t.py::test_a")]);
        insta::assert_snapshot!(rendered_run(&findings), @r"
        ## flakeproof: no failures

        `pytest -q 'tests dir'` · pytest 8.3.5, Python 3.11.7 · 1 test in 12.3 s · seed 7 · revision `1a2b3c4d5e`
        ");
    }

    #[test]
    fn a_run_fits_and_counts_the_failures_that_do_not() {
        let text = rendered_run(&failures(20_000));
        assert!(text.len() <= LIMIT, "{} bytes", text.len());
        let shown = text.lines().filter(|line| line.starts_with("| **")).count();
        let left_out = 20_000 - shown;
        assert!(
            text.ends_with(&format!(
                "\n{left_out} more rows left out, because GitHub takes at most 1 MiB.\n"
            )),
            "{}",
            &text[text.len() - 200..]
        );
    }

    #[test]
    fn every_limit_that_can_hold_the_heading_is_kept() {
        let mut findings = sample::findings();
        findings.notices = vec![findings.notices[0].clone(); 50];
        for limit in (2_000..12_000).step_by(97) {
            let text = run_summary(&findings, limit);
            assert!(text.len() <= limit, "{} bytes of {limit}", text.len());
        }
    }

    #[test]
    fn the_whole_summary_of_a_hunt_lists_every_flaky_test() {
        let bytes = GithubSummary.render(&sample::hunt_findings()).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn many_polluters_are_counted() {
        let cells: Vec<String> = (0..8).map(|number| number.to_string()).collect();
        assert_eq!(some_of(&cells), "0<br>1<br>2<br>3<br>4<br>and 3 more");
    }

    #[test]
    fn a_hunt_stays_within_its_limit() {
        let mut findings = sample::hunt_findings();
        findings.tests = findings.tests.iter().cycle().take(2_000).cloned().collect();
        let text = hunt_summary(&findings, 20_000);
        assert!(text.len() <= 20_000, "{}", text.len());
        assert!(text.contains("left out"));
    }

    fn rendered_predictions(predictions: &Predictions) -> String {
        String::from_utf8(GithubSummary.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_summary_lists_every_suspect() {
        insta::assert_snapshot!(rendered_predictions(&sample::predictions()));
    }

    #[test]
    fn without_suspects_there_is_no_table() {
        let mut predictions = sample::suspects(2);
        for test in &mut predictions.tests {
            test.flaky = false;
        }
        let text = rendered_predictions(&predictions);
        assert!(text.starts_with("## flakeproof: none of 2 tests looks flaky\n"), "{text}");
        assert!(!text.contains('|'), "{text}");
    }

    #[test]
    fn predictions_fit_and_the_rows_that_do_not_are_counted() {
        let text = rendered_predictions(&sample::suspects(40_000));
        assert!(text.len() <= LIMIT, "{} bytes", text.len());
        let shown = text.lines().filter(|line| line.starts_with("| **")).count();
        let left_out = 40_000 - shown;
        assert!(left_out > 0);
        assert!(text.ends_with(&format!(
            "\n{left_out} more rows left out, because GitHub takes at most 1 MiB.\n"
        )));
    }

    #[test]
    fn the_whole_summary_of_an_overview_lists_every_flaky_test() {
        let bytes = GithubSummary.render(&sample::overview()).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn an_overview_stays_within_its_limit() {
        let text = overview_summary(&sample::large_overview(2_000, 40), 4_000);
        assert!(text.len() <= 4_000, "{}", text.len());
        assert!(text.contains("left out"));
    }
}
