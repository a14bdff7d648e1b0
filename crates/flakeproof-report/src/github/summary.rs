//! The whole result of a run as Markdown, for the page of the job.

use flakeproof_core::{Findings, Group, TestFinding, Verdict};

use super::page::{LIMIT, Page, notice};
use super::ranking::ranked;
use crate::markdown::{code, prose, text};
use crate::{Error, Renderer, words};

/// Renders GitHub-flavoured Markdown, to be appended to the file that `GITHUB_STEP_SUMMARY` names:
/// every failure of a run, or every test that a model calls flaky.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GithubSummary;

impl Renderer for GithubSummary {
    fn render(&self, findings: &Findings) -> Result<Vec<u8>, Error> {
        Ok(summary(findings, LIMIT).into_bytes())
    }
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for groups.
fn summary(findings: &Findings, limit: usize) -> String {
    let mut page = Page::new(heading(findings));
    page.part(None, findings.notices.iter().map(notice), limit / 8);
    let failures = ranked(findings).into_iter().map(|(verdict, test)| row(verdict, test));
    let head = "| verdict | test | failure | evidence | reproduce |\n|---|---|---|---|---|\n";
    page.part(Some(head), failures, limit / 8 * 7);
    let head = "| failed together | tests |\n|---|---|\n";
    page.part(Some(head), findings.groups.iter().map(group), limit);
    page.into_text()
}

fn heading(findings: &Findings) -> String {
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
    format!("## flakeproof: {}\n\n{}\n", headline(findings), facts.join(" · "))
}

fn headline(findings: &Findings) -> String {
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

fn row(verdict: Verdict, test: &TestFinding) -> String {
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

fn group(group: &Group) -> String {
    let tests: Vec<_> = group.tests.iter().map(|test| code(test.as_str())).collect();
    format!("| {} | {} |\n", text(&words::group(group)), tests.join("<br>"))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Outcome;

    use super::*;
    use crate::sample;

    fn rendered(findings: &Findings) -> String {
        String::from_utf8(GithubSummary.render(findings).unwrap()).unwrap()
    }

    fn failures(count: usize) -> Findings {
        let test = |n| {
            sample::Test::new(&format!("tests/test_a.py::test_{n}"), Outcome::Failed)
                .message("AssertionError: assert 1 == 2")
                .verdict(Verdict::Real)
                .end()
        };
        sample::of((0..count).map(test).collect())
    }

    #[test]
    fn the_whole_summary_lists_every_failure() {
        insta::assert_snapshot!(rendered(&sample::findings()));
    }

    #[test]
    fn a_clean_run_says_so_and_has_no_table() {
        let findings = sample::of(vec![sample::passed("t.py::test_a")]);
        insta::assert_snapshot!(rendered(&findings), @r"
        ## flakeproof: no failures

        `pytest -q 'tests dir'` · pytest 8.3.5, Python 3.11.7 · 1 test in 12.3 s · seed 7 · revision `1a2b3c4d5e`
        ");
    }

    #[test]
    fn a_summary_fits_and_counts_the_rows_that_do_not() {
        let text = rendered(&failures(20_000));
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
            let text = summary(&findings, limit);
            assert!(text.len() <= limit, "{} bytes of {limit}", text.len());
        }
    }
}
