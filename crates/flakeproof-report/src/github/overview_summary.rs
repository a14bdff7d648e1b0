//! An overview as the summary of a GitHub job: every flaky test, as far as GitHub takes them.

use flakeproof_core::{Overview, Standing};

use super::page::{LIMIT, Page, notice};
use super::summary::GithubSummary;
use crate::overview::{Totals, views, worst};
use crate::overview_markdown::{Flavour, HEAD, heading, name, next_step, row};
use crate::{Error, Renderer, words};

impl Renderer<Overview> for GithubSummary {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        Ok(summary(overview, LIMIT).into_bytes())
    }
}

/// The summary in at most `limit` bytes: up to an eighth for notices, an eighth for broken tests.
fn summary(overview: &Overview, limit: usize) -> String {
    let views = views(overview);
    let totals = Totals::of(overview, &views);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_whole_summary_lists_every_flaky_test() {
        let bytes = GithubSummary.render(&sample::overview()).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn a_summary_stays_within_its_limit() {
        let summary = summary(&sample::large_overview(2_000, 40), 4_000);
        assert!(summary.len() <= 4_000, "{}", summary.len());
        assert!(summary.contains("left out"));
    }
}
