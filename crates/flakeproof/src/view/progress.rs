//! How far a long command is: one line on a terminal, never longer than that is wide, and a line now and
//! then elsewhere. It says what is being done, for how long still, and which test keeps everybody waiting.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flakeproof_core::TestId;
use flakeproof_runner::Waiting;
use indicatif::{ProgressBar, ProgressStyle};

use super::terminal;

/// A test that takes longer is named.
const LONG: Duration = Duration::from_secs(10);
/// How often somebody who reads a log hears that the program is alive.
const HEARTBEAT: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_secs(1);
/// After so long, the pace of a stage tells how long the rest of it takes.
const PACE_IS_KNOWN: Duration = Duration::from_secs(3);
/// Characters of the bar.
const BAR: usize = 12;

/// What is being done, and how far it is.
#[derive(Debug)]
struct StageProgress {
    begin: Instant,
    what: String,
    stage_begin: Instant,
    done: usize,
    planned: usize,
    /// When all will be done, where somebody else than the pace of the stage says so.
    end: Option<Instant>,
    /// Whether the pace of this stage is that of everything.
    has_pace: bool,
    counts: String,
}

impl StageProgress {
    /// All of it in one line, the most important first.
    fn line(&self, now: Instant, waiting: Option<&(TestId, Duration)>) -> String {
        let mut parts = vec![format!("{}{}", self.what, self.share())];
        let time = roughly(now.duration_since(self.begin));
        parts.push(match self.left(now) {
            Some(left) => format!("{time}, about {} left", roughly(left)),
            None => time,
        });
        if let Some((test, time)) = waiting.filter(|(_, time)| *time >= LONG) {
            parts.push(format!("waiting for {}, {}", test.shown(), roughly(*time)));
        }
        parts.push(self.counts.clone());
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    fn share(&self) -> String {
        match self.planned {
            // More than was planned, or nothing was: there is no share.
            planned if planned < 2 || self.done > planned => String::new(),
            planned => {
                let full = BAR * self.done / planned;
                let bar = "━".repeat(full) + &"─".repeat(BAR - full);
                format!(" {bar} {} of {planned}", self.done)
            }
        }
    }

    /// What is left of the whole, where that can be said.
    fn left(&self, now: Instant) -> Option<Duration> {
        if let Some(end) = self.end {
            return Some(end.saturating_duration_since(now)).filter(|left| !left.is_zero());
        }
        let taken = now.duration_since(self.stage_begin);
        let is_known = self.has_pace && self.done > 0 && self.done < self.planned;
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many tests")]
        let rest = (self.planned.saturating_sub(self.done)) as f64 / self.done.max(1) as f64;
        (is_known && taken >= PACE_IS_KNOWN).then(|| taken.mul_f64(rest))
    }
}

/// The line, as long as the command runs.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    is_live: bool,
    standing: Arc<Mutex<StageProgress>>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Show that tests are being collected.
    pub(crate) fn start(waiting: Waiting) -> Self {
        let (bar, is_live) = terminal::bar_while_collecting();
        let now = Instant::now();
        let standing = Arc::new(Mutex::new(StageProgress {
            begin: now,
            what: "collecting tests".to_owned(),
            stage_begin: now,
            done: 0,
            planned: 0,
            end: None,
            has_pace: false,
            counts: String::new(),
        }));
        let (stop, stopped) = channel();
        let (shown, line) = (bar.clone(), Arc::clone(&standing));
        let ticker = std::thread::spawn(move || {
            let mut heard = Instant::now();
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let text = lock(&line).line(Instant::now(), waiting.longest().as_ref());
                if is_live {
                    shown.set_message(text);
                } else if heard.elapsed() >= HEARTBEAT {
                    heard = Instant::now();
                    let _ = writeln!(anstream::stderr().lock(), "{text}");
                }
            }
        });
        Self { bar, is_live, standing, ticker: Some((stop, ticker)) }
    }

    /// A stage begins, of so many steps as far as that is known.
    pub(crate) fn begin(&self, what: &str, planned: usize) {
        let is_new = {
            let mut standing = lock(&self.standing);
            let before = std::mem::replace(&mut standing.what, what.to_owned());
            (standing.done, standing.planned) = (0, planned);
            (standing.stage_begin, standing.has_pace) = (Instant::now(), false);
            before != what
        };
        if !self.is_live {
            if is_new {
                self.line(what);
            }
            return;
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            self.bar.set_style(style);
        }
        self.refresh();
    }

    /// The pace of this stage tells how long everything takes.
    pub(crate) fn has_pace(&self) {
        lock(&self.standing).has_pace = true;
    }

    /// Everything ends after so long.
    pub(crate) fn ends_in(&self, left: Duration) {
        lock(&self.standing).end = Some(Instant::now() + left);
    }

    /// Some steps are done, and this is what was seen so far.
    pub(crate) fn step(&self, steps: usize, counts: String) {
        let mut standing = lock(&self.standing);
        standing.done += steps;
        standing.counts = counts;
    }

    fn refresh(&self) {
        let text = lock(&self.standing).line(Instant::now(), None);
        self.bar.set_message(text);
    }

    /// A line that stays, above the other.
    pub(crate) fn line(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(anstream::stderr().lock(), "{text}");
        });
    }

    /// Clear it.
    pub(crate) fn end(&mut self) {
        if let Some((stop, ticker)) = self.ticker.take() {
            drop(stop);
            let _ = ticker.join();
        }
        self.bar.finish_and_clear();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.end();
    }
}

/// A time for people who watch it pass: `35 s`, `1 min 30 s`, `2 h 5 min`.
fn roughly(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn lock(standing: &Mutex<StageProgress>) -> MutexGuard<'_, StageProgress> {
    standing.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(now: Instant) -> StageProgress {
        StageProgress {
            begin: now,
            what: "runs in other orders".to_owned(),
            stage_begin: now,
            done: 5,
            planned: 20,
            end: None,
            has_pace: false,
            counts: "1,234 executions, 1 flaky".to_owned(),
        }
    }

    #[test]
    fn a_step_that_is_one_of_many_promises_no_end() {
        let now = Instant::now();
        let line = standing(now).line(now + Duration::from_secs(90), None);
        assert_eq!(
            line,
            "runs in other orders ━━━───────── 5 of 20 · 1 min 30 s · 1,234 executions, 1 flaky"
        );
    }

    #[test]
    fn what_is_known_of_the_end_is_that_of_the_whole() {
        let now = Instant::now();
        let mut planned = standing(now);
        planned.end = Some(now + Duration::from_secs(300));
        let line = planned.line(now + Duration::from_secs(90), None);
        assert!(line.contains("1 min 30 s, about 3 min 30 s left"), "{line}");
        let late = planned.line(now + Duration::from_secs(400), None);
        assert!(!late.contains("left"), "an estimate that was wrong is not shown: {late}");
        let paced = StageProgress { has_pace: true, ..standing(now) };
        let line = paced.line(now + Duration::from_secs(10), None);
        assert!(line.contains("10 s, about 30 s left"), "{line}");
    }

    #[test]
    fn more_steps_than_were_planned_are_no_share() {
        let now = Instant::now();
        let over = StageProgress { done: 99, planned: 16, has_pace: true, ..standing(now) };
        let line = over.line(now + Duration::from_secs(300), None);
        assert_eq!(line, "runs in other orders · 5 min · 1,234 executions, 1 flaky");
    }

    #[test]
    fn a_test_that_takes_long_is_named_before_anything_is_cut_off() {
        let now = Instant::now();
        let waiting =
            |seconds| ("tests/test_net.py::test_get".into(), Duration::from_secs(seconds));
        let line = standing(now).line(now, Some(&waiting(35)));
        assert!(line.contains("· waiting for tests/test_net.py::test_get, 35 s · 1,234"), "{line}");
        assert!(!standing(now).line(now, Some(&waiting(9))).contains("waiting"));
    }
}
