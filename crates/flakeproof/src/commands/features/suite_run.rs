//! The suite in its own order, once, whatever crashes on the way.

use flakeproof_core::{Execution, Isolation, Notice, Suite};
use flakeproof_runner::{Adapter, Cancel, Environment, Error, Probe, Result, Then};

/// How a run of the suite ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every test ran.
    Complete,
    /// The runner stopped before the last test.
    Stopped,
    /// The user interrupted.
    Interrupted,
}

/// Run every test once and hand out the executions as they come.
///
/// After a crash the rest runs in a new environment.
pub(super) fn run_suite(
    adapter: &dyn Adapter,
    suite: &Suite,
    probe: Probe,
    cancel: &Cancel,
    mut take: impl FnMut(Execution),
) -> Result<(End, Vec<Notice>)> {
    let order = suite.ids();
    let mut environment: Option<Box<dyn Environment>> = None;
    let mut notices = Vec::new();
    let mut lost_before = None;
    let mut position = 0;
    while position < order.len() {
        if cancel.is_cancelled() {
            return Ok((End::Interrupted, notices));
        }
        let live = match &mut environment {
            Some(live) => live,
            None => {
                let mut live = adapter.open(Isolation::Same)?;
                live.expect(&order[position..], Then::End)?;
                environment.insert(live)
            }
        };
        match live.run(&order[position], probe) {
            Ok(execution) => {
                if execution.outcome.ends_environment() {
                    environment = None;
                }
                take(execution);
                position += 1;
            }
            // Not the test's fault: once more, in another environment.
            Err(Error::EnvironmentLost { .. }) if lost_before != Some(position) => {
                lost_before = Some(position);
                environment = None;
            }
            Err(Error::Stopped { reason }) => {
                notices.push(stopped(order.len() - position, &reason));
                return Ok((End::Stopped, notices));
            }
            Err(Error::Cancelled) => return Ok((End::Interrupted, notices)),
            Err(error) => return Err(error),
        }
    }
    if let Some(Err(error)) = environment.map(Environment::close) {
        notices.push(Notice {
            what: format!("the suite's own process did not end well: {error}"),
            next: "look for threads or processes that the tests leave behind".into(),
        });
    }
    Ok((End::Complete, notices))
}

fn stopped(left: usize, reason: &str) -> Notice {
    Notice {
        what: format!("the runner stopped before {left} of the tests: {reason}"),
        next: "run without the option that stops it to measure them all".into(),
    }
}
