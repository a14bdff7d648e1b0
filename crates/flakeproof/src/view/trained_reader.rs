//! What a model that reads source has learned, as a person reads it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_learn::flast::{HoldOut, Level, ThresholdLevels};

use super::learning::{megabytes, share};
use super::predictions::count;
use super::printed;
use super::styles::STRONG;

/// A model that was written.
pub(crate) struct TrainedReader<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: usize,
    pub(crate) tests: usize,
    pub(crate) flaky: usize,
    pub(crate) projects: usize,
    pub(crate) hold_out: HoldOut,
    pub(crate) average_precision: Option<f64>,
    pub(crate) thresholds: ThresholdLevels,
    /// A line about each member.
    pub(crate) members: Vec<String>,
    pub(crate) time: Duration,
}

/// Say what was learned and what it is worth.
pub(crate) fn trained_reader(trained: &TrainedReader<'_>) {
    let _ = printed::out(&text(trained));
}

fn text(trained: &TrainedReader<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{STRONG}{}{STRONG:#}: {} flaky of {} tests from {}, {:.1} MB, in {:.1} s",
        trained.path.display(),
        trained.flaky,
        trained.tests,
        count(trained.projects, "project"),
        megabytes(trained.bytes),
        trained.time.as_secs_f64()
    );
    let unit = match trained.hold_out {
        HoldOut::Test => "tests held out (their classes were seen: expect less on new classes)",
        HoldOut::Class => "whole classes held out",
        HoldOut::Project => "whole projects held out",
    };
    let _ = writeln!(text, "with {unit}: average precision {}", share(trained.average_precision));
    let ThresholdLevels { balanced, careful, careful_precision } = trained.thresholds;
    level(&mut text, "balanced", balanced, "nothing is found");
    let none = format!("no threshold has {:.0} % of its alarms right", 100.0 * careful_precision);
    level(&mut text, "careful", careful, &none);
    text.push_str("members:\n");
    for member in &trained.members {
        let _ = writeln!(text, "  {member}");
    }
    text
}

fn level(text: &mut String, name: &str, level: Option<Level>, otherwise: &str) {
    let _ = match level {
        Some(level) => writeln!(
            text,
            "  {name:<9} precision {}, recall {}, MCC {:.2}",
            share(level.precision),
            share(level.recall),
            level.mcc
        ),
        None => writeln!(text, "  {name:<9} {otherwise}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_that_nothing_reaches_is_said_in_words() {
        let level = Level { from: 0.5, precision: Some(0.8), recall: Some(0.6), mcc: 0.65 };
        let trained = TrainedReader {
            path: Path::new("m"),
            bytes: 2_000_000,
            tests: 20,
            flaky: 5,
            projects: 1,
            hold_out: HoldOut::Class,
            average_precision: Some(0.7),
            thresholds: ThresholdLevels {
                balanced: Some(level),
                careful: None,
                careful_precision: 0.9,
            },
            members: vec!["words      weight 1.00".into()],
            time: Duration::from_secs(3),
        };
        let said = anstream::adapter::strip_str(&text(&trained)).to_string();
        let expected = "m: 5 flaky of 20 tests from 1 project, 2.0 MB, in 3.0 s\n\
                        with whole classes held out: average precision 0.700\n\
                        \x20 balanced  precision 0.800, recall 0.600, MCC 0.65\n\
                        \x20 careful   no threshold has 90 % of its alarms right\n\
                        members:\n\
                        \x20 words      weight 1.00\n";
        assert_eq!(said, expected);
    }
}
