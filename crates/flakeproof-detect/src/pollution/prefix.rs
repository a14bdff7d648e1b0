//! One minimal set of tests that makes another one fail, out of an order in which it fails.
//!
//! The test after which it begins to fail belongs to the set. Most often it is all of the set; else
//! delta debugging finds the others among those before it.

use std::ops::ControlFlow;

use flakeproof_core::Decision;

use super::{delta, walk};
use crate::hunt::trial::Trial;
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, last_failed};

/// A minimal set of the tests in `before` after which the test fails; `None` if it does not.
pub(crate) fn polluters(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    if let Some(set) = polluters_on_the_way(scheduler, before, test)? {
        return Ok(Some(set));
    }
    // Chance, or copies that differ, led astray: without them, then.
    if !fails_after(scheduler, before, test)? {
        return Ok(None);
    }
    delta::minimal(before, &mut |part| fails_after(scheduler, part, test)).map(Some)
}

/// The same from one walk through `before`; `None` if the test did not fail on the way.
pub(crate) fn polluters_on_the_way(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    let Some(stretch) = walk::failing_stretch(scheduler, before, test)? else { return Ok(None) };
    let Some((polluter, others)) = before[stretch.clone()].split_last() else { return Ok(None) };
    if fails_after(scheduler, &[*polluter], test)? {
        return Ok(Some(vec![*polluter]));
    }
    if !fails_after(scheduler, &before[stretch], test)? {
        return Ok(None);
    }
    let with_last = |part: &[u32]| part.iter().chain([polluter]).copied().collect::<Vec<u32>>();
    let others =
        delta::minimal(others, &mut |part| fails_after(scheduler, &with_last(part), test))?;
    Ok(Some(with_last(&others)))
}

/// The first of some candidates after which, alone, the test fails.
pub(crate) fn first_polluter(
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    test: u32,
) -> Result<Option<u32>, Stop> {
    let mut rest = candidates;
    loop {
        let isolation = scheduler.isolation();
        let trials =
            rest.iter().map(|before| Trial::order("near".into(), vec![*before, test], isolation));
        let mut tried = 0;
        let mut has_failed = false;
        scheduler.one_by_one(trials, &mut |_, record| {
            tried += 1;
            has_failed = last_failed(record) == Some(true);
            if has_failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let Some(polluter) = has_failed.then(|| rest[tried - 1]) else { return Ok(None) };
        if fails_after(scheduler, &[polluter], test)? {
            return Ok(Some(polluter));
        }
        rest = &rest[tried..];
    }
}

/// A minimal set of the tests in `before` after which the test passes; `None` if it does not.
pub(crate) fn setters(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    if fails_after(scheduler, before, test)? {
        return Ok(None);
    }
    delta::minimal(before, &mut |part| Ok(!fails_after(scheduler, part, test)?)).map(Some)
}

/// Whether a test fails after others, decided on repeated runs.
pub(crate) fn fails_after(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<bool, Stop> {
    let order: Vec<u32> = before.iter().copied().chain([test]).collect();
    Ok(scheduler.decide("after", &order)? == Decision::High)
}
