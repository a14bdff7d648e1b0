//! What can be found for which time, as a person reads it and as a program does.

use std::fmt::Write as _;

use flakeproof_core::Seed;
use flakeproof_lab::trade::{FoundCounts, ProjectTrade, Technique};
use flakeproof_learn::cannier::{CostSource, ForestProtocol, Front, GridPoint, Setting};
use flakeproof_report::svg::{FrontChart, Pin, Tradeoff};
use serde_json::{Value, json};

use super::learning::share;
use super::terminal::{self, DIM, STRONG, count};
use crate::problem::Problem;

/// What came out for one technique.
pub(crate) struct CannierTrade {
    pub(crate) technique: Technique,
    pub(crate) front: Front,
    /// Each project at the balanced point, all of them together last.
    pub(crate) lines: Vec<ProjectTrade>,
    pub(crate) tests: usize,
    /// What there is to find, and how.
    pub(crate) what: String,
    pub(crate) how: String,
    pub(crate) repeats: usize,
}

/// What came out for all techniques that were asked for.
pub(crate) struct CannierTrades {
    pub(crate) trades: Vec<CannierTrade>,
    /// Those that the data is not enough for, and why.
    pub(crate) skipped: Vec<(Technique, Problem)>,
    pub(crate) wants_all: bool,
    /// `None` where probabilities were given.
    pub(crate) protocol: Option<ForestProtocol>,
    pub(crate) seed: Seed,
    pub(crate) costs: CostSource,
    pub(crate) without_cost: usize,
}

impl CannierTrade {
    /// The points with names, by their names.
    fn pins(&self) -> Vec<(String, GridPoint)> {
        let pins = &self.front.pins;
        let original = format!("original {}", self.technique.name());
        let mut named = vec![(original, pins.original), ("balanced".to_owned(), pins.balanced)];
        named.extend(pins.model.map(|point| ("model alone".to_owned(), point)));
        named
    }

    /// The front as a picture.
    pub(crate) fn chart(&self) -> FrontChart {
        let place =
            |point: &GridPoint| Tradeoff { performance: point.performance, cost: point.cost };
        let pin = |(name, point): (String, GridPoint)| Pin {
            name: format!(
                "{name}: [{:.3}, {} s] ({})",
                point.performance,
                seconds(point.cost),
                parameters(&point)
            ),
            place: place(&point),
        };
        FrontChart {
            title: format!(
                "CANNIER+{}: {} of {}",
                self.technique.name(),
                self.what,
                count(self.tests, "test")
            ),
            performance: self.technique.measure().to_owned(),
            cost: "time cost in seconds of one core".to_owned(),
            front: self.front.points.iter().map(place).collect(),
            pins: self.pins().into_iter().map(pin).collect(),
        }
    }

    fn json(&self, about: &CannierTrades) -> Value {
        let pins = &self.front.pins;
        let (overall, lines) = match self.lines.split_last() {
            Some((overall, lines)) => (json_line(overall), lines),
            None => (Value::Null, &[][..]),
        };
        json!({
            "schema": 1,
            "what": "cannier",
            "technique": self.technique.word(),
            "protocol": about.protocol.map_or_else(|| json!("given"), |it| json!(it)),
            "seed": about.seed,
            "repeats": self.repeats,
            "tests": self.tests,
            "costs": costs(about.costs),
            "without_cost": about.without_cost,
            "points": self.front.points.iter().map(json_point).collect::<Vec<_>>(),
            "pins": {
                "original": json_point(&pins.original),
                "balanced": json_point(&pins.balanced),
                "model": pins.model.as_ref().map(json_point),
            },
            "per_project": lines.iter().map(json_line).collect::<Vec<_>>(),
            "overall": overall,
        })
    }
}

impl CannierTrades {
    /// One JSON document, with a newline at its end: the technique that was asked for, or all.
    pub(crate) fn json(&self) -> String {
        let value = match &self.trades[..] {
            [only] if !self.wants_all => only.json(self),
            trades => {
                let why = |(technique, problem): &(Technique, Problem)| {
                    let word = technique.word();
                    json!({ "technique": word, "why": problem.what })
                };
                json!({
                    "schema": 1,
                    "what": "cannier",
                    "technique": "all",
                    "techniques": trades.iter().map(|it| it.json(self)).collect::<Vec<_>>(),
                    "skipped": self.skipped.iter().map(why).collect::<Vec<_>>(),
                })
            }
        };
        format!("{value:#}\n")
    }
}

fn json_point(point: &GridPoint) -> Value {
    let mut value = match point.setting {
        Setting::Between(it) => json!({ "lower": it.lower(), "upper": it.upper() }),
        Setting::Candidates { victim, polluter } => {
            json!({ "victim": victim, "polluter": polluter })
        }
    };
    value["runs"] = json!(point.runs);
    value["performance"] = json!(point.performance);
    value["cost"] = json!(point.cost);
    value
}

fn json_line(line: &ProjectTrade) -> Value {
    let mut value = match line.found {
        FoundCounts::Tests { true_negatives, false_negatives, false_positives, true_positives } => {
            json!({
                "tn": true_negatives, "fn": false_negatives,
                "fp": false_positives, "tp": true_positives,
            })
        }
        FoundCounts::Pairs { found, all } => json!({ "tp": found, "pairs": all }),
    };
    value["project"] = json!(line.project);
    value["performance"] = json!(line.performance);
    value["cost"] = json!(line.cost);
    value["original"] = json!(line.original);
    value
}

fn costs(source: CostSource) -> &'static str {
    match source {
        CostSource::RunTime => "run_time",
        CostSource::Given => "seconds",
        CostSource::One => "one",
    }
}

fn parameters(point: &GridPoint) -> String {
    let (first, second) = match point.setting {
        Setting::Between(it) => (it.lower(), it.upper()),
        Setting::Candidates { victim, polluter } => (victim, polluter),
    };
    format!("{first:.2}, {second:.2}, {}", point.runs)
}

/// Seconds with three digits that matter; large ones by their power of ten, as in the paper.
fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1e5 => format!("{seconds:.2e}"),
        _ if seconds >= 100.0 => format!("{seconds:.0}"),
        _ if seconds >= 1.0 => format!("{seconds:.1}"),
        _ => format!("{seconds:.3}"),
    }
}

/// Print the trades for people: the pins of Figure 8, and tables 8, 9 and 10.
pub(crate) fn cannier(trades: &CannierTrades) {
    let mut text = String::new();
    for trade in &trades.trades {
        heading(&mut text, trade, trades);
        pins(&mut text, trade);
        projects(&mut text, trade);
    }
    for (technique, problem) in &trades.skipped {
        let _ = writeln!(text, "{DIM}{} left out: {}{DIM:#}", technique.name(), problem.what);
    }
    let _ = writeln!(
        text,
        "{DIM}balanced: the point nearest to {} 1 at no cost, where the original costs 1{DIM:#}",
        if trades.trades.len() == 1 { trades.trades[0].technique.measure() } else { "performance" }
    );
    let _ = terminal::out(&text);
}

fn heading(text: &mut String, trade: &CannierTrade, about: &CannierTrades) {
    let protocol = match about.protocol {
        Some(ForestProtocol::Random) => "random folds: a test meets its own project in training",
        Some(ForestProtocol::Project) => "one project left out at a time: what a new project gets",
        None => "probabilities as given: only their maker knows what they were learned from",
    };
    let source = match about.costs {
        CostSource::RunTime => "seconds by `run_time`",
        CostSource::Given => "seconds as given",
        CostSource::One => "no times are known: each run of a test counts 1",
    };
    let without = match about.without_cost {
        some @ 1.. if about.costs != CostSource::One => {
            format!(" ({} without one at the mean)", count(some, "test"))
        }
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{STRONG}CANNIER+{}{STRONG:#}: {} of {}, mean of {}, seed {}; {}\n{DIM}{protocol}; \
         {source}{without}{DIM:#}\n",
        trade.technique.name(),
        trade.what,
        count(trade.tests, "test"),
        count(trade.repeats, "repetition"),
        about.seed,
        trade.how
    );
}

fn pins(text: &mut String, trade: &CannierTrade) {
    let (first, second) = match trade.technique {
        Technique::Rerun | Technique::Classification => ("lower", "upper"),
        Technique::Pairwise => ("victim", "polluter"),
    };
    let _ = writeln!(
        text,
        "{:<34} {first:>8} {second:>8} {:>8} {:>8} {:>11} {:>11}",
        "",
        "runs",
        trade.technique.measure(),
        "time cost",
        "of original"
    );
    let original = trade.front.pins.original.cost;
    for (name, point) in trade.pins() {
        let (first, second) = match point.setting {
            Setting::Between(it) => (it.lower(), it.upper()),
            Setting::Candidates { victim, polluter } => (victim, polluter),
        };
        let part = 100.0 * point.cost / original.max(f64::MIN_POSITIVE);
        let _ = writeln!(
            text,
            "{name:<34} {first:>8.2} {second:>8.2} {:>8} {:>8.3} {:>11} {part:>9.1} %",
            point.runs,
            point.performance,
            seconds(point.cost)
        );
    }
    text.push('\n');
}

fn projects(text: &mut String, trade: &CannierTrade) {
    let found: &[&str] = match trade.technique {
        Technique::Rerun | Technique::Classification => &["TN", "FN", "FP", "TP"],
        Technique::Pairwise => &["TP", "P"],
    };
    let heads: String = found.iter().map(|head| format!(" {head:>8}")).collect();
    let _ = writeln!(
        text,
        "{:<34}{heads} {:>8} {:>11} {:>11}",
        "balanced",
        trade.technique.measure(),
        "CANNIER+",
        "original"
    );
    for line in &trade.lines {
        let cells: String = match line.found {
            FoundCounts::Tests {
                true_negatives,
                false_negatives,
                false_positives,
                true_positives,
            } => [true_negatives, false_negatives, false_positives, true_positives]
                .map(|it| format!(" {it:>8.0}"))
                .concat(),
            FoundCounts::Pairs { found, all } => format!(" {found:>8.0} {all:>8}"),
        };
        let _ = writeln!(
            text,
            "{:<34}{cells} {:>8} {:>11} {:>11}",
            line.project,
            share(line.performance),
            seconds(line.cost),
            seconds(line.original)
        );
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_short_whatever_their_size() {
        let shown = [0.0161, 4.88, 337.8, 12_345.6, 4.91e7].map(seconds);
        assert_eq!(shown, ["0.016", "4.9", "338", "12346", "4.91e7"]);
    }
}
