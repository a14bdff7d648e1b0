//! Features, as a person reads them and as a program does, and how far their measurement is, on
//! stderr.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use flakeproof_core::{Feature, Features, Notice, Seed, TestId};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::predictions::notices;
use super::terminal::{self, DIM, STRONG, count};

/// Suites up to this size are shown test by test.
const SMALL_SUITE: usize = 30;

/// The features of a suite.
pub(crate) struct FeatureTable {
    /// The project's name.
    pub(crate) project: String,
    /// The framework and runtime.
    pub(crate) runner: String,
    /// The seed of the runs, if something was run.
    pub(crate) seed: Option<Seed>,
    pub(crate) rows: Vec<FeatureRow>,
    /// How long each complete run took.
    pub(crate) times: Vec<Duration>,
    /// How long a run without measuring took.
    pub(crate) plain: Option<Duration>,
    pub(crate) notices: Vec<Notice>,
}

/// The features of one test.
pub(crate) struct FeatureRow {
    pub(crate) test: TestId,
    /// How many runs the means are of.
    pub(crate) runs: u32,
    pub(crate) features: Features,
}

impl FeatureTable {
    fn median_time(&self) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }
}

/// Print the features for people: to stdout, or to stderr where stdout carries data.
pub(crate) fn features(table: &FeatureTable, is_stdout_taken: bool) {
    let mut text = String::new();
    if table.rows.len() <= SMALL_SUITE {
        tests(&mut text, &table.rows);
    } else {
        extremes(&mut text, &table.rows);
    }
    totals(&mut text, table);
    let _ = if is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
    notices(&table.notices);
}

/// Print the features for programs, unless stdout carries other data.
pub(crate) fn features_json(table: &FeatureTable, is_stdout_taken: bool) {
    let row = |row: &FeatureRow| {
        let known = Features::NAMES.into_iter().zip(row.features.values());
        let features: Map<String, Value> =
            known.map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({ "test": row.test, "runs": row.runs, "features": features })
    };
    let seconds: Vec<f64> = table.times.iter().map(Duration::as_secs_f64).collect();
    let value = json!({
        "schema": 1,
        "project": table.project,
        "runner": table.runner,
        "seed": table.seed,
        "seconds": { "measured": seconds, "plain": table.plain.map(|time| time.as_secs_f64()) },
        "tests": table.rows.iter().map(row).collect::<Vec<_>>(),
        "notices": table.notices.iter().map(|it| json!({ "what": it.what, "next": it.next }))
            .collect::<Vec<_>>(),
    });
    if is_stdout_taken {
        notices(&table.notices);
    } else {
        super::verbatim(&format!("{value:#}\n"));
    }
}

/// Short heads of the columns, in the order of Table 1.
const HEADS: [&str; Feature::ALL.len()] = [
    "reads", "writes", "seconds", "waiting", "switches", "lines", "source", "changes", "threads",
    "children", "memory", "depth", "asserts", "modules", "volume", "branches", "loc", "index",
];

/// The columns of a table: what was measured, or what the source tells where nothing was run. A
/// table has only so much room, and what is missing everywhere needs none.
fn columns(rows: &[FeatureRow]) -> Vec<Feature> {
    let is_known = |feature: &Feature| rows.iter().any(|row| row.features.get(*feature).is_some());
    let known = |features: &[Feature]| -> Vec<Feature> {
        features.iter().copied().filter(is_known).collect()
    };
    let (measured, of_source) = Feature::ALL.split_at(Feature::DYNAMIC);
    let measured = known(measured);
    if measured.is_empty() { known(of_source) } else { measured }
}

/// A line for each test.
fn tests(text: &mut String, rows: &[FeatureRow]) {
    let columns = columns(rows);
    if columns.is_empty() {
        return;
    }
    let _ = write!(text, "{STRONG}");
    for feature in &columns {
        let _ = write!(text, "{:>8} ", HEADS[*feature as usize]);
    }
    let _ = writeln!(text, " test{STRONG:#}");
    for row in rows {
        for feature in &columns {
            let _ = write!(text, "{:>8} ", shown(*feature, row.features.get(*feature)));
        }
        let _ = writeln!(text, " {}", row.test);
    }
    text.push('\n');
}

/// A line for each feature: the usual value, and the test that has most of it.
fn extremes(text: &mut String, rows: &[FeatureRow]) {
    let (usual, most) = ("median", "most");
    let _ = writeln!(text, "{STRONG}{:<22} {usual:>9} {most:>9}  in{STRONG:#}", "feature");
    for feature in Feature::ALL {
        let mut known: Vec<(f64, &TestId)> =
            rows.iter().filter_map(|row| Some((row.features.get(feature)?, &row.test))).collect();
        // Among equals the first of the suite stands for all.
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((most, _)) = known.last() else { continue };
        let alike = known.iter().filter(|(value, _)| value >= most).count();
        let holder = known.iter().find(|(value, _)| value >= most).map(|(_, test)| test);
        let holder = match (alike, holder) {
            (1, Some(test)) => test.to_string(),
            (_, _) if alike == known.len() => "every test".to_owned(),
            (_, Some(test)) => format!("{test} and {} more", alike - 1),
            (_, None) => String::new(),
        };
        let median = known[known.len() / 2].0;
        let name = feature.name().replace('_', " ");
        let (median, most) = (shown(feature, Some(median)), shown(feature, Some(*most)));
        let _ = writeln!(text, "{name:<22} {median:>9} {most:>9}  {DIM}{holder}{DIM:#}");
    }
    text.push('\n');
}

fn totals(text: &mut String, table: &FeatureTable) {
    let _ = write!(text, "{STRONG}{}{STRONG:#}", count(table.rows.len(), "test"));
    if let Some(time) = table.median_time() {
        let runs = table.times.len();
        let time = time.as_secs_f64();
        let _ = match runs {
            1 => write!(text, " measured in {time:.1} s"),
            _ => write!(text, " measured in {runs} runs of {time:.1} s"),
        };
        if let Some(plain) = table.plain.map(|plain| plain.as_secs_f64()) {
            let factor = time / plain.max(f64::MIN_POSITIVE);
            let _ = write!(text, ", {factor:.2} times the {plain:.1} s without measuring");
        }
    }
    let seed = table.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let _ = writeln!(text, "{DIM} ({}{seed}){DIM:#}", table.runner);
}

/// A value with as many digits as a reader needs.
fn shown(feature: Feature, value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    match feature {
        Feature::RunTime | Feature::WaitTime => format!("{value:.3}"),
        Feature::MaxMemory => format!("{:.1} MB", value / 1e6),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

/// A bar on a terminal; one line per run elsewhere.
pub(crate) struct FeaturesProgress {
    bar: ProgressBar,
    is_live: bool,
}

impl FeaturesProgress {
    /// Show that tests are being collected.
    pub(crate) fn start() -> Self {
        let (bar, is_live) = terminal::bar_while_collecting();
        Self { bar, is_live }
    }

    /// A run of this many tests begins.
    pub(crate) fn enter(&mut self, what: &str, tests: usize) {
        let tests_text = if tests == 1 { "1 test".to_owned() } else { format!("{tests} tests") };
        let what = format!("{what} {tests_text}");
        if !self.is_live {
            let _ = writeln!(std::io::stderr().lock(), "{what}");
            return;
        }
        self.bar.reset();
        self.bar.set_length(tests as u64);
        let template = "{prefix} {wide_bar} {pos}/{len} {elapsed}, about {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        self.bar.set_prefix(what);
        self.bar.enable_steady_tick(Duration::from_secs(1));
    }

    /// One test is done.
    pub(crate) fn step(&mut self) {
        self.bar.inc(1);
    }

    /// Clear the bar.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for FeaturesProgress {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(tests: u32) -> FeatureTable {
        let row = |number: u32| {
            let mut features = Features::default();
            features.set(Feature::RunTime, Some(f64::from(number) / 8.0));
            features.set(Feature::CoveredLines, Some(7.0));
            features.set(Feature::MaxMemory, Some(25_600_000.0));
            features.set(Feature::ContextSwitches, Some(f64::from(number % 2) * 1.5));
            FeatureRow { test: format!("test_a.py::test_{number}").into(), runs: 2, features }
        };
        FeatureTable {
            project: "shop".into(),
            runner: "pytest 8, Python 3.12".into(),
            seed: Some(Seed(7)),
            rows: (0..tests).map(row).collect(),
            times: vec![Duration::from_secs(3), Duration::from_secs(2), Duration::from_secs(9)],
            plain: Some(Duration::from_secs(2)),
            notices: Vec::new(),
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_small_suite_is_shown_test_by_test() {
        let mut text = String::new();
        tests(&mut text, &table(2).rows);
        insta::assert_snapshot!(plain(&text));
    }

    #[test]
    fn a_large_suite_is_shown_feature_by_feature() {
        let mut text = String::new();
        extremes(&mut text, &table(40).rows);
        insta::assert_snapshot!(plain(&text));
    }

    #[test]
    fn the_cost_is_told_where_it_was_measured() {
        let mut text = String::new();
        totals(&mut text, &table(2));
        let expected =
            "2 tests measured in 3 runs of 3.0 s, 1.50 times the 2.0 s without measuring";
        assert!(plain(&text).starts_with(expected), "{}", plain(&text));
    }
}
