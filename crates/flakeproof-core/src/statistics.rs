//! What a number of executions can and cannot say.

use serde::{Deserialize, Serialize};

use crate::Tally;

/// The share of passes that `failures` failures in a row do not rule out.
///
/// A test that passes more often than this would have shown a pass with the given confidence;
/// "failed 5 of 5" leaves room for a test that passes up to 45 % of the time (95 %).
///
/// ```
/// let bound = flakeproof_core::statistics::pass_rate_not_ruled_out(5, 0.95);
/// assert!((bound - 0.451).abs() < 0.001);
/// ```
#[must_use]
pub fn pass_rate_not_ruled_out(failures: u32, confidence: f64) -> f64 {
    if failures == 0 {
        return 1.0;
    }
    1.0 - (1.0 - confidence).powf(1.0 / f64::from(failures))
}

/// The runs without a failure after which a test that fails at this rate would have shown itself
/// with the given confidence: the smallest `n` with `(1 - rate)^n <= 1 - confidence`.
///
/// At least one, and no more than fit into the number.
///
/// ```
/// use flakeproof_core::statistics::clean_runs_needed;
///
/// assert_eq!(clean_runs_needed(0.05, 0.95), 59);
/// assert_eq!(clean_runs_needed(1.0, 0.95), 1);
/// ```
#[must_use]
pub fn clean_runs_needed(rate: f64, confidence: f64) -> u32 {
    // Where the quotient is whole, rounding must not make it one more.
    const NOISE: f64 = 1e-9;
    let runs = (-confidence).ln_1p() / (-rate).ln_1p();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a rate of 0 needs more runs than can be made"
    )]
    let runs = (runs - NOISE).ceil() as u32;
    if rate <= 0.0 { u32::MAX } else { runs.max(1) }
}

/// A failure rate with the interval in which it lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Failures per run.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The failure rate behind a tally, with the interval that holds it with 95 % (Jeffreys's prior).
///
/// Without failures the lower end is 0 and the upper end is what could have been missed.
///
/// ```
/// use flakeproof_core::{Tally, statistics::failure_rate};
///
/// let rate = failure_rate(Tally { runs: 50, failures: 0 });
/// assert_eq!(rate.mean, 0.0);
/// assert!((rate.high - 0.058).abs() < 0.001, "1 of 17 would have shown itself");
/// ```
#[must_use]
pub fn failure_rate(tally: Tally) -> Rate {
    const CONFIDENCE: f64 = 0.95;
    let (runs, failures) = (f64::from(tally.runs), f64::from(tally.failures.min(tally.runs)));
    if tally.runs == 0 {
        return Rate { mean: 0.0, low: 0.0, high: 1.0 };
    }
    let shape = (failures + 0.5, runs - failures + 0.5);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let low = if failures == 0.0 { 0.0 } else { beta_quantile(shape, tail) };
    let high = match tally.failures {
        0 => pass_rate_not_ruled_out(tally.runs, CONFIDENCE),
        all if all >= tally.runs => 1.0,
        _ => beta_quantile(shape, 1.0 - tail),
    };
    let low = if tally.always_fails() {
        1.0 - pass_rate_not_ruled_out(tally.runs, CONFIDENCE)
    } else {
        low
    };
    Rate { mean: failures / runs, low, high }
}

/// The smallest number that a Poisson number does not exceed with some confidence.
///
/// ```
/// use flakeproof_core::statistics::poisson_quantile;
///
/// assert_eq!(poisson_quantile(0.05, 0.95), 0);
/// assert_eq!(poisson_quantile(2.0, 0.95), 5);
/// ```
#[must_use]
pub fn poisson_quantile(mean: f64, confidence: f64) -> u32 {
    let (mut term, mut sum, mut number) = ((-mean).exp(), 0.0, 0);
    loop {
        sum += term;
        // Beyond what a double can hold, the mean and two deviations will do.
        if sum >= confidence || term == 0.0 {
            break;
        }
        number += 1;
        term *= mean / f64::from(number);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let wide = (mean + 1.65 * mean.sqrt()).ceil() as u32;
    if sum >= confidence { number } else { wide }
}

/// The chance that so many failures or more fall on the second of two samples, where nothing differs
/// between them: Fisher's exact test of one side.
///
/// ```
/// # use flakeproof_core::Tally;
/// # use flakeproof_core::statistics::chance_of_as_many_more;
/// let before = Tally { runs: 12, failures: 0 };
/// let now = |failures| Tally { runs: 12, failures };
/// assert!((chance_of_as_many_more(before, now(4)) - 0.047).abs() < 0.001);
/// assert_eq!(chance_of_as_many_more(before, now(0)), 1.0);
/// ```
#[must_use]
pub fn chance_of_as_many_more(before: Tally, now: Tally) -> f64 {
    let ln_choices = |of: u32, taken: u32| {
        ln_gamma(f64::from(of) + 1.0)
            - ln_gamma(f64::from(taken) + 1.0)
            - ln_gamma(f64::from(of - taken) + 1.0)
    };
    let failures = before.failures + now.failures;
    let of_all = ln_choices(before.runs + now.runs, failures);
    let so_many = |here: u32| {
        let there = failures - here;
        (ln_choices(now.runs, here) + ln_choices(before.runs, there) - of_all).exp()
    };
    // Never more than there are runs for on either side.
    let least = failures.saturating_sub(before.runs);
    if now.failures <= least {
        return 1.0;
    }
    (now.failures..=failures.min(now.runs)).map(so_many).sum::<f64>().min(1.0)
}

/// Where a beta distribution has this much below it.
fn beta_quantile(shape: (f64, f64), below: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta_below(shape, middle) < below { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The share of a beta distribution below a value: the regularised incomplete beta function, by its
/// continued fraction (Lentz). No crate is worth its build for these forty lines.
fn beta_below((a, b): (f64, f64), at: f64) -> f64 {
    if at <= 0.0 || at >= 1.0 {
        return at.clamp(0.0, 1.0);
    }
    // The fraction converges fast below the mean, and the other side mirrors it.
    if at > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below((b, a), 1.0 - at);
    }
    let front = a * at.ln() + b * (1.0 - at).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() * continued_fraction(a, b, at) / a
}

fn continued_fraction(a: f64, b: f64, at: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * at / (a + 1.0));
    let mut fraction = d;
    for step in 1..300 {
        let m = f64::from(step);
        let even = m * (b - m) * at / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * at / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function (Lanczos, g = 7).
fn ln_gamma(value: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let value = value - 1.0;
    let places = (1..).map(f64::from);
    let sum = TERMS.iter().zip(places).map(|(term, place)| term / (value + place)).sum::<f64>();
    let base = value + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (value + 0.5) * base.ln() - base
        + (sum + 0.999_999_999_999_809_9).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // From SciPy: beta.ppf([.025, .975], failures + .5, runs - failures + .5).
        for (runs, failures, low, high) in [
            (20, 1, 0.005_449, 0.210_819),
            (10, 5, 0.223_529, 0.776_471),
            (100, 3, 0.008_520, 0.077_888),
        ] {
            let rate = failure_rate(Tally { runs, failures });
            assert!((rate.low - low).abs() < 2e-6, "{rate:?}");
            assert!((rate.high - high).abs() < 2e-6, "{rate:?}");
        }
    }

    #[test]
    fn the_rate_lies_in_its_interval() {
        for runs in 0..60 {
            for failures in 0..=runs {
                let rate = failure_rate(Tally { runs, failures });
                assert!(0.0 <= rate.low && rate.low <= rate.mean && rate.mean <= rate.high);
                assert!(rate.high <= 1.0);
            }
        }
    }

    #[test]
    fn nothing_seen_rules_nothing_out() {
        assert!((pass_rate_not_ruled_out(0, 0.95) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn clean_runs_are_those_worked_by_hand() {
        for (rate, confidence, runs) in
            [(0.5, 0.75, 2), (0.5, 0.95, 5), (0.03, 0.95, 99), (1.0 / 30.0, 0.95, 89)]
        {
            assert_eq!(clean_runs_needed(rate, confidence), runs, "{rate} {confidence}");
        }
        assert_eq!(clean_runs_needed(0.01, 0.99), 459);
        assert_eq!(clean_runs_needed(0.0, 0.95), u32::MAX);
    }

    #[test]
    fn a_smaller_rate_needs_more_runs() {
        let runs: Vec<u32> =
            (1..1000).map(|it| clean_runs_needed(f64::from(it) / 1000.0, 0.95)).collect();
        assert!(runs.is_sorted_by(|a, b| a >= b));
    }

    proptest! {
        #[test]
        fn more_failures_are_never_likelier(
            (runs, failures) in (1_u32..60).prop_flat_map(|runs| (Just(runs), 0..=runs)),
            (runs_now, failures_now) in (2_u32..60).prop_flat_map(|runs| (Just(runs), 1..=runs)),
        ) {
            let before = Tally { runs, failures };
            let now = |failures| Tally { runs: runs_now, failures };
            let (fewer, more) = (failures_now - 1, failures_now);
            let chance = |failures| chance_of_as_many_more(before, now(failures));
            prop_assert!((0.0..=1.0).contains(&chance(more)));
            // Each is a test of its own, since all failures together are part of the condition.
            prop_assert!(chance(more) <= chance(fewer) + 1e-9, "{} {}", chance(more), chance(fewer));
        }

        #[test]
        fn the_clean_runs_are_enough_and_not_one_too_many(
            rate in 1e-5f64..1.0, confidence in 0.01f64..0.999,
        ) {
            let runs = clean_runs_needed(rate, confidence);
            let missed = |runs: u32| (1.0 - rate).powf(f64::from(runs));
            prop_assert!(missed(runs) <= (1.0 - confidence) * (1.0 + 1e-6));
            prop_assert!(runs == 1 || missed(runs - 1) > (1.0 - confidence) * (1.0 - 1e-6));
        }
    }

    #[test]
    fn more_failures_leave_less_room() {
        let rates: Vec<f64> = (1..50).map(|n| pass_rate_not_ruled_out(n, 0.95)).collect();
        assert!(rates.is_sorted_by(|a, b| a > b));
    }
}
