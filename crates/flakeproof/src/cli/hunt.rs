//! `flakeproof hunt`: what can be typed, and what is meant by it and by the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use flakeproof_core::{Isolation, OrderKind, Seed, Suite, SuiteOrders};
use flakeproof_detect::hunt::{self, PolluterSearch, Sought};
use flakeproof_runner::adapters::command::Profiles;
use flakeproof_runner::adapters::usual_command;
use serde::{Deserialize, Serialize};

use super::shard::{ShardChoice, ShardSettings};
use super::worker::{FleetName, FleetSettings};
use crate::problem::Problem;
use crate::settings::{
    ConfigurationFile, FlakyResult, HumanDuration, Isolate, OrderName, Polluters, RawSettings,
    Reporter, ReporterKind, Share, SoughtKind, StoreName, StrategyName, StrategyOptions, if_any,
};
use flakeproof_store::StoreLocation;

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
    /// What other orders: shuffled `tests`, `classes`, `files` or tests `within` classes, `reverse`, or
    /// `tuscan` (every test after every other one) [default: tests]. Repeatable.
    #[arg(long, value_name = "KIND", env = "FLAKEPROOF_ORDER_KIND", help_heading = HUNT,
          value_delimiter = ',')]
    pub(crate) order_kind: Vec<OrderName>,
    /// How often to run a test alone that always did the same [default: 20].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_MAX_RERUNS", help_heading = HUNT)]
    pub(crate) max_reruns: Option<u32>,
    /// Share of further failures of a test that are checked for their kind again [default: 20%].
    #[arg(long, value_name = "N%", env = "FLAKEPROOF_RECHECK", help_heading = HUNT)]
    pub(crate) recheck: Option<Share>,
    /// How to look for the tests that make others fail: before every victim (`pairs`), before every
    /// test (`all`), one cause of each failure (`prefix`) [default: pairs].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_POLLUTERS", help_heading = HUNT)]
    pub(crate) polluters: Option<Polluters>,
    /// Only find out who makes this test fail; its id, or the end of it.
    #[arg(long, value_name = "TEST", help_heading = HUNT)]
    pub(crate) victim: Option<String>,
    /// Which kinds to look for: tests that fail by chance or depend on others (`usual`), or that rely on
    /// an order that the language leaves open, such as that of a hash table (`id`) [default: usual].
    #[arg(long, value_name = "KIND", env = "FLAKEPROOF_KINDS", help_heading = HUNT,
          value_delimiter = ',', conflicts_with_all = ["victim", "diff"])]
    pub(crate) kinds: Vec<SoughtKind>,
    /// With `--kinds id`: how many other orders to try [default: 5].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SHUFFLES", help_heading = HUNT,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) shuffles: Option<u32>,
    /// Then also run the suite under cheap levers (another zone, another seed of hashes, the other way
    /// round, on one core, with a tenth of one): what fails only there is latent, and not flaky.
    #[arg(long, help_heading = HUNT, conflicts_with_all = ["victim", "diff"])]
    pub(crate) provoke: bool,
    /// After every environment, remove new files that git neither tracks nor ignores. Do not work in
    /// the folder meanwhile.
    #[arg(long, help_heading = HUNT)]
    pub(crate) tidy: bool,
    /// Where to spend the time: on all tests alike (`off`), where most is likely to show (`plan`), on
    /// tests of which a model is unsure (`cannier`) [default: `plan` with a budget or a model, else `off`].
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
    /// Only tests that changed since your branch left this revision, and those in files it touched
    /// that look flaky. Implies `--steer plan` and `--budget 5m`.
    #[arg(long, value_name = "BASE", help_heading = STEER, conflicts_with = "victim")]
    pub(crate) diff: Option<String>,
    /// With `--diff`: what a flaky test is, `fail` (exit code 1) or `pass` [default: fail].
    #[arg(long, value_name = "WHAT", env = "FLAKEPROOF_FLAKY_RESULT", help_heading = STEER,
          hide_possible_values = true)]
    pub(crate) flaky_result: Option<FlakyResult>,

    /// Stop after this time, with what was found [default: 5m with `--diff`, else never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_BUDGET", help_heading = HUNT)]
    pub(crate) budget: Option<HumanDuration>,
    /// Let other machines run the tests: any number of `flakeproof worker --fleet NAME`. Needs a team's
    /// `postgres://…` after `--store`.
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_FLEET", help_heading = FLEET,
          conflicts_with_all = ["tidy", "provoke"])]
    pub(crate) fleet: Option<FleetName>,
    /// After so long a machine that is silent is given up, and its tests are given to others
    /// [default: 30s].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_FLEET_LEASE", help_heading = FLEET)]
    pub(crate) fleet_lease: Option<HumanDuration>,
    /// One of several machines that go through the same hunt, each of which runs what no other has taken:
    /// `2/4`, or `auto` for what the CI system says. Needs a store in objects (`s3://…`, `file:///…`).
    #[arg(long, value_name = "I/N|auto", help_heading = FLEET,
          conflicts_with_all = ["fleet", "tidy", "provoke", "resume"])]
    pub(crate) shard: Option<ShardChoice>,
    /// Go on with the last hunt of this command that was not finished.
    #[arg(long, help_heading = HUNT)]
    pub(crate) resume: bool,

    /// How fresh environments are made; a fork is confirmed in a new process [default: fork].
    #[arg(long, value_name = "HOW", env = "FLAKEPROOF_ISOLATION")]
    pub(crate) isolation: Option<Isolate>,
    /// The adapter that runs the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    adapter: Option<String>,
    /// Kill a test that runs longer than this [default: never].
    #[arg(long, value_name = "TIME", env = "FLAKEPROOF_TIMEOUT")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Environments side by side [default: 1, or `-n` of pytest-xdist].
    #[arg(short, long, value_name = "N", env = "FLAKEPROOF_JOBS")]
    jobs: Option<u32>,
    /// Write a report: `json=FILE`, `markdown=FILE`; `-` is stdout. Repeatable.
    #[arg(long, value_name = "TYPE=PATH", env = "FLAKEPROOF_REPORTER")]
    reporter: Vec<Reporter>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// Also show what the test runner itself prints.
    #[arg(long, env = "FLAKEPROOF_SHOW_RUNNER")]
    show_runner: bool,
    /// The seed of all orders, to repeat a hunt [default: a new one].
    #[arg(long, value_name = "N", env = "FLAKEPROOF_SEED")]
    pub(crate) seed: Option<Seed>,
    /// Use this profile of the configuration file.
    #[arg(short = 'P', long, value_name = "NAME", env = "FLAKEPROOF_PROFILE")]
    pub(crate) profile: Option<String>,
    /// The configuration file [default: `flakeproof.toml` in the project].
    #[arg(long, value_name = "PATH", env = "FLAKEPROOF_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The command that runs your tests [default: pytest].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

const HUNT: &str = "What to hunt for";
const STEER: &str = "Where to spend the time";
const FLEET: &str = "On many machines";

impl HuntArguments {
    /// Whether a report was asked for that a hunt does not have.
    fn has_junit_reporter(&self) -> bool {
        self.reporter.iter().any(|it| it.kind == ReporterKind::Junit)
    }

    /// The options as one layer of settings.
    pub(crate) fn layer(&self) -> RawSettings {
        RawSettings {
            hunt_runs: self.runs,
            orders: self.orders,
            order_kind: if_any(&self.order_kind),
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
            reporter: if_any(&self.reporter),
            store: self.store.clone(),
            show_runner: self.show_runner.then_some(true),
            ..RawSettings::default()
        }
    }
}

/// Everything that a hunt needs to know.
#[derive(Debug)]
pub(crate) struct HuntSettings {
    pub(crate) command: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) adapter: Option<String>,
    /// Runners that the project describes itself.
    pub(crate) runners: Profiles,
    /// What decides what is run; a hunt that is taken up again has it from its record.
    pub(crate) asked: Asked,
    /// Environments side by side, where a number was given.
    pub(crate) jobs: Option<usize>,
    /// As it was given; zero is no limit.
    budget: Option<Duration>,
    /// What flaky tests mean for a pull request.
    pub(crate) flaky_result: FlakyResult,
    pub(crate) reporters: Vec<Reporter>,
    pub(crate) store: StoreLocation,
    /// The machines that run the tests, if others do.
    pub(crate) fleet: Option<FleetSettings>,
    /// Which of the machines this is that go through the hunt together.
    pub(crate) shard: Option<ShardSettings>,
    pub(crate) is_runner_shown: bool,
    pub(crate) seed: Option<Seed>,
    pub(crate) is_resumed: bool,
}

/// What was asked for, as far as it decides what is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) runs: u32,
    /// `None` for as many as the kinds suggest.
    pub(crate) orders: Option<u32>,
    pub(crate) kinds: Vec<OrderKind>,
    pub(crate) max_reruns: u32,
    pub(crate) recheck: f64,
    pub(crate) polluters: Polluters,
    /// As it was typed: an id, or the end of it.
    pub(crate) victim: Option<String>,
    pub(crate) isolation: Isolation,
    pub(crate) timeout: Option<Duration>,
    /// The kinds that are looked for; none for the usual ones.
    #[serde(default)]
    pub(crate) sought: Vec<SoughtKind>,
    /// How many other orders are tried where the language leaves them open.
    #[serde(default)]
    pub(crate) shuffles: Option<u32>,
    /// Whether what tests leave on disk is removed.
    #[serde(default)]
    pub(crate) tidy: bool,
    /// What decides where to look next.
    #[serde(default)]
    #[serde(rename = "steering")]
    pub(crate) strategy: StrategyOptions,
    /// Only what changed since this revision, as it was typed.
    #[serde(default)]
    pub(crate) diff: Option<String>,
}

/// Runs in the suite's own order where a plan chooses what comes after them.
const RUNS_BEFORE_A_PLAN: u32 = 2;
/// How long a pull request waits.
const PULL_REQUEST: Duration = Duration::from_secs(5 * 60);

impl HuntSettings {
    /// Lay the layers over each other. Where nobody says what steers the hunt, it is the usual.
    pub(crate) fn resolve(
        typed: &HuntArguments,
        folder: &Path,
        usual: StrategyName,
    ) -> Result<Self, Problem> {
        let file = ConfigurationFile::find(typed.config.as_deref(), folder)?;
        let settings = typed.layer().over(file.layer(typed.profile.as_deref())?);
        let strategy = StrategyOptions::resolve(typed, &settings, usual)?;
        let asked = Asked::resolve(&settings, typed, strategy);
        let mut reporters = settings.reporter.unwrap_or_default();
        if typed.has_junit_reporter() {
            return Err(Problem::usage(
                "a hunt has no JUnit report: it runs each test many times",
                "write `--reporter json=FILE` or `--reporter markdown=FILE`",
            ));
        }
        // The file's are those of `flakeproof run` too.
        reporters.retain(|it| it.kind != ReporterKind::Junit);
        let store = match settings.store {
            Some(name) => name.locate(folder)?,
            None => StoreLocation::Project(file.project.clone()),
        };
        let fleet = typed.fleet.clone().map(|name| FleetSettings::resolve(name, typed, &store));
        let shard = typed.shard.map(|choice| ShardSettings::resolve(choice, &store));
        Ok(Self {
            fleet: fleet.transpose()?,
            shard: shard.transpose()?,
            command: match typed.command.as_slice() {
                [] => usual_command(folder),
                command => command.to_vec(),
            },
            folder: folder.to_path_buf(),
            adapter: settings.adapter,
            runners: file.runners(),
            asked,
            jobs: settings.jobs.map(|jobs| jobs.max(1) as usize),
            budget: settings.budget.map(|time| time.0),
            flaky_result: settings.flaky_result.unwrap_or(FlakyResult::Fail),
            reporters,
            store,
            is_runner_shown: settings.show_runner.unwrap_or(false),
            seed: typed.seed,
            is_resumed: typed.resume,
        })
    }
}

impl HuntSettings {
    /// How long to go on.
    pub(crate) fn budget_of(&self, asked: &Asked) -> Option<Duration> {
        let usual = asked.diff.is_some().then_some(PULL_REQUEST);
        self.budget.or(usual).filter(|time| !time.is_zero())
    }
}

impl Asked {
    fn resolve(settings: &RawSettings, typed: &HuntArguments, strategy: StrategyOptions) -> Self {
        let default = hunt::HuntSettings::default();
        let usual_runs = match strategy {
            StrategyOptions::Plan { .. } => RUNS_BEFORE_A_PLAN,
            StrategyOptions::Off | StrategyOptions::Cannier { .. } => default.runs,
        };
        let kinds = settings.order_kind.as_ref();
        Self {
            runs: settings.hunt_runs.unwrap_or(usual_runs).max(1),
            orders: settings.orders,
            kinds: kinds.map_or(default.kinds, |kinds| kinds.iter().map(|it| it.0).collect()),
            max_reruns: settings.max_reruns.unwrap_or(default.max_reruns),
            recheck: settings.recheck.map_or(default.recheck, |share| share.0),
            polluters: settings.polluters.unwrap_or(Polluters::Pairs),
            victim: typed.victim.clone(),
            isolation: settings.isolation.map_or(default.isolation, Isolate::isolation),
            timeout: settings.timeout.map(|time| time.0).filter(|time| !time.is_zero()),
            sought: typed.kinds.clone(),
            shuffles: typed.shuffles,
            tidy: typed.tidy,
            strategy,
            diff: typed.diff.clone(),
        }
    }

    /// Runs in other orders: as many as were asked for, else all there are where that is few.
    pub(crate) fn orders_of(&self, suite: &Suite, seed: Seed) -> u32 {
        let usual = hunt::HuntSettings::default().orders;
        self.orders.unwrap_or_else(|| {
            let orders = SuiteOrders::new(suite, seed);
            let all = self.kinds.iter().map(|kind| orders.most(*kind));
            let all = all.fold(0_usize, usize::saturating_add);
            if all == usize::MAX { usual } else { u32::try_from(all).unwrap_or(u32::MAX) }
        })
    }

    /// Which kinds are looked for.
    pub(crate) fn sought(&self) -> Sought {
        let has = |kind| self.sought.contains(&kind);
        match (has(SoughtKind::Usual), has(SoughtKind::Id)) {
            (_, false) => Sought::Usual,
            (false, true) => Sought::ImplementationDependent,
            (true, true) => Sought::All,
        }
    }

    /// How to look for polluters.
    pub(crate) fn search(&self) -> PolluterSearch {
        match self.polluters {
            Polluters::All => PolluterSearch::All,
            Polluters::Pairs => PolluterSearch::Pairs,
            Polluters::Prefix => PolluterSearch::Prefix,
            Polluters::Off => PolluterSearch::Off,
        }
    }

    /// The first option that was typed and says something else than this.
    pub(crate) fn contradicted_by(&self, typed: &HuntArguments) -> Option<&'static str> {
        let kinds: Vec<OrderKind> = typed.order_kind.iter().map(|kind| kind.0).collect();
        let victim = self.victim.as_deref();
        let is_other_victim =
            |typed: &String| victim.is_none_or(|id| !id.ends_with(typed.as_str()));
        let options = [
            ("--runs", typed.runs.is_some_and(|it| it != self.runs)),
            ("--orders", typed.orders.is_some_and(|it| Some(it) != self.orders)),
            ("--order-kind", !kinds.is_empty() && kinds != self.kinds),
            ("--max-reruns", typed.max_reruns.is_some_and(|it| it != self.max_reruns)),
            ("--recheck", typed.recheck.is_some_and(|it| it.0.to_bits() != self.recheck.to_bits())),
            ("--polluters", typed.polluters.is_some_and(|it| it != self.polluters)),
            ("--victim", typed.victim.as_ref().is_some_and(is_other_victim)),
            ("--isolation", typed.isolation.is_some_and(|it| it.isolation() != self.isolation)),
            ("--kinds", !typed.kinds.is_empty() && typed.kinds != self.sought),
            ("--shuffles", typed.shuffles.is_some() && typed.shuffles != self.shuffles),
            ("--tidy", typed.tidy && !self.tidy),
            ("--timeout", typed.timeout.is_some_and(|it| Some(it.0) != self.timeout)),
            ("--diff", typed.diff.is_some() && typed.diff != self.diff),
        ];
        let other = options.into_iter().find(|(_, is_other)| *is_other).map(|(name, _)| name);
        other.or_else(|| self.strategy.contradicted_by(typed))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use flakeproof_core::SuiteTest;

    use super::*;
    use crate::cli::{Cli, Command};

    fn typed(words: &str) -> HuntArguments {
        let words = format!("flakeproof hunt {words}");
        match Cli::try_parse_from(words.split_whitespace()).expect("is well formed").command {
            Command::Hunt(arguments) => arguments,
            other => panic!("not a hunt: {other:?}"),
        }
    }

    fn resolved(words: &str) -> HuntSettings {
        let folder = tempfile::tempdir().unwrap();
        HuntSettings::resolve(&typed(words), folder.path(), StrategyName::Off).unwrap()
    }

    fn suite(tests: usize) -> Suite {
        let test = |number| SuiteTest { id: format!("t.py::test_{number}").into(), location: None };
        Suite { tests: (0..tests).map(test).collect(), problems: Vec::new() }
    }

    #[test]
    fn without_options_it_is_the_default_hunt_of_pytest() {
        let settings = resolved("");
        let default = hunt::HuntSettings::default();
        assert_eq!(settings.command, ["pytest"]);
        assert_eq!(settings.asked.runs, default.runs);
        assert_eq!(settings.asked.kinds, default.kinds);
        assert_eq!(settings.asked.orders_of(&suite(7), Seed(1)), default.orders);
    }

    #[test]
    fn a_square_alone_is_run_whole() {
        let orders = |words: &str| resolved(words).asked.orders_of(&suite(7), Seed(1));
        assert_eq!(orders("--order-kind tuscan"), 8);
        assert_eq!(orders("--order-kind reverse,tuscan"), 9);
        assert_eq!(orders("--order-kind tuscan --orders 3"), 3);
        assert_eq!(orders("--order-kind tuscan --order-kind tests"), 20);
    }

    #[test]
    fn what_was_asked_for_survives_the_record() {
        let asked =
            resolved("--recheck 35% --timeout 1.5s --victim test_1 --polluters prefix").asked;
        let kept = serde_json::to_string(&asked).unwrap();
        assert_eq!(serde_json::from_str::<Asked>(&kept).unwrap(), asked);
    }

    #[test]
    fn only_a_typed_option_that_says_something_else_contradicts() {
        let asked = resolved("-n 5 --victim t.py::test_1 --recheck 35%").asked;
        let contradiction = |words: &str| asked.contradicted_by(&typed(words));
        assert_eq!(contradiction("--resume --budget 5m -j 8"), None);
        assert_eq!(contradiction("--resume -n 5 --victim test_1 --recheck 35%"), None);
        assert_eq!(contradiction("-n 6"), Some("--runs"));
        assert_eq!(contradiction("--victim test_2"), Some("--victim"));
        assert_eq!(contradiction("--isolation spawn"), Some("--isolation"));
        assert_eq!(contradiction("--steer plan"), Some("--steer"));
        assert_eq!(contradiction("--diff main"), Some("--diff"));
        assert_eq!(contradiction("--kinds id"), Some("--kinds"));
    }

    #[test]
    fn kinds_are_the_usual_ones_unless_others_are_named() {
        let sought = |words: &str| resolved(words).asked.sought();
        assert_eq!(sought(""), Sought::Usual);
        assert_eq!(sought("--kinds id"), Sought::ImplementationDependent);
        assert_eq!(sought("--kinds usual,id"), Sought::All);
    }

    fn refused(words: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        HuntSettings::resolve(&typed(words), folder.path(), StrategyName::Off).unwrap_err().what
    }

    #[test]
    fn a_plan_runs_the_suite_twice_before_it_chooses() {
        assert_eq!(resolved("--steer plan").asked.runs, 2);
        assert_eq!(resolved("--steer plan -n 4").asked.runs, 4);
        assert_eq!(resolved("--steer cannier").asked.runs, 10);
    }

    #[test]
    fn a_budget_is_spent_by_a_plan_unless_somebody_says_how() {
        assert_eq!(resolved("--budget 5m").asked.strategy.name(), StrategyName::Plan);
        assert_eq!(resolved("--budget 5m --steer off").asked.strategy.name(), StrategyName::Off);
        let counted = resolved("--budget 5m --max-reruns 3").asked.strategy.name();
        assert_eq!(counted, StrategyName::Off);
    }

    #[test]
    fn the_usual_steers_where_nobody_says_what() {
        let folder = tempfile::tempdir().unwrap();
        let name = |words: &str| {
            let settings = HuntSettings::resolve(&typed(words), folder.path(), StrategyName::Plan);
            settings.unwrap().asked.strategy.name()
        };
        assert_eq!(name(""), StrategyName::Plan);
        assert_eq!(name("--steer off"), StrategyName::Off);
        assert_eq!(name("--budget 5m --max-reruns 3"), StrategyName::Plan);
        assert_eq!(name("--victim test_1"), StrategyName::Off);
        std::fs::write(folder.path().join("flakeproof.toml"), "steer = 'cannier'").unwrap();
        assert_eq!(name(""), StrategyName::Cannier);
        assert_eq!(name("--diff main"), StrategyName::Plan);
    }

    #[test]
    fn thresholds_are_those_of_the_paper_where_only_one_is_typed() {
        let thresholds = |words: &str| match resolved(words).asked.strategy {
            StrategyOptions::Cannier { thresholds } => {
                thresholds.map(|it| (it.lower(), it.upper()))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(thresholds("--steer cannier"), None);
        assert_eq!(thresholds("--steer cannier --lower 0.2"), Some((0.2, 1.01)));
        assert_eq!(thresholds("--steer cannier --upper 0.9"), Some((0.07, 0.9)));
        assert!(refused("--steer cannier --lower 0.9 --upper 0.1").contains("not in order"));
    }

    #[test]
    fn a_number_that_changes_nothing_is_a_mistake() {
        assert!(refused("--lower 0.1").contains("only with `--steer cannier`"));
        assert!(refused("--steer cannier --hidden 5%").contains("only with `--steer plan`"));
        assert!(refused("--steer cannier --diff main").contains("`--diff`"));
    }

    #[test]
    fn a_hunt_that_goes_on_keeps_what_steers_it() {
        let asked = resolved("--steer cannier --lower 0.1 --upper 0.9").asked;
        let contradiction = |words: &str| asked.contradicted_by(&typed(words));
        assert_eq!(contradiction("--resume --lower 0.1"), None);
        assert_eq!(contradiction("--resume --upper 1.01"), Some("--upper"));
        assert_eq!(contradiction("--resume --hidden 10%"), Some("--hidden"));
        let kept = serde_json::to_string(&asked).unwrap();
        assert_eq!(serde_json::from_str::<Asked>(&kept).unwrap(), asked);
    }

    #[test]
    fn a_pull_request_waits_five_minutes_unless_it_is_told_otherwise() {
        let budget = |words: &str| {
            let settings = resolved(words);
            settings.budget_of(&settings.asked)
        };
        assert_eq!(budget(""), None);
        assert_eq!(budget("--diff main"), Some(Duration::from_secs(300)));
        assert_eq!(budget("--diff main --budget 30s"), Some(Duration::from_secs(30)));
        assert_eq!(budget("--diff main --budget 0"), None);
    }
}
