//! Every test that a model calls flaky as Markdown, for the page of the job.
//!
//! What the model's word is worth stands above the table: a reader who stops there knows that
//! nothing was run.

use flakeproof_core::{Prediction, Predictions};

use super::GithubSummary;
use super::page::{LIMIT, Page, notice};
use crate::markdown::{code, text};
use crate::{Error, Renderer, words};

impl Renderer<Predictions> for GithubSummary {
    fn render(&self, predictions: &Predictions) -> Result<Vec<u8>, Error> {
        Ok(summary(predictions, LIMIT).into_bytes())
    }
}

/// The summary in at most `limit` bytes: up to an eighth for notices.
fn summary(predictions: &Predictions, limit: usize) -> String {
    let suspects = predictions.suspects();
    let mut page = Page::new(heading(predictions, suspects.len()));
    page.part(None, predictions.notices.iter().map(notice), limit / 8);
    let head = "| probability | test | where | category | nearest known flaky test |\n\
                |---|---|---|---|---|\n";
    page.part(Some(head), suspects.into_iter().map(row), limit);
    page.into_text()
}

fn heading(predictions: &Predictions, suspects: usize) -> String {
    let tests = words::counted(predictions.tests.len(), "test");
    let headline = match suspects {
        0 => format!("none of {tests} looks flaky"),
        _ => format!("{suspects} of {tests} may be flaky"),
    };
    let model = text(&words::sentence(&words::model(&predictions.model)));
    format!("## flakeproof: {headline}\n\n{model}\n")
}

fn row(test: &Prediction) -> String {
    let nearest = words::flaky_neighbours(test).next().map(|known| {
        let how_near = format!("of {} (similarity {:.2})", known.project, known.similarity);
        format!("{} {}", code(&known.id), text(&how_near))
    });
    format!(
        "| **{}** | {} | {} | {} | {} |\n",
        words::percent(test.probability),
        code(test.id.as_str()),
        code(&format!("{}:{}", test.file, test.line)),
        text(test.category.as_deref().unwrap_or_default()),
        nearest.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rendered(predictions: &Predictions) -> String {
        String::from_utf8(GithubSummary.render(predictions).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_summary_lists_every_suspect() {
        insta::assert_snapshot!(rendered(&sample::predictions()));
    }

    #[test]
    fn without_suspects_there_is_no_table() {
        let mut predictions = sample::suspects(2);
        for test in &mut predictions.tests {
            test.flaky = false;
        }
        let text = rendered(&predictions);
        assert!(text.starts_with("## flakeproof: none of 2 tests looks flaky\n"), "{text}");
        assert!(!text.contains('|'), "{text}");
    }

    #[test]
    fn a_summary_fits_and_counts_the_rows_that_do_not() {
        let text = rendered(&sample::suspects(40_000));
        assert!(text.len() <= LIMIT, "{} bytes", text.len());
        let shown = text.lines().filter(|line| line.starts_with("| **")).count();
        let left_out = 40_000 - shown;
        assert!(left_out > 0);
        assert!(text.ends_with(&format!(
            "\n{left_out} more rows left out, because GitHub takes at most 1 MiB.\n"
        )));
    }
}
