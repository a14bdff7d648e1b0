//! What the page says before any script runs: the numbers on top, outages, the hunt, notices, and
//! the worst flaky tests as a plain table.

use flakeproof_core::{HuntOverview, Overview, PastRun, StageCost};
use serde::Serialize;

use super::front;
use super::visible::visible;
use crate::overview::{TestView, Totals, worst};
use crate::words;

/// Flaky tests in the plain table.
const PLAIN: usize = 50;

/// Outages named on the page, the latest first.
const OUTAGES: usize = 20;

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
    plain: Vec<PlainRow>,
    more_flaky: usize,
    hunt: Option<HuntFrame>,
    notices: Vec<Vec<Piece>>,
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

impl Frame {
    /// What the page says about an overview.
    pub(super) fn of(overview: &Overview, views: &[TestView<'_>]) -> Self {
        let totals = Totals::of(overview, views);
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
            minutes: words::burnt(totals.cost_seconds),
            executions: words::grouped(totals.executions),
            runs: words::grouped(totals.runs as u64),
            outages: outages.iter().rev().take(OUTAGES).map(outage).collect(),
            more_outages: outages.len().saturating_sub(OUTAGES),
            plain: worst.iter().take(PLAIN).map(|view| PlainRow::of(view)).collect(),
            more_flaky: worst.len().saturating_sub(PLAIN),
            hunt: overview.hunt.as_ref().map(HuntFrame::of),
            notices: overview
                .notices
                .iter()
                .map(|notice| pieces(&format!("{}; {}", notice.what, notice.next)))
                .collect(),
            totals,
        }
    }
}

impl PlainRow {
    fn of(view: &TestView<'_>) -> Self {
        let score = view.telling();
        Self {
            id: visible(view.id.as_str()),
            kind: view.kind().unwrap_or("–"),
            rate: view.rate_in_words(),
            failed: score
                .and_then(|it| it.last_failed.as_deref())
                .map_or_else(|| "–".into(), minute),
            cost: words::burnt(view.cost().as_secs_f64()),
        }
    }
}

impl HuntFrame {
    fn of(hunt: &HuntOverview) -> Self {
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
            front: front::picture(&hunt.front),
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

fn minute(stamp: &str) -> String {
    visible(&words::minute(stamp))
}
