//! The tests of one run, gathered from all its reports.
//!
//! Only attempts at the same test on the same code may contradict each other. A test that occurs
//! again in the same file may be another row of the same data, and one in another file may have run
//! on another system: such occurrences are parts of one test, which fails if any of them does. They
//! are attempts where the runner cannot mean anything else, and where the user or the names of the
//! files say so.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use flakeproof_core::{Attempt, IdRules, Isolation, Outcome, TestId};
use flakeproof_runner::reports::{Identity, Places, ReportedTest, attempts};

use super::{Remarks, TestCounts};

/// So many tests whose ids were rewritten wait for the end of the run; more keep their ids.
const MOST_HELD: usize = 100_000;

/// So many rewritten ids are shown.
const MOST_SHOWN: usize = 1_000;

/// The tests of one run so far.
pub(super) struct Gathering<'a> {
    rules: Option<IdRules>,
    places: Places,
    /// Files of the same group are attempts at the same tests.
    groups: Vec<u32>,
    /// What was seen of each test, by a hash of its id.
    seen: HashMap<u64, Seen>,
    held: Vec<Held>,
    pub(super) counts: TestCounts,
    pub(super) remarks: Remarks,
    /// Takes attempts that are to be kept.
    keep: &'a mut dyn FnMut(Attempt),
}

struct Seen {
    state: State,
    attempts: u32,
    file: u32,
}

/// How a test fared so far; the later ones win over the earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Skipped,
    Passed,
    Mixed,
    Failed,
}

/// A test whose id was rewritten. Whether it may be is known when all tests of the run are.
struct Held {
    identity: Identity,
    raw: TestId,
    test: ReportedTest,
    file: u32,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(
        rules: Option<IdRules>,
        places: Places,
        groups: Vec<u32>,
        keep: &'a mut dyn FnMut(Attempt),
    ) -> Self {
        Self {
            rules,
            places,
            groups,
            seen: HashMap::new(),
            held: Vec::new(),
            counts: TestCounts::default(),
            remarks: Remarks::default(),
            keep,
        }
    }

    /// Take in a test of a file.
    pub(super) fn take(&mut self, mut test: ReportedTest, file: u32) {
        let mut identity = Identity::assign(&test, self.rules.as_ref(), &mut self.places);
        match identity.raw.take() {
            None => self.add(&identity, test, file),
            Some(raw) if self.held.len() >= MOST_HELD => {
                self.remarks.kept_apart += 1;
                self.add(&Identity { id: raw, ..identity }, test, file);
            }
            Some(raw) => {
                lighten(&mut test);
                self.held.push(Held { identity, raw, test, file });
            }
        }
    }

    /// Take in what waited for the end: several ids of one file that the rules make one stay apart.
    pub(super) fn finish(&mut self) {
        let held = std::mem::take(&mut self.held);
        let mut first: HashMap<(&TestId, u32), &TestId> = HashMap::new();
        let mut apart: HashMap<TestId, ()> = HashMap::new();
        for it in &held {
            let known = first.entry((&it.identity.id, it.file)).or_insert(&it.raw);
            if **known != it.raw {
                apart.insert(it.identity.id.clone(), ());
            }
        }
        drop(first);
        for Held { identity, raw, test, file } in held {
            if apart.contains_key(&identity.id) {
                self.remarks.kept_apart += 1;
                self.add(&Identity { id: raw, ..identity }, test, file);
                continue;
            }
            self.remarks.rewritten_count += 1;
            if self.remarks.rewritten.len() < MOST_SHOWN {
                self.remarks.rewritten.push((raw.to_string(), identity.id.to_string()));
            }
            self.add(&identity, test, file);
        }
    }

    fn add(&mut self, identity: &Identity, test: ReportedTest, file: u32) {
        let state = state_of(&test);
        let key = hashed(&identity.id);
        let Some(seen) = self.seen.get_mut(&key) else {
            let made = attempts(test, &identity.id, 1, Isolation::Same);
            self.seen.insert(key, Seen { state, attempts: made.len() as u32, file });
            self.counts.count(state, true);
            made.into_iter().for_each(&mut *self.keep);
            return;
        };
        let before = seen.state;
        let is_same_file = seen.file == file;
        let group = |file: u32| self.groups.get(file as usize);
        let is_attempt = match is_same_file {
            true => identity.is_unique,
            false => group(seen.file) == group(file),
        };
        if is_attempt {
            let isolation = if is_same_file { Isolation::Same } else { Isolation::Spawn };
            let made = attempts(test, &identity.id, seen.attempts + 1, isolation);
            seen.attempts += made.len() as u32;
            seen.file = file;
            seen.state = before.again(state);
            made.into_iter().for_each(&mut *self.keep);
        } else {
            self.remarks.parts += 1;
            if state > before {
                // The first attempt of the worst part stands for all of them.
                let made = attempts(test, &identity.id, 1, Isolation::Same);
                *seen = Seen { state, attempts: made.len() as u32, file };
                made.into_iter().for_each(&mut *self.keep);
            }
        }
        let after = seen.state;
        self.counts.count(before, false);
        self.counts.count(after, true);
    }
}

impl State {
    /// After another attempt at the same test.
    fn again(self, other: Self) -> Self {
        match (self, other) {
            (Self::Skipped, other) => other,
            (own, Self::Skipped) => own,
            (own, other) if own == other => own,
            _ => Self::Mixed,
        }
    }
}

impl TestCounts {
    fn count(&mut self, state: State, is_more: bool) {
        let count = match state {
            State::Skipped => &mut self.skipped,
            State::Passed => &mut self.passed,
            State::Mixed => &mut self.mixed,
            State::Failed => &mut self.failed,
        };
        *count = if is_more { *count + 1 } else { count.saturating_sub(1) };
    }
}

fn state_of(test: &ReportedTest) -> State {
    match test.outcome {
        Outcome::Skipped if test.reruns.is_empty() => State::Skipped,
        Outcome::Passed if test.reruns.is_empty() => State::Passed,
        Outcome::Passed => State::Mixed,
        Outcome::Skipped
        | Outcome::Failed
        | Outcome::Errored
        | Outcome::Crashed
        | Outcome::TimedOut => State::Failed,
    }
}

fn hashed(id: &TestId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// What waits is kept small: what it printed is not needed.
fn lighten(test: &mut ReportedTest) {
    test.properties = Vec::new();
    let says_why = test.failure.as_ref().is_some_and(|it| !it.message.is_empty());
    if !test.outcome.is_failure() || says_why {
        test.output = String::new();
    }
    let shorten = |text: &mut String| {
        let end = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
        *text = end;
    };
    test.failure.iter_mut().for_each(|failure| shorten(&mut failure.text));
    test.reruns.iter_mut().for_each(|rerun| {
        shorten(&mut rerun.failure.text);
        rerun.output = String::new();
    });
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Stage;
    use flakeproof_runner::reports::ReportedAttempt;

    use super::*;

    fn test(name: &str, outcome: Outcome) -> ReportedTest {
        let mut test = ReportedTest::named(name);
        test.class = "a.FooTest".into();
        test.outcome = outcome;
        test
    }

    /// Gather tests of files in these groups; the counts, and each attempt that is kept.
    fn gathered(
        groups: &[u32],
        tests: Vec<(u32, ReportedTest)>,
    ) -> (TestCounts, Vec<(String, Stage, Outcome)>) {
        let mut kept = Vec::new();
        let mut keep = |attempt: Attempt| {
            let execution = attempt.execution;
            kept.push((execution.test.to_string(), attempt.stage, execution.outcome));
        };
        let rules = Some(IdRules::of_run("2026-11-15"));
        let mut gathering = Gathering::new(rules, Places::default(), groups.to_vec(), &mut keep);
        tests.into_iter().for_each(|(file, test)| gathering.take(test, file));
        gathering.finish();
        (gathering.counts, kept)
    }

    #[test]
    fn rows_of_one_file_are_no_attempts() {
        for order in [[Outcome::Failed, Outcome::Passed], [Outcome::Passed, Outcome::Failed]] {
            let tests = order.map(|outcome| (0, test("adds", outcome)));
            let (counts, kept) = gathered(&[0], tests.to_vec());
            assert_eq!((counts.failed, counts.mixed, counts.all()), (1, 0, 1));
            let last = kept.last().unwrap();
            assert_eq!((last.1, last.2), (Stage::First, Outcome::Failed));
        }
    }

    #[test]
    fn the_same_test_on_two_systems_is_no_attempt() {
        let tests = vec![(0, test("adds", Outcome::Failed)), (1, test("adds", Outcome::Passed))];
        let (counts, kept) = gathered(&[0, 1], tests);
        assert_eq!((counts.failed, counts.mixed), (1, 0));
        assert_eq!(kept.len(), 1);
    }

    #[test]
    fn files_of_one_group_are_attempts() {
        let tests = vec![(0, test("adds", Outcome::Failed)), (1, test("adds", Outcome::Passed))];
        let (counts, kept) = gathered(&[0, 0], tests);
        assert_eq!((counts.failed, counts.mixed), (0, 1));
        let stages: Vec<Stage> = kept.iter().map(|it| it.1).collect();
        assert_eq!(stages, [Stage::First, Stage::Postponed]);
    }

    #[test]
    fn go_cannot_mean_two_tests_by_one_name() {
        let go = |outcome| {
            let mut test = ReportedTest::named("TestA");
            test.suite = "acme/web".into();
            test.outcome = outcome;
            test
        };
        let (counts, _) = gathered(&[0], vec![(0, go(Outcome::Failed)), (0, go(Outcome::Passed))]);
        assert_eq!(counts.mixed, 1);
    }

    #[test]
    fn a_part_that_fails_wins_over_one_that_passed_when_repeated() {
        let mut repeated = test("adds", Outcome::Passed);
        repeated.reruns.push(ReportedAttempt {
            outcome: Outcome::Failed,
            duration: None,
            failure: Default::default(),
            output: String::new(),
        });
        let tests = vec![(0, repeated), (0, test("adds", Outcome::Failed))];
        let (counts, kept) = gathered(&[0], tests);
        assert_eq!((counts.failed, counts.mixed), (1, 0));
        assert_eq!(kept.last().map(|it| it.1), Some(Stage::First));
    }

    #[test]
    fn ids_that_the_rules_would_make_one_stay_apart() {
        let at = |time: &str, outcome| (0, test(&format!("adds[2024-01-01T{time}:00]"), outcome));
        let tests = vec![at("10:00", Outcome::Failed), at("11:00", Outcome::Passed)];
        let (counts, kept) = gathered(&[0], tests);
        assert_eq!((counts.failed, counts.passed, counts.mixed), (1, 1, 0));
        assert_eq!(kept[0].0, "a.FooTest#adds[2024-01-01T10:00:00]");
    }

    #[test]
    fn an_address_that_differs_between_attempts_is_one_test() {
        let at = |file, address: &str, outcome| (file, test(&format!("adds[{address}]"), outcome));
        let tests = vec![
            at(0, "0x7f3a2b1c0d10", Outcome::Failed),
            at(1, "0x7f3a2b1c0d20", Outcome::Passed),
        ];
        let (counts, kept) = gathered(&[0, 0], tests);
        assert_eq!((counts.mixed, counts.all()), (1, 1));
        assert_eq!(kept[1].0, "a.FooTest#adds[<address>]");
    }
}
