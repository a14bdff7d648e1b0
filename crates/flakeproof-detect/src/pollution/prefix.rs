//! One minimal set of tests that makes another one fail, out of an order in which it fails.
//!
//! The order is run once, and the test is tried in a copy now and then, until it fails: the last test
//! before that belongs to the set. Most often it is all of the set; else delta debugging finds the
//! others among those before it.

use std::ops::ControlFlow;

use flakeproof_core::Decision;

use super::delta;
use crate::hunt::lab::{Lab, Stop, failed, last_failed};
use crate::hunt::trial::{Step, Trial, Until};

/// So often the test is tried on the first walk.
const TRIES: usize = 32;

/// A minimal set of the tests in `before` after which the test fails; `None` if it does not.
pub(crate) fn polluters(
    lab: &mut Lab<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    if let Some(set) = polluters_on_the_way(lab, before, test)? {
        return Ok(Some(set));
    }
    // Chance, or copies that differ, led astray: without them, then.
    if !fails_after(lab, before, test)? {
        return Ok(None);
    }
    delta::minimal(before, &mut |part| fails_after(lab, part, test)).map(Some)
}

/// The same from one walk through `before`; `None` if the test did not fail on the way.
pub(crate) fn polluters_on_the_way(
    lab: &mut Lab<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    let Some(last) = first_after_which_it_fails(lab, before, test)? else { return Ok(None) };
    let polluter = before[last];
    if fails_after(lab, &[polluter], test)? {
        return Ok(Some(vec![polluter]));
    }
    if !fails_after(lab, &before[..=last], test)? {
        return Ok(None);
    }
    let with_last = |part: &[u32]| part.iter().copied().chain([polluter]).collect::<Vec<u32>>();
    let others =
        delta::minimal(&before[..last], &mut |part| fails_after(lab, &with_last(part), test))?;
    Ok(Some(with_last(&others)))
}

/// The first of some candidates after which, alone, the test fails.
pub(crate) fn first_polluter(
    lab: &mut Lab<'_, '_>,
    candidates: &[u32],
    test: u32,
) -> Result<Option<u32>, Stop> {
    let mut rest = candidates;
    loop {
        let isolation = lab.isolation();
        let trials =
            rest.iter().map(|before| Trial::order("near".into(), vec![*before, test], isolation));
        let mut tried = 0;
        let mut has_failed = false;
        lab.one_by_one(trials, &mut |_, record| {
            tried += 1;
            has_failed = last_failed(record) == Some(true);
            if has_failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let Some(polluter) = has_failed.then(|| rest[tried - 1]) else { return Ok(None) };
        if fails_after(lab, &[polluter], test)? {
            return Ok(Some(polluter));
        }
        rest = &rest[tried..];
    }
}

/// A minimal set of the tests in `before` after which the test passes; `None` if it does not.
pub(crate) fn setters(
    lab: &mut Lab<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    if fails_after(lab, before, test)? {
        return Ok(None);
    }
    delta::minimal(before, &mut |part| Ok(!fails_after(lab, part, test)?)).map(Some)
}

/// Whether a test fails after others, decided on repeated runs.
pub(crate) fn fails_after(lab: &mut Lab<'_, '_>, before: &[u32], test: u32) -> Result<bool, Stop> {
    let order: Vec<u32> = before.iter().copied().chain([test]).collect();
    Ok(lab.decide("after", &order)? == Decision::High)
}

/// The place in `before` of the test after which the other one fails for the first time.
fn first_after_which_it_fails(
    lab: &mut Lab<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<usize>, Stop> {
    let size = before.len().div_ceil(TRIES).max(1);
    let Some(part) = first_failing_part(lab, &[], before, size, test)? else { return Ok(None) };
    let start = part * size;
    if size == 1 {
        return Ok(Some(start));
    }
    let end = (start + size).min(before.len());
    let inside = first_failing_part(lab, &before[..start], &before[start..end], 1, test)?;
    Ok(inside.map(|place| start + place))
}

/// Run parts of a list one after the other, and try the test after each; the first part after which
/// it fails.
fn first_failing_part(
    lab: &mut Lab<'_, '_>,
    before: &[u32],
    list: &[u32],
    size: usize,
    test: u32,
) -> Result<Option<usize>, Stop> {
    let mut steps = Vec::new();
    if !before.is_empty() {
        steps.push(Step::Run(before.to_vec()));
    }
    for part in list.chunks(size) {
        steps.extend([Step::Run(part.to_vec()), Step::Branch(vec![test])]);
    }
    let isolation = lab.isolation();
    let trial = Trial { name: "walk".into(), steps, isolation, until: Until::Failure };
    let mut found = None;
    lab.each(std::iter::once(trial), &mut |_, record| {
        let has_failed =
            |outcomes: &Vec<_>| failed(outcomes.last().copied().flatten()) == Some(true);
        found = record.outcomes.iter().position(has_failed);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
