//! Some tests of one binary at the same time, in threads of Rust's own harness, as cargo runs them.
//!
//! The harness says how a test ended when it has ended, and then begins the next of its list; so it
//! is known when each began. What a test prints it keeps, and shows at the end if the test failed.
//! How each ended is told when the process is gone, by the harness's own summary: a program that a test
//! starts may print lines that look like results, or write into them. Lines only count where there is
//! no summary, because the process died.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::piece::{Ending, PieceTest, TestResult};
use super::process::{self, HeldProcess, Next, Process, Section};
use super::session::CargoSession;
use super::summary::Summary;
use crate::adapter::Result;
use crate::process::{Death, Instructions};

/// Tests that run at the same time.
#[derive(Debug)]
pub(super) struct Crowd {
    tests: Vec<PieceTest>,
    process: Process,
    heard: Receiver<Said>,
    turns: Turns,
    /// What was said of each, and how long it took.
    said: Vec<Option<(Word, Duration)>>,
    /// How long a test may take.
    limit: Option<Duration>,
    /// When a test began or ended last.
    last_news: Instant,
    over: Option<Over>,
    /// What its threads did when its time was over.
    threads: String,
}

/// Such tests whose process has not started yet.
#[derive(Debug)]
pub(super) struct HeldCrowd {
    tests: Vec<PieceTest>,
    at_once: usize,
    limit: Option<Duration>,
    process: HeldProcess,
    heard: Receiver<Said>,
}

/// How the process ended, and all that it printed.
#[derive(Debug)]
struct Over {
    how: Ending,
    text: String,
    summary: Option<Summary>,
}

/// A line that says how a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    test: usize,
    word: Word,
    at: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Ok,
    Failed,
    Ignored(Option<String>),
}

impl HeldCrowd {
    /// Have the guard of the process started, which will run so many tests at once.
    pub(super) fn new(
        session: &CargoSession,
        instructions: &Instructions,
        tests: Vec<PieceTest>,
        at_once: usize,
    ) -> Result<Self> {
        let (sender, heard) = unbounded();
        let process =
            HeldProcess::new(session, instructions, Box::new(Lines::new(&tests, sender)))?;
        let limit = session.settings.timeout;
        Ok(Self { tests, at_once, limit, process, heard })
    }

    /// Start the process.
    pub(super) fn start(self) -> Result<Crowd> {
        let Self { tests, at_once, limit, process, heard } = self;
        let last_news = Instant::now();
        let process = process.start()?;
        let turns = Turns::new(tests.len(), at_once, last_news);
        let (said, over, threads) = (vec![None; tests.len()], None, String::new());
        Ok(Crowd { tests, process, heard, turns, said, limit, last_news, over, threads })
    }
}

impl Crowd {
    /// Wait until it is known how a test ended.
    pub(super) fn result_of(&mut self, test: usize, session: &CargoSession) -> Result<TestResult> {
        self.finish(session)?;
        Ok(self.result_at(test))
    }

    /// Wait until all tests ran.
    pub(super) fn finish(&mut self, session: &CargoSession) -> Result<()> {
        while self.over.is_none() {
            self.listen(session)?;
        }
        Ok(())
    }

    /// What is wrong with the end of the process, where its tests do not explain it.
    pub(super) fn unexplained_end(&self) -> Option<String> {
        let over = self.over.as_ref()?;
        let death = match over.how {
            Ending::Died(death) => death,
            // Those that hang are told.
            Ending::TimedOut if self.unfinished().next().is_some() => return None,
            Ending::TimedOut => return Some("does not end after its tests".to_owned()),
        };
        let Some(summary) = &over.summary else {
            let running = self.unfinished().take(3).map(|test| format!("`{}`", self.name(test)));
            let running: Vec<String> = running.collect();
            return Some(match running.is_empty() {
                true => format!("ends with {death} and does not say how its tests ended"),
                false => format!("ends with {death} while {} ran", running.join(" and ")),
            });
        };
        if !summary.explains(death) {
            return Some(format!("ends with {death} after its last test"));
        }
        None
    }

    /// How the process died, if nobody knows which of several tests ended it.
    pub(super) fn died_among(&self) -> Option<(Death, Vec<usize>)> {
        let over = self.over.as_ref()?;
        let Ending::Died(death) = over.how else { return None };
        let is_open = over.summary.is_none() && self.has_begun();
        is_open.then(|| (death, self.unfinished().collect()))
    }

    fn listen(&mut self, session: &CargoSession) -> Result<()> {
        // One that hangs is sure to only when nothing else goes on: when it began is concluded, not told.
        let deadline = self.limit.map(|limit| self.last_news + limit);
        match self.process.next(session, &self.heard, deadline)? {
            Next::Heard(said) => self.note(said),
            Next::Died(death) => self.end(Ending::Died(death)),
            Next::TimeIsOver => {
                self.threads = process::describe_threads(self.process.pid);
                self.end(Ending::TimedOut);
            }
        }
        Ok(())
    }

    fn note(&mut self, said: Said) {
        let Said { test, word, at } = said;
        self.last_news = at;
        if self.said[test].is_none() {
            self.said[test] = Some((word, self.turns.end(test, at)));
        }
    }

    /// The process is gone, or has to go: hear what it said until then.
    fn end(&mut self, how: Ending) {
        let text = self.process.end();
        // Everything that held the output open is killed; the watcher closes.
        while let Ok(said) = self.heard.recv_timeout(process::LAST_WORDS) {
            self.note(said);
        }
        let summary = Summary::read(&text, self.tests.len());
        self.over = Some(Over { how, text, summary });
    }

    fn result_at(&self, test: usize) -> TestResult {
        let said = self.said[test].as_ref();
        let took = said.map_or(Duration::ZERO, |(_, took)| *took);
        let section = |text: String| Section { text, duration: took };
        let passed = || match self.limit.is_some_and(|limit| took > limit) {
            // It could not be killed without those beside it.
            true => TestResult::TimedOut(section(String::new()), String::new()),
            false => TestResult::Passed(section(String::new())),
        };
        let by_the_line = || match said?.0.clone() {
            Word::Ok => Some(passed()),
            Word::Ignored(reason) => Some(TestResult::Ignored(reason)),
            Word::Failed => Some(TestResult::Failed(section(String::new()), None)),
        };
        let unclear = || by_the_line().unwrap_or(TestResult::Unclear);
        let Some(over) = &self.over else { return unclear() };
        if let Some(summary) = &over.summary {
            let name = self.name(test);
            return match (summary.has_failed(name), by_the_line()) {
                (true, _) => {
                    let shown = summary.remark_on(name).unwrap_or_default();
                    let (printed, remark) = without_remark(&shown);
                    TestResult::Failed(section(printed.to_owned()), remark.map(str::to_owned))
                }
                // The list of those that failed does not name it.
                (false, Some(TestResult::Failed(..))) => TestResult::Unclear,
                (false, Some(told)) => told,
                (false, None) if !self.has_line(test) => TestResult::Unclear,
                (false, None) if self.tests[test].is_ignored => TestResult::Ignored(None),
                (false, None) => passed(),
            };
        }
        match over.how {
            _ if said.is_some() => unclear(),
            Ending::TimedOut if self.unfinished().any(|it| it == test) => {
                TestResult::TimedOut(section(String::new()), self.threads.clone())
            }
            Ending::Died(death) if !self.has_begun() => TestResult::Lost(over.text.clone(), death),
            Ending::TimedOut if !self.has_begun() => {
                TestResult::Lost(over.text.clone(), Death::Exit(0))
            }
            _ if !self.turns.has_begun(test) => TestResult::NeverBegan,
            Ending::Died(_) | Ending::TimedOut => TestResult::Unclear,
        }
    }

    /// What began and has not ended, as far as can be told.
    fn unfinished(&self) -> impl Iterator<Item = usize> {
        self.turns.running.iter().copied().filter(|test| !self.has_line(*test))
    }

    /// Whether the harness printed a test's line; others may have written into it.
    fn has_line(&self, test: usize) -> bool {
        let name = self.name(test);
        let starts = ["", " - should panic"].map(|remark| format!("test {name}{remark} ... "));
        let has = |over: &Over| starts.iter().any(|start| over.text.contains(start));
        self.over.as_ref().is_some_and(has)
    }

    /// Whether the harness came to its tests.
    fn has_begun(&self) -> bool {
        let has_announced = || self.over.as_ref().is_some_and(|it| it.text.contains("\nrunning "));
        self.said.iter().any(Option::is_some) || has_announced()
    }

    /// How those tests ended of which it is known.
    pub(super) fn known_results(&self) -> Vec<(usize, TestResult)> {
        let known = 0..if self.over.is_some() { self.tests.len() } else { 0 };
        known.map(|test| (test, self.result_at(test))).collect()
    }

    fn name(&self, test: usize) -> &str {
        &self.tests[test].name
    }
}

/// What a failed test printed, and what the harness adds to it.
fn without_remark(shown: &str) -> (&str, Option<&str>) {
    let starts = ["note: test did not panic as expected", "note: panic did not contain expected"];
    let at = starts.iter().filter_map(|start| shown.rfind(start)).max();
    match at.filter(|at| *at == 0 || shown[..*at].ends_with('\n')) {
        Some(at) => (&shown[..at], Some(&shown[at..])),
        None => (shown, None),
    }
}

/// Which tests run, by those that ended: the harness keeps so many going at once, in its order.
#[derive(Debug)]
struct Turns {
    begun: Vec<Instant>,
    running: BTreeSet<usize>,
    tests: usize,
}

impl Turns {
    fn new(tests: usize, at_once: usize, begun: Instant) -> Self {
        let first = at_once.min(tests);
        Self { begun: vec![begun; first], running: (0..first).collect(), tests }
    }

    /// A test ended; say how long it took.
    fn end(&mut self, test: usize, at: Instant) -> Duration {
        let begun = self.begun.get(test).copied().unwrap_or(at);
        if self.running.remove(&test) && self.begun.len() < self.tests {
            self.running.insert(self.begun.len());
            self.begun.push(at);
        }
        at.saturating_duration_since(begun)
    }

    fn has_begun(&self, test: usize) -> bool {
        test < self.begun.len()
    }
}

/// Finds the lines that say how a test ended.
struct Lines {
    /// Each with its number, and whether the harness will not run it.
    tests: HashMap<String, (usize, bool)>,
    line: Vec<u8>,
    sender: Sender<Said>,
}

/// No line of the harness is longer.
const LONGEST: usize = 64 * 1024;

impl Lines {
    fn new(tests: &[PieceTest], sender: Sender<Said>) -> Self {
        let numbered = tests.iter().enumerate();
        let tests = numbered.map(|(at, test)| (test.name.clone(), (at, test.is_ignored))).collect();
        Self { tests, line: Vec::new(), sender }
    }

    /// `test a ... ok`, perhaps after something that another wrote into the line.
    fn read(&self, line: &str) -> Option<(usize, Word)> {
        line.match_indices("test ").find_map(|(at, start)| {
            let (name, word) = line[at + start.len()..].split_once(" ... ")?;
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            let name = name.strip_suffix(" - compile fail").unwrap_or(name).trim_end();
            let (test, is_ignored) = *self.tests.get(name)?;
            let word = match (word.trim_end(), is_ignored) {
                ("ok", false) => Word::Ok,
                ("FAILED", false) => Word::Failed,
                ("ignored", true) => Word::Ignored(None),
                (word, true) => Word::Ignored(Some(word.strip_prefix("ignored, ")?.to_owned())),
                (_, false) => return None,
            };
            Some((test, word))
        })
    }
}

impl Write for Lines {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.last() == Some(&b'\n') {
                let line = String::from_utf8_lossy(&self.line);
                if let Some((test, word)) = self.read(&line) {
                    let _ = self.sender.send(Said { test, word, at: Instant::now() });
                }
                self.line.clear();
            } else if self.line.len() > 2 * LONGEST {
                self.line.drain(..LONGEST);
            }
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(printed: &[&str]) -> Vec<(usize, Word)> {
        let (sender, heard) = unbounded();
        let tests: Vec<PieceTest> = [("a", false), ("m::b", false), ("c", false), ("i", true)]
            .map(|(name, is_ignored)| PieceTest { name: name.to_owned(), is_ignored })
            .into();
        let mut lines = Lines::new(&tests, sender);
        for piece in printed {
            lines.write_all(piece.as_bytes()).expect("nothing can fail");
        }
        drop(lines);
        heard.iter().map(|said| (said.test, said.word)).collect()
    }

    #[test]
    fn a_line_tells_how_a_test_ended() {
        let printed =
            ["\nrunning 3 tests\ntest m::b - should panic ... ok\ntest c ", "... FAILED\n"];
        assert_eq!(said(&printed), [(1, Word::Ok), (2, Word::Failed)]);
        let printed = ["test i     ... ignored, too slow\n"];
        assert_eq!(said(&printed), [(3, Word::Ignored(Some("too slow".to_owned())))]);
        assert_eq!(said(&["test a ... ignored\n", "test i ... ok\n"]), [], "these are others'");
    }

    #[test]
    fn what_a_program_wrote_into_the_line_does_not_hide_the_result() {
        assert_eq!(said(&["downloading test a ... ok\n"]), [(0, Word::Ok)]);
        assert_eq!(said(&["test a ... 12 %\nok\n", "test other ... ok\ntest c is ... ok\n"]), []);
    }

    #[test]
    fn who_ended_tells_who_began() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut turns = Turns::new(4, 2, begun);
        assert_eq!(turns.end(1, after(3)), Duration::from_secs(3));
        assert_eq!(turns.running, BTreeSet::from([0, 2]));
        assert_eq!(turns.end(2, after(5)), Duration::from_secs(2));
        assert_eq!(turns.end(2, after(6)), Duration::from_secs(3), "said twice");
        assert_eq!(turns.running, BTreeSet::from([0, 3]));
        assert_eq!(turns.end(0, after(9)), Duration::from_secs(9));
        assert!(turns.has_begun(3));
    }

    #[test]
    fn what_the_harness_remarks_is_told_from_what_a_test_prints() {
        let shown = "hello\nnote: test did not panic as expected at src/lib.rs:14:32";
        let remark = "note: test did not panic as expected at src/lib.rs:14:32";
        assert_eq!(without_remark(shown), ("hello\n", Some(remark)));
        let shown = "thread 'a' panicked at src/a.rs:1:1:\nno\nnote: run with `R`";
        assert_eq!(without_remark(shown), (shown, None));
    }
}
