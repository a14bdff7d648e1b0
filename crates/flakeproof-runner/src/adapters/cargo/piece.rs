//! Some tests of one binary, in one process of Rust's own harness.
//!
//! The harness does not stop at a failure, so the process may be ahead of whoever asks for results. What a test printed last is only known when the process is
//! gone: the result of the last test waits for that, and so does one that the harness explains at
//! the end.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};

use super::process::{self, Foretold, Heard, HeldProcess, Next, Process, Section, Watcher, Word};
use super::session::CargoSession;
use crate::adapter::Result;
use crate::process::{Death, Instructions, Peak, Usage};

/// How long what a dead process printed may be on its way.
const LAST_WORDS: Duration = Duration::from_secs(2);

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
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
        while let Ok(heard) = self.heard.recv_timeout(LAST_WORDS) {
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
    pub(super) fn unexplained_end(&self) -> Option<Death> {
        let over = self.over.as_ref()?;
        let summary = over.summary.as_ref()?;
        match over.how {
            Ending::Died(death) => (!summary.explains(death)).then_some(death),
            Ending::TimedOut => None,
        }
    }

    fn name(&self, test: usize) -> &str {
        self.tests.get(test).map_or("", |test| &test.name)
    }

    fn remark_on(&self, test: usize) -> Option<String> {
        let summary = self.over.as_ref()?.summary.as_ref()?;
        summary.remark_on(self.name(test))
    }
}

/// What the harness says when all tests ran.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Summary {
    /// What the last test printed, with its result.
    before: String,
    /// Remarks on failures.
    remarks: String,
    /// The tests that failed.
    failed: Vec<String>,
}

impl Summary {
    /// Whether the harness ends like this after these tests: with 101 if one of them failed.
    fn explains(&self, death: Death) -> bool {
        match death {
            Death::Exit(0) => self.failed.is_empty(),
            Death::Exit(101) => !self.failed.is_empty(),
            Death::Exit(_) | Death::Signal(_) => false,
        }
    }

    /// Read it from what was printed since the last test began. It must be about so many tests: one
    /// may print the summary of another run.
    fn read(text: &str, tests: usize) -> Option<Self> {
        let result = text.rfind("\ntest result: ")?;
        if counted(text[result + 1..].lines().next()?) != tests {
            return None;
        }
        let text = &text[..result];
        let Some(list) = text.rfind("\nfailures:\n    ") else {
            let (before, remarks) = (text.trim_end().to_owned(), String::new());
            return Some(Self { before, remarks, failed: Vec::new() });
        };
        let listed = text[list..].lines().filter_map(|line| line.strip_prefix("    "));
        let failed = listed.map(str::to_owned).collect();
        let remarks = text[..=list].rfind("\nfailures:\n\n").unwrap_or(list);
        Some(Self {
            before: text[..remarks].trim_end().to_owned(),
            remarks: text[remarks..list].to_owned(),
            failed,
        })
    }

    fn has_failed(&self, name: &str) -> bool {
        self.failed.iter().any(|failed| failed == name)
    }

    /// What stands under `---- name stdout ----`.
    fn remark_on(&self, name: &str) -> Option<String> {
        let head = format!("---- {name} stdout ----\n");
        let start = self.remarks.find(&head)? + head.len();
        let rest = &self.remarks[start..];
        let text = rest[..rest.find("\n---- ").unwrap_or(rest.len())].trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// How many tests `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out` is
/// about.
fn counted(line: &str) -> usize {
    let counts = line.split_once(". ").map_or("", |(_, counts)| counts).split("; ");
    let of = |count: &str| {
        let (number, what) = count.split_once(' ')?;
        let is_about = ["passed", "failed", "ignored", "measured"].contains(&what);
        is_about.then(|| number.parse::<usize>().ok())?
    };
    counts.filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "hello\nFAILED\n\nfailures:\n\n---- t::a stdout ----\n\
        note: test did not panic as expected at src/lib.rs:14:32\n---- t::b stdout ----\n\
        note: panic did not contain expected string\n      panic message: \"def\"\n\n\
        failures:\n    t::a\n    t::b\n\ntest result: FAILED. 3 passed; 2 failed; 1 ignored\n\n";

    #[test]
    fn the_end_of_a_run_names_who_failed_and_why() {
        let summary = Summary::read(PRINTED, 6).expect("it is all there");
        assert_eq!(summary.before, "hello\nFAILED");
        assert_eq!(summary.failed, ["t::a", "t::b"]);
        let remark = "note: test did not panic as expected at src/lib.rs:14:32";
        assert_eq!(summary.remark_on("t::a").as_deref(), Some(remark));
        assert!(summary.remark_on("t::b").is_some_and(|it| it.ends_with("\"def\"")));
        assert_eq!(summary.remark_on("t::c"), None);
    }

    #[test]
    fn a_failure_without_remarks_keeps_only_what_the_test_printed() {
        let text = "no\nFAILED\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 1 failed\n";
        let summary = Summary::read(text, 1).expect("it is all there");
        assert_eq!(
            (summary.before.as_str(), &summary.failed[..]),
            ("no\nFAILED", &["a".into()][..])
        );
    }

    #[test]
    fn failing_tests_explain_the_code_of_the_harness_and_no_other() {
        let failed = Summary::read(PRINTED, 6).expect("it is all there");
        assert!(failed.explains(Death::Exit(101)));
        assert!(!failed.explains(Death::Exit(7)) && !failed.explains(Death::Signal(11)));
        let text = "ok\n\ntest result: ok. 1 passed; 0 failed\n";
        let passed = Summary::read(text, 1).expect("a result");
        assert!(passed.explains(Death::Exit(0)) && !passed.explains(Death::Exit(101)));
    }

    #[test]
    fn without_a_result_there_is_no_summary() {
        assert_eq!(Summary::read("hello\nok\n", 1), None);
        let passed =
            Summary::read("ok\n\ntest result: ok. 1 passed; 0 failed\n", 1).expect("a result");
        assert_eq!((passed.before.as_str(), passed.failed.len()), ("ok", 0));
        let other = Summary::read("ok\n\ntest result: ok. 5 passed; 0 failed\n", 1);
        assert_eq!(other, None, "a test printed the summary of another run");
    }
}
