//! What a test's history comes to, in words.

use flakeproof_core::statistics::Rate;
use flakeproof_core::{Standing, Tally, TestScore};

use super::phrases::{counted, percent};

/// The sentence for a standing, which says what was seen and no more.
#[must_use]
pub fn standing(standing: Option<Standing>) -> &'static str {
    match standing {
        Some(Standing::Flaky) => "it passed and failed on the same code",
        Some(Standing::Broken) => "it fails in every run of late, and passed on none of that code",
        Some(Standing::Unexplained) => "it failed, and nobody knows whether that was the code",
        Some(Standing::Mended) => {
            "it was flaky, and has passed so often since that it would have failed again"
        }
        Some(Standing::Steady) => "it never failed, outages left out",
        None => "it ran to an end in no run",
    }
}

/// How often a test fails on unchanged code, with the interval that holds the rate with 95 %.
#[must_use]
pub fn score(score: &TestScore) -> String {
    let Tally { runs, failures } = score.proven;
    if runs == 0 && score.unexplained == 0 {
        return "never ran to its end, so nothing can be said about its rate".to_owned();
    }
    let interval = interval(score.rate);
    if runs == 0 {
        let failures = counted(score.unexplained as usize, "run");
        return format!("failed all {failures}, and passed on none of that code");
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

/// What is to be known about failures on code on which a test never passed; `None` if it has none.
#[must_use]
pub fn unexplained(score: &TestScore) -> Option<String> {
    let failures = counted(score.unexplained as usize, "failure");
    (score.unexplained > 0).then(|| {
        format!(
            "{failures} on code on which it never passed: real or flaky, nobody knows; the upper \
             end of the interval counts them too"
        )
    })
}

/// An interval of rates: `1.1 % to 4.5 %`.
#[must_use]
pub fn interval(rate: Rate) -> String {
    format!("{} to {}", percent(rate.low), percent(rate.high))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
            rate: failure_rate(proven),
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
}
