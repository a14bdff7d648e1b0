//! Markdown: an overview as a comment on a pull request, and foreign text inside a table.
//!
//! The comment says what is new, what is worst and what it costs. Its first line is a comment that
//! no reader sees and that is always the same, so that a bot can find what it wrote before and write
//! it anew.
//!
//! A test's id and its messages may hold any character. In a cell they must stay on one line, end
//! no cell, and mean nothing to Markdown or HTML.

use flakeproof_core::{Cluster, Notice, Overview, Standing, foreign_text};

use crate::overview::{TestView, Totals, views, worst};
use crate::{Error, Renderer, words};

/// What a bot looks for in its own comments.
const MARKER: &str = "<!-- flakeproof: overview -->";

/// Flaky tests listed, the worst first.
const WORST: usize = 10;

/// New flaky tests listed.
const NEW: usize = 20;

/// Broken tests listed.
const BROKEN: usize = 10;

/// Groups of tests that fail together listed, and tests of each.
const CLUSTERS: usize = 5;
const TOGETHER: usize = 5;

/// Characters of an id that are shown: far below what a comment may hold, all rows together.
const LONGEST: usize = 300;

/// The head of every table of flaky tests.
pub(crate) const HEAD: &str = "| test | failure rate, with 95 % | last failed | CI time burnt | \
                               kind |\n|---|---|---|---|---|\n";

/// Renders a short comment on a pull request, with a stable first line that a bot can find it by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverviewMarkdown;

impl Renderer<Overview> for OverviewMarkdown {
    fn render(&self, overview: &Overview) -> Result<Vec<u8>, Error> {
        Ok(comment(overview, Flavour::Github).into_bytes())
    }
}

/// Who reads the Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// GitHub.
    Github,
    /// GitLab, to which `!12`, `%3` and `^alert` are references too.
    Gitlab,
}

impl Flavour {
    fn text(self, foreign: &str) -> String {
        let text = text(foreign);
        match self {
            Self::Github => text,
            Self::Gitlab => text.replace('!', "\\!").replace('%', "\\%").replace('^', "\\^"),
        }
    }
}

/// The whole comment.
pub(crate) fn comment(overview: &Overview, flavour: Flavour) -> String {
    let views = views(overview);
    let totals = Totals::new(overview, &views);
    let worst = worst(&views);
    let new: Vec<_> = worst.iter().copied().filter(|view| view.is_new()).collect();
    let broken: Vec<_> =
        views.iter().filter(|view| view.standing() == Some(Standing::Broken)).collect();
    let mut parts = vec![format!("{MARKER}\n{}", heading(overview, &totals, flavour))];
    parts.extend(table("New and flaky", &new, NEW));
    parts.extend(table("Worst flaky tests", &worst, WORST));
    parts.extend(together(overview));
    if !broken.is_empty() {
        let listed = broken.iter().take(BROKEN).map(|view| format!("- {}\n", name(view)));
        let list: String = listed.chain(more(broken.len(), BROKEN)).collect();
        parts.push(format!("**Broken**: they fail in every run of late\n\n{list}"));
    }
    if worst.is_empty() {
        parts.push(next_step(&totals).to_owned());
    }
    let notices: String = overview.notices.iter().take(NEW).map(notice).collect();
    parts.extend((!notices.is_empty()).then(|| format!("**Notes**\n\n{notices}")));
    parts.join("\n")
}

/// What it comes to, as a heading and the facts below it.
pub(crate) fn heading(overview: &Overview, totals: &Totals, flavour: Flavour) -> String {
    let mut facts = vec![format!("**{}**", flavour.text(&words::excerpt(&overview.project)))];
    facts.extend(words::period(totals).map(|period| text(&period)));
    facts.push(format!("{} executions", words::grouped(totals.executions)));
    facts.push(words::counted(totals.tests, "test"));
    if totals.outages > 0 {
        let once = if totals.outages == 1 { "counted once" } else { "each counted once" };
        facts.push(format!("{}, {once}", words::counted(totals.outages, "outage")));
    }
    if totals.unexplained > 0 {
        facts.push(format!("{} unexplained", totals.unexplained));
    }
    if totals.quarantined > 0 {
        facts.push(format!("{} in quarantine", totals.quarantined));
    }
    format!("## flakeproof: {}\n\n{}\n", words::headline(totals), facts.join(" · "))
}

/// A row of a table of flaky tests.
pub(crate) fn row(view: &TestView<'_>) -> String {
    let score = view.telling();
    let failed = score.and_then(|score| score.last_failed.as_deref()).map(words::minute);
    format!(
        "| {} | {} | {} | {} | {} |\n",
        name(view),
        view.rate_in_words(),
        text(&failed.unwrap_or_default()),
        words::burnt(view.cost()),
        view.kind().unwrap_or_default()
    )
}

/// A test's id as code, cut in the middle where it is too long to be read.
pub(crate) fn name(view: &TestView<'_>) -> String {
    code(&cut(view.id.as_str()))
}

/// An id without its middle, where it is too long.
fn cut(id: &str) -> String {
    let characters: Vec<char> = id.chars().collect();
    if characters.len() <= LONGEST {
        return id.to_owned();
    }
    let (start, end) = (&characters[..LONGEST / 2], &characters[characters.len() - LONGEST / 2..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// What to do where nothing is flaky.
pub(crate) fn next_step(totals: &Totals) -> &'static str {
    if totals.tests == 0 {
        "Read what CI has kept with `flakeproof ingest`, or run the suite once with \
         `flakeproof run`.\n"
    } else {
        "Look for tests that could still be flaky with `flakeproof hunt`.\n"
    }
}

fn table(title: &str, tests: &[&TestView<'_>], at_most: usize) -> Option<String> {
    if tests.is_empty() {
        return None;
    }
    let rows: String = tests.iter().take(at_most).map(|view| row(view)).collect();
    let more: String = more(tests.len(), at_most).map(|more| format!("\n{more}")).collect();
    Some(format!("**{title}**\n\n{HEAD}{rows}{more}"))
}

/// Tests that fail together, as a list.
fn together(overview: &Overview) -> Option<String> {
    let clusters = &overview.clusters;
    let item = |cluster: &Cluster| {
        let named: Vec<String> =
            cluster.tests.iter().take(TOGETHER).map(|test| code(&cut(test.as_str()))).collect();
        let more = cluster.tests.len().saturating_sub(TOGETHER);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("- {}: {}{more}\n", text(&words::cluster(cluster)), named.join(", "))
    };
    let listed = clusters.iter().take(CLUSTERS).map(item);
    let list: String = listed.chain(more(clusters.len(), CLUSTERS)).collect();
    (!clusters.is_empty()).then(|| format!("**Fail together**\n\n{list}"))
}

fn more(all: usize, shown: usize) -> impl Iterator<Item = String> {
    let left = all.saturating_sub(shown);
    (left > 0).then(|| format!("and {left} more\n")).into_iter()
}

/// A notice as one item of a list.
pub(crate) fn notice(notice: &Notice) -> String {
    format!("- {}; {}\n", prose(&notice.what), prose(&notice.next))
}

/// The text as it is, on one line.
pub(crate) fn text(text: &str) -> String {
    escaped(text.trim())
}

/// The text as it is, on one line, with what stands between backticks as code.
pub(crate) fn prose(prose: &str) -> String {
    let pieces: Vec<_> = prose.split('`').collect();
    if pieces.len() % 2 == 0 {
        return text(prose);
    }
    let as_code = |at: usize| at % 2 == 1;
    let line = pieces.iter().enumerate();
    line.map(|(at, piece)| if as_code(at) { code(piece) } else { escaped(piece) }).collect()
}

/// The text as code, on one line; nothing for nothing.
pub(crate) fn code(text: &str) -> String {
    let text = on_one_line(text.trim()).replace('|', "\\|");
    if text.is_empty() {
        return text;
    }
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in on_one_line(text).chars() {
        let means_something = matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '#' | '@'
        );
        if means_something {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn on_one_line(text: &str) -> String {
    let spaced = text.replace("\r\n", " ").replace(|c: char| c.is_control(), " ");
    foreign_text::on_one_line(&spaced).into_owned()
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Scores, Timeline};

    use super::*;
    use crate::sample;

    fn rendered(overview: &Overview) -> String {
        String::from_utf8(OverviewMarkdown.render(overview).unwrap()).unwrap()
    }

    #[test]
    fn the_whole_comment_is_short() {
        insta::assert_snapshot!(rendered(&sample::overview()));
    }

    #[test]
    fn the_first_line_is_always_the_same() {
        let large = rendered(&sample::large_overview(600, 60));
        assert_eq!(large.lines().next(), Some("<!-- flakeproof: overview -->"));
        assert!(large.contains("and 6 more") && large.len() < 8_000, "{large}");
    }

    #[test]
    fn nothing_known_names_the_next_command() {
        let mut overview = sample::overview();
        overview.timeline = Timeline::default();
        overview.scores = Scores::default();
        overview.details.clear();
        assert!(rendered(&overview).contains("flakeproof ingest"));
    }

    #[test]
    fn no_name_is_read_as_markdown_however_long() {
        let mut overview = sample::overview();
        let id = format!("t::<img src=x> | **b**\n/close `x`{}", "y".repeat(10_000));
        let hunted =
            overview.scores.tests.iter_mut().find(|it| it.test == sample::ONLY_HUNTED.into());
        hunted.unwrap().test = id.as_str().into();
        overview.project = "@all [x](https://example.org) #1".into();
        let text = rendered(&overview);
        assert!(text.contains("**\\@all \\[x\\](https://example.org) \\#1**"), "{text}");
        assert!(text.contains("| ``t::<img src=x> \\| **b** /close `x`yyy"), "{text}");
        assert!(text.lines().all(|line| line.len() < 1_000 && !line.starts_with('/')));
    }

    #[test]
    fn text_means_nothing_to_markdown() {
        assert_eq!(text("src/__init__.py"), r"src/\_\_init\_\_.py");
        assert_eq!(text("<b> | *x* [1]\nnext"), r"\<b\> \| \*x\* \[1\] next");
    }

    #[test]
    fn no_character_changes_the_direction_of_a_cell() {
        assert_eq!(code("a\u{202e}b"), r"`a\u{202e}b`");
        assert_eq!(text("a\u{9b}b"), "a b");
    }

    #[test]
    fn prose_keeps_its_code_and_nothing_else() {
        assert_eq!(prose("pass `--a_b` or *c*"), r"pass `--a_b` or \*c\*");
        assert_eq!(prose("a lone ` stays"), r"a lone \` stays");
    }

    #[test]
    fn code_keeps_backticks_and_ends_no_cell() {
        assert_eq!(code("a|b"), r"`a\|b`");
        assert_eq!(code("a `b` ``c``"), "``` a `b` ``c`` ```");
        assert_eq!(code(""), "");
    }
}
