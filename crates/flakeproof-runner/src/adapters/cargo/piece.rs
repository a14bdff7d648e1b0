//! Some tests of one binary, in one process of Rust's own harness.
//!
//! The harness does not stop at a failure, so the process may be ahead of whoever asks for results. What a test printed last is only known when the process is
//! gone: the result of the last test waits for that, and so does one that the harness explains at
//! the end.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};

use super::process::{self, Foretold, Heard, HeldProcess, Next, Process, Section, Watcher, Word};
use super::session::CargoSession;
use super::summary::Summary;
use crate::adapter::Result;
use crate::process::{Death, Instructions, Peak, Usage};

/// A process that runs tests.
#[derive(Debug)]
pub(super) struct Piece {
    tests: Vec<PieceTest>,
    process: Process,
    heard: Receiver<Heard>,
    /// What the tests that ended printed.
    ended: Vec<Section>,
    /// When the test that runs now began, or the process, if none has.
    begun: Instant,
    has_begun: bool,
    over: Option<Over>,
    /// What its threads did when its time was over.
    threads: String,
    /// From this test on nothing is known, because another one began where it was not due.
    out_of_order: Option<(usize, String)>,
}

/// A test of a piece.
#[derive(Debug, Clone)]
pub(super) struct PieceTest {
    /// The harness's name of it.
    pub(super) name: String,
    pub(super) is_ignored: bool,
}

/// How the process ended, and what it printed since the last test began.
#[derive(Debug)]
struct Over {
    how: Ending,
    last: Section,
    /// What the harness says when all tests ran.
    summary: Option<Summary>,
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Died(Death),
    TimedOut,
}

/// How a test of a piece ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TestResult {
    Passed(Section),
    /// With what the harness remarks on it at the end.
    Failed(Section, Option<String>),
    Ignored(Option<String>),
    /// The process died in it.
    Died(Section, Death),
    /// The process died after it and after all others, in a way that says that something is wrong.
    DiedAfter(Section, Death),
    /// With what its threads did then.
    TimedOut(Section, String),
    /// It cannot be told from what was printed; run again as the last of a process, it can.
    Unclear,
    /// The process died before its turn came.
    NeverBegan,
    /// No test began before the process died.
    Lost(String, Death),
}

/// Tests whose process has not started yet.
#[derive(Debug)]
pub(super) struct HeldPiece {
    tests: Vec<PieceTest>,
    process: HeldProcess,
    heard: Receiver<Heard>,
}

impl HeldPiece {
    pub(super) fn new(
        session: &CargoSession,
        instructions: &Instructions,
        tests: Vec<PieceTest>,
        foretold: Foretold,
    ) -> Result<Self> {
        let (sender, heard) = unbounded();
        let names = tests.iter().map(|test| test.name.clone()).collect();
        let watcher = Box::new(Watcher::new(names, foretold, sender));
        let process = HeldProcess::new(session, instructions, watcher)?;
        Ok(Self { tests, process, heard })
    }

    /// Start the process.
    pub(super) fn start(self) -> Result<Piece> {
        let Self { tests, process, heard } = self;
        let begun = Instant::now();
        let process = process.start()?;
        let (ended, has_begun, over, threads) = (Vec::new(), false, None, String::new());
        let out_of_order = None;
        Ok(Piece { tests, process, heard, ended, begun, has_begun, over, threads, out_of_order })
    }
}

impl Piece {
    /// Look from now on at what its process has at once.
    pub(super) fn watch(&mut self) {
        self.process.watch();
    }

    /// What its process used, once it is over.
    pub(super) fn usage(&mut self) -> Option<(Usage, Peak)> {
        self.process.usage()
    }

    /// Wait until it is known how a test ended.
    pub(super) fn result_of(&mut self, test: usize, session: &CargoSession) -> Result<TestResult> {
        while !self.is_known(test) {
            self.listen(session)?;
        }
        Ok(self.result_at(test))
    }

    /// Wait until all tests ran.
    pub(super) fn finish(&mut self, session: &CargoSession) -> Result<()> {
        while self.over.is_none() {
            self.listen(session)?;
        }
        Ok(())
    }

    fn is_known(&self, test: usize) -> bool {
        if self.over.is_some() || self.disorder_at(test).is_some() {
            return true;
        }
        let (Some(section), Some(it)) = (self.ended.get(test), self.tests.get(test)) else {
            return false;
        };
        match process::result_of(&section.text, it.is_ignored).0 {
            Word::Ok | Word::Ignored => true,
            // What the harness remarks on a failure comes at the end.
            Word::Failed => section.text.contains(" panicked at "),
            Word::Unclear => false,
        }
    }

    fn listen(&mut self, session: &CargoSession) -> Result<()> {
        let limit = session.settings.timeout;
        let deadline = limit.map(|limit| self.begun + limit);
        match self.process.next(session, &self.heard, deadline)? {
            Next::Heard(Heard::Began(at)) => (self.begun, self.has_begun) = (at, true),
            Next::Heard(Heard::Ended(section)) => self.ended.push(section),
            Next::Heard(Heard::OutOfOrder(name)) => self.note_disorder(name),
            Next::Heard(Heard::Closed(last)) => self.close(last, deadline, session)?,
            Next::Died(death) => self.end(Ending::Died(death)),
            Next::TimeIsOver => {
                self.threads = process::describe_threads(self.process.pid);
                self.end(Ending::TimedOut);
            }
        }
        Ok(())
    }

    /// The output is closed: the process is gone or goes at once.
    fn close(
        &mut self,
        last: Section,
        deadline: Option<Instant>,
        session: &CargoSession,
    ) -> Result<()> {
        let how = match self.process.next(session, &self.heard, deadline)? {
            Next::Died(death) => Ending::Died(death),
            Next::TimeIsOver | Next::Heard(_) => Ending::TimedOut,
        };
        self.process.end();
        self.conclude(how, last);
        Ok(())
    }

    /// The process is gone, or has to go: hear what it said until then.
    fn end(&mut self, how: Ending) {
        self.process.end();
        let mut last = Section { text: String::new(), duration: Duration::ZERO };
        // Everything that held the output open is killed; the watcher closes.
        while let Ok(heard) = self.heard.recv_timeout(process::LAST_WORDS) {
            match heard {
                Heard::Began(at) => (self.begun, self.has_begun) = (at, true),
                Heard::Ended(section) => self.ended.push(section),
                Heard::OutOfOrder(name) => self.note_disorder(name),
                Heard::Closed(section) => last = section,
            }
        }
        self.conclude(how, last);
    }

    fn conclude(&mut self, how: Ending, last: Section) {
        let is_in_last_test = self.has_begun && self.ended.len() + 1 == self.tests.len();
        let summary = match is_in_last_test {
            true => Summary::read(&last.text, self.tests.len()),
            false => None,
        };
        self.over = Some(Over { how, last, summary });
    }

    fn note_disorder(&mut self, name: String) {
        let at = self.ended.len();
        self.out_of_order.get_or_insert((at, name));
    }

    fn disorder_at(&self, test: usize) -> Option<&str> {
        let (at, name) = self.out_of_order.as_ref()?;
        (test >= *at).then_some(name)
    }

    fn result_at(&self, test: usize) -> TestResult {
        if let Some(name) = self.disorder_at(test) {
            let what = format!("`{name}` began where another test was due");
            return TestResult::Lost(what, Death::Exit(0));
        }
        let is_ignored = self.tests.get(test).is_some_and(|test| test.is_ignored);
        let Some(section) = self.ended.get(test) else {
            return self.result_of_last(test, is_ignored);
        };
        match process::result_of(&section.text, is_ignored).0 {
            Word::Ok => TestResult::Passed(section.clone()),
            Word::Ignored => TestResult::Ignored(process::reason_of(&section.text)),
            Word::Failed => TestResult::Failed(section.clone(), self.remark_on(test)),
            Word::Unclear => self.result_by_the_summary(test, section),
        }
    }

    /// How a test ended after whose result others wrote something.
    fn result_by_the_summary(&self, test: usize, section: &Section) -> TestResult {
        let summary = self.over.as_ref().and_then(|over| over.summary.as_ref());
        match summary {
            Some(summary) if summary.has_failed(self.name(test)) => {
                TestResult::Failed(section.clone(), self.remark_on(test))
            }
            Some(_) => TestResult::Passed(section.clone()),
            None => TestResult::Unclear,
        }
    }

    /// How a test ended after which no other began.
    fn result_of_last(&self, test: usize, is_ignored: bool) -> TestResult {
        let nobody = Death::Exit(0);
        let Some(over) = &self.over else {
            return TestResult::Lost("it is still running".into(), nobody);
        };
        let death = match over.how {
            Ending::Died(death) => death,
            Ending::TimedOut if test == self.ended.len() => {
                return TestResult::TimedOut(over.last.clone(), self.threads.clone());
            }
            Ending::TimedOut => nobody,
        };
        if test != self.ended.len() || !self.has_begun {
            return TestResult::Lost(over.last.text.clone(), death);
        }
        let Some(summary) = &over.summary else {
            return TestResult::Died(over.last.clone(), death);
        };
        let section = Section { text: summary.before.clone(), duration: over.last.duration };
        let has_failed = summary.has_failed(self.name(test));
        match death {
            _ if is_ignored => TestResult::Ignored(process::reason_of(&section.text)),
            _ if has_failed => TestResult::Failed(section, self.remark_on(test)),
            death if summary.explains(death) => TestResult::Passed(section),
            Death::Exit(_) | Death::Signal(_) => TestResult::DiedAfter(over.last.clone(), death),
        }
    }

    /// How the process ended after its last test, where its tests do not explain that.
    pub(super) fn unexplained_end(&self) -> Option<String> {
        let over = self.over.as_ref()?;
        let (summary, Ending::Died(death)) = (over.summary.as_ref()?, over.how) else {
            return None;
        };
        (!summary.explains(death)).then(|| format!("ends with {death} after its last test"))
    }

    /// How those tests ended of which it is known.
    pub(super) fn known_results(&self) -> Vec<(usize, TestResult)> {
        let known = (0..self.tests.len()).filter(|test| self.is_known(*test));
        known.map(|test| (test, self.result_at(test))).collect()
    }

    fn name(&self, test: usize) -> &str {
        self.tests.get(test).map_or("", |test| &test.name)
    }

    fn remark_on(&self, test: usize) -> Option<String> {
        let summary = self.over.as_ref()?.summary.as_ref()?;
        summary.remark_on(self.name(test))
    }
}
