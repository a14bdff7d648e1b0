//! Replays of a failure, as a person reads them.

use std::fmt::Write as _;
use std::time::Duration;

use flakeproof_core::statistics::failure_rate;
use flakeproof_core::{Failure, Isolation, LeverValue, Shuffle, Tally, TestId};
use flakeproof_detect::verify::Replay;
use flakeproof_report::words;

use super::known::{shortened, typeable};
use super::terminal::{self, BAD, CHANCE, DIM, Detail, GOOD, OPEN, STRONG, count};

/// All replays of an order.
#[derive(Debug)]
pub(crate) struct Replays {
    test: TestId,
    order: Vec<TestId>,
    isolation: Isolation,
    is_stdout_taken: bool,
    /// The failure that is expected.
    pub(crate) failure: Option<Failure>,
    /// The command that shows it without flakeproof.
    pub(crate) command: Option<String>,
    /// What decides the orders that the language leaves open, if not the runtime.
    pub(crate) shuffle: Option<Shuffle>,
    /// The lever that every replay is under.
    pub(crate) lever: Option<LeverValue>,
    /// How long it all took.
    pub(crate) time: Duration,
    all: Vec<Replay>,
}

impl Replays {
    /// None yet.
    pub(crate) fn new(
        test: &TestId,
        order: &[TestId],
        isolation: Isolation,
        is_stdout_taken: bool,
    ) -> Self {
        Self {
            test: test.clone(),
            order: order.to_vec(),
            isolation,
            is_stdout_taken,
            failure: None,
            command: None,
            shuffle: None,
            lever: None,
            time: Duration::ZERO,
            all: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, replay: Replay) {
        self.all.push(replay);
    }

    /// How often the test ran, and failed.
    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for execution in self.all.iter().filter_map(|it| it.last.as_ref()) {
            tally.count(execution.outcome.is_failure());
        }
        tally
    }

    /// The first failure that was seen.
    pub(crate) fn first_failure(&self) -> Option<&Failure> {
        self.all.iter().find_map(|it| it.last.as_ref()?.failure.as_ref())
    }

    /// How many failures have the signature of the expected one.
    fn alike(&self) -> u32 {
        let failures = self.all.iter().filter_map(|it| it.last.as_ref()?.failure.as_ref());
        let mut alike = 0;
        for failure in failures {
            let is_alike = |it: &Failure| it.signature == failure.signature;
            alike += u32::from(self.failure.as_ref().is_some_and(is_alike));
        }
        alike
    }

    fn print(&self, text: &str) {
        let _ = if self.is_stdout_taken { terminal::err(text) } else { terminal::out(text) };
    }
}

/// Say what is about to be replayed.
pub(crate) fn replay_begins(replays: &Replays, runs: u32) {
    let place = match replays.isolation {
        Isolation::Spawn => "a new process",
        Isolation::Fork => "a fresh copy of the process",
        Isolation::Same => "the suite's own environment",
    };
    let before = match replays.order.len() {
        _ if replays.lever.is_some() => {
            replays.lever.as_ref().map(words::under_lever).unwrap_or_default()
        }
        0 | 1 => "alone".to_owned(),
        length => format!("after {}", count(length - 1, "other test")),
    };
    let times = if runs == 1 { "once" } else { &format!("{runs} times") };
    let test = replays.test.shown();
    let with = replays
        .shuffle
        .as_ref()
        .map(|it| format!(" with hash tables in the order of seed {}", it.seed));
    let with = with.unwrap_or_default();
    replays.print(&format!("{STRONG}{test}{STRONG:#} {before}, {times}, each in {place}{with}\n"));
}

/// Say how one replay ended.
pub(crate) fn replayed(replays: &Replays, one: &Replay) {
    let number = replays.all.len() + 1;
    replays.print(&format!("{number:>4}  {}\n", ended(one)));
}

fn ended(one: &Replay) -> String {
    let Some(execution) = &one.last else {
        let by =
            one.ended_by.as_ref().map(|test| format!(": `{}` ended the process", test.shown()));
        return format!("{OPEN}not reached{OPEN:#}{}", by.unwrap_or_default());
    };
    let style = if execution.outcome.is_failure() { CHANCE } else { GOOD };
    let outcome = execution.outcome.to_string();
    let message = execution.failure.as_ref().map(|it| shortened(&it.message)).unwrap_or_default();
    let seconds = execution.duration.as_secs_f64();
    format!("{style}{outcome:<9}{style:#} {DIM}{seconds:>7.3} s{DIM:#}  {message}")
        .trim_end()
        .to_owned()
}

/// Say what it comes to.
pub(crate) fn replays_end(replays: &Replays) {
    replays.print(&closing(replays, Detail::decided()));
}

fn closing(replays: &Replays, detail: Detail) -> String {
    let mut text = String::new();
    let tally = replays.tally();
    let executions: u32 = replays.all.iter().map(|it| it.executions).sum();
    let cost = format!(
        "{} in {}",
        count(executions as usize, "execution"),
        words::lasted(replays.time.as_secs_f64())
    );
    if tally.runs == 0 {
        let _ = writeln!(text, "\n{BAD}the test was never reached{BAD:#} {DIM}({cost}){DIM:#}");
        return text;
    }
    if tally.failures == 0 {
        let missed = words::one_time_in(failure_rate(tally).high);
        let _ = writeln!(text, "\n{GOOD}it no longer fails{GOOD:#}: {}", words::failed(tally));
        let _ = match detail {
            Detail::Short => writeln!(text, "{DIM}{cost}{DIM:#}"),
            Detail::Full => writeln!(
                text,
                "a failure {missed} would have shown itself with 95 % {DIM}({cost}){DIM:#}"
            ),
        };
        let victim = words::command(&[replays.test.to_string()]);
        let verb = if replays.lever.is_some() { "cause" } else { "hunt --victim" };
        let _ = writeln!(text, "{DIM}`flakeproof {verb} {victim}` looks again{DIM:#}");
        return text;
    }
    let before = if replays.lever.is_some() { "before" } else { "in the hunt" };
    let alike = match (&replays.failure, replays.alike()) {
        (None, _) => String::new(),
        (Some(_), alike) if alike == tally.failures => format!(", as it did {before}"),
        (Some(_), 0) => format!(", but not as it did {before}"),
        (Some(_), alike) => format!(", {alike} times as it did {before}"),
    };
    let failed = words::failed(tally);
    let _ = writeln!(text, "\n{CHANCE}{failed}{CHANCE:#}{alike} {DIM}({cost}){DIM:#}");
    // A long one is in the report and in the bundle, and one of ours is none without us.
    let is_shown =
        |it: &&String| typeable(it, &replays.test) == **it && !it.starts_with("flakeproof ");
    let command = replays.command.as_ref().filter(is_shown);
    if let Some(command) = command {
        let _ = writeln!(text, "without flakeproof: {STRONG}{command}{STRONG:#}");
    }
    text
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Execution, Outcome, Phase, Signature};

    use super::*;

    fn failure(message: &str) -> Failure {
        Failure {
            phase: Phase::Call,
            message: message.into(),
            text: message.into(),
            location: None,
            signature: Signature::compute(message, None),
        }
    }

    fn replay(outcome: Outcome, message: &str) -> Replay {
        let last = Execution {
            failure: outcome.is_failure().then(|| failure(message)),
            ..Execution::new("b", outcome, Duration::from_millis(31))
        };
        Replay { executions: 2, last: Some(last), ended_by: None }
    }

    fn said(all: Vec<Replay>) -> String {
        let order = ["a".into(), "b".into()];
        let mut replays = Replays::new(&"b".into(), &order, Isolation::Spawn, false);
        replays.failure = Some(failure("KeyError: 'a'"));
        replays.time = Duration::from_millis(1_500);
        replays.all = all;
        anstream::adapter::strip_str(&closing(&replays, Detail::Full)).to_string()
    }

    #[test]
    fn a_failure_is_compared_with_the_one_of_the_hunt() {
        let same = || replay(Outcome::Failed, "KeyError: 'a'");
        let other = || replay(Outcome::Failed, "ValueError");
        let text = said(vec![same(), replay(Outcome::Passed, "")]);
        assert!(
            text.contains("failed 1 of 2 (6.1 % to 94 %), as it did in the hunt (4 exec"),
            "{text}"
        );
        assert!(said(vec![other()]).contains("but not as it did in the hunt"));
        assert!(said(vec![same(), other()]).contains("1 times as it did"));
    }

    #[test]
    fn a_test_that_no_longer_fails_says_what_could_have_been_missed() {
        let text = said((0..10).map(|_| replay(Outcome::Passed, "")).collect());
        assert!(text.contains("it no longer fails: failed 0 of 10 (0.0 % to 26 %)"), "{text}");
        assert!(text.contains("a failure 1 time in 3 would have shown itself"), "{text}");
        assert!(text.contains("20 executions in 1.5 s"), "{text}");
    }

    #[test]
    fn a_replay_that_ends_too_early_names_who_ended_it() {
        let lost = Replay { executions: 1, last: None, ended_by: Some("a".into()) };
        assert!(ended(&lost).contains("`a` ended the process"));
        assert!(said(vec![lost]).contains("never reached"));
    }
}
