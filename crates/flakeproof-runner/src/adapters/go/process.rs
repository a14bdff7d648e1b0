//! A test binary that runs some tests, and how each of them ends.
//!
//! The binary runs ahead of whoever asks for results. Tests that run beside others wait until all
//! other tests have ended, as they do under `go test`; whoever asks for one of them waits as well.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, at, never, select, unbounded};
use flakeproof_core::Outcome;

use super::framing::{Framing, Heard, Printed, TestEnd};
use crate::adapter::{Error, Result};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection, Hub};
use crate::cancel::Cancel;
use crate::process::{
    Death, Guarded, Instructions, Peak, Usage, Watch, ask_for_threads, killed_with_its_guard,
};

/// How long a guard may take to report.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);
/// How long what a dead process printed may be on its way.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a process may say nothing while no test runs, where tests have no limit.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

/// A test binary under way.
pub(super) struct TestProcess {
    guarded: Guarded,
    guard: Connection,
    pid: u32,
    heard: Receiver<Heard>,
    cancel: Cancel,
    /// How long one test may take.
    limit: Option<Duration>,
    /// Whether it must say first that it keeps the order it was told.
    is_told: bool,
    has_agreed: bool,
    /// Since when tests run, by name.
    running: BTreeMap<String, Instant>,
    ended: BTreeMap<String, Vec<TestEnd>>,
    has_begun: bool,
    /// When something was heard last: before the first test, the project's own set-up runs.
    last_heard: Instant,
    over: Option<Over>,
    /// What went wrong with us, and not with a test.
    trouble: Option<String>,
    watch: Option<Watch>,
    used: Option<Usage>,
}

/// How the process ended.
#[derive(Debug)]
pub(super) struct Over {
    /// `None` where it was killed at the limit of a test.
    pub(super) death: Option<Death>,
    /// What tests printed that did not end.
    pub(super) left: BTreeMap<String, Printed>,
    /// What was printed outside of tests.
    pub(super) outside: String,
    /// The tests whose time was over.
    pub(super) overdue: Vec<String>,
}

/// What is known of a test of a process.
#[derive(Debug)]
pub(super) enum Fate {
    /// It ended, as often as it was to run.
    Ended(Vec<TestEnd>),
    /// It ran when the process died.
    Died(Printed, Death),
    /// It ran longer than it may.
    TimedOut(Printed),
    /// No test began before the process ended.
    NeverBegan(String, Option<Death>),
    /// Another test took the process with it.
    Lost,
}

impl std::fmt::Debug for TestProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestProcess").field("pid", &self.pid).finish_non_exhaustive()
    }
}

/// Whether a binary is told its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderFrom {
    /// By us, which it confirms.
    Us,
    /// By its own options.
    ItsOptions,
}

impl TestProcess {
    /// Start a binary.
    pub(super) fn start(
        hub: &Hub,
        instructions: &Instructions,
        order: OrderFrom,
        limit: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let (listener, heard) = unbounded();
        let arrival = hub.expect(&instructions.guard_name);
        let guarded = Guarded::start_watched(instructions, Box::new(Framing::new(listener)))?;
        let Ok(Arrival::Connected(guard)) = arrival.recv_timeout(REPORT_PATIENCE) else {
            return Err(guard_is_gone());
        };
        let pid = match guard.messages.recv_timeout(REPORT_PATIENCE) {
            Ok(FromAgent::Started { pid }) => pid,
            Ok(FromAgent::Unstartable { cause }) => {
                let command = instructions.command.first().cloned().unwrap_or_default();
                return Err(Error::CannotStart { command, cause });
            }
            _ => return Err(guard_is_gone()),
        };
        Ok(Self {
            guarded,
            guard,
            pid,
            heard,
            cancel: cancel.clone(),
            limit,
            is_told: order == OrderFrom::Us,
            has_agreed: false,
            running: BTreeMap::new(),
            ended: BTreeMap::new(),
            has_begun: false,
            last_heard: Instant::now(),
            over: None,
            trouble: None,
            watch: None,
            used: None,
        })
    }

    /// The same process, looked at while it runs.
    pub(super) fn watched(mut self) -> Self {
        self.watch = Some(Watch::begin(self.pid));
        self
    }

    /// What it used and had at once, after its end; `None` where nobody looked or nobody tells.
    pub(super) fn usage(&mut self) -> Option<(Usage, Peak)> {
        Some((self.used?, self.watch.take()?.end()))
    }

    /// Wait until it is known how a test ended that runs so many times.
    pub(super) fn fate_of(&mut self, name: &str, rounds: usize) -> Result<Fate> {
        while self.over.is_none() && self.ended.get(name).is_none_or(|ends| ends.len() < rounds) {
            self.listen()?;
        }
        if let Some(trouble) = &self.trouble {
            return Err(Error::Agent(trouble.clone()));
        }
        if let Some(ends) = self.ended.get(name) {
            return Ok(Fate::Ended(ends.clone()));
        }
        let Some(over) = &self.over else { return Ok(Fate::Lost) };
        let printed = over.left.get(name);
        Ok(match (printed, over.death) {
            (Some(printed), _) if over.overdue.iter().any(|it| it == name) => {
                Fate::TimedOut(printed.clone())
            }
            // Who pauses did not end its process.
            (Some(printed), Some(death)) if printed.since.is_some() => {
                Fate::Died(printed.clone(), death)
            }
            _ if !self.has_begun => Fate::NeverBegan(over.outside.clone(), over.death),
            _ => Fate::Lost,
        })
    }

    /// Wait for its end, at most as long as a test may take.
    pub(super) fn finish(&mut self) -> Result<&Over> {
        while self.over.is_none() {
            self.listen()?;
        }
        self.over.as_ref().ok_or_else(|| Error::Agent("a process without an end".into()))
    }

    /// How it ended, where its tests do not explain that: the end of a sentence.
    ///
    /// A binary whose tests fail ends with 1, and one in which a test panics with 2.
    pub(super) fn unexplained_end(&self) -> Option<String> {
        let over = self.over.as_ref()?;
        let death = over.death.filter(|death| *death != Death::Exit(0))?;
        let failed = || self.ended.values().flatten().filter(|end| end.outcome.is_failure());
        let has_panicked = failed().any(|end| {
            end.printed
                .lines()
                .any(|it| it.starts_with("panic: ") || it.starts_with("fatal error: "))
        });
        let is_explained = has_panicked
            || !over.left.is_empty()
            || (failed().next().is_some() && death == Death::Exit(1));
        (!is_explained).then(|| format!("ended with {death}, not only for its tests"))
    }

    /// Wait for what it says about itself under a word.
    pub(super) fn told(&mut self, wanted: &str) -> Result<Option<String>> {
        loop {
            match self.heard.recv_timeout(self.limit.unwrap_or(Duration::from_secs(60))) {
                Ok(Heard::Told(word, text)) if word == wanted => return Ok(Some(text)),
                Ok(Heard::Closed(..)) | Err(_) => return Ok(None),
                Ok(_) => {}
            }
        }
    }

    fn listen(&mut self) -> Result<()> {
        let since = self.running.values().min().copied();
        let deadline = match since {
            Some(since) => self.limit.map(|limit| since + limit),
            None => Some(self.last_heard + self.limit.unwrap_or(LONGEST_SILENCE)),
        };
        select! {
            recv(self.heard) -> heard => match heard {
                Ok(heard) => self.hear(heard),
                Err(_) => self.end(None, Vec::new()),
            },
            recv(self.guard.messages) -> message => match message {
                Ok(FromAgent::Died { pid, code, signal, used }) if pid == self.pid => {
                    let death = signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal);
                    self.used = used;
                    self.end(Some(death), Vec::new());
                }
                Ok(_) => {}
                // A test that kills its parent.
                Err(_) => self.end(Some(killed_with_its_guard(self.pid)), Vec::new()),
            },
            recv(self.cancel.signal()) -> _ => return Err(Error::Cancelled),
            recv(deadline.map_or_else(never, at)) -> _ => self.give_up(),
        }
        Ok(())
    }

    fn hear(&mut self, heard: Heard) {
        self.last_heard = Instant::now();
        match heard {
            Heard::Told(word, text) if word == "trouble" => self.trouble = Some(text),
            Heard::Told(word, _) => self.has_agreed |= word == "order",
            Heard::Began(name, now) => {
                if self.is_told && !self.has_agreed {
                    self.trouble = Some("a test binary does not keep the order it is told".into());
                }
                self.has_begun = true;
                self.running.insert(name, now);
            }
            Heard::Resumed(name, now) => {
                self.running.insert(name, now);
            }
            Heard::Paused(name) => {
                self.running.remove(&name);
            }
            Heard::Ended(name, end) => {
                self.running.remove(&name);
                self.ended.entry(name).or_default().push(end);
            }
            Heard::Closed(left, outside) => {
                // It is gone, or goes at once.
                let death = self.wait_for_death();
                let overdue = Vec::new();
                self.over = Some(Over { death, left, outside, overdue });
                self.guarded.end();
            }
        }
    }

    fn wait_for_death(&mut self) -> Option<Death> {
        let deadline = Instant::now() + self.limit.unwrap_or(LAST_WORDS).max(LAST_WORDS);
        loop {
            match self.guard.messages.recv_deadline(deadline) {
                Ok(FromAgent::Died { pid, code, signal, used }) if pid == self.pid => {
                    self.used = used;
                    return Some(signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal));
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// A test has run longer than it may, or the project's own set-up has.
    fn give_up(&mut self) {
        let now = Instant::now();
        let limit = self.limit.unwrap_or_default();
        let is_overdue = |since: &Instant| now.saturating_duration_since(*since) >= limit;
        let overdue = self.running.iter().filter(|(_, since)| is_overdue(since));
        let overdue = overdue.map(|(name, _)| name.clone()).collect();
        // Go tells where each of its goroutines is, and ends.
        ask_for_threads(self.pid);
        let _ = self.guard.messages.recv_timeout(LAST_WORDS);
        self.end(None, overdue);
    }

    /// The process is gone, or has to go: hear what it said until then.
    fn end(&mut self, death: Option<Death>, overdue: Vec<String>) {
        self.guarded.end();
        let (mut left, mut outside) = (BTreeMap::new(), String::new());
        while let Ok(heard) = self.heard.recv_timeout(LAST_WORDS) {
            match heard {
                Heard::Closed(unfinished, rest) => {
                    (left, outside) = (unfinished, rest);
                    break;
                }
                other => self.hear(other),
            }
        }
        self.over = Some(Over { death, left, outside, overdue });
    }
}

/// Our own trouble, not the test's.
fn guard_is_gone() -> Error {
    Error::EnvironmentLost { cause: "its guard process was killed".into() }
}

/// Of a test that ran several times: a failure wins over a pass, a pass over a skip.
pub(super) fn merged(ends: Vec<TestEnd>) -> TestEnd {
    let rank = |outcome: Outcome| match outcome {
        Outcome::Skipped => 0,
        Outcome::Passed => 1,
        Outcome::Failed | Outcome::Errored | Outcome::Crashed | Outcome::TimedOut => 2,
    };
    let duration = ends.iter().map(|end| end.duration).sum();
    let worst = ends.iter().map(|end| end.outcome).max_by_key(|it| rank(*it));
    let printed: Vec<String> = ends.into_iter().map(|end| end.printed).collect();
    TestEnd { outcome: worst.unwrap_or(Outcome::Skipped), printed: printed.concat(), duration }
}
