//! How each test fared in one run, packed into a few bytes.
//!
//! For each test, by number: the distance from the number before, one byte for outcome, reruns and
//! verdict, the milliseconds of the first attempt, and those of the reruns if there were any.
//! Numbers are written seven bits at a time, the lowest first (LEB128).

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::{Again, Attempt, Mark, Outcome, Stage, Verdict};

use crate::brief;

/// How tests fared in a run, by the number of the test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks(BTreeMap<i64, Mark>);

impl From<BTreeMap<i64, Mark>> for Marks {
    fn from(marks: BTreeMap<i64, Mark>) -> Self {
        Self(marks)
    }
}

impl Marks {
    /// Count an attempt at a test.
    pub(crate) fn count(&mut self, test: i64, attempt: &Attempt) {
        let execution = &attempt.execution;
        self.add(test, attempt.stage == Stage::First, execution.outcome, execution.duration);
    }

    /// Count an execution of a test. A rerun whose first attempt is not known counts as the first.
    pub(crate) fn add(&mut self, test: i64, is_first: bool, outcome: Outcome, took: Duration) {
        match self.0.get_mut(&test) {
            Some(mark) if !is_first => mark.rerun(outcome, took),
            _ => {
                // The run is known by the row that holds the bytes.
                self.0.insert(test, Mark::first(0, outcome, took));
            }
        }
    }

    /// Say what the failure of a test was found to be.
    pub(crate) fn judge(&mut self, test: i64, verdict: Verdict) {
        if let Some(mark) = self.0.get_mut(&test) {
            mark.verdict = Some(verdict);
        }
    }

    /// The packed form without how long passes took.
    pub(crate) fn brief(&self) -> Vec<u8> {
        brief::packed(self.0.iter().map(|(test, mark)| (*test, mark)))
    }

    /// The packed form.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 5);
        let mut before = 0;
        for (test, mark) in &self.0 {
            put(&mut bytes, test.abs_diff(before));
            before = *test;
            bytes.push(flags(mark));
            put(&mut bytes, u64::from(mark.milliseconds));
            if mark.again != Again::Never {
                put(&mut bytes, u64::from(mark.again_milliseconds));
            }
        }
        bytes
    }
}

/// Reads what [`Marks::packed`] wrote, one test after the other.
#[derive(Debug, Clone)]
pub(crate) struct Unpacking<'b> {
    bytes: &'b [u8],
    run: u32,
    test: i64,
}

/// The bytes are not what [`Marks::packed`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

impl<'b> Unpacking<'b> {
    /// The marks of a run.
    pub(crate) fn new(run: u32, bytes: &'b [u8]) -> Self {
        Self { bytes, run, test: 0 }
    }

    fn read(&mut self) -> Option<(i64, Mark)> {
        let bytes = &mut self.bytes;
        self.test = self.test.checked_add_unsigned(take(bytes)?)?;
        let (flags, rest) = bytes.split_first()?;
        *bytes = rest;
        let (outcome, again, verdict) = unflagged(*flags)?;
        let milliseconds = u32::try_from(take(bytes)?).ok()?;
        let again_milliseconds = match again {
            Again::Never => 0,
            Again::Passed | Again::Failed => u32::try_from(take(bytes)?).ok()?,
        };
        let run = self.run;
        let mark = Mark { run, outcome, again, verdict, milliseconds, again_milliseconds };
        Some((self.test, mark))
    }
}

impl Iterator for Unpacking<'_> {
    type Item = Result<(i64, Mark), Damaged>;

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

const AGAIN: [Again; 3] = [Again::Never, Again::Passed, Again::Failed];
const VERDICTS: [Option<Verdict>; 6] = [
    None,
    Some(Verdict::Flaky),
    Some(Verdict::Real),
    Some(Verdict::Unknown),
    Some(Verdict::NewlyFlaky),
    Some(Verdict::Unrelated),
];

/// How a test fared, as a byte: three bits for the outcome, two for reruns, three for the verdict. The order of the words is part
/// of the form.
pub(crate) fn flags(mark: &Mark) -> u8 {
    fn place<T: PartialEq>(all: &[T], it: &T) -> u8 {
        all.iter().position(|known| known == it).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
    }
    place(&OUTCOMES, &mark.outcome)
        | place(&AGAIN, &mark.again) << 3
        | place(&VERDICTS, &mark.verdict) << 5
}

const OUTCOMES: [Outcome; 6] = [
    Outcome::Passed,
    Outcome::Failed,
    Outcome::Errored,
    Outcome::Skipped,
    Outcome::Crashed,
    Outcome::TimedOut,
];

/// What [`flags`] made a byte of.
pub(crate) fn unflagged(flags: u8) -> Option<(Outcome, Again, Option<Verdict>)> {
    let outcome = OUTCOMES.get(usize::from(flags & 7))?;
    let again = AGAIN.get(usize::from(flags >> 3 & 3))?;
    let verdict = VERDICTS.get(usize::from(flags >> 5))?;
    Some((*outcome, *again, *verdict))
}

/// Write a number, seven bits at a time, the lowest first.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Read a number that [`put`] wrote.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark() -> impl Strategy<Value = Mark> {
        (0..6_usize, 0..3_usize, 0..6_usize, any::<u32>(), any::<u32>()).prop_map(
            |(outcome, again, verdict, milliseconds, again_milliseconds)| Mark {
                run: 0,
                outcome: OUTCOMES[outcome],
                again: AGAIN[again],
                verdict: VERDICTS[verdict],
                milliseconds,
                again_milliseconds: if again == 0 { 0 } else { again_milliseconds },
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_back(marks in prop::collection::btree_map(0..i64::MAX, mark(), 0..40)) {
            let marks = Marks(marks);
            let packed = marks.packed();
            let back: Result<BTreeMap<i64, Mark>, Damaged> = Unpacking::new(0, &packed).collect();
            prop_assert_eq!(back.map(Marks), Ok(marks));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            Unpacking::new(0, &bytes).for_each(drop);
        }
    }

    #[test]
    fn one_pass_among_reruns_is_enough() {
        let mut marks = Marks::default();
        let second = Duration::from_secs(1);
        marks.add(7, true, Outcome::Failed, second);
        marks.add(7, false, Outcome::Passed, second);
        marks.add(7, false, Outcome::Failed, second);
        let mark = marks.0[&7];
        assert_eq!((mark.outcome, mark.again), (Outcome::Failed, Again::Passed));
        assert_eq!((mark.milliseconds, mark.again_milliseconds), (1000, 2000));
    }

    #[test]
    fn a_usual_pass_takes_four_bytes() {
        let mut marks = Marks::default();
        marks.add(1, true, Outcome::Passed, Duration::from_millis(150));
        assert_eq!(marks.packed().len(), 4);
    }
}
