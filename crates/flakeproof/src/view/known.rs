//! Tests that are known to be flaky: as a list, and one of them in full.

use std::fmt::Write as _;
use std::io::Write as _;

use flakeproof_core::{FlakyKind, HuntedTest, KnownFlaky};
use flakeproof_report::words;
use serde_json::{Value, json};

use super::flaky_test::flaky;
use super::predictions::count;
use super::styles::{CHANCE, DIM, STRONG};

/// Print the list for people.
pub(crate) fn known_flaky(known: &[KnownFlaky]) {
    let _ = anstream::stdout().lock().write_all(listed(known).as_bytes());
}

/// Print the list for programs.
pub(crate) fn known_flaky_json(known: &[KnownFlaky]) {
    let tests: Vec<Value> = known.iter().map(known_as_json).collect();
    super::verbatim(&format!("{:#}\n", json!({ "schema": 1, "tests": tests })));
}

/// Print all that hunts know about a test.
pub(crate) fn known_test(known: &KnownFlaky) {
    let mut text = String::new();
    if let Some(kind) = known.test.kind {
        let sentence = words::flaky_kind(kind);
        let (word, what) = sentence.split_once(": ").unwrap_or((kind.word(), sentence));
        let (word, seen) = (word.to_uppercase(), day(known));
        let _ = writeln!(text, "{CHANCE}{word}{CHANCE:#} {DIM}{what}; hunted {seen}{DIM:#}");
    }
    flaky(&mut text, &known.test, true, usize::MAX);
    text.push('\n');
    let _ = anstream::stdout().lock().write_all(text.as_bytes());
}

/// A known flaky test for programs.
pub(crate) fn known_as_json(known: &KnownFlaky) -> Value {
    let test = &known.test;
    let (telling, rate) = (test.telling(), test.rate());
    json!({
        "id": test.id,
        "kind": test.kind,
        "rate": { "mean": rate.mean, "low": rate.low, "high": rate.high },
        "runs": telling.runs,
        "failures": telling.failures,
        "baseline": test.baseline,
        "shuffled": test.shuffled,
        "alone": test.alone,
        "last_seen": known.hunt.started,
        "hunt": known.hunt.id,
        "location": test.location,
        "polluters": test.polluters,
        "setters": test.setters,
        "cleaners": test.cleaners,
        "left_behind": test.left_behind,
        "failure": test.failure.as_ref().map(|failure| &failure.message),
        "reproduce": test.reproduction.as_ref().map(|it| &it.command),
    })
}

fn listed(known: &[KnownFlaky]) -> String {
    let mut text = String::new();
    if known.is_empty() {
        let next = "`flakeproof hunt -- pytest` looks for them";
        let _ = writeln!(text, "no flaky test is known in this project; {next}");
        return text;
    }
    let rows: Vec<[String; 4]> = known.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or_default());
    for (row, known) in rows.iter().zip(known) {
        let [kind, rate, seen, influence] = row;
        let [kind_width, rate_width, seen_width] = widths;
        let _ = writeln!(
            text,
            "{CHANCE}{kind:<kind_width$}{CHANCE:#}  {rate:<rate_width$}  {seen:<seen_width$}  \
             {STRONG}{}{STRONG:#}{DIM}{influence}{DIM:#}",
            known.test.id
        );
    }
    let tests = count(known.len(), "flaky test");
    let next =
        "`flakeproof explain TEST` tells all about one, `flakeproof repro TEST` shows it fail";
    let _ = writeln!(text, "\n{tests} known {DIM}({next}){DIM:#}");
    text
}

fn row(known: &KnownFlaky) -> [String; 4] {
    let test = &known.test;
    let kind = test.kind.map(FlakyKind::word).unwrap_or_default();
    [kind.to_owned(), words::failed(test.telling()), day(known), influence(test)]
}

/// How many tests, or sets of them, it depends on.
fn influence(test: &HuntedTest) -> String {
    match (test.polluters.len(), test.setters.len()) {
        (0, 0) => String::new(),
        (0, setters) => format!("  {}", count(setters, "state-setter")),
        (polluters, _) => format!("  {}", count(polluters, "polluter")),
    }
}

/// The day of the hunt: the time of day is in the JSON.
pub(super) fn day(known: &KnownFlaky) -> String {
    known.hunt.started.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{HuntRecord, Tally};

    use super::*;

    fn known(id: &str, kind: FlakyKind, polluters: usize) -> KnownFlaky {
        let mut test = HuntedTest::new(id.into(), None);
        test.kind = Some(kind);
        test.baseline = Tally { runs: 10, failures: 2 };
        test.shuffled = Tally { runs: 20, failures: 3 };
        test.polluters = vec![vec!["test_p".into()]; polluters];
        let hunt = HuntRecord {
            id: "20261115-101500-abcdef".into(),
            started: "2026-11-15T10:15:00Z".into(),
            command: vec!["pytest".into()],
            fingerprint: String::new(),
            seed: "7".into(),
            settings: String::new(),
            version: "0.2.0".into(),
        };
        KnownFlaky { hunt, test }
    }

    #[test]
    fn each_known_test_is_one_line() {
        let known = [known("a.py::test_a", FlakyKind::Nod, 0), known("b", FlakyKind::Victim, 2)];
        insta::assert_snapshot!(anstream::adapter::strip_str(&listed(&known)).to_string());
    }

    #[test]
    fn an_empty_list_says_what_to_run() {
        assert!(listed(&[]).contains("`flakeproof hunt -- pytest`"));
    }
}
