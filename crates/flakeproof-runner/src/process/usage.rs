//! What a command uses while it runs, with all that it starts.
//!
//! The system itself keeps account of reads, writes, memory and switches, and tells the guard at the end.
//! How many threads and children there are at once is only seen by looking again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The pause between two looks at a process: short enough for threads that only wait for something.
const PAUSE: Duration = Duration::from_millis(2);
/// Ticks of the system's clock in a second, as the kernel tells them to programs everywhere.
const TICKS: u64 = 100;

/// What the processes below a guard used, as far as they have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How often a file system had to read.
    pub reads: u64,
    /// How often a file system had to write.
    pub writes: u64,
    /// How often they gave the processor away.
    pub context_switches: u64,
    /// The most memory that one of them had, in bytes.
    pub max_memory: u64,
}

/// The most that was seen at once of a process while it ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    /// Threads of the process itself, or of one below it that has more.
    pub(crate) threads: u32,
    /// Processes below it.
    pub(crate) children: u32,
    /// How long its main thread waited for disks; `None` where the kernel does not account for it.
    pub(crate) wait_time: Option<Duration>,
}

/// Looks at a process again and again until it is asked what it saw.
#[derive(Debug)]
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
    /// `None` once it was asked.
    thread: Option<JoinHandle<Peak>>,
}

impl Watch {
    /// Begin to look.
    pub(crate) fn begin(pid: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut peak = Peak::default();
            while !over.load(Ordering::Relaxed) {
                look(pid, &mut peak);
                std::thread::sleep(PAUSE);
            }
            peak
        });
        Self { is_over, thread: Some(thread) }
    }

    /// What was seen.
    pub(crate) fn end(mut self) -> Peak {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn look(pid: u32, peak: &mut Peak) {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(member) = family.get(next).copied() {
        next += 1;
        let tasks = std::fs::read_dir(format!("/proc/{member}/task")).into_iter().flatten();
        let mut threads = 0;
        for task in tasks.flatten() {
            threads += 1;
            let children =
                std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            family
                .extend(children.split_ascii_whitespace().filter_map(|it| it.parse::<u32>().ok()));
        }
        peak.threads = peak.threads.max(threads);
    }
    peak.children = peak.children.max(u32::try_from(family.len() - 1).unwrap_or(u32::MAX));
    if is_waiting_accounted_for()
        && let Some(waited) = waited(pid)
    {
        peak.wait_time = Some(waited);
    }
}

fn is_waiting_accounted_for() -> bool {
    let setting = std::fs::read_to_string("/proc/sys/kernel/task_delayacct");
    setting.is_ok_and(|setting| setting.trim() == "1")
}

/// Field 42 of a process's own account; the name in it may contain anything.
fn waited(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 = rest.split_ascii_whitespace().nth(39)?.parse().ok()?;
    Some(Duration::from_millis(ticks * (1000 / TICKS)))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::system::used_by_ended_children;

    #[test]
    #[cfg(target_os = "linux")]
    fn children_are_seen_while_they_run() {
        let shell = "cat & cat & cat; wait";
        let mut running = Command::new("sh")
            .args(["-c", shell])
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell is everywhere");
        let mut peak = Peak::default();
        while peak.children == 0 {
            look(running.id(), &mut peak);
        }
        drop(running.stdin.take());
        running.wait().expect("it ends with its input");
        assert!(peak.threads >= 1 && peak.children >= 1, "{peak:?}");
    }

    #[test]
    fn what_ended_children_used_only_grows() {
        let before = used_by_ended_children().expect("the system tells");
        Command::new("true").status().expect("it is everywhere");
        let after = used_by_ended_children().expect("the system tells");
        assert!(after.max_memory >= before.max_memory && after.max_memory > 0);
        assert!(after.context_switches >= before.context_switches);
    }
}
