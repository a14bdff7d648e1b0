//! What goes on while a test runs: a quota, competing load, threads that are held back.
//!
//! All of it is done by threads of this program, so that none of it outlives us: when the program ends or
//! is killed, guards kill what is stopped, and the kernel lets go of threads that we held.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use flakeproof_core::Seed;

use super::Intervention;
use crate::system::{below_guards, go_on, hold_thread, let_go_of_thread, stop};

/// What goes on while a test runs; it ends when this is dropped.
#[derive(Debug)]
pub struct Pressure {
    /// Closes when it is over.
    over: Option<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    /// The file that is there while it goes on.
    gate: Option<PathBuf>,
}

/// Counts pressures, so that none begins like the one before.
static BEGUN: AtomicU64 = AtomicU64::new(0);

impl Pressure {
    /// Begin what an intervention asks for, if it asks for anything.
    #[must_use]
    pub fn begin(intervention: &Intervention) -> Option<Self> {
        let (sender, over) = bounded(0);
        let begun = BEGUN.fetch_add(1, Ordering::Relaxed);
        if let Intervention::HeldCalls(held) = intervention {
            // Without it nothing is held up, and then nothing is seen, either.
            let _ = std::fs::write(&held.gate, "");
            return Some(Self { over: None, threads: Vec::new(), gate: Some(held.gate.clone()) });
        }
        let threads = match *intervention {
            Intervention::Quota { running, stopped } => {
                // Where in the first slice a test begins must not always be the same.
                let phase = u32::try_from(begun % 4).unwrap_or_default();
                let first = running * (phase + 1) / 4;
                vec![std::thread::spawn(move || stop_and_go(first, running, stopped, &over))]
            }
            Intervention::Load(count) => {
                let is_over = Arc::new(AtomicBool::new(false));
                let mut threads: Vec<JoinHandle<()>> = (0..count)
                    .map(|_| {
                        let is_over = Arc::clone(&is_over);
                        std::thread::spawn(move || busy_until(&is_over))
                    })
                    .collect();
                threads.push(std::thread::spawn(move || {
                    let _ = over.recv();
                    is_over.store(true, Ordering::Relaxed);
                }));
                threads
            }
            Intervention::HeldThreads(seed) => {
                let seed = Seed(seed).split(&begun.to_string());
                vec![std::thread::spawn(move || hold_threads(seed, &over))]
            }
            _ => return None,
        };
        Some(Self { over: Some(sender), threads, gate: None })
    }
}

impl Drop for Pressure {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(gate) = &self.gate {
            let _ = std::fs::remove_file(gate);
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has let go of everything, too.
            let _ = thread.join();
        }
    }
}

fn busy_until(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

/// Whether it is over after this time.
fn is_over_after(time: Duration, over: &Receiver<()>) -> bool {
    over.recv_timeout(time) != Err(crossbeam_channel::RecvTimeoutError::Timeout)
}

/// Stop all processes of tests and let them go on, in turns.
fn stop_and_go(first: Duration, running: Duration, stopped: Duration, over: &Receiver<()>) {
    let mut slice = first;
    while !is_over_after(slice, over) {
        let family = stop_all();
        let is_over = is_over_after(stopped, over);
        for pid in family {
            go_on(pid);
        }
        if is_over {
            break;
        }
        slice = running;
    }
}

/// Stop every process of a test; one that is being born meanwhile is found by the next look.
fn stop_all() -> Vec<u32> {
    const LOOKS: usize = 5;
    let mut stopped: Vec<u32> = Vec::new();
    for _ in 0..LOOKS {
        let new: Vec<u32> =
            below_guards().into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        for pid in new {
            stop(pid);
            stopped.push(pid);
        }
    }
    stopped
}

/// The pause between two draws of who is held back.
const DRAW: Duration = Duration::from_millis(2);
/// The shortest hold, which is doubled up to eleven times: to two seconds.
const SHORTEST: Duration = Duration::from_millis(1);
const DOUBLINGS: u64 = 11;
/// No thread is held for more than this share of the time.
const MOST_HELD: u32 = 5;

/// Hold random threads back, as the chaos mode of rr does (O'Callahan 2016): one in ten at a time, the
/// first one of a process three times as often, each for one millisecond to two seconds in doublings, and
/// never for more than a fifth of the time. Nobody is traced in between, so that nothing is slower.
fn hold_threads(seed: Seed, over: &Receiver<()>) {
    let begin = Instant::now();
    let mut held: BTreeMap<i32, Instant> = BTreeMap::new();
    let mut spent: BTreeMap<i32, Duration> = BTreeMap::new();
    let mut draws = 0_u64;
    loop {
        let is_over = is_over_after(DRAW, over);
        let now = Instant::now();
        held.retain(|thread, until| {
            let stays = !is_over && *until > now;
            if !stays {
                let_go_of_thread(*thread);
            }
            stays
        });
        if is_over {
            return;
        }
        for (thread, is_first) in threads_of_tests() {
            draws += 1;
            let chance = seed.split(&format!("{draws}")).0;
            let one_in = if is_first { 333 } else { 1000 };
            // Each draw is for some milliseconds; a hold lasts 370 on average, so that a tenth is held.
            if held.contains_key(&thread) || chance % one_in >= 3 {
                continue;
            }
            let doublings = u32::try_from(chance / one_in % (DOUBLINGS + 1)).unwrap_or_default();
            let already = spent.get(&thread).copied().unwrap_or_default();
            let left = (begin.elapsed() / MOST_HELD).saturating_sub(already);
            let time = (SHORTEST * 2_u32.pow(doublings)).min(left);
            if time >= SHORTEST && hold_thread(thread) {
                held.insert(thread, now + time);
                *spent.entry(thread).or_default() += time;
            }
        }
    }
}

/// The threads of all processes of tests, and whether each is the first of its process.
fn threads_of_tests() -> Vec<(i32, bool)> {
    let tasks = |pid: u32| {
        let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.map(move |thread: i32| (thread, thread.unsigned_abs() == pid)).collect::<Vec<_>>()
    };
    below_guards().into_iter().flat_map(tasks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_nothing_begins_nothing() {
        assert!(Pressure::begin(&Intervention::OneCore).is_none());
    }

    #[test]
    fn load_ends_when_it_is_dropped() {
        let load = Pressure::begin(&Intervention::Load(2)).expect("it begins");
        assert_eq!(load.threads.len(), 3);
        drop(load);
    }
}
