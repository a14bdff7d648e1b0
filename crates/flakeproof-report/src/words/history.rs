//! What a project's history comes to: each test's, and the whole in one sentence, with the times
//! and costs around it.

use std::time::Duration;

use flakeproof_core::statistics::Rate;
use flakeproof_core::{Standing, Streak, Tally, TestScore};

use super::findings::{counted, percent};
use crate::overview::Totals;

/// The sentence for a standing, which says what was seen and no more.
#[must_use]
pub fn standing(standing: Option<Standing>) -> &'static str {
    match standing {
        Some(Standing::Flaky) => "it passed and failed on the same code",
        Some(Standing::Broken) => "its latest runs failed, on code on which it never passed",
        Some(Standing::Unexplained) => "it failed, and nobody knows whether that was the code",
        Some(Standing::Mended) => {
            "it was broken or flaky, and has passed so often since that it would have failed again"
        }
        Some(Standing::Steady) => "it never failed, outages left out",
        None => "it ran to an end in no run",
    }
}

/// Since when a broken test fails, or a mended one passes; `None` for any other.
#[must_use]
pub fn since(score: &TestScore) -> Option<String> {
    let streak = score.since.as_ref()?;
    let place = revision(streak);
    let runs = counted(streak.runs as usize, "run");
    match score.standing {
        Standing::Broken => Some(format!("fails since {place}, {} of {runs}", streak.runs)),
        Standing::Mended => Some(format!("mended since {place}, passed {} of {runs}", streak.runs)),
        Standing::Flaky | Standing::Unexplained | Standing::Steady => None,
    }
}

/// Where a streak began: its revision as people write it, else its time.
fn revision(streak: &Streak) -> String {
    let started = || minute(&streak.started);
    streak.revision.as_deref().map_or_else(started, |revision| short(revision).to_owned())
}

/// A revision as people write it: `83e14cb0a1`.
pub(crate) fn short(revision: &str) -> &str {
    const SHORT: usize = 10;
    revision.char_indices().nth(SHORT).map_or(revision, |(end, _)| &revision[..end])
}

/// How often a test fails on unchanged code, with the interval that holds the rate with 95 %.
#[must_use]
pub fn score(score: &TestScore) -> String {
    let interval = interval(score.rate);
    if let Some(Tally { runs, failures }) = score.hunted {
        let runs = counted(runs as usize, "execution");
        return format!("failed {failures} of {runs} in the hunt: {interval}");
    }
    let Tally { runs, failures } = score.proven;
    if runs == 0 && score.unexplained == 0 {
        return "never ran to its end, so nothing can be said about its rate".to_owned();
    }
    if runs == 0 {
        let failed = match score.unexplained {
            1 => "failed its only run".to_owned(),
            many => format!("failed all {many} runs"),
        };
        return format!("{failed}, and passed on none of that code");
    }
    let runs = counted(runs as usize, "run");
    if failures == 0 && score.unexplained > 0 {
        let unexplained = score.unexplained;
        return format!("passed {runs}, and failed {unexplained} on code on which it never passed");
    }
    if failures == 0 {
        let high = percent(score.rate.high);
        return format!(
            "passed all {runs} on code on which it can pass: a rate up to {high} is not ruled out"
        );
    }
    format!("failed {failures} of {runs} on code on which it also passes: {interval}")
}

/// How often a test fails on unchanged code, in a few words: `failed 7 of 310 (1.0 % to 4.4 %)`.
#[must_use]
pub fn rate(score: &TestScore) -> String {
    let Tally { runs, failures } = score.rated();
    if runs == 0 {
        return "rate not measured".to_owned();
    }
    let place = if score.hunted.is_some() { " in the hunt" } else { "" };
    format!("failed {failures} of {runs}{place} ({})", interval(score.rate))
}

/// What is to be known about failures on code on which a test never passed; `None` if it has none.
#[must_use]
pub fn unexplained(score: &TestScore) -> Option<String> {
    let failures = counted(score.unexplained as usize, "failure");
    (score.unexplained > 0).then(|| {
        format!(
            "{failures} on code on which it never passed: real or flaky, nobody knows; the upper \
             end of the interval counts each such code once"
        )
    })
}

/// What is to be known about failures that no rate counts; `None` if there are none.
#[must_use]
pub fn repeats(score: &TestScore) -> Option<String> {
    match score.repeats {
        0 => None,
        1 => Some("1 more failure repeats one on the same code, and no rate counts it".to_owned()),
        many => Some(format!(
            "{many} more failures repeat one on the same code, and no rate counts them"
        )),
    }
}

/// An interval of rates: `1.1 % to 4.5 %`.
#[must_use]
pub fn interval(rate: Rate) -> String {
    format!("{} to {}", percent(rate.low), percent(rate.high))
}

/// An overview in one sentence.
pub(crate) fn headline(totals: &Totals) -> String {
    let runs = counted(totals.runs, "run");
    if totals.tests == 0 {
        return "Nothing is known yet".to_owned();
    }
    let broken = match totals.broken {
        0 => String::new(),
        broken => format!(
            "; {} broken",
            if broken == 1 { "1 test is".into() } else { format!("{broken} tests are") }
        ),
    };
    match totals.flaky {
        0 => format!("No flaky test in {runs}{broken}"),
        flaky if totals.cost_seconds > 0.0 => {
            let flaky = counted(flaky, "flaky test");
            format!("{flaky} burnt {} of CI in {runs}{broken}", burnt(totals.cost()))
        }
        flaky => format!("{} in {runs}{broken}", counted(flaky, "flaky test")),
    }
}

/// A time of CI, in the unit that people think of it in.
#[must_use]
pub fn burnt(time: Duration) -> String {
    match time.as_secs_f64() {
        none if none <= 0.0 => "0 min".to_owned(),
        few if few < 60.0 => "under 1 min".to_owned(),
        some if some < 6_000.0 => format!("{:.0} min", some / 60.0),
        many => format!("{:.1} h", many / 3600.0),
    }
}

/// The days from the first run to the latest; `None` if there is none.
pub(crate) fn period(totals: &Totals) -> Option<String> {
    let (from, until) = (totals.from.as_deref()?, totals.until.as_deref()?);
    let (from, until) = (day(from), day(until));
    Some(if from == until { from } else { format!("{from} to {until}") })
}

/// `2026-11-16` of an RFC 3339 time stamp.
fn day(stamp: &str) -> String {
    stamp.chars().take(10).collect()
}

/// `2026-11-16 02:00` of an RFC 3339 time stamp.
pub(crate) fn minute(stamp: &str) -> String {
    stamp.chars().take(16).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use flakeproof_core::statistics::failure_rate;

    use super::*;

    fn scored(runs: u32, failures: u32, unexplained: u32) -> TestScore {
        let proven = Tally { runs, failures };
        TestScore {
            test: "test_a".into(),
            standing: Standing::Flaky,
            is_new: false,
            all: proven,
            proven,
            unexplained,
            outages: 0,
            repeats: 0,
            rate: failure_rate(proven),
            hunted: None,
            since: None,
            flaky_since: None,
            flip_rate: 0.0,
            entropy: 0.0,
            first_seen: String::new(),
            last_seen: String::new(),
            last_failed: None,
            cost: Duration::ZERO,
            failed_builds: 0,
        }
    }

    #[test]
    fn a_rate_says_on_what_code_it_was_seen() {
        assert_eq!(
            score(&scored(310, 7, 0)),
            "failed 7 of 310 runs on code on which it also passes: 1.0 % to 4.4 %"
        );
    }

    #[test]
    fn no_failure_is_not_a_rate_of_zero() {
        assert_eq!(
            score(&scored(50, 0, 0)),
            "passed all 50 runs on code on which it can pass: a rate up to 5.8 % is not ruled out"
        );
    }

    #[test]
    fn failures_on_code_that_never_passed_are_not_called_flaky() {
        assert_eq!(score(&scored(0, 0, 3)), "failed all 3 runs, and passed on none of that code");
        assert_eq!(
            score(&scored(18, 0, 5)),
            "passed 18 runs, and failed 5 on code on which it never passed"
        );
        assert_eq!(unexplained(&scored(3, 0, 0)), None);
        assert!(unexplained(&scored(3, 0, 1)).unwrap().starts_with("1 failure on code"));
    }

    #[test]
    fn the_headline_says_what_is_flaky_and_what_it_costs() {
        let totals = Totals {
            tests: 9,
            flaky: 3,
            runs: 24,
            cost_seconds: 3585.0,
            broken: 1,
            ..Totals::default()
        };
        assert_eq!(
            headline(&totals),
            "3 flaky tests burnt 60 min of CI in 24 runs; 1 test is broken"
        );
        assert_eq!(headline(&Totals::default()), "Nothing is known yet");
        let clean = Totals { tests: 9, runs: 1, ..Totals::default() };
        assert_eq!(headline(&clean), "No flaky test in 1 run");
    }

    #[test]
    fn a_cost_is_never_rounded_to_nothing() {
        let burnt = |seconds| burnt(Duration::from_secs(seconds));
        assert_eq!([0, 3, 90, 7200].map(burnt), ["0 min", "under 1 min", "2 min", "2.0 h"]);
    }

    #[test]
    fn a_short_rate_has_the_figures_of_the_long_one() {
        let (few, many) = (rate(&scored(310, 7, 0)), score(&scored(310, 7, 0)));
        assert_eq!(few, "failed 7 of 310 (1.0 % to 4.4 %)");
        assert!(many.ends_with("1.0 % to 4.4 %"), "{many}");
        let hunted = Tally { runs: 20, failures: 9 };
        let victim =
            TestScore { hunted: Some(hunted), rate: failure_rate(hunted), ..scored(9, 0, 0) };
        assert_eq!(rate(&victim), "failed 9 of 20 in the hunt (25 % to 66 %)");
        assert_eq!(score(&victim), "failed 9 of 20 executions in the hunt: 25 % to 66 %");
    }

    #[test]
    fn a_broken_test_says_since_when_it_fails_and_a_mended_one_since_when_it_passes() {
        let streak = |revision: Option<&str>| Streak {
            revision: revision.map(str::to_owned),
            started: "2026-11-16T02:00:00Z".into(),
            runs: 16,
        };
        let in_state = |standing, revision| TestScore {
            standing,
            since: Some(streak(revision)),
            ..scored(0, 0, 16)
        };
        let broken = since(&in_state(Standing::Broken, Some("83e14cb0a1f2")));
        assert_eq!(broken.as_deref(), Some("fails since 83e14cb0a1, 16 of 16 runs"));
        let mended = since(&in_state(Standing::Mended, None));
        let said = "mended since 2026-11-16 02:00, passed 16 of 16 runs";
        assert_eq!(mended.as_deref(), Some(said));
    }
}
