//! An overview in words: one sentence, and the times and costs around it.

use super::phrases::counted;
use crate::overview::Totals;

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
            format!("{flaky} burnt {} of CI in {runs}{broken}", burnt(totals.cost_seconds))
        }
        flaky => format!("{} in {runs}{broken}", counted(flaky, "flaky test")),
    }
}

/// A time of CI, in the unit that people think of it in.
pub(crate) fn burnt(seconds: f64) -> String {
    match seconds {
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
    use super::*;

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
        assert_eq!([0.0, 3.0, 90.0, 7200.0].map(burnt), ["0 min", "under 1 min", "2 min", "2.0 h"]);
    }
}
