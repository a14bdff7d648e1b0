//! `flakeproof hunt`, as it is typed.

use std::path::PathBuf;

use clap::Args;
use flakeproof_core::Seed;

use crate::settings::{
    FlakyResult, HumanDuration, Isolate, OrderName, Polluters, RawSettings, Reporter, ReporterKind,
    Share, StrategyName,
};

/// Find the flaky tests of a suite, their kinds, and who makes whom fail.
///
/// Runs the suite in its own order and in others, each test alone, and again what looks odd:
/// `flakeproof hunt -- pytest -q tests`. Without a command it is `pytest`. Ctrl-C ends it and shows
/// what was found; `--resume` goes on. Exits with 1 if a flaky test is found, with 5 if the budget
/// is spent and none is, and with 4 if there is no test.
///
/// With `--diff BASE`, in a pull request, it exits with 1 if a flaky test is found among those that
/// were looked at (with 0 after `--flaky-result pass`), and with 0 if there is none, also if nothing
/// changed or if the budget is spent.
#[derive(Debug, Args)]
pub(crate) struct HuntArguments {
    /// Runs in the suite's own order [default: 10; 2 with `--steer plan`].
    #[arg(short = 'n', long, value_name = "N", env = "FLAKEPROOF_HUNT_RUNS", help_heading = HUNT,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Runs in other orders [default: 20; all there are of `reverse` and `tuscan`].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_ORDERS", help_heading = HUNT)]
    pub(crate) orders: Option<u32>,
    /// What other orders: `tests`, `classes` and `files` shuffle these, `within` shuffles inside
    /// classes, `reverse` goes backwards, `tuscan` puts every test directly after every other one
    /// [default: tests]. Repeatable.
    #[arg(long, value_name = "KIND", env = "FLAKEPROOF_ORDER_KIND", help_heading = HUNT,
          value_delimiter = ',')]
    pub(crate) order_kind: Vec<OrderName>,
    /// How often to run a test alone that always did the same [default: 20].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_MAX_RERUNS", help_heading = HUNT)]
    pub(crate) max_reruns: Option<u32>,
    /// Share of further failures of a test that are checked for their kind again [default: 20%].
    #[arg(long, value_name = "N%", env = "FLAKEPROOF_RECHECK", help_heading = HUNT)]
    pub(crate) recheck: Option<Share>,
    /// How to look for the tests that make others fail: `pairs` tries every test before
    /// every victim, `all` before every other test, `prefix` finds one cause of each failure
    /// [default: pairs].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_POLLUTERS", help_heading = HUNT)]
    pub(crate) polluters: Option<Polluters>,
    /// Only find out who makes this test fail; its id, or the end of it.
    #[arg(long, value_name = "TEST", help_heading = HUNT)]
    pub(crate) victim: Option<String>,
    /// After every environment, remove what tests left on disk: files and folders in this folder that
    /// came since the hunt began and that git neither tracks nor ignores. One environment at a time.
    /// Do not work in the folder meanwhile.
    #[arg(long, help_heading = HUNT)]
    pub(crate) tidy: bool,
    /// Where to spend the time: `off` treats all tests alike, `plan` goes where a run is most likely
    /// to show a flaky test, `cannier` reruns only tests of which a model is unsure [default: `plan`
    /// if the project has a model of its own, else `off`].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_STEER", help_heading = STEER)]
    pub(crate) steer: Option<StrategyName>,
    /// With `--steer cannier`: do not rerun tests that are NOD flaky with a smaller probability
    /// [default: kept with the model, else 0.07].
    #[arg(long, value_name = "X", env = "FLAKEPROOF_LOWER", help_heading = STEER)]
    pub(crate) lower: Option<f64>,
    /// With `--steer cannier`: nor tests that have at least this probability; 1.01 is none
    /// [default: kept with the model, else 1.01].
    #[arg(long, value_name = "Y", env = "FLAKEPROOF_UPPER", help_heading = STEER)]
    pub(crate) upper: Option<f64>,
    /// With `--steer plan`: stop when no more than this share of the flaky tests expected at first
    /// is still hidden [default: 10%].
    #[arg(long, value_name = "N%", env = "FLAKEPROOF_HIDDEN", help_heading = STEER)]
    pub(crate) hidden: Option<Share>,
    /// Only look at tests that were added or changed since your branch left this revision, and at
    /// tests in the files it touched that look flaky. Implies `--steer plan` and `--budget 5m`.
    #[arg(long, value_name = "BASE", help_heading = STEER, conflicts_with = "victim")]
    pub(crate) diff: Option<String>,
    /// With `--diff`: what a flaky test is, `fail` (exit code 1) or `pass` [default: fail].
    #[arg(long, value_name = "WHAT", env = "FLAKEPROOF_FLAKY_RESULT", help_heading = STEER,
          hide_possible_values = true)]
    pub(crate) flaky_result: Option<FlakyResult>,

    /// Stop after this time, with what was found.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_BUDGET", help_heading = HUNT)]
    pub(crate) budget: Option<HumanDuration>,
    /// Go on with the last hunt of this command that was not finished.
    #[arg(long, help_heading = HUNT)]
    pub(crate) resume: bool,

    /// How fresh environments are made; what is found in a fork is confirmed in a new process.
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_ISOLATION")]
    pub(crate) isolation: Option<Isolate>,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    adapter: Option<String>,
    /// Kill a test that runs longer than this.
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Environments side by side.
    #[arg(short, long, value_name = "N", env = "FLAKEPROOF_JOBS")]
    jobs: Option<u32>,
    /// Write a report: `json=FILE`, `markdown=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH", env = "FLAKEPROOF_REPORTER")]
    reporter: Vec<Reporter>,
    /// The database of all runs [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<PathBuf>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    show_runner: bool,
    /// The seed of all orders, to repeat a hunt.
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,
    /// Use this profile of the configuration file.
    #[arg(short = 'P', long, value_name = "NAME", env = "FLAKEPROOF_PROFILE")]
    pub(crate) profile: Option<String>,
    /// The configuration file.
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The command that runs your tests [default: pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const HUNT: &str = "What to hunt for";
const STEER: &str = "Where to spend the time";

impl HuntArguments {
    /// Whether a report was asked for that a hunt does not have.
    pub(crate) fn has_junit_reporter(&self) -> bool {
        self.reporter.iter().any(|it| it.kind == ReporterKind::Junit)
    }

    /// The options as one layer of settings.
    pub(crate) fn layer(&self) -> RawSettings {
        RawSettings {
            hunt_runs: self.runs,
            orders: self.orders,
            order_kind: some(&self.order_kind),
            max_reruns: self.max_reruns,
            recheck: self.recheck,
            polluters: self.polluters,
            budget: self.budget,
            steer: self.steer,
            lower: self.lower,
            upper: self.upper,
            hidden: self.hidden,
            flaky_result: self.flaky_result,
            adapter: self.adapter.clone(),
            isolation: self.isolation,
            timeout: self.timeout,
            jobs: self.jobs,
            reporter: some(&self.reporter),
            store: self.store.clone(),
            show_runner: self.show_runner.then_some(true),
            ..RawSettings::default()
        }
    }
}

fn some<T: Clone>(values: &[T]) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.to_vec())
}
