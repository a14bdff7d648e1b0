//! A test's latest runs as a short text: one letter for each run from the first that counts, with the
//! number of equal neighbours in front of it, which is four characters for most tests.

use std::collections::BTreeSet;

use flakeproof_core::{Again, Mark, Outcome, PastRun, Verdict};

/// The letter of a run that did not have the test.
const ABSENT: char = '_';

/// A test's latest runs as a short text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Track {
    /// The run that the first letter stands for.
    pub(super) from: u32,
    /// The letters, counted.
    pub(super) letters: String,
}

impl Track {
    /// The latest marks, at most so many. Whether a failure's code can pass is told by all of them.
    pub(super) fn new(marks: &[Mark], runs: &[PastRun], at_most: usize) -> Self {
        let code = |mark: &Mark| runs.get(mark.run as usize).and_then(|run| run.code);
        let has_failed = marks.iter().any(|mark| mark.has_failed());
        let passing = marks.iter().filter(|mark| has_failed && mark.has_passed());
        let good: BTreeSet<u32> = passing.filter_map(code).collect();
        let is_on_good_code = |mark: &Mark| code(mark).is_some_and(|code| good.contains(&code));
        let marks = &marks[marks.len().saturating_sub(at_most)..];
        let from = marks.first().map_or(0, |mark| mark.run);
        let mut track = Counted::default();
        let mut next = from;
        for mark in marks {
            track.push(ABSENT, mark.run.saturating_sub(next));
            track.push(letter(mark, has_failed && is_on_good_code(mark)), 1);
            next = mark.run.saturating_add(1);
        }
        Self { from, letters: track.end() }
    }
}

/// Letters with the number of equal neighbours in front of each.
#[derive(Default)]
struct Counted {
    text: String,
    last: Option<(char, u32)>,
}

impl Counted {
    fn push(&mut self, letter: char, times: u32) {
        match &mut self.last {
            _ if times == 0 => {}
            Some((last, count)) if *last == letter => *count += times,
            _ => {
                self.flush();
                self.last = Some((letter, times));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((letter, count)) = self.last.take() {
            if count > 1 {
                self.text.push_str(&count.to_string());
            }
            self.text.push(letter);
        }
    }

    fn end(mut self) -> String {
        self.flush();
        self.text
    }
}

/// Failures are the letters from `A` to `v`: by outcome, then by what came of running it again,
/// then by verdict. A failure that only another run of the same code shows to be flaky is one of
/// `!$*+`.
fn letter(mark: &Mark, is_on_good_code: bool) -> char {
    let outcome: u8 = match (mark.outcome, mark.again) {
        (Outcome::Skipped, _) => return '-',
        (Outcome::Passed, Again::Never) => return '.',
        (Outcome::Passed, Again::Passed) => return ',',
        (Outcome::Passed, Again::Failed) => return ';',
        (Outcome::Failed, _) => 0,
        (Outcome::Errored, _) => 1,
        (Outcome::Crashed, _) => 2,
        (Outcome::TimedOut, _) => 3,
    };
    let is_shown_here = mark.again == Again::Passed
        || matches!(mark.verdict, Some(Verdict::Flaky | Verdict::NewlyFlaky | Verdict::Real));
    if is_on_good_code && !is_shown_here {
        return ['!', '$', '*', '+'][usize::from(outcome)];
    }
    let again = match mark.again {
        Again::Never => 0,
        Again::Passed => 1,
        Again::Failed => 2,
    };
    let verdict = match mark.verdict {
        None => 0,
        Some(Verdict::Flaky | Verdict::NewlyFlaky) => 1,
        Some(Verdict::Real) => 2,
        Some(Verdict::Unknown | Verdict::Unrelated) => 3,
    };
    let number = outcome * 12 + again * 4 + verdict;
    char::from(if number < 26 { b'A' + number } else { b'a' + (number - 26) })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn passed(run: u32) -> Mark {
        Mark::first(run, Outcome::Passed, Duration::ZERO)
    }

    #[test]
    fn equal_neighbours_are_counted_and_missing_runs_are_kept() {
        let failed =
            Mark { again: Again::Passed, ..Mark::first(5, Outcome::Failed, Duration::ZERO) };
        let track = Track::new(&[passed(2), passed(3), passed(4), failed, passed(9)], &[], 100);
        assert_eq!(track, Track { from: 2, letters: "3.E3_.".into() });
    }

    #[test]
    fn a_failure_on_code_that_passed_in_another_run_has_its_own_letter_unless_it_is_real() {
        let runs = [1, 1, 2].map(|code| PastRun { code: Some(code), ..PastRun::default() });
        let failed = |run| Mark::first(run, Outcome::Failed, Duration::ZERO);
        let letters = |marks: &[Mark]| Track::new(marks, &runs, 100).letters;
        assert_eq!(letters(&[passed(0), failed(1), failed(2)]), ".!A");
        assert_eq!(letters(&[passed(0), Mark { verdict: Some(Verdict::Real), ..failed(1) }]), ".C");
    }

    #[test]
    fn only_the_latest_marks_are_kept() {
        let marks: Vec<Mark> = (0..500).map(passed).collect();
        assert_eq!(Track::new(&marks, &[], 100), Track { from: 400, letters: "100.".into() });
        assert_eq!(Track::new(&[], &[], 100), Track::default());
    }

    #[test]
    fn every_failure_has_a_letter_of_its_own() {
        let mut letters = BTreeSet::new();
        let verdicts = [None, Some(Verdict::Flaky), Some(Verdict::Real), Some(Verdict::Unknown)];
        for outcome in Outcome::ALL.into_iter().filter(|outcome| outcome.is_failure()) {
            for again in [Again::Never, Again::Passed, Again::Failed] {
                for verdict in verdicts {
                    let first = Mark::first(0, outcome, Duration::ZERO);
                    letters.insert(letter(&Mark { again, verdict, ..first }, false));
                }
            }
        }
        assert_eq!(letters.len(), 48);
        assert!(letters.iter().all(char::is_ascii_alphabetic));
    }
}
