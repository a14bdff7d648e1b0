//! The result of a hunt as Markdown.

use flakeproof_core::{FlakyKind, HuntFindings, HuntedTest, TestId};

use super::page::{LIMIT, Page, notice};
use super::summary::GithubSummary;
use crate::markdown::{code, prose, text};
use crate::{Error, Renderer, words};

/// Sets of tests named in a cell; the rest is counted.
const NAMED: usize = 5;

impl Renderer<HuntFindings> for GithubSummary {
    fn render(&self, findings: &HuntFindings) -> Result<Vec<u8>, Error> {
        Ok(summary(findings, LIMIT).into_bytes())
    }
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for broken tests.
fn summary(findings: &HuntFindings, limit: usize) -> String {
    let mut page = Page::new(heading(findings));
    page.part(None, findings.notices.iter().map(notice), limit / 8);
    let head = "| kind | test | how often | because of | healed by | reproduce |\n\
                |---|---|---|---|---|---|\n";
    page.part(Some(head), by_kind(findings).map(row), limit / 8 * 7);
    let head = "| set aside: fails every time | failure |\n|---|---|\n";
    page.part(Some(head), findings.always_failing().map(broken), limit);
    page.into_text()
}

fn heading(findings: &HuntFindings) -> String {
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

fn row(test: &HuntedTest) -> String {
    let causes: Vec<String> = match test.kind {
        Some(FlakyKind::Brittle) => test.setters.iter().map(|set| set_of(set)).collect(),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => {
            test.polluters.iter().map(|set| set_of(set)).collect()
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

fn broken(test: &HuntedTest) -> String {
    let failure = test.failure.as_ref().map(|failure| words::excerpt(&failure.message));
    format!("| {} | {} |\n", code(test.id.as_str()), text(&failure.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_summary_lists_every_flaky_test() {
        let bytes = GithubSummary.render(&sample::hunt_findings()).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn many_polluters_are_counted() {
        let cells: Vec<String> = (0..8).map(|number| number.to_string()).collect();
        assert_eq!(some_of(&cells), "0<br>1<br>2<br>3<br>4<br>and 3 more");
    }

    #[test]
    fn a_summary_stays_within_its_limit() {
        let mut findings = sample::hunt_findings();
        findings.tests = findings.tests.iter().cycle().take(2_000).cloned().collect();
        let summary = summary(&findings, 20_000);
        assert!(summary.len() <= 20_000, "{}", summary.len());
        assert!(summary.contains("left out"));
    }
}
