//! Single values, read alike from the command line and from a file.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use flakeproof_core::{Isolation, OrderKind};
use regex::Regex;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A time as people write it: `30s`, `1m30s`, `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HumanDuration(pub(crate) Duration);

impl FromStr for HumanDuration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("`{text}` is not a time: write for example 30s, 1m30s or 500ms");
        if let Ok(seconds) = text.parse::<f64>() {
            return Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| advice());
        }
        let time: jiff::SignedDuration = text.parse().map_err(|_| advice())?;
        Duration::try_from(time).map(Self).map_err(|_| advice())
    }
}

/// A number of tests, or a share of the suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    Tests(usize),
    /// From 0 to 1.
    Share(f64),
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("`{text}` is neither a number of tests (10) nor a share (5%)");
        match text.trim().strip_suffix('%') {
            Some(percent) => percent
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|percent| (0.0..=100.0).contains(percent))
                .map(|percent| Self::Share(percent / 100.0))
                .ok_or_else(advice),
            None => text.trim().parse().map(Self::Tests).map_err(|_| advice()),
        }
    }
}

/// A share, from 0 to 1: `20%` or `0.2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, whole) = match text.trim().strip_suffix('%') {
            Some(percent) => (percent.trim().parse::<f64>(), 100.0),
            None => (text.trim().parse::<f64>(), 1.0),
        };
        number
            .ok()
            .map(|number| number / whole)
            .filter(|share| (0.0..=1.0).contains(share))
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a share: write for example 20% or 0.2"))
    }
}

/// How sure a verdict must be, between 0 and 1: `95%` or `0.95`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Confidence(pub(crate) f64);

impl FromStr for Confidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = text.parse::<Share>().ok().map(|share| share.0);
        share
            .filter(|share| 0.0 < *share && *share < 1.0)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no confidence: write for example 95% or 0.99"))
    }
}

/// How often a test failed, above 0: `3%`, `0.03` or `1/30`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Was(pub(crate) f64);

impl FromStr for Was {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rate = match text.split_once('/') {
            Some((failures, runs)) => {
                let number = |text: &str| text.trim().parse::<u32>().ok().map(f64::from);
                number(failures).zip(number(runs)).map(|(failures, runs)| failures / runs)
            }
            None => text.parse::<Share>().ok().map(|share| share.0),
        };
        rate.filter(|rate| 0.0 < *rate && *rate <= 1.0).map(Self).ok_or_else(|| {
            format!("`{text}` is no rate of failures: write for example 3%, 0.03 or 1/30")
        })
    }
}

/// A way to order a suite, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderName(pub(crate) OrderKind);

impl FromStr for OrderName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = OrderKind::ALL.into_iter().find(|kind| kind.word() == text);
        kind.map(Self).ok_or_else(|| {
            let words = OrderKind::ALL.map(OrderKind::word).join(", ");
            format!("there is no order `{text}`: write one of {words}")
        })
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(pub(crate) Regex);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Regex::new(text).map(Self).map_err(|error| error.to_string())
    }
}

/// A report to write, as `type=path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reporter {
    pub(crate) kind: ReporterKind,
    pub(crate) path: PathBuf,
}

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReporterKind {
    Json,
    Junit,
    Markdown,
}

impl FromStr for Reporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = "write json=FILE, junit=FILE or markdown=FILE";
        let (kind, path) =
            text.split_once('=').ok_or_else(|| format!("`{text}` names no file: {advice}"))?;
        let kind = match kind {
            "json" => ReporterKind::Json,
            "junit" => ReporterKind::Junit,
            "markdown" => ReporterKind::Markdown,
            other => return Err(format!("there is no reporter `{other}`: {advice}")),
        };
        if path.is_empty() {
            return Err(format!("`{text}` names no file: {advice}"));
        }
        Ok(Self { kind, path: path.into() })
    }
}

/// Reads a value from a string, or from a number where that says the same.
struct FromText<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        number.to_string().parse().map_err(E::custom)
    }
}

macro_rules! read_from_text {
    ($($kind:ty),*) => {
        $(impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(FromText(std::marker::PhantomData))
            }
        })*
    };
}

read_from_text!(HumanDuration, Limit, OrderName, Pattern, Reporter, Share);

/// How closely to measure what a failing test touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Dependencies {
    /// Not at all.
    Off,
    /// Which files.
    File,
    /// Which functions of the source files.
    Function,
}

/// How fresh environments are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Isolate {
    /// From a copy of the interpreter with everything imported.
    Fork,
    /// As new interpreters.
    Spawn,
}

impl Isolate {
    /// What the runner calls it.
    pub(crate) fn isolation(self) -> Isolation {
        match self {
            Self::Fork => Isolation::Fork,
            Self::Spawn => Isolation::Spawn,
        }
    }
}

/// Which kinds of flaky tests to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SoughtKind {
    /// By chance, or for what other tests leave behind.
    Usual,
    /// For an order that the language leaves open.
    Id,
}

/// How to look for the tests that make others fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Polluters {
    /// Every test before every other one.
    All,
    /// Every test before every victim.
    Pairs,
    /// One cause of each failure, out of the order in which it was seen.
    Prefix,
    /// Not at all.
    Off,
}

/// What a run with only flaky failures is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlakyResult {
    /// A success.
    Pass,
    /// A failure, with exit code 3.
    Fail,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<HumanDuration>().map(|time| time.0);
        assert_eq!(read("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(read("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(read("1.5"), Ok(Duration::from_millis(1500)));
        assert!(read("-1s").is_err());
        assert!(read("soon").is_err());
    }

    #[test]
    fn limits_are_counts_or_shares() {
        assert_eq!("12".parse(), Ok(Limit::Tests(12)));
        assert_eq!("5%".parse(), Ok(Limit::Share(0.05)));
        assert!("5 percent".parse::<Limit>().is_err());
        assert!("-3".parse::<Limit>().is_err());
        assert!("101%".parse::<Limit>().is_err());
    }

    #[test]
    fn shares_are_percents_or_fractions() {
        assert_eq!("20%".parse(), Ok(Share(0.2)));
        assert_eq!("0.2".parse(), Ok(Share(0.2)));
        assert!("20".parse::<Share>().is_err());
        assert!("a fifth".parse::<Share>().is_err());
    }

    #[test]
    fn rates_are_percents_fractions_or_counts() {
        assert_eq!("3%".parse(), Ok(Was(0.03)));
        assert_eq!("0.03".parse(), Ok(Was(0.03)));
        assert_eq!("1/4".parse(), Ok(Was(0.25)));
        for wrong in ["0", "0%", "3", "101%", "1/0", "0/0", "4/3", "-1/3", "often", "nan"] {
            assert!(wrong.parse::<Was>().is_err(), "{wrong}");
        }
        assert_eq!("95%".parse(), Ok(Confidence(0.95)));
        assert!("100%".parse::<Confidence>().is_err());
    }

    #[test]
    fn an_unknown_order_is_told_which_there_are() {
        assert_eq!("tuscan".parse(), Ok(OrderName(OrderKind::Tuscan)));
        assert!("random".parse::<OrderName>().is_err_and(|why| why.contains("classes, files")));
    }

    #[test]
    fn a_reporter_needs_a_known_type_and_a_file() {
        assert!("json=out.json".parse::<Reporter>().is_ok());
        assert!("xml=out.xml".parse::<Reporter>().is_err());
        assert!("json".parse::<Reporter>().is_err());
        assert!("json=".parse::<Reporter>().is_err());
    }
}
