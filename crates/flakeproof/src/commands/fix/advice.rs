//! What helps where no patch is written: what an experiment showed to be the cause, and what is usual
//! against it in the framework of the test.
//!
//! Nothing here is a patch: what is pinned hides what users meet, and what waits is not mended by waiting
//! longer. Where time matters, the time that the test needs is measured and shown.

use std::time::Duration;

use flakeproof_core::{Cause, FlakyKind, LeverName, TestId};
use flakeproof_report::words;

use super::copies::Times;

/// So often a test whose time matters is measured.
pub(super) const MEASURED: usize = 10;

/// What helps where only the kind of a test is known; `None` where a patch is looked for.
pub(super) fn for_kind(test: &TestId, kind: Option<FlakyKind>) -> Option<String> {
    let cause = words::command(&["flakeproof".into(), "cause".into(), test.to_string()]);
    match kind {
        Some(FlakyKind::Victim | FlakyKind::Brittle) => None,
        Some(FlakyKind::Id) => Some(
            "it relies on an order that the language leaves open: compare as sets, or sorted \
             (`sorted(…)`, `assertCountEqual`), where it fails"
                .to_owned(),
        ),
        Some(FlakyKind::Nod) | None => Some(format!(
            "it fails by chance, in any order, and no patch is written blindly for that: `{cause}` finds \
             what makes it fail. If it waits, let it wait for the condition with a deadline instead of \
             for a fixed time; if it draws lots, give it a seed"
        )),
    }
}

/// The language in whose idiom advice is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Idiom {
    /// Of pytest and unittest.
    Python,
    /// Of JUnit and TestNG.
    Java,
}

/// What helps against a cause that was shown; `None` where the lever says nothing about what to change.
pub(super) fn for_cause(cause: &Cause, idiom: Idiom, times: &[(String, Times)]) -> Option<String> {
    let lever = cause.lever()?;
    let shown = format!("{} {}={}", cause.answer, lever.name, lever.value);
    let (what, how) = match (lever.name, idiom) {
        (LeverName::Zone, Idiom::Python) => (
            "pin the zone for this test, `monkeypatch.setenv(\"TZ\", \"UTC\")` and `time.tzset()`, and \
             both once more at its end",
            Some("zones"),
        ),
        (LeverName::Zone, Idiom::Java) => (
            "pin the zone for this test, `TimeZone.setDefault(TimeZone.getTimeZone(\"UTC\"))` before it, \
             and the one of before after it",
            Some("zones"),
        ),
        (LeverName::Locale, Idiom::Python) => (
            "pin the locale for this test, `locale.setlocale(locale.LC_ALL, \"C\")`, and the one of \
             before at its end; give `encoding=` where files are opened",
            Some("countries"),
        ),
        (LeverName::Locale, Idiom::Java) => (
            "pin the locale for this test, `Locale.setDefault(Locale.ROOT)` before it, and the one of \
             before after it",
            Some("countries"),
        ),
        (LeverName::HashSeed, Idiom::Python | Idiom::Java) => (
            "compare as sets, or sorted, at the assertion that fails: the order of a set is nobody's \
             promise. `PYTHONHASHSEED` pins it for a whole run only",
            None,
        ),
        (name, idiom) if is_about_time(name) => return Some(waiting(&shown, idiom, times)),
        _ => return None,
    };
    let hides = how.map_or_else(String::new, |users| {
        format!("; that hides it from users in other {users} if the code under test is the cause")
    });
    Some(format!(
        "it is {shown}: {what}{hides}. This is not proven: try it, and `{}`",
        words::command(&["flakeproof".into(), "verify".into(), cause.test.to_string()])
    ))
}

/// Whether a lever makes things take longer.
pub(super) fn is_about_time(lever: LeverName) -> bool {
    use LeverName::{Clock, Load, OneCore, Quota, Scheduling, SlowCalls};
    matches!(lever, OneCore | Quota | Load | Scheduling | SlowCalls | Clock)
}

fn waiting(shown: &str, idiom: Idiom, times: &[(String, Times)]) -> String {
    let wait = match idiom {
        Idiom::Python => {
            "wait for the condition with a deadline (`event.wait(timeout=10)`, or a loop that asks until \
             `time.monotonic()` passes it) instead of for a fixed time"
        }
        Idiom::Java => {
            "wait for the condition with a deadline (`latch.await(10, SECONDS)`, or a loop that asks until \
             `System.nanoTime()` passes it) instead of for a fixed time"
        }
    };
    format!("it is {shown}: {wait}; no time-out is raised blindly{}", distribution(times))
}

/// The shortest, the middle and the longest time in each of the circumstances, in words.
fn distribution(measured: &[(String, Times)]) -> String {
    let each: Vec<String> =
        measured.iter().filter_map(|(how, times)| in_words(how, times)).collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(". Here it needed {}", each.join("; ")),
    }
}

fn in_words(how: &str, times: &Times) -> Option<String> {
    let mut passed = times.passed.clone();
    passed.sort_unstable();
    let failed = match times.failed {
        0 => String::new(),
        failed => format!(", and failed {failed} more"),
    };
    let seconds = |time: &Duration| format!("{:.3}", time.as_secs_f64());
    match (passed.first(), passed.last()) {
        (Some(first), Some(last)) => Some(format!(
            "{} to {} s {how}, {} in the middle of {} runs that passed{failed}",
            seconds(first),
            seconds(last),
            seconds(&passed[passed.len() / 2]),
            passed.len()
        )),
        _ if times.failed > 0 => Some(format!("more than it got {how}, {} times", times.failed)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{CauseAnswer, Tally, TriedLever};

    use super::*;

    fn cause(name: LeverName, value: &str) -> Cause {
        let (plain, with) = (Tally { runs: 9, failures: 0 }, Tally { runs: 9, failures: 9 });
        let lever = TriedLever {
            name,
            value: value.to_owned(),
            answer: Some(CauseAnswer::CausedBy),
            plain,
            with,
            beside: None,
            remark: None,
        };
        Cause {
            test: "t.py::a".into(),
            answer: CauseAnswer::CausedBy,
            plain,
            levers: vec![lever],
            not_tried: Vec::new(),
            category: None,
            command: None,
            failure: None,
        }
    }

    #[test]
    fn what_is_pinned_hides_something_and_that_is_said() {
        let zone = cause(LeverName::Zone, "Asia/Kolkata");
        let said = for_cause(&zone, Idiom::Java, &[]).unwrap();
        assert!(said.contains("caused by zone=Asia/Kolkata"), "{said}");
        assert!(said.contains("TimeZone.setDefault"), "{said}");
        assert!(said.contains("hides it from users in other zones"), "{said}");
        assert!(said.contains("not proven"), "{said}");
        assert_eq!(for_cause(&cause(LeverName::Umask, "077"), Idiom::Python, &[]), None);
    }

    #[test]
    fn time_that_is_needed_is_shown_and_no_time_out_is_raised() {
        let passed = [30, 10, 20].map(Duration::from_millis).into();
        let alone = ("alone".to_owned(), Times { passed, failed: 0 });
        let loaded = ("under load=4".to_owned(), Times { passed: Vec::new(), failed: 9 });
        let both = [alone, loaded];
        let said = for_cause(&cause(LeverName::Load, "4"), Idiom::Python, &both).unwrap();
        let needed = "0.010 to 0.030 s alone, 0.020 in the middle of 3 runs that passed; more than it \
                      got under load=4, 9 times";
        assert!(said.contains(needed), "{said}");
        assert!(said.contains("wait for the condition"), "{said}");
    }
}
