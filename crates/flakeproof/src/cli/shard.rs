//! `--shard`, and `flakeproof shard`: what can be typed, and which shard is meant by it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use flakeproof_core::Shard;
use flakeproof_runner::ParallelJob;
use flakeproof_store::{ObjectsAddress, StoreLocation};

use crate::problem::Problem;
use crate::settings::StoreName;

/// Print the tests that are this machine's, where several machines share a suite.
///
/// Every test is in exactly one shard. They are shared by the times in the history, so that all machines
/// end at about the same time.
#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// Which shard this is, as `2/4`; `auto` asks the variables of the CI system.
    #[arg(long, value_name = "I/N|auto", env = "FLAKEPROOF_SHARD")]
    pub(crate) shard: ShardChoice,
    /// Keep files whole, and print them instead of tests.
    #[arg(long)]
    pub(crate) files: bool,
    /// Read the tests, or files, from the lines of a file, `-` is stdin [default: ask the runner].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "adapter", "command"])]
    pub(crate) tests: Option<PathBuf>,
    /// How to print them.
    #[arg(long, value_name = "FORMAT", default_value = "lines")]
    pub(crate) output_format: ShardFormat,
    /// The adapter that finds the tests [default: what the command says].
    #[arg(long, value_name = "NAME", env = "FLAKEPROOF_ADAPTER")]
    pub(crate) adapter: Option<String>,
    /// The history: a file, or a team's `postgres://…` [default: `.flakeproof/history.db` in the project].
    #[arg(long, value_name = "PATH|URL", env = "FLAKEPROOF_STORE")]
    pub(crate) store: Option<StoreName>,
    /// The command that runs your tests.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "tests")]
    pub(crate) command: Vec<String>,
}

/// How the tests of a shard are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShardFormat {
    Lines,
    Json,
}

/// A shard as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShardChoice {
    /// This one.
    Named(Shard),
    /// The one that the CI system says, of so many where it says only which.
    Auto(Option<u64>),
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix("auto") else {
            return text
                .parse()
                .map(Self::Named)
                .map_err(|why: flakeproof_core::NoSuchShard| why.to_string());
        };
        match rest.strip_prefix('/').map(str::parse) {
            None if rest.is_empty() => Ok(Self::Auto(None)),
            Some(Ok(of)) => Ok(Self::Auto(Some(of))),
            None | Some(Err(_)) => Err(format!(
                "`{text}` is no shard: write `auto`, or `auto/4` where only the number is not known"
            )),
        }
    }
}

impl ShardChoice {
    /// The shard that is meant where these are the environment variables.
    pub(crate) fn resolve(self, variables: &BTreeMap<String, String>) -> Result<Shard, Problem> {
        let total = match self {
            Self::Named(shard) => return Ok(shard),
            Self::Auto(total) => total,
        };
        let by_hand = "write `--shard 2/4`, or set FLAKEPROOF_SHARD_INDEX (from 0) and \
                       FLAKEPROOF_SHARD_TOTAL";
        let job =
            ParallelJob::read(variables).map_err(|why| Problem::usage(why.to_string(), by_hand))?;
        let job = job.ok_or_else(|| {
            Problem::usage("no variable of a CI system says which shard this is", by_hand)
        })?;
        let of = match (total, job.of) {
            (Some(typed), Some(told)) if typed != told => {
                let what =
                    format!("{} says that there are {told} jobs, and not {typed}", job.variable);
                return Err(Problem::usage(what, "write `--shard auto`"));
            }
            (Some(of), _) | (None, Some(of)) => of,
            (None, None) => {
                let what =
                    format!("{} says which shard this is, and nothing of how many", job.variable);
                return Err(Problem::usage(what, "give their number: `--shard auto/4`"));
            }
        };
        Shard::new(job.number, of).map_err(|why| {
            let what = format!("{} says which shard this is, and {why}", job.variable);
            Problem::usage(what, by_hand)
        })
    }
}

/// The machines that go through a hunt together, and which of them this is.
#[derive(Debug, Clone)]
pub(crate) struct ShardSettings {
    pub(crate) shard: Shard,
    /// Where they meet.
    pub(crate) address: ObjectsAddress,
}

impl ShardSettings {
    pub(super) fn resolve(choice: ShardChoice, store: &StoreLocation) -> Result<Self, Problem> {
        let shard = choice.resolve(&std::env::vars().collect())?;
        let (what, next) = match store {
            StoreLocation::Objects(address) => {
                return Ok(Self { shard, address: address.clone() });
            }
            StoreLocation::Postgres(_) => (
                format!("shards of a hunt meet in an object store, and the history is {store}"),
                "with PostgreSQL, `flakeproof hunt --fleet NAME` and `flakeproof worker --fleet NAME` share a \
                 hunt",
            ),
            StoreLocation::Project(_) | StoreLocation::File(_) => (
                format!("shards of a hunt meet in an object store, and the history is {store}"),
                "name one that all machines reach: `--store s3://bucket/path`, or `--store file:///folder`",
            ),
        };
        Err(Problem::usage(what, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(typed: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let choice: ShardChoice = typed.parse()?;
        let shard = choice.resolve(&variables.collect());
        shard.map(|shard| shard.to_string()).map_err(|problem| problem.what)
    }

    #[test]
    fn auto_is_what_the_system_says() {
        let gitlab = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "4")];
        assert_eq!(meant("auto", &gitlab).as_deref(), Ok("2/4"));
        assert_eq!(meant("auto/4", &gitlab).as_deref(), Ok("2/4"));
        assert_eq!(meant("3/4", &gitlab).as_deref(), Ok("3/4"));
        assert_eq!(meant("auto/8", &[("JOB_COMPLETION_INDEX", "7")]).as_deref(), Ok("8/8"));
    }

    #[test]
    fn what_is_not_said_is_asked_for() {
        let why = |typed: &str, variables: &[(&str, &str)]| meant(typed, variables).unwrap_err();
        assert!(why("auto", &[]).contains("no variable"));
        assert!(why("auto", &[("JOB_COMPLETION_INDEX", "7")]).contains("nothing of how many"));
        assert!(why("auto/4", &[("JOB_COMPLETION_INDEX", "7")]).contains("no shard 8 of 4"));
        let gitlab = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "4")];
        assert!(why("auto/3", &gitlab).contains("4 jobs, and not 3"));
        assert!(
            why("auto", &[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")]).contains("no shard 0")
        );
        for typed in ["auto/", "auto/x", "automatic", "0/4", "5/4", "a/b", "1/0", "", "4"] {
            assert!(meant(typed, &gitlab).is_err(), "{typed}");
        }
    }
}
