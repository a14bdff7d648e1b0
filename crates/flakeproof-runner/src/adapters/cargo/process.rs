//! A process whose output is watched while it runs, and what Rust's test harness prints there, cut
//! into tests while it comes.
//!
//! The tests of a process run one at a time, uncaptured, and both streams are one. So everything
//! between `test a ... ` and the line `test b ... ` of the test after it is a's own output, and its
//! result stands at the end: `ok`, `FAILED` or `ignored`. A test may print what looks like a
//! result, but not the start of the very test that comes next.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, at, never, select};

use super::session::CargoSession;
use crate::adapter::{Error, Result};
use crate::agent::protocol::FromAgent;
use crate::agent::{Arrival, Connection};
use crate::process::{
    Death, End, Guarded, Instructions, Peak, Usage, Watch, killed_with_its_guard,
};

/// How long what a dead process printed may be on its way.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a guard may take to report.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);

/// A process under guard.
#[derive(Debug)]
pub(super) struct Process {
    guarded: Guarded,
    guard: Connection,
    pub(super) pid: u32,
    watch: Option<Watch>,
    used: Option<Usage>,
}

/// A process whose guard is there already, and that has not started yet.
#[derive(Debug)]
pub(super) struct HeldProcess {
    guarded: Guarded,
    arrival: Receiver<Arrival>,
    command: Vec<String>,
}

impl HeldProcess {
    /// Start a guard; what its process prints goes to a watcher.
    pub(super) fn new(
        session: &CargoSession,
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        let arrival = session.hub.expect(&instructions.guard_name);
        let guarded = Guarded::hold_watched(instructions, watcher)?;
        Ok(Self { guarded, arrival, command: instructions.command.clone() })
    }

    /// Start the process.
    pub(super) fn start(mut self) -> Result<Process> {
        self.guarded.let_loose();
        let Ok(Arrival::Connected(guard)) = self.arrival.recv_timeout(REPORT_PATIENCE) else {
            return Err(guard_is_gone());
        };
        match guard.messages.recv_timeout(REPORT_PATIENCE) {
            Ok(FromAgent::Started { pid }) => {
                Ok(Process { guarded: self.guarded, guard, pid, watch: None, used: None })
            }
            Ok(FromAgent::Unstartable { cause }) => {
                let command = self.command.into_iter().next().unwrap_or_default();
                Err(Error::CannotStart { command, cause })
            }
            _ => Err(guard_is_gone()),
        }
    }
}

/// What happens to a process next.
#[derive(Debug)]
pub(super) enum Next<T> {
    Heard(T),
    /// It is gone; all that it printed was heard, or will be without waiting.
    Died(Death),
    /// The time is over.
    TimeIsOver,
}

impl Process {
    /// Start a process and give what it prints to a watcher.
    fn start(
        session: &CargoSession,
        instructions: &Instructions,
        watcher: Box<dyn Write + Send>,
    ) -> Result<Self> {
        HeldProcess::new(session, instructions, watcher)?.start()
    }

    /// Look from now on at what it has at once.
    pub(super) fn watch(&mut self) {
        self.watch = Some(Watch::begin(self.pid));
    }

    /// What it used and had at once, after its end; `None` where nobody looked or nobody tells.
    pub(super) fn usage(&mut self) -> Option<(Usage, Peak)> {
        Some((self.used?, self.watch.take()?.end()))
    }

    /// Run a process to its end; give how it ended, both streams as one, and how long it took.
    pub(super) fn run_merged(
        session: &CargoSession,
        instructions: &Instructions,
        limit: Option<Duration>,
    ) -> Result<(End, String, Duration)> {
        let begun = Instant::now();
        let mut process = Self::start(session, instructions, Box::new(std::io::sink()))?;
        let deadline = limit.map(|limit| begun + limit);
        let how = match process.next::<Heard>(session, &never(), deadline)? {
            Next::Died(death) => End::Died(death),
            Next::TimeIsOver | Next::Heard(_) => End::TimedOut,
        };
        let duration = begun.elapsed();
        Ok((how, process.end(), duration))
    }

    /// Wait for what happens next.
    pub(super) fn next<T>(
        &mut self,
        session: &CargoSession,
        heard: &Receiver<T>,
        deadline: Option<Instant>,
    ) -> Result<Next<T>> {
        let time_is_over = deadline.map_or_else(never, at);
        loop {
            select! {
                recv(heard) -> heard => match heard {
                    Ok(heard) => return Ok(Next::Heard(heard)),
                    // Closed its output, and goes on.
                    Err(_) => return self.wait_for_death(session, deadline),
                },
                recv(self.guard.messages) -> message => {
                    if let Some(death) = self.death_in(message.ok().as_ref())? {
                        return Ok(Next::Died(death));
                    }
                },
                recv(session.settings.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(time_is_over) -> _ => return Ok(Next::TimeIsOver),
            }
        }
    }

    fn wait_for_death<T>(
        &mut self,
        session: &CargoSession,
        deadline: Option<Instant>,
    ) -> Result<Next<T>> {
        let time_is_over = deadline.map_or_else(never, at);
        loop {
            select! {
                recv(self.guard.messages) -> message => {
                    if let Some(death) = self.death_in(message.ok().as_ref())? {
                        return Ok(Next::Died(death));
                    }
                },
                recv(session.settings.cancel.signal()) -> _ => return Err(Error::Cancelled),
                recv(time_is_over) -> _ => return Ok(Next::TimeIsOver),
            }
        }
    }

    fn death_in(&mut self, message: Option<&FromAgent>) -> Result<Option<Death>> {
        match message {
            Some(&FromAgent::Died { pid, code, signal, used }) if pid == self.pid => {
                self.used = used;
                Ok(Some(signal.map_or(Death::Exit(code.unwrap_or(0)), Death::Signal)))
            }
            Some(_) => Ok(None),
            // A test that kills its parent.
            None => Ok(Some(killed_with_its_guard(self.pid))),
        }
    }

    /// Kill what is left, and give the end of what was printed; the watcher has heard all of it.
    pub(super) fn end(&mut self) -> String {
        self.guarded.end()
    }
}

/// Our own trouble, not the test's.
fn guard_is_gone() -> Error {
    Error::EnvironmentLost { cause: "its guard process was killed".into() }
}

/// One line for each thread: its name, which for a test is the test's, and what it waits for.
pub(super) fn describe_threads(pid: u32) -> String {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return String::new();
    };
    let mut lines: Vec<String> =
        threads.filter_map(|thread| Some(line(&thread.ok()?.path()))).collect();
    lines.sort_unstable();
    match lines.is_empty() {
        true => String::new(),
        false => format!("Its threads:\n{}\n", lines.join("\n")),
    }
}

fn line(thread: &Path) -> String {
    let read = |name: &str| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
    let state = read("status");
    let state = state.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("").trim();
    let name = read("comm");
    match read("wchan").as_str() {
        "" | "0" => format!("  {}: {state}", name.trim()),
        waits => format!("  {}: {state}, in {waits}", name.trim()),
    }
}

/// Bytes of a test's output that are kept, from the end.
const KEPT: usize = 256 * 1024;

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// The next test began.
    Began(Instant),
    /// It ended, because the one after it begins.
    Ended(Section),
    /// Another test began where this one was due.
    OutOfOrder(String),
    /// The process closed its output; this is what came since the last test began.
    Closed(Section),
}

/// All that was printed between two beginnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) text: String,
    pub(super) duration: Duration,
}

/// How the harness says that a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Ok,
    Failed,
    Ignored,
    /// It cannot be told from this alone: something was printed after the result.
    Unclear,
}

/// Whether tests run in the order in which the harness lists them, or in one that was foretold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Foretold {
    /// It is the harness's own.
    Listed,
    /// It was computed here: a test that begins too early shows that it was computed wrongly.
    Shuffled,
}

/// Cuts the output of one process into tests.
pub(super) struct Watcher {
    /// The tests in the order in which they will run.
    names: Vec<String>,
    /// The test whose beginning is awaited.
    next: usize,
    begun: Instant,
    section: Vec<u8>,
    /// Up to here no beginning was found.
    searched: usize,
    foretold: Foretold,
    sender: Sender<Heard>,
}

impl Watcher {
    pub(super) fn new(names: Vec<String>, foretold: Foretold, sender: Sender<Heard>) -> Self {
        let (section, begun) = (Vec::new(), Instant::now());
        Self { names, next: 0, begun, section, searched: 0, foretold, sender }
    }

    /// Say so if a test began in this part of the section whose turn comes later, if at all.
    fn tell_what_is_out_of_order(&self, end: usize) {
        if self.foretold == Foretold::Listed {
            return;
        }
        let awaited = &self.names[self.next.min(self.names.len())..];
        let text = String::from_utf8_lossy(&self.section[..end]);
        // A section starts in the middle of a line, but for the first.
        let lines = text.split('\n').skip(usize::from(self.next > 0));
        let began = lines.filter_map(|line| {
            let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
            let name = name.strip_suffix(" - should panic").unwrap_or(name).trim_end();
            awaited.iter().find(|it| *it == name)
        });
        for name in began {
            let _ = self.sender.send(Heard::OutOfOrder(name.clone()));
        }
    }

    /// Look for the next beginning; say where it starts and where the output after it starts.
    fn find_beginning(&mut self) -> Option<(usize, usize)> {
        let name = self.names.get(self.next)?;
        let start = format!("test {name}");
        let mut from = self.searched;
        while let Some(at) = find(&self.section[from..], start.as_bytes()).map(|at| from + at) {
            // A section starts in the middle of a line, but for the first.
            let is_at_line_start = match at {
                0 => self.next == 0,
                at => self.section[at - 1] == b'\n',
            };
            if is_at_line_start {
                match end_of_beginning(&self.section[at + start.len()..]) {
                    Beginning::Ends(length) => return Some((at, at + start.len() + length)),
                    Beginning::MayCome => {
                        self.searched = at;
                        return None;
                    }
                    Beginning::IsNone => {}
                }
            }
            from = at + 1;
        }
        // The beginning may be torn between two pieces.
        self.searched = self.section.len().saturating_sub(start.len());
        None
    }

    fn take_section(&mut self, end: usize) -> Section {
        let text = String::from_utf8_lossy(&self.section[..end]).into_owned();
        Section { text, duration: self.begun.elapsed() }
    }

    fn forget_what_is_too_much(&mut self) {
        let surplus = self.section.len().saturating_sub(2 * KEPT);
        if surplus > 0 {
            let cut = self.section.len() - KEPT;
            self.section.drain(..cut);
            self.searched = self.searched.saturating_sub(cut);
        }
    }
}

impl Write for Watcher {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        self.section.extend_from_slice(piece);
        while let Some((start, end)) = self.find_beginning() {
            self.tell_what_is_out_of_order(start);
            let section = self.take_section(start);
            if self.next > 0 {
                let _ = self.sender.send(Heard::Ended(section));
            }
            self.begun = Instant::now();
            let _ = self.sender.send(Heard::Began(self.begun));
            self.section.drain(..end);
            (self.searched, self.next) = (0, self.next + 1);
        }
        self.forget_what_is_too_much();
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.tell_what_is_out_of_order(self.section.len());
        let rest = self.take_section(self.section.len());
        let _ = self.sender.send(Heard::Closed(rest));
    }
}

/// What follows the name of a test.
enum Beginning {
    /// So many bytes, and then the output of the test.
    Ends(usize),
    /// More bytes decide.
    MayCome,
    /// Something else.
    IsNone,
}

/// Read ` ... ` after a name, or ` - should panic ... `; names of benchmarks are padded.
fn end_of_beginning(rest: &[u8]) -> Beginning {
    const REMARKS: [&[u8]; 4] = [b" - should panic", b" - compile fail", b" - compile", b""];
    let mut may_come = false;
    for remark in REMARKS {
        let Some(after) = rest.strip_prefix(remark) else {
            may_come |= remark.starts_with(rest);
            continue;
        };
        let spaces = after.iter().take_while(|byte| **byte == b' ').count();
        let after = &after[spaces..];
        if spaces > 0 && after.starts_with(b"... ") {
            return Beginning::Ends(remark.len() + spaces + 4);
        }
        may_come |= b"... ".starts_with(after) && (spaces > 0 || after.is_empty());
    }
    if may_come { Beginning::MayCome } else { Beginning::IsNone }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The result at the end of a test's output, and the output without it.
pub(super) fn result_of(section: &str, is_ignored: bool) -> (Word, &str) {
    let text = section.trim_end_matches('\n');
    if is_ignored {
        return match text.starts_with("ignored") {
            true => (Word::Ignored, text),
            false => (Word::Unclear, text),
        };
    }
    if let Some(output) = text.strip_suffix("FAILED") {
        return (Word::Failed, output);
    }
    match text.strip_suffix("ok") {
        // A thread that is left over may say "ok" after the test has failed.
        Some(output) if output.lines().any(|line| line.ends_with("FAILED")) => {
            (Word::Unclear, text)
        }
        Some(output) => (Word::Ok, output),
        None => (Word::Unclear, text),
    }
}

/// The reason that stands after `ignored`.
pub(super) fn reason_of(section: &str) -> Option<String> {
    let reason = section.trim().strip_prefix("ignored, ")?;
    Some(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::unbounded;
    use proptest::prelude::*;

    use super::*;

    fn heard(names: &[&str], pieces: &[&[u8]]) -> Vec<Heard> {
        heard_as(Foretold::Listed, names, pieces)
    }

    fn heard_as(foretold: Foretold, names: &[&str], pieces: &[&[u8]]) -> Vec<Heard> {
        let (sender, receiver) = unbounded();
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let mut watcher = Watcher::new(names, foretold, sender);
        for piece in pieces {
            watcher.write_all(piece).expect("it takes everything");
        }
        drop(watcher);
        receiver.into_iter().collect()
    }

    fn sections(heard: &[Heard]) -> Vec<String> {
        let text = |it: &Heard| match it {
            Heard::Began(_) | Heard::OutOfOrder(_) => None,
            Heard::Ended(section) | Heard::Closed(section) => Some(section.text.clone()),
        };
        heard.iter().filter_map(text).collect()
    }

    const PRINTED: &str = "\nrunning 4 tests\ntest a ... hellook\n\
        test ab - should panic ... \nthread 'ab' panicked at x:1:2:\ny\nok\n\
        test b ... test c ... is what I say\nFAILED\n\
        test c      ... ignored, too slow\n\ntest result: FAILED. 2 passed; 1 failed\n";

    #[test]
    fn each_test_has_what_was_printed_until_the_next_begins() {
        let all = sections(&heard(&["a", "ab", "b", "c"], &[PRINTED.as_bytes()]));
        assert_eq!(all[0], "hellook\n");
        assert!(all[1].ends_with("y\nok\n"));
        assert_eq!(all[2], "test c ... is what I say\nFAILED\n");
        assert!(all[3].starts_with("ignored, too slow\n\ntest result"));
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_test_that_begins_too_early_is_told() {
        let out_of_order = |names: &[&str]| {
            let all = heard_as(Foretold::Shuffled, names, &[PRINTED.as_bytes()]);
            let first = all.iter().position(|it| matches!(it, Heard::OutOfOrder(_)));
            first.map(|at| all[..at].iter().filter(|it| matches!(it, Heard::Ended(_))).count())
        };
        assert_eq!(out_of_order(&["a", "ab", "b", "c"]), None);
        assert_eq!(out_of_order(&["ab", "a", "b", "c"]), Some(0), "nothing before it counts");
        assert_eq!(out_of_order(&["a", "ab", "c", "b"]), Some(1));
        assert_eq!(out_of_order(&["a", "b"]), None, "others are not foretold");
    }

    #[test]
    fn the_result_stands_at_the_end() {
        assert_eq!(result_of("hellook\n", false), (Word::Ok, "hello"));
        assert_eq!(result_of("is ok\nFAILED\n", false), (Word::Failed, "is ok\n"));
        assert_eq!(result_of("ok\nlate words\n", false).0, Word::Unclear);
        assert_eq!(result_of("FAILED\nlate: ok\n", false).0, Word::Unclear);
        assert_eq!(result_of("ignored, is it ok\n", true).0, Word::Ignored);
        assert_eq!(reason_of("ignored, too slow\n"), Some("too slow".to_owned()));
        assert_eq!(reason_of("ignored\n"), None);
    }

    proptest! {
        #[test]
        fn how_the_stream_is_torn_changes_nothing(
            cuts in prop::collection::vec(0usize..250, 0..8),
        ) {
            let whole = PRINTED.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.extend([0, whole.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &whole[cut[0]..cut[1]]).collect();
            let names = ["a", "ab", "b", "c"];
            prop_assert_eq!(
                sections(&heard(&names, &pieces)),
                sections(&heard(&names, &[whole]))
            );
        }
    }
}
