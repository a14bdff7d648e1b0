//! What is asked of source alone, as it is typed: `flakeproof predict`, `explain` and `graph`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

/// Say which tests look flaky, from their source alone. Nothing is run.
///
/// Rules name what is known to make tests flaky, and the line. A model compares every test, the code
/// around it and the data that flows into its assertions with tests whose flakiness is known. A suspect is no proof, so it does not fail a build unless you say so.
/// Exits with 4 if there is no test.
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// Files and folders to look in.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only tests that were added or changed since your branch left this revision [default: all].
    #[arg(long, value_name = "BASE")]
    pub(crate) diff: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
    /// Ask no model: only rules say which tests look flaky.
    #[arg(long)]
    pub(crate) rules_only: bool,
    /// Write a report: `json=FILE`, `sarif=FILE`, `github=FILE`, `markdown=FILE`; `-` is stdout.
    /// Repeatable.
    #[arg(long, value_name = "TYPE=PATH", env = "FLAKEPROOF_PREDICT_REPORTER")]
    pub(crate) reporter: Vec<PredictionReporter>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: PredictionFormat,
    /// How many suspects to show in full.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) show: usize,
    /// Read everything anew, and keep nothing of it in `.flakeproof/cache`.
    #[arg(long, env = "FLAKEPROOF_NO_CACHE")]
    pub(crate) no_cache: bool,
    /// Exit with 1 if a test looks flaky.
    #[arg(long)]
    pub(crate) fail_on_suspects: bool,
}

/// Say what is known about one test: why it looks flaky, and what it resembles; or what a word of the
/// output means.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The test, by its id or the end of it; or a word such as `brittle`.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Files and folders to look in.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
    /// Read everything anew, and keep nothing of it in `.flakeproof/cache`.
    #[arg(long, env = "FLAKEPROOF_NO_CACHE")]
    pub(crate) no_cache: bool,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: PredictionFormat,
}

/// Which rules are followed.
#[derive(Debug, Args)]
pub(crate) struct RuleArguments {
    /// Only these rules: ids (FP020), names, beginnings of ids (FP02), or `all` [default: those that
    /// are on].
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,
    /// None of these rules.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
}

/// Which model speaks, and how sure it must be.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The model [default: `.flakeproof/jury.model` or `.flakeproof/flast.model` in the project, else
    /// the one inside the program].
    #[arg(long, value_name = "MODEL", env = "FLAKEPROOF_MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// When to call a test flaky: `balanced`, `careful` (few false alarms), or a probability.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "balanced",
        env = "FLAKEPROOF_PREDICT_THRESHOLD"
    )]
    pub(crate) threshold: ThresholdChoice,
    /// The largest share of a project's tests that may be suspects by the model, those with the highest
    /// scores [default: 4% for the model inside the program, 100% for one of your own, or where
    /// `--threshold` is a probability].
    #[arg(long, value_name = "N%", env = "FLAKEPROOF_PREDICT_MAX_SUSPECTS")]
    pub(crate) max_suspects: Option<MostSuspects>,
}

/// The largest share of a project's tests that may be suspects, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MostSuspects(u8);

impl MostSuspects {
    /// As many as a person looks through: one test in 25.
    pub(crate) const USUAL: Self = Self(4);
    /// No matter how many.
    pub(crate) const ALL: Self = Self(100);

    /// The share, from 0 to 1.
    pub(crate) fn share(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl FromStr for MostSuspects {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse().ok());
        percent
            .filter(|percent| (1..=100).contains(percent))
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no share from `1%` to `100%`"))
    }
}

/// When to call a test flaky.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ThresholdChoice {
    Balanced,
    Careful,
    Probability(f64),
}

impl FromStr for ThresholdChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "balanced" => Ok(Self::Balanced),
            "careful" => Ok(Self::Careful),
            number => number
                .parse()
                .ok()
                .filter(|number| (0.0..=1.0).contains(number))
                .map(Self::Probability)
                .ok_or_else(|| {
                    format!("`{text}` is neither `balanced` nor `careful` nor a number from 0 to 1")
                }),
        }
    }
}

/// How to print predictions on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictionFormat {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// Markdown.
    Markdown,
}

/// A report to write, as `type=path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PredictionReporter {
    pub(crate) format: PredictionFormat,
    pub(crate) path: PathBuf,
}

impl FromStr for PredictionReporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = "write json=FILE, sarif=FILE, github=FILE or markdown=FILE";
        let (format, path) = text
            .split_once('=')
            .filter(|(_, path)| !path.is_empty())
            .ok_or_else(|| format!("`{text}` names no file: {advice}"))?;
        let format = match format {
            "json" => PredictionFormat::Json,
            "sarif" => PredictionFormat::Sarif,
            "github" => PredictionFormat::Github,
            "markdown" => PredictionFormat::Markdown,
            other => return Err(format!("there is no reporter `{other}`: {advice}")),
        };
        Ok(Self { format, path: path.into() })
    }
}

/// Draw how values flow through one test into what it asserts. Nothing is run.
///
/// Follows values from where they begin (a literal, a field, the clock) through set-up, fixtures,
/// helpers and calls into the code under test. Understands Java, Python, JavaScript, TypeScript, Go
/// and Rust. The code under test is looked for in the current folder.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Files and folders to look for the test in.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to draw it.
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: GraphFormat,
    /// Write it to this file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How many paths to show as text.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) show: usize,
}

/// How to draw a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// The paths on the code itself, for people.
    Text,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// One JSON document.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_name_or_a_probability() {
        assert_eq!("careful".parse(), Ok(ThresholdChoice::Careful));
        assert_eq!("0.7".parse(), Ok(ThresholdChoice::Probability(0.7)));
        assert!("7".parse::<ThresholdChoice>().is_err());
        assert!("NaN".parse::<ThresholdChoice>().is_err());
    }

    #[test]
    fn most_suspects_are_a_share_of_the_tests() {
        assert_eq!("4%".parse(), Ok(MostSuspects::USUAL));
        assert_eq!("100 %".parse(), Ok(MostSuspects::ALL));
        for wrong in ["0%", "4", "101%", "4.5%", "%"] {
            assert!(wrong.parse::<MostSuspects>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reporter_needs_a_known_type_and_a_file() {
        assert!("sarif=out.sarif".parse::<PredictionReporter>().is_ok());
        assert!("junit=out.xml".parse::<PredictionReporter>().is_err());
        assert!("sarif=".parse::<PredictionReporter>().is_err());
    }
}
