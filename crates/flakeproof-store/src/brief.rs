//! How each test fared in one run, without how long its passes took; and what there is to say about tests.
//!
//! Most tests of most runs just pass, and next to each other. So a run of a million tests is a few thousand
//! bytes, where its digest is four million. Packed are: the milliseconds of all tests together, and then spans
//! of tests that did the same, by number. For each the distance from the end of the span before, the byte of
//! [`flags`], and the number of further tests in it; a test that did anything but pass or be skipped stands
//! alone, with its milliseconds.

use std::collections::HashMap;
use std::time::Duration;

use flakeproof_core::{
    Again, LeftOut, Mark, Outage, Outcome, PastRun, TestId, TestTimeline, Timeline,
};

use crate::marks::{Damaged, Unpacking, flags, put, take, unflagged};
use crate::spans::Spans;

/// Pack marks, by the numbers of their tests.
pub(crate) fn packed<'m>(marks: impl Iterator<Item = (i64, &'m Mark)> + Clone) -> Vec<u8> {
    let took =
        |(_, mark): (i64, &Mark)| u64::from(mark.milliseconds) + u64::from(mark.again_milliseconds);
    let mut bytes = Vec::new();
    put(&mut bytes, marks.clone().map(took).sum());
    let (mut before, mut marks) = (0, marks.peekable());
    while let Some((first, mark)) = marks.next() {
        put(&mut bytes, first.abs_diff(before));
        bytes.push(flags(mark));
        before = first;
        if is_plain(mark) {
            let does_so = |(test, next): &(i64, &Mark), last: i64| {
                *test == last + 1 && is_plain(next) && next.outcome == mark.outcome
            };
            while marks.next_if(|next| does_so(next, before)).is_some() {
                before += 1;
            }
            put(&mut bytes, before.abs_diff(first));
        } else {
            put(&mut bytes, u64::from(mark.milliseconds));
            if mark.again != Again::Never {
                put(&mut bytes, u64::from(mark.again_milliseconds));
            }
        }
    }
    bytes
}

/// The brief form of a digest.
pub(crate) fn of_digest(digest: &[u8]) -> Result<Vec<u8>, Damaged> {
    let marks: Vec<(i64, Mark)> = Unpacking::new(0, digest).collect::<Result<_, Damaged>>()?;
    Ok(packed(marks.iter().map(|(test, mark)| (*test, mark))))
}

/// Whether nothing happened.
fn is_plain(mark: &Mark) -> bool {
    let has_passed = matches!(mark.outcome, Outcome::Passed | Outcome::Skipped);
    has_passed && mark.again == Again::Never && mark.verdict.is_none()
}

/// Reads what [`packed`] wrote, span by span.
struct Reading<'b> {
    bytes: &'b [u8],
    before: i64,
}

/// Tests that did the same.
struct Span {
    first: i64,
    last: i64,
    mark: Mark,
}

impl<'b> Reading<'b> {
    /// The spans, and the milliseconds of all tests together.
    fn new(mut bytes: &'b [u8]) -> Result<(Self, u64), Damaged> {
        if bytes.is_empty() {
            return Ok((Self { bytes, before: 0 }, 0));
        }
        let milliseconds = take(&mut bytes).ok_or(Damaged)?;
        Ok((Self { bytes, before: 0 }, milliseconds))
    }

    fn read(&mut self) -> Option<Span> {
        let bytes = &mut self.bytes;
        let first = self.before.checked_add_unsigned(take(bytes)?)?;
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let (outcome, again, verdict) = unflagged(*byte)?;
        let (milliseconds, again_milliseconds) = (0, 0);
        let mut mark = Mark { run: 0, outcome, again, verdict, milliseconds, again_milliseconds };
        let mut last = first;
        if is_plain(&mark) {
            last = first.checked_add_unsigned(take(bytes)?)?;
        } else {
            mark.milliseconds = u32::try_from(take(bytes)?).ok()?;
            if again != Again::Never {
                mark.again_milliseconds = u32::try_from(take(bytes)?).ok()?;
            }
        }
        self.before = last;
        Some(Span { first, last, mark })
    }
}

impl Iterator for Reading<'_> {
    type Item = Result<Span, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let read = self.read().ok_or(Damaged);
        if read.is_err() {
            self.bytes = &[];
        }
        Some(read)
    }
}

/// What there is to say about tests, over all runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The tests about which there is something to say, by number.
    pub(crate) tests: Vec<i64>,
    /// What runs saw of each of them; how long passes took is left out.
    pub(crate) marks: Vec<Vec<Mark>>,
    /// The others, in each run.
    pub(crate) others: Vec<LeftOut>,
    /// How long all tests of each run took, in milliseconds.
    pub(crate) milliseconds: Vec<u64>,
}

/// The run at this place cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedRun(pub(crate) usize);

impl Told {
    /// Read all runs, oldest first. There is something to say about tests that did anything but pass, be
    /// skipped or fail in an outage that is over, about these others, and about those that may have come in
    /// the place of ones that went.
    pub(crate) fn of(runs: &[Vec<u8>], others: &[i64]) -> Result<Self, DamagedRun> {
        let mut tests: Vec<i64> = others.to_vec();
        // An outage that is not over may be the code: whoever fails in it until the end is told.
        let mut failing = Spans::default();
        for (run, bytes) in runs.iter().enumerate() {
            let events = Events::of(run, bytes)?;
            tests.extend(events.tests);
            failing = failing.without(&events.well).with(&events.in_outage);
        }
        tests.extend(failing.numbers());
        tests.extend(came_or_went(runs)?.numbers());
        tests.sort_unstable();
        tests.dedup();
        let mut told = Self { marks: vec![Vec::new(); tests.len()], tests, ..Self::default() };
        for (run, bytes) in runs.iter().enumerate() {
            told.read(run, bytes)?;
        }
        Ok(told)
    }

    /// The timeline, where the runs are these, and these the tests of these numbers.
    pub(crate) fn timeline(self, mut runs: Vec<PastRun>, ids: &HashMap<i64, TestId>) -> Timeline {
        for (run, milliseconds) in runs.iter_mut().zip(&self.milliseconds) {
            if run.duration.is_zero() {
                run.duration = Duration::from_millis(*milliseconds);
            }
        }
        let tests = self.tests.iter().zip(self.marks).filter(|(_, marks)| !marks.is_empty());
        let test = |(number, marks)| Some(TestTimeline { test: ids.get(number)?.clone(), marks });
        Timeline { runs, tests: tests.filter_map(test).collect(), others: self.others }
    }

    fn read(&mut self, run: usize, bytes: &[u8]) -> Result<(), DamagedRun> {
        let (spans, milliseconds) = spans_of(run, bytes)?;
        let number = u32::try_from(run).unwrap_or(u32::MAX);
        let (mut passed, mut failed, mut skipped, mut at) = (0_u64, 0_u64, 0_u64, 0);
        for span in spans {
            let Span { first, last, mark } = span.map_err(|_| DamagedRun(run))?;
            while self.tests.get(at).is_some_and(|test| *test < first) {
                at += 1;
            }
            let mut known = 0;
            while self.tests.get(at).is_some_and(|test| *test <= last) {
                self.marks[at].push(Mark { run: number, ..mark });
                (at, known) = (at + 1, known + 1);
            }
            let others = last.abs_diff(first).saturating_add(1) - known;
            let count = match mark.outcome {
                Outcome::Skipped => &mut skipped,
                outcome if outcome.is_failure() => &mut failed,
                _ => &mut passed,
            };
            *count = count.saturating_add(others);
        }
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let (passed, failed, skipped) = (small(passed), small(failed), small(skipped));
        self.others.push(LeftOut { passed, failed, skipped });
        self.milliseconds.push(milliseconds);
        Ok(())
    }
}

fn spans_of(run: usize, bytes: &[u8]) -> Result<(Reading<'_>, u64), DamagedRun> {
    Reading::new(bytes).map_err(|_| DamagedRun(run))
}

/// What happened in one run.
#[derive(Debug, Default)]
struct Events {
    /// The tests that did anything but pass or be skipped; of an outage, but fail, too.
    tests: Vec<i64>,
    /// The tests that failed, if it is an outage.
    in_outage: Spans,
    /// The tests that ran and did not fail.
    well: Spans,
}

impl Events {
    fn of(run: usize, bytes: &[u8]) -> Result<Self, DamagedRun> {
        let (mut events, mut failed, mut ran) = (Self::default(), Vec::new(), 0_u64);
        for span in spans_of(run, bytes)?.0 {
            let Span { first, last, mark } = span.map_err(|_| DamagedRun(run))?;
            if mark.outcome.is_failure() {
                failed.push(first);
            } else if !is_plain(&mark) {
                events.tests.push(first);
            }
            if mark.outcome != Outcome::Skipped {
                ran = ran.saturating_add(last.abs_diff(first)).saturating_add(1);
                if !mark.outcome.is_failure() {
                    events.well.push(first, last);
                }
            }
        }
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let outage = Outage { run: 0, failed: small(failed.len() as u64), tests: small(ran) };
        match outage.is_one() {
            true => failed.iter().for_each(|test| events.in_outage.push(*test, *test)),
            false => events.tests.append(&mut failed),
        }
        Ok(events)
    }
}

fn tests_of(run: usize, bytes: &[u8]) -> Result<Spans, DamagedRun> {
    let mut tests = Spans::default();
    for span in spans_of(run, bytes)?.0 {
        let Span { first, last, .. } = span.map_err(|_| DamagedRun(run))?;
        tests.push(first, last);
    }
    Ok(tests)
}

/// The tests that one may have been renamed to or from: those that came after the first of all that are gone
/// went, and those that went before the last of all that are new came. A run of a part of the suite makes
/// neither.
fn came_or_went(runs: &[Vec<u8>]) -> Result<Spans, DamagedRun> {
    let (mut all, mut last_came) = (Spans::default(), None);
    for (run, bytes) in runs.iter().enumerate() {
        let tests = tests_of(run, bytes)?;
        if run > 0 && !tests.without(&all).is_empty() {
            last_came = Some(run);
        }
        all = all.with(&tests);
    }
    let Some(last_came) = last_came else { return Ok(Spans::default()) };
    let (mut since, mut first_went, mut stayed) = (Spans::default(), None, Spans::default());
    for (run, bytes) in runs.iter().enumerate().rev() {
        let tests = tests_of(run, bytes)?;
        if run + 1 < runs.len() && !tests.without(&since).is_empty() {
            first_went = Some(run);
        }
        since = since.with(&tests);
        if run == last_came {
            stayed = since.clone();
        }
    }
    let Some(first_went) = first_went.filter(|it| *it < last_came) else {
        return Ok(Spans::default());
    };
    let mut before = Spans::default();
    for (run, bytes) in runs.iter().enumerate().take(first_went + 1) {
        before = before.with(&tests_of(run, bytes)?);
    }
    Ok(all.without(&before).with(&all.without(&stayed)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    use flakeproof_core::Verdict;
    use proptest::prelude::*;

    use super::*;

    /// A letter for each test by number: it passed, failed, was skipped, passed when it was run again, or was
    /// not there.
    fn run(letters: &str) -> Vec<u8> {
        let marks = marks(letters);
        packed(marks.iter().map(|(test, mark)| (*test, mark)))
    }

    fn marks(letters: &str) -> BTreeMap<i64, Mark> {
        let mark = |(test, letter): (i64, char)| {
            let first = |outcome| Mark::first(0, outcome, Duration::from_millis(10));
            let mark = match letter {
                'p' => first(Outcome::Passed),
                's' => first(Outcome::Skipped),
                'f' => first(Outcome::Failed),
                'r' => Mark {
                    again: Again::Passed,
                    again_milliseconds: 7,
                    verdict: Some(Verdict::Flaky),
                    ..first(Outcome::Failed)
                },
                _ => return None,
            };
            Some((test, mark))
        };
        (1..).zip(letters.chars()).filter_map(mark).collect()
    }

    fn told(runs: &[&str]) -> Told {
        let runs: Vec<Vec<u8>> = runs.iter().map(|letters| run(letters)).collect();
        Told::of(&runs, &[]).expect("is read")
    }

    #[test]
    fn a_suite_that_passes_is_a_few_bytes() {
        assert!(run(&"p".repeat(1_000_000)).len() < 12);
        let left_out = |passed, skipped| LeftOut { passed, failed: 0, skipped };
        assert_eq!(told(&["ppp", "psp"]).others, [left_out(3, 0), left_out(2, 1)]);
        assert!(told(&["ppp", "psp"]).tests.is_empty());
    }

    #[test]
    fn a_part_of_the_suite_is_neither_new_nor_gone() {
        assert!(told(&["p", "pppp", "pppp", "  p"]).tests.is_empty());
        assert!(told(&["pp  ", "  pp", "pp  ", "  pp"]).tests.is_empty());
    }

    #[test]
    fn what_came_where_something_went_is_told() {
        assert_eq!(told(&["ppp  ", "ppp  ", "p pp ", "p pp "]).tests, [2, 4]);
    }

    #[test]
    fn an_outage_that_is_not_over_is_told() {
        let (passed, failed, skipped) = ("p".repeat(12), "f".repeat(12), "s".repeat(12));
        assert!(told(&[&passed, &failed, &passed]).tests.is_empty());
        assert_eq!(told(&[&passed, &failed]).tests.len(), 12);
        assert_eq!(told(&[&passed, &failed, &skipped]).tests.len(), 12);
        assert_eq!(told(&[&passed, &failed, "ppp"]).tests.len(), 9);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        for byte in 0..=255 {
            let _ = Told::of(&[vec![byte; 40], vec![byte, 1, 2]], &[]);
        }
    }

    proptest! {
        #[test]
        fn what_is_left_out_only_passed_and_the_rest_is_whole(
            runs in prop::collection::vec("[psfr ]{0,20}|[f]{11,20}p{0,9}", 1..8),
            also in prop::collection::btree_set(1..20_i64, 0..3),
        ) {
            let packed: Vec<Vec<u8>> = runs.iter().map(|letters| run(letters)).collect();
            let also: Vec<i64> = also.into_iter().collect();
            let told = Told::of(&packed, &also).expect("is read");
            let tests: BTreeSet<i64> = told.tests.iter().copied().collect();
            let last_of = |test: i64| {
                let all = runs.iter().rev().filter_map(|letters| marks(letters).get(&test).copied());
                all.into_iter().find(|mark| mark.outcome != Outcome::Skipped)
            };
            let is_failing = |test: i64| last_of(test).is_some_and(Mark::has_failed);
            prop_assert!((1..=20).all(|test| tests.contains(&test) || !is_failing(test)));
            for (at, letters) in runs.iter().enumerate() {
                let whole = marks(letters);
                let left_out = whole.iter().filter(|(test, _)| !tests.contains(test));
                let count = |outcome| left_out.clone().filter(|it| it.1.outcome == outcome).count();
                let LeftOut { passed, failed, skipped } = told.others[at];
                prop_assert_eq!(passed as usize, count(Outcome::Passed));
                prop_assert_eq!(failed as usize, count(Outcome::Failed));
                prop_assert_eq!(skipped as usize, count(Outcome::Skipped));
                let ran = whole.values().filter(|it| it.outcome != Outcome::Skipped).count();
                let bad = whole.values().filter(|it| it.outcome.is_failure()).count();
                let outage = Outage { run: 0, failed: bad as u32, tests: ran as u32 };
                let is_event =
                    |it: &Mark| !is_plain(it) && (!outage.is_one() || !it.outcome.is_failure());
                prop_assert!(!left_out.clone().any(|(_, mark)| is_event(mark)));
                let took = |it: &Mark| u64::from(it.milliseconds) + u64::from(it.again_milliseconds);
                prop_assert_eq!(told.milliseconds[at], whole.values().map(took).sum::<u64>());
                for (test, marks) in told.tests.iter().zip(&told.marks) {
                    let seen = marks.iter().find(|mark| mark.run as usize == at);
                    let mut expected = whole.get(test).copied();
                    if let Some(mark) = &mut expected {
                        mark.run = at as u32;
                        if is_plain(mark) {
                            mark.milliseconds = 0;
                        }
                    }
                    prop_assert_eq!(seen.copied(), expected);
                }
            }
        }
    }
}
