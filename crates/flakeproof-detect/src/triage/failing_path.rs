//! What a flaky test touches when it fails: a pass may have taken another path, which the change does not
//! lie on.
//!
//! The first run alone is measured, and most often it passes. Before it is said that a flaky test does not
//! touch the change, a failure of it is looked for that was measured, too.

use std::time::Duration;

use flakeproof_core::{Conditions, Isolation, Stage};
use flakeproof_runner::{Error, Granularity, Probe, Result};

use super::Event;
use super::base::run_here;
use super::case::{Case, Shown};
use super::in_order::OrderStage;

/// So many tries meet a path that is taken every other time in 98 of a hundred cases, and one taken every
/// third time in 91.
const TRIES_ALONE: u32 = 6;
/// The same in the suite's order, which is dear.
const TRIES_IN_ORDER: u32 = 2;

/// Run cases until one of their failures was measured, or they were tried often enough.
pub(super) fn look_for(
    head: &OrderStage<'_>,
    cases: &mut [&mut Case],
    deadline: Duration,
    sink: &mut dyn FnMut(Event),
) -> Result<()> {
    let dependencies = head.settings.dependencies;
    if dependencies == Granularity::Off {
        return Ok(());
    }
    if !cases.is_empty() {
        sink(Event::Stage(Stage::Fresh, cases.len()));
    }
    let is_over = || (head.clock)() >= deadline;
    for case in cases.iter_mut() {
        for _ in 0..TRIES_ALONE {
            if head.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if case.has_measured_failure() || is_over() {
                break;
            }
            let probe = Probe { dependencies, ..Probe::attempt(case.next_number()) };
            match run_here(head, case, Isolation::Spawn, probe, sink) {
                Ok(_) => {}
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                // Where it cannot be run once more, what is known has to do.
                Err(_) => break,
            }
        }
    }
    if !head.adapter.can().state {
        return Ok(());
    }
    for _ in 0..TRIES_IN_ORDER {
        let fails_in_order_only = |case: &&mut &mut Case| {
            case.shows() == Shown::Flaky(Conditions::InOrder) && !case.has_measured_failure()
        };
        let open: Vec<&mut Case> =
            cases.iter_mut().filter(fails_in_order_only).map(|case| &mut **case).collect();
        if open.is_empty() || is_over() {
            break;
        }
        head.rerun_once(open, sink)?;
    }
    Ok(())
}
