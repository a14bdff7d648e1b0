//! What a hunt found, in words.

use flakeproof_core::statistics::failure_rate;
use flakeproof_core::{FlakyKind, Hidden, HuntEnd, HuntFindings, HuntedTest, Tally, TestId};

use super::findings::counted;
use super::history::interval;

/// The sentence for a kind of flaky test, which starts with the kind.
#[must_use]
pub fn flaky_kind(kind: FlakyKind) -> &'static str {
    match kind {
        FlakyKind::Nod => "NOD: passes and fails in the same order of tests",
        FlakyKind::Victim => "victim: passes alone and fails after other tests",
        FlakyKind::Brittle => "brittle: fails alone and passes after other tests",
        FlakyKind::Id => "ID: relies on an order that the language leaves open",
    }
}

/// How often a test failed, with the interval that holds its rate.
///
/// ```
/// use flakeproof_core::Tally;
///
/// let tally = Tally { runs: 20, failures: 3 };
/// assert_eq!(flakeproof_report::words::failed(tally), "failed 3 of 20 (4.4 % to 35 %)");
/// ```
#[must_use]
pub fn failed(tally: Tally) -> String {
    if tally.runs == 0 {
        return "rate not measured".to_owned();
    }
    let rate = interval(failure_rate(tally));
    format!("failed {} of {} ({rate})", tally.failures, tally.runs)
}

/// How a test fared where it was run: first what tells its rate, then the rest.
#[must_use]
pub fn fared(test: &HuntedTest) -> String {
    let own = (test.baseline, "in the suite's own order");
    let other = (test.shuffled, "in other orders");
    let alone = (test.alone, "alone");
    let (first, rest) = match test.kind {
        Some(FlakyKind::Victim) => (Some(other), vec![own, alone]),
        Some(FlakyKind::Brittle) => (Some(alone), vec![other, own]),
        Some(FlakyKind::Id) => return fared_with_seeds(test),
        // Wherever it ran, that is one rate.
        Some(FlakyKind::Nod) | None => (None, vec![own, alone, other]),
    };
    let told = first.filter(|(tally, _)| tally.runs > 0);
    let (tally, place) = told.unwrap_or((test.all(), "in all"));
    if tally.runs == 0 {
        return "did not run".to_owned();
    }
    let rate = interval(failure_rate(tally));
    let mut parts = vec![format!("failed {} of {} {place} ({rate})", tally.failures, tally.runs)];
    let ran = rest.into_iter().filter(|(tally, _)| tally.runs > 0);
    parts.extend(ran.map(|(tally, place)| format!("{} of {} {place}", tally.failures, tally.runs)));
    parts.join(", ")
}

/// How a test fared that relies on an order that the language leaves open.
fn fared_with_seeds(test: &HuntedTest) -> String {
    let Some(seen) = &test.implementation else { return "did not run".to_owned() };
    let passes = match seen.passes_with {
        Some(seed) => format!("with seed {seed}"),
        None => "in the usual order".to_owned(),
    };
    format!(
        "failed {} of {} with seed {} ({}), {} of {} {passes}",
        seen.failing.failures,
        seen.failing.runs,
        seen.fails_with,
        interval(failure_rate(seen.failing)),
        seen.passing.failures,
        seen.passing.runs,
    )
}

/// The failure rate that a test's executions do not rule out; `None` if it failed.
#[must_use]
pub fn missed(test: &HuntedTest) -> Option<f64> {
    let all = test.all();
    (all.failures == 0).then(|| failure_rate(all).high)
}

/// A rate as people say it: `1 time in 17`. Never more often than the rate.
#[must_use]
pub fn one_time_in(rate: f64) -> String {
    if rate >= 0.5 {
        "every time".to_owned()
    } else {
        format!("1 time in {:.0}", (1.0 / rate).floor())
    }
}

/// The tests that did not show that they are flaky, counted by how they fared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rest<'a> {
    /// Tests that always passed.
    pub passed: usize,
    /// The failure rate that is not ruled out for one of them, at worst.
    pub missed: f64,
    /// Tests that never ran: skipped, or not reached.
    pub not_run: usize,
    /// Tests that failed at times and passed at times, and of which more is not known.
    pub open: Vec<&'a HuntedTest>,
}

/// Count the tests that did not show that they are flaky and do not always fail.
#[must_use]
pub fn rest(findings: &HuntFindings) -> Rest<'_> {
    let mut rest = Rest::default();
    let others = findings.tests.iter().filter(|test| test.kind.is_none() && !test.always_fails());
    for test in others {
        match (test.all(), missed(test)) {
            (Tally { runs: 0, .. }, _) => rest.not_run += 1,
            (_, Some(missed)) => {
                rest.passed += 1;
                rest.missed = rest.missed.max(missed);
            }
            (_, None) => rest.open.push(test),
        }
    }
    rest
}

/// The sentence for tests that always passed, with what could have been missed.
#[must_use]
pub fn always_passed(rest: &Rest<'_>) -> String {
    let tests = counted(rest.passed, "test");
    if rest.missed >= 0.5 {
        return format!("{tests} always passed, in too few runs to rule anything out");
    }
    let missed = one_time_in(rest.missed);
    format!("{tests} always passed; a test failing {missed} would have shown itself with 95 %")
}

/// What a hunt may have missed.
///
/// ```
/// use flakeproof_core::Hidden;
///
/// let hidden = Hidden { expected: 0.42, at_most: 2, failing: 0.05 };
/// assert_eq!(
///     flakeproof_report::words::hidden(hidden),
///     "about 0.4 flaky tests that fail at least 1 time in 20 are expected to be still hidden (with \
///      95 %: at most 2)"
/// );
/// ```
#[must_use]
pub fn hidden(hidden: Hidden) -> String {
    format!("{} (with 95 %: at most {})", expected_hidden(hidden), hidden.at_most)
}

/// The same without how sure that is.
#[must_use]
pub fn expected_hidden(hidden: Hidden) -> String {
    let Hidden { expected, failing, .. } = hidden;
    let expected = match expected {
        none if none < 0.05 => "fewer than 0.1".to_owned(),
        few if few < 10.0 => format!("about {few:.1}"),
        many => format!("about {many:.0}"),
    };
    let often = one_time_in(failing);
    format!("{expected} flaky tests that fail at least {often} are expected to be still hidden")
}

/// How many flaky tests there are, of which kinds.
#[must_use]
pub fn flaky_tests(findings: &HuntFindings) -> String {
    let flaky = findings.flaky().count();
    if flaky == 0 {
        return "no flaky test".to_owned();
    }
    let of_kind = |kind| findings.flaky().filter(|test| test.kind == Some(kind)).count();
    let named = |kind: FlakyKind| match kind {
        FlakyKind::Victim => counted(of_kind(kind), "victim"),
        FlakyKind::Nod | FlakyKind::Brittle | FlakyKind::Id => {
            format!("{} {kind}", of_kind(kind))
        }
    };
    let kinds = FlakyKind::ALL.into_iter().filter(|kind| of_kind(*kind) > 0);
    let kinds = kinds.map(named).collect::<Vec<_>>().join(", ");
    format!("{} ({kinds})", counted(flaky, "flaky test"))
}

/// The sentence for the end of a hunt that did not end by itself; `None` if it did.
#[must_use]
pub fn hunt_end(end: HuntEnd) -> Option<&'static str> {
    match end {
        HuntEnd::Finished => None,
        HuntEnd::BudgetSpent => Some("the budget is spent before all was looked at"),
        HuntEnd::Interrupted => Some("interrupted before all was looked at"),
    }
}

/// The tests of a set that work together.
#[must_use]
pub fn together(set: &[TestId]) -> String {
    set.iter().map(TestId::as_str).collect::<Vec<_>>().join(" with ")
}

/// What it took: `1,234 executions in 1 min 32 s`.
#[must_use]
pub fn hunt_cost(findings: &HuntFindings) -> String {
    let cost = &findings.cost;
    let noun = if cost.executions == 1 { "execution" } else { "executions" };
    format!("{} {noun} in {}", grouped(cost.executions), lasted(cost.time.as_secs_f64()))
}

/// A number with a comma between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time as people say it.
#[must_use]
pub fn lasted(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small time")]
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_rate_says_where_it_was_seen() {
        let findings = sample::hunt_findings();
        let fared: Vec<String> = findings.flaky().map(fared).collect();
        assert_eq!(
            fared,
            [
                "failed 3 of 20 in other orders (4.4 % to 35 %), 0 of 10 in the suite's own order, \
                 0 of 3 alone",
                "failed 4 of 4 alone (47 % to 100 %), 9 of 20 in other orders, 0 of 10 in the \
                 suite's own order",
                "failed 7 of 50 in all (6.5 % to 26 %), 1 of 10 in the suite's own order, 2 of 20 \
                 alone, 4 of 20 in other orders",
            ]
        );
    }

    #[test]
    fn what_could_have_been_missed_is_that_of_the_test_that_ran_least() {
        let findings = sample::hunt_findings();
        let rest = rest(&findings);
        assert_eq!((rest.passed, rest.not_run, rest.open.len()), (1, 1, 1));
        assert_eq!(
            always_passed(&rest),
            "1 test always passed; a test failing 1 time in 17 would have shown itself with 95 %"
        );
    }

    #[test]
    fn one_run_rules_nothing_out() {
        let rest = Rest { passed: 2, missed: 0.95, ..Rest::default() };
        assert_eq!(
            always_passed(&rest),
            "2 tests always passed, in too few runs to rule anything out"
        );
    }

    #[test]
    fn kinds_are_counted() {
        let findings = sample::hunt_findings();
        assert_eq!(flaky_tests(&findings), "3 flaky tests (1 NOD, 1 victim, 1 brittle)");
    }

    #[test]
    fn numbers_and_times_are_written_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!([3.25, 92.0, 7_320.0].map(lasted), ["3.2 s", "1 min 32 s", "2 h 2 min"]);
    }
}
