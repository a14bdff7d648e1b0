//! The test of an order after which another one begins to fail.
//!
//! Where environments can be copied, the order is run once, and the other test is tried in a copy now
//! and then until it fails; the part since the last try is walked again in smaller steps. Where they
//! cannot, ever longer beginnings of the order are run, and the last gap is halved.

use std::ops::{ControlFlow, Range};

use crate::hunt::trial::{Step, Trial, Until};
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, failed, last_failed};

/// The most parts into which a walk cuts an order, but for the small ones at its start.
const PARTS: usize = 32;
/// The first part of a walk has so many tests; up to twice as many are walked one by one.
const FIRST_PART: usize = 4;
/// Without copies, each beginning is so many times as long as the one before.
const GROWTH: usize = 8;

/// A stretch of `before` after which the test fails, and after whose last test it begins to; `None`
/// if it does not fail.
pub(super) fn failing_stretch(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Range<usize>>, Stop> {
    if !scheduler.can_copy() {
        return Ok(shortest_beginning(scheduler, before, test)?.map(|end| 0..end));
    }
    let mut start = 0;
    let Some(mut part) = walk(scheduler, &[], before, test)? else { return Ok(None) };
    while part.len() > 1 {
        // Most often the part is enough, and what came before it need not run again.
        let mut inside = walk(scheduler, &[], &before[part.clone()], test)?;
        match inside {
            Some(_) => start = part.start,
            None => {
                inside = walk(scheduler, &before[start..part.start], &before[part.clone()], test)?;
            }
        }
        let Some(inside) = inside else { return Ok(None) };
        part = part.start + inside.start..part.start + inside.end;
    }
    Ok(Some(start..part.end))
}

/// Run a list part by part in one environment, and try the test after each; the first part after
/// which it fails.
fn walk(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    list: &[u32],
    test: u32,
) -> Result<Option<Range<usize>>, Stop> {
    let parts = parts(list.len());
    let mut steps = Vec::new();
    if !before.is_empty() {
        steps.push(Step::Run(before.to_vec()));
    }
    for part in &parts {
        steps.extend([Step::Run(list[part.clone()].to_vec()), Step::Try(vec![test])]);
    }
    let isolation = scheduler.isolation();
    let trial = Trial { name: "walk".into(), steps, isolation, until: Until::Failure };
    let mut found = None;
    scheduler.each(std::iter::once(trial), &mut |_, record| {
        let has_failed =
            |outcomes: &Vec<_>| failed(outcomes.last().copied().flatten()) == Some(true);
        found = record.outcomes.iter().position(has_failed);
        ControlFlow::Continue(())
    })?;
    Ok(found.map(|place| parts[place].clone()))
}

/// The parts of a list of this length: small ones at first, because an order may put those first that
/// have most to do with the test.
fn parts(length: usize) -> Vec<Range<usize>> {
    let most = length.div_ceil(PARTS).max(FIRST_PART);
    let mut size = if length <= 2 * FIRST_PART { 1 } else { FIRST_PART };
    let grows = size > 1;
    let mut parts = Vec::new();
    let mut start = 0;
    while start < length {
        let end = (start + size).min(length);
        parts.push(start..end);
        start = end;
        if grows {
            size = (2 * size).min(most);
        }
    }
    parts
}

/// The length of a beginning of `before` after which the test fails, while it passes after a beginning
/// that is one shorter.
fn shortest_beginning(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<usize>, Stop> {
    let (mut passes, mut fails) = (0, FIRST_PART.min(before.len()));
    while !fails_once_after(scheduler, &before[..fails], test)? {
        if fails == before.len() {
            return Ok(None);
        }
        (passes, fails) = (fails, (GROWTH * fails).min(before.len()));
    }
    while fails - passes > 1 {
        let middle = usize::midpoint(passes, fails);
        if fails_once_after(scheduler, &before[..middle], test)? {
            fails = middle;
        } else {
            passes = middle;
        }
    }
    Ok((fails > 0).then_some(fails))
}

fn fails_once_after(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<bool, Stop> {
    let order: Vec<u32> = before.iter().copied().chain([test]).collect();
    let trial = Trial::order("beginning".into(), order, scheduler.isolation());
    let mut has_failed = false;
    scheduler.one_by_one(std::iter::once(trial), &mut |_, record| {
        has_failed = last_failed(record) == Some(true);
        ControlFlow::Continue(())
    })?;
    Ok(has_failed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_whole_and_smaller_than_the_list(length in 0usize..5000) {
            let parts = parts(length);
            let places: Vec<usize> = parts.iter().cloned().flatten().collect();
            prop_assert_eq!(places, (0..length).collect::<Vec<_>>());
            prop_assert!(parts.iter().all(|part| part.len() < length.max(2)));
            prop_assert!(parts.len() <= PARTS + 8);
        }
    }
}
