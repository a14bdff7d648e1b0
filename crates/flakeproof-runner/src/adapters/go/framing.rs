//! What a Go test binary prints, cut into tests while it comes.
//!
//! With `-test.v=test2json` the package `testing` puts the byte 0x16 before each line of its own:
//! `=== RUN`, `=== NAME`, `--- PASS:`. Everything between two of them was printed by the test that
//! was named last. So these lines are the runner's own report, and no test makes one by accident.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use flakeproof_core::Outcome;

/// Before each line of `testing` itself.
const MARK: u8 = 0x16;
/// Bytes of a test's output that are kept, from the end.
const KEPT: usize = 256 * 1024;
/// A line that is longer is taken in pieces.
const LONGEST_LINE: usize = 64 * 1024;

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line of ours: a word, and what it is about.
    Told(String, String),
    /// A test began.
    Began(String, Instant),
    /// It waits until all tests have begun that do not run beside others.
    Paused(String),
    /// It goes on.
    Resumed(String, Instant),
    /// It ended.
    Ended(String, TestEnd),
    /// The process closed its output: what was printed by tests that did not end, and by nobody.
    Closed(BTreeMap<String, Printed>, String),
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestEnd {
    pub(super) outcome: Outcome,
    pub(super) printed: String,
    pub(super) duration: Duration,
}

/// What a test printed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) text: String,
    /// Since when it runs; `None` while it is paused.
    pub(super) since: Option<Instant>,
}

/// Hears a process, and tells what it says.
pub(super) struct Framing {
    listener: Sender<Heard>,
    line: Vec<u8>,
    /// Whether the line that comes is one of `testing` itself.
    is_marked: bool,
    running: BTreeMap<String, Printed>,
    /// Whose turn it is to print.
    current: Option<String>,
    /// Who has ended, and may still print: a panic is told after the result.
    ending: Option<(String, Outcome)>,
    outside: String,
}

impl Framing {
    pub(super) fn new(listener: Sender<Heard>) -> Self {
        Self {
            listener,
            line: Vec::new(),
            is_marked: false,
            running: BTreeMap::new(),
            current: None,
            ending: None,
            outside: String::new(),
        }
    }

    /// The line that came so far is whole, or as much of it as is kept in one piece.
    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        if std::mem::take(&mut self.is_marked) {
            self.hear(&line);
        } else {
            self.print(&line);
        }
    }

    fn print(&mut self, text: &str) {
        let printed = match self.current.as_ref().and_then(|name| self.running.get_mut(name)) {
            Some(printed) => &mut printed.text,
            None => &mut self.outside,
        };
        printed.push_str(text);
        if printed.len() > 2 * KEPT {
            let mut from = printed.len() - KEPT;
            while !printed.is_char_boundary(from) {
                from += 1;
            }
            printed.drain(..from);
        }
    }

    /// A line of `testing` itself.
    fn hear(&mut self, line: &str) {
        self.tell_the_end();
        let said = line.trim_end();
        if let Some((word, name)) = said.strip_prefix("=== ").and_then(two_words) {
            self.hear_turn(word, name, line);
        } else if let Some((outcome, name)) = result_in(said) {
            self.current = Some(top(name).to_owned());
            self.print(line);
            if !name.contains('/') {
                self.ending = Some((name.to_owned(), outcome));
            }
        } else {
            // Such as the `PASS` of the whole binary.
            self.current = None;
            self.print(line);
        }
    }

    fn hear_turn(&mut self, word: &str, name: &str, line: &str) {
        let now = Instant::now();
        let owner = top(name).to_owned();
        if word == "FLAKEPROOF" {
            let (word, text) = two_words(name).unwrap_or((name, ""));
            self.tell(Heard::Told(word.to_owned(), text.to_owned()));
            return;
        }
        let is_test = !name.is_empty() && !name.contains('/');
        self.current = (!name.is_empty()).then_some(owner);
        if !is_test {
            if word != "NAME" {
                self.print(line);
            }
            return;
        }
        match word {
            "RUN" => {
                let fresh = Printed { text: String::new(), since: Some(now) };
                self.running.insert(name.to_owned(), fresh);
                self.tell(Heard::Began(name.to_owned(), now));
            }
            "PAUSE" => {
                self.running.entry(name.to_owned()).and_modify(|it| it.since = None);
                self.tell(Heard::Paused(name.to_owned()));
            }
            "CONT" => {
                self.running.entry(name.to_owned()).and_modify(|it| it.since = Some(now));
                self.tell(Heard::Resumed(name.to_owned(), now));
            }
            _ => return,
        }
        self.print(line);
    }

    /// Whoever has ended prints no more.
    fn tell_the_end(&mut self) {
        let Some((name, outcome)) = self.ending.take() else { return };
        let Some(Printed { text, since }) = self.running.remove(&name) else { return };
        let duration = since.map(|since| since.elapsed()).unwrap_or_default();
        self.tell(Heard::Ended(name, TestEnd { outcome, printed: text, duration }));
        self.current = None;
    }

    fn tell(&self, heard: Heard) {
        // Nobody may wait for it any more.
        let _ = self.listener.send(heard);
    }
}

impl Write for Framing {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        for byte in piece {
            if *byte == MARK {
                if !self.line.is_empty() || self.is_marked {
                    self.end_line();
                }
                self.is_marked = true;
                continue;
            }
            self.line.push(*byte);
            if *byte == b'\n' || self.line.len() >= LONGEST_LINE {
                self.end_line();
            }
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Framing {
    fn drop(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.tell_the_end();
        let (left, outside) =
            (std::mem::take(&mut self.running), std::mem::take(&mut self.outside));
        self.tell(Heard::Closed(left, outside));
    }
}

/// The first word of a line, and what comes after it.
fn two_words(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (!word.is_empty()).then_some((word, rest.trim()))
}

/// What `--- FAIL: TestA/part (0.01s)` says.
fn result_in(line: &str) -> Option<(Outcome, &str)> {
    let (word, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, rest.rsplit_once(" (").map_or(rest, |(name, _)| name)))
}

/// The test that a part belongs to.
fn top(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&str]) -> Vec<Heard> {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut framing = Framing::new(sender);
        for piece in pieces {
            framing.write_all(piece.as_bytes()).expect("it takes everything");
        }
        drop(framing);
        receiver.iter().collect()
    }

    fn ends(pieces: &[&str]) -> Vec<(String, Outcome, String)> {
        let end = |heard| match heard {
            Heard::Ended(name, end) => Some((name, end.outcome, end.printed)),
            _ => None,
        };
        heard(pieces).into_iter().filter_map(end).collect()
    }

    #[test]
    fn what_is_printed_belongs_to_the_test_that_was_named_last() {
        let ends = ends(&[
            "\x16=== RUN   TestA\nhel",
            "lo\x16--- PASS: TestA (0.00s)\n\x16=== NAME  \n",
            "\x16=== RUN   TestB\n\x16=== RUN   TestB/x\n    b_test.go:3: bad\n",
            "\x16--- FAIL: TestB (0.00s)\n\x16    --- FAIL: TestB/x (0.00s)\n\x16FAIL\n",
        ]);
        assert_eq!(ends.len(), 2, "{ends:?}");
        assert_eq!((ends[0].0.as_str(), ends[0].1), ("TestA", Outcome::Passed));
        assert!(ends[0].2.contains("hello"), "{:?}", ends[0]);
        assert_eq!((ends[1].0.as_str(), ends[1].1), ("TestB", Outcome::Failed));
        assert!(ends[1].2.contains("bad") && !ends[1].2.contains("hello"), "{:?}", ends[1]);
    }

    #[test]
    fn a_panic_belongs_to_the_test_whose_result_stands_before_it() {
        let ends = ends(&["\x16=== RUN   TestA\n\x16--- FAIL: TestA (0.00s)\npanic: boom\n"]);
        assert_eq!(ends.len(), 1);
        assert!(ends[0].2.contains("panic: boom"), "{ends:?}");
    }

    #[test]
    fn a_result_that_a_test_prints_is_none() {
        let heard = heard(&["\x16=== RUN   TestA\n--- PASS: TestA (0.00s)\n"]);
        let Some(Heard::Closed(left, _)) = heard.last() else { panic!("{heard:?}") };
        assert!(left["TestA"].since.is_some(), "it did not end");
    }

    #[test]
    fn tests_that_pause_keep_what_they_printed() {
        let heard = heard(&[
            "\x16=== RUN   TestA\nbefore\n\x16=== PAUSE TestA\n",
            "\x16=== RUN   TestB\nb\n\x16--- PASS: TestB (0.00s)\n",
            "\x16=== CONT  TestA\nafter\n\x16--- PASS: TestA (0.00s)\n",
        ]);
        let order: Vec<&str> = heard
            .iter()
            .filter_map(|it| match it {
                Heard::Ended(name, _) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(order, ["TestB", "TestA"]);
        let text = heard.iter().find_map(|it| match it {
            Heard::Ended(name, end) if name == "TestA" => Some(end.printed.clone()),
            _ => None,
        });
        let text = text.unwrap_or_default();
        assert!(text.contains("before") && text.contains("after"), "{text}");
    }
}
