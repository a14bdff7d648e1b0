//! What the page says before any script runs: the numbers on top, what to fix first, outages, the
//! hunt with what it cost, notices, and the worst flaky tests as a plain table.
//!
//! A name may hold characters that turn the direction of what stands around it, or that show
//! nothing at all. Two ids must not look alike that are not, so those characters are named.

use std::fmt::Write as _;

use flakeproof_core::{Cluster, FrontPoint, HuntOverview, Overview, PastRun, StageCost, TestId};
use serde::Serialize;

use super::first::{FirstFix, encoded};
use crate::failure_groups::FailureGroup;
use crate::overview::{TestView, Totals, worst};
use crate::words;

/// Flaky tests in the plain table.
const PLAIN: usize = 50;

/// Outages named on the page, the latest first.
const OUTAGES: usize = 20;

/// Groups of tests that fail together, and tests named of each.
const CLUSTERS: usize = 10;
const TOGETHER: usize = 8;

/// What the template shows.
#[derive(Serialize)]
pub(super) struct Frame {
    project: String,
    made: String,
    version: String,
    period: Option<String>,
    headline: String,
    totals: Totals,
    minutes: String,
    executions: String,
    runs: String,
    outages: Vec<String>,
    more_outages: usize,
    first: Vec<FirstFix>,
    together: Vec<TogetherFrame>,
    more_together: usize,
    plain: Vec<PlainRow>,
    more_flaky: usize,
    hunt: Option<HuntFrame>,
    notices: Vec<Vec<Piece>>,
}

impl Frame {
    /// What the page says about an overview.
    pub(super) fn new(
        overview: &Overview,
        views: &[TestView<'_>],
        groups: &[FailureGroup<'_, '_>],
    ) -> Self {
        let totals = Totals::new(overview, views);
        let runs = &overview.timeline.runs;
        let outages = &overview.scores.outages;
        let outage = |outage: &flakeproof_core::Outage| {
            let run = runs.get(outage.run as usize);
            let tests = words::counted(outage.tests as usize, "test");
            format!("{}: {} of {tests} failed together", when(run), outage.failed)
        };
        let worst = worst(views);
        Self {
            project: visible(&overview.project),
            made: minute(&overview.made),
            version: overview.version.clone(),
            period: words::period(&totals).map(|period| visible(&period)),
            headline: words::headline(&totals),
            minutes: words::burnt(totals.cost()),
            executions: words::grouped(totals.executions),
            runs: words::grouped(totals.runs as u64),
            outages: outages.iter().rev().take(OUTAGES).map(outage).collect(),
            more_outages: outages.len().saturating_sub(OUTAGES),
            first: FirstFix::all(overview, groups),
            together: overview.clusters.iter().take(CLUSTERS).map(TogetherFrame::new).collect(),
            more_together: overview.clusters.len().saturating_sub(CLUSTERS),
            plain: worst.iter().take(PLAIN).map(|view| PlainRow::new(view)).collect(),
            more_flaky: worst.len().saturating_sub(PLAIN),
            hunt: overview.hunt.as_ref().map(HuntFrame::new),
            notices: overview
                .notices
                .iter()
                .map(|notice| pieces(&format!("{}; {}", notice.what, notice.next)))
                .collect(),
            totals,
        }
    }
}

/// Tests that fail together.
#[derive(Serialize)]
struct TogetherFrame {
    sentence: String,
    /// Each with the part of the page's address that opens it.
    tests: Vec<(String, String)>,
    more: usize,
}

impl TogetherFrame {
    fn new(cluster: &Cluster) -> Self {
        let named = |test: &TestId| (visible(test.as_str()), encoded(test.as_str()));
        Self {
            sentence: visible(&words::cluster(cluster)),
            tests: cluster.tests.iter().take(TOGETHER).map(named).collect(),
            more: cluster.tests.len().saturating_sub(TOGETHER),
        }
    }
}

/// A flaky test in the plain table.
#[derive(Serialize)]
struct PlainRow {
    id: String,
    kind: &'static str,
    rate: String,
    failed: String,
    cost: String,
}

/// The latest hunt.
#[derive(Serialize)]
struct HuntFrame {
    started: String,
    found: String,
    cost: String,
    end: Option<&'static str>,
    stages: Vec<StageRow>,
    front: Option<String>,
}

/// A part of a text.
#[derive(Serialize)]
struct Piece {
    text: String,
    is_code: bool,
}

/// What a stage of the hunt took.
#[derive(Serialize)]
struct StageRow {
    stage: String,
    trials: String,
    executions: String,
    time: String,
    /// Of the whole hunt's time, in percent.
    share: f64,
}

impl PlainRow {
    fn new(view: &TestView<'_>) -> Self {
        let score = view.telling();
        Self {
            id: visible(view.id.as_str()),
            kind: view.kind().unwrap_or("–"),
            rate: view.rate_in_words(),
            failed: score
                .and_then(|it| it.last_failed.as_deref())
                .map_or_else(|| "–".into(), minute),
            cost: words::burnt(view.cost()),
        }
    }
}

impl HuntFrame {
    fn new(hunt: &HuntOverview) -> Self {
        let summary = hunt.summary.as_ref();
        let whole = summary.map_or(0.0, |it| it.cost.time.as_secs_f64());
        let stage = |stage: &StageCost| {
            let seconds = stage.time.as_secs_f64();
            let share = if whole > 0.0 { (seconds / whole * 100.0).min(100.0) } else { 0.0 };
            StageRow {
                stage: visible(&stage.stage),
                trials: words::grouped(stage.trials.into()),
                executions: words::grouped(stage.executions),
                time: words::lasted(seconds),
                share: (share * 10.0).round() / 10.0,
            }
        };
        Self {
            started: minute(&hunt.started),
            found: words::counted(hunt.flaky, "flaky test"),
            cost: summary.map_or_else(String::new, |it| {
                let executions = words::grouped(it.cost.executions);
                format!("{executions} executions in {}", words::lasted(whole))
            }),
            end: match summary {
                Some(summary) => words::hunt_end(summary.end),
                None => Some("it is not over"),
            },
            stages: summary.map_or_else(Vec::new, |it| it.cost.stages.iter().map(stage).collect()),
            front: front_picture(&hunt.front),
        }
    }
}

/// The text with what stands between backticks as code.
fn pieces(text: &str) -> Vec<Piece> {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return vec![Piece { text: visible(text), is_code: false }];
    }
    let piece = |(at, piece): (usize, &&str)| Piece { text: visible(piece), is_code: at % 2 == 1 };
    pieces.iter().enumerate().map(piece).collect()
}

fn when(run: Option<&PastRun>) -> String {
    let Some(run) = run else { return "some time".to_owned() };
    let job = run.job.iter().map(|job| format!(", {}", visible(job)));
    std::iter::once(minute(&run.started)).chain(job).collect()
}

pub(super) fn minute(stamp: &str) -> String {
    visible(&words::minute(stamp))
}

const LEFT: f64 = 44.0;
const TOP: f64 = 12.0;
const WIDE: f64 = 620.0;
const HIGH: f64 = 180.0;

/// The front as a picture that takes its colours from the page; `None` if there is none.
fn front_picture(front: &[FrontPoint]) -> Option<String> {
    let last = front.last().filter(|last| last.executions > 0 && last.flaky >= 1.0)?;
    let x = |executions: u64| LEFT + WIDE * share(executions, last.executions);
    let y = |flaky: f64| TOP + HIGH * (1.0 - flaky / last.flaky);
    let mut svg = String::new();
    let (wide, high) = (LEFT + WIDE + 16.0, TOP + HIGH + 34.0);
    let _ = write!(
        svg,
        "<svg class=\"front\" viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{} known \
         after {} executions\">",
        known(last.flaky),
        words::grouped(last.executions)
    );
    front_axes(&mut svg, last);
    let mut path = format!("M{LEFT} {:.1}", y(0.0));
    for point in front {
        let _ = write!(path, "H{:.1}V{:.1}", x(point.executions), y(point.flaky));
    }
    let _ = write!(svg, "<path class=\"line\" d=\"{path}\"/>");
    for point in front {
        let _ = write!(
            svg,
            "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{} known after {} \
             executions</title></circle>",
            x(point.executions),
            y(point.flaky),
            known(point.flaky),
            words::grouped(point.executions)
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn front_axes(svg: &mut String, last: &FrontPoint) {
    let bottom = TOP + HIGH;
    for part in 0..=4_u32 {
        let x = LEFT + WIDE * f64::from(part) / 4.0;
        let anchor = if part == 4 { "end" } else { "middle" };
        let executions = words::grouped(last.executions * u64::from(part) / 4);
        let unit = if part == 4 { " executions" } else { "" };
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{executions}{unit}</text>",
            bottom + 22.0
        );
    }
    for line in 0..=4_u32 {
        let flaky = last.flaky * f64::from(line) / 4.0;
        let y = TOP + HIGH * (1.0 - f64::from(line) / 4.0);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}h{WIDE}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{flaky:.1}</text>",
            LEFT - 8.0,
            y + 4.0
        );
    }
}

fn known(flaky: f64) -> String {
    format!("{flaky:.1} flaky tests")
}

#[expect(clippy::cast_precision_loss, reason = "a place on a picture")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// The text with its invisible and direction-turning characters named, such as `⟨U+202E⟩`.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

fn is_hidden(character: char) -> bool {
    let is_turning = matches!(
        character,
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
    );
    is_turning || character == '\u{061C}' || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_made_where_a_test_was_found() {
        let point = |(executions, flaky)| FrontPoint { executions, flaky };
        let svg = front_picture(&[(50, 1.0), (100, 2.0)].map(point)).unwrap();
        assert!(svg.contains("d=\"M44 192.0H354.0V102.0H664.0V12.0\""), "{svg}");
    }

    #[test]
    fn nothing_found_is_no_picture() {
        assert_eq!(front_picture(&[]), None);
        assert_eq!(front_picture(&[FrontPoint { executions: 10, flaky: 0.0 }]), None);
    }

    #[test]
    fn what_turns_the_direction_or_shows_nothing_is_named() {
        assert_eq!(visible("a\u{202E}b\u{200B}\n"), "a⟨U+202E⟩b⟨U+200B⟩⟨U+000A⟩");
        assert_eq!(visible("größe[测试]"), "größe[测试]");
    }
}
