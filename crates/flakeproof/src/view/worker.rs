//! What a worker says about its work, on stderr; and the sum of it, on stdout.

use std::io::Write as _;
use std::time::Duration;

use super::terminal::{self, DIM, STRONG};

/// What a worker did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WorkerSum {
    /// Units that were kept, and those that were not because their leases had gone to others.
    pub(crate) kept: usize,
    pub(crate) lost: usize,
    pub(crate) trials: usize,
    pub(crate) executions: u64,
}

/// How far a worker is. It says something only when something changes.
#[derive(Debug, Default)]
pub(crate) struct WorkerProgress {
    has_waited: bool,
}

impl WorkerProgress {
    /// There is no hunt yet.
    pub(crate) fn waits_for_hunt(&mut self, name: &str, wait: Duration) {
        if !std::mem::replace(&mut self.has_waited, true) {
            let seconds = wait.as_secs();
            line(&format!("waiting for a hunt of fleet `{name}`, at most {seconds} s"));
        }
    }

    /// The coordinator is not heard of.
    pub(crate) fn waits_for_coordinator(&mut self, wait: Duration) {
        if !std::mem::replace(&mut self.has_waited, true) {
            let seconds = wait.as_secs();
            line(&format!("the hunt is not heard of; waiting for it, at most {seconds} s"));
        }
    }

    /// There is a hunt.
    pub(crate) fn joins(&mut self, name: &str, tests: usize) {
        self.has_waited = false;
        line(&format!("joined fleet `{name}`: {tests} tests"));
    }

    /// The coordinator is heard of.
    pub(crate) fn is_steered(&mut self) {
        self.has_waited = false;
    }

    /// A unit had gone to another when it was brought back.
    pub(crate) fn loses_unit(&self) {
        line("a unit came too late: its lease had gone to another worker, and it does not count");
    }
}

fn line(text: &str) {
    let _ = terminal::err(&format!("{DIM}{text}{DIM:#}\n"));
}

/// Say what a worker did.
pub(crate) fn worker_ends(sum: &WorkerSum, why: &str) {
    let WorkerSum { kept, lost, trials, executions } = sum;
    let late = match lost {
        0 => String::new(),
        lost => format!(", {lost} too late"),
    };
    let said = format!("{executions} executions in {trials} trials, {kept} units{late}");
    let mut out = anstream::stdout().lock();
    let _ = writeln!(out, "{STRONG}{why}{STRONG:#}: {said}");
}
