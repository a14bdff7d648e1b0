//! The tests that make another one fail, or pass: one minimal set out of an order in which it does,
//! or each of them in a pair with it.
//!
//! The test after which it begins to fail belongs to the set; a walk through the order finds it.
//! Where environments can be copied, the order is run once, and the other test is tried in a copy
//! now and then until it fails; the part since the last try is walked again in smaller steps. Where
//! they cannot, ever longer beginnings of the order are run, and the last gap is halved.
//!
//! Most often that test is all of the set; else delta debugging finds the others among those before
//! it. The algorithm is *ddmin* (Zeller and Hildebrandt 2002, Figure 7): try ever smaller parts and
//! their complements. What comes out has the effect, and loses it when any single item is left out.
//!
//! Where a runner's own shuffle makes the orders, a part of the tests runs in another order than the
//! whole, and only the last test is certain to be the last. Then every part is tried in an order that
//! can be run, and what is gone on with is the part as it ran, so that the set that comes out has the
//! effect in the order in which it is given.
//!
//! Pairs are PAIRWISE (Zhang et al. 2014; CANNIER, section 2.1.3) on copies of a live environment:
//! every test before every target, the first of each pair run once for all of them.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use flakeproof_core::{Decision, Isolation};

use crate::hunt::trial::{Step, Trial, Until};
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, failed, last_failed};

/// A minimal set of the tests in `before` after which the test fails; `None` if it does not.
pub(crate) fn polluting_set(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    if let Some(set) = polluting_set_on_the_way(scheduler, before, test)? {
        return Ok(Some(set));
    }
    // Chance, or copies that differ, led astray: without them, then.
    let Some(ran) = ran_and_failed(scheduler, before, test)? else { return Ok(None) };
    minimal_part(&ran, &mut |part| ran_and_failed(scheduler, part, test)).map(Some)
}

/// The same from one walk through `before`; `None` if the test did not fail on the way.
pub(crate) fn polluting_set_on_the_way(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    let Some(stretch) = failing_stretch(scheduler, before, test)? else { return Ok(None) };
    let Some((polluter, others)) = before[stretch.clone()].split_last() else { return Ok(None) };
    if fails_after(scheduler, &[*polluter], test)? {
        return Ok(Some(vec![*polluter]));
    }
    let Some(ran) = ran_and_failed(scheduler, &before[stretch], test)? else { return Ok(None) };
    if !scheduler.keeps_any_order() {
        return minimal_part(&ran, &mut |part| ran_and_failed(scheduler, part, test)).map(Some);
    }
    let with_last = |part: &[u32]| part.iter().chain([polluter]).copied().collect::<Vec<u32>>();
    let others = minimal_part(others, &mut |part| {
        let has_failed = fails_after(scheduler, &with_last(part), test)?;
        Ok(has_failed.then(|| part.to_vec()))
    })?;
    Ok(Some(with_last(&others)))
}

/// The first of some candidates after which, alone, the test fails.
pub(crate) fn first_polluter(
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    test: u32,
) -> Result<Option<u32>, Stop> {
    first_influence(scheduler, candidates, test, false, &|_| false)
}

/// The first of some candidates after which a test does not do as it does alone; decided on repeated
/// runs, unless one needs no more than the first.
pub(crate) fn first_influence(
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    test: u32,
    fails_alone: bool,
    needs_no_more: &dyn Fn(u32) -> bool,
) -> Result<Option<u32>, Stop> {
    let mut rest = candidates;
    loop {
        let isolation = scheduler.isolation();
        let trials =
            rest.iter().map(|before| Trial::order("near".into(), vec![*before, test], isolation));
        let mut tried = 0;
        let mut has_changed = false;
        scheduler.one_by_one(trials, &mut |_, record| {
            tried += 1;
            has_changed = last_failed(record) == Some(!fails_alone);
            if has_changed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let Some(first) = has_changed.then(|| rest[tried - 1]) else { return Ok(None) };
        if needs_no_more(first) || fails_after(scheduler, &[first], test)? != fails_alone {
            return Ok(Some(first));
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
    let mut passes = |part: &[u32]| {
        let order = order_with(scheduler, part, test);
        let has_failed = scheduler.decide("after", &order)? == Decision::High;
        Ok((!has_failed).then(|| without_last(order)))
    };
    let Some(ran) = passes(before)? else { return Ok(None) };
    minimal_part(&ran, &mut passes).map(Some)
}

/// Whether a test fails after others, decided on repeated runs.
pub(crate) fn fails_after(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<bool, Stop> {
    Ok(ran_and_failed(scheduler, before, test)?.is_some())
}

/// The tests in the order in which they ran before a test, if it fails after them.
fn ran_and_failed(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<Vec<u32>>, Stop> {
    let order = order_with(scheduler, before, test);
    let has_failed = scheduler.decide("after", &order)? == Decision::High;
    Ok(has_failed.then(|| without_last(order)))
}

/// Tests and one more at the end, in an order that can be run.
fn order_with(scheduler: &TrialScheduler<'_, '_>, before: &[u32], test: u32) -> Vec<u32> {
    let order: Vec<u32> = before.iter().copied().chain([test]).collect();
    scheduler.runnable(&order)
}

fn without_last(mut order: Vec<u32>) -> Vec<u32> {
    order.pop();
    order
}

/// The most parts into which a walk cuts an order, but for the small ones at its start.
const PARTS: usize = 32;
/// The first part of a walk has so many tests; up to twice as many are walked one by one.
const FIRST_PART: usize = 4;
/// Without copies, each beginning is so many times as long as the one before.
const GROWTH: usize = 8;

/// A stretch of `before` after which the test fails, and after whose last test it begins to; `None`
/// if it does not fail.
fn failing_stretch(
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
    let trial =
        Trial { name: "walk".into(), steps, isolation, until: Until::Failure, shuffle: None };
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

/// Whether a test fails after others in one run.
pub(crate) fn fails_once_after(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<bool, Stop> {
    let order = order_with(scheduler, before, test);
    let trial = Trial::order("beginning".into(), order, scheduler.isolation());
    let mut has_failed = false;
    scheduler.one_by_one(std::iter::once(trial), &mut |_, record| {
        has_failed = last_failed(record) == Some(true);
        ControlFlow::Continue(())
    })?;
    Ok(has_failed)
}

/// Says of some items whether they have the effect, and in which order they had it.
type Effect<'a, E> = &'a mut dyn FnMut(&[u32]) -> Result<Option<Vec<u32>>, E>;

/// A part of the items, in their order, that has the effect and is minimal.
///
/// `has_effect` is asked for parts of the items, and gives a part that has the effect as it ran; that
/// all of them together have the effect is known.
///
/// # Errors
/// Those of `has_effect`.
fn minimal_part<E>(items: &[u32], has_effect: Effect<'_, E>) -> Result<Vec<u32>, E> {
    let mut kept = items.to_vec();
    let mut parts = 2;
    while kept.len() > 1 {
        let size = kept.len().div_ceil(parts);
        if let Some(part) = first_with_effect(kept.chunks(size).map(<[u32]>::to_vec), has_effect)? {
            kept = part;
            parts = 2;
            continue;
        }
        let rests = (0..kept.len().div_ceil(size)).map(|number| {
            let left_out = number * size..((number + 1) * size).min(kept.len());
            let is_kept = |at: &usize| !left_out.contains(at);
            (0..kept.len()).filter(is_kept).map(|at| kept[at]).collect::<Vec<_>>()
        });
        // With two parts, the complements are the parts, which were just tried.
        let rests = rests.filter(|rest| parts > 2 && !rest.is_empty());
        if let Some(rest) = first_with_effect(rests, has_effect)? {
            kept = rest;
            parts = (parts - 1).max(2);
        } else if size == 1 {
            break;
        } else {
            parts = (parts * 2).min(kept.len());
        }
    }
    Ok(kept)
}

fn first_with_effect<E>(
    parts: impl Iterator<Item = Vec<u32>>,
    has_effect: Effect<'_, E>,
) -> Result<Option<Vec<u32>>, E> {
    for part in parts {
        if let Some(ran) = has_effect(&part)? {
            return Ok(Some(ran));
        }
    }
    Ok(None)
}

/// A test before another one, and whether that one failed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairOutcome {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) has_failed: bool,
}

/// So many candidates tell what one takes.
const TIMED_FIRST: usize = 6;

/// Run every target after every candidate that is to be tried before it; give those pairs in which it
/// does not do as expected.
///
/// Where nearly fresh environments take long, they run beside each other. Files and ports that tests share
/// make some of them fail then, so every surprise is looked at again alone; if one was none, all pairs are
/// tried one after the other.
#[expect(clippy::cast_precision_loss, reason = "a suite has fewer tests than that")]
pub(crate) fn surprising_pairs(
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    targets: &[(u32, bool)],
    is_tried: &dyn Fn(u32, u32) -> bool,
) -> Result<Vec<PairOutcome>, Stop> {
    let mut seconds = Vec::new();
    let mut find = |name: &str, scheduler: &mut TrialScheduler<'_, '_>, candidates: &[u32]| {
        pairs_named(name, scheduler, candidates, targets, is_tried, &mut seconds)
    };
    if scheduler.most_at_once().is_none() {
        return find("pairs", scheduler, candidates);
    }
    let (timed, rest) = candidates.split_at(TIMED_FIRST.min(candidates.len()));
    let mut found = find("pairs", scheduler, timed)?;
    // The shortest: on a busy machine the others wait for it, and further processes would wait as well.
    let each = seconds.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
    let mut find = |name: &str, scheduler: &mut TrialScheduler<'_, '_>| {
        pairs_named(name, scheduler, rest, targets, is_tried, &mut seconds)
    };
    let mut further = match scheduler.at_once_for(each * rest.len() as f64) {
        None => find("pairs", scheduler)?,
        Some(at_once) => {
            let pairs =
                scheduler.beside_each_other(at_once, |scheduler| find("pairs", scheduler))?;
            match are_disturbed(scheduler, &pairs)? {
                true => find("pairs apart", scheduler)?,
                false => pairs,
            }
        }
    };
    found.append(&mut further);
    Ok(found)
}

/// Whether one of some pairs does something else when nothing runs beside it.
fn are_disturbed(
    scheduler: &mut TrialScheduler<'_, '_>,
    pairs: &[PairOutcome],
) -> Result<bool, Stop> {
    for pair in pairs {
        if fails_after(scheduler, &[pair.first], pair.second)? != pair.has_failed {
            return Ok(true);
        }
    }
    Ok(false)
}

fn pairs_named(
    name: &str,
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    targets: &[(u32, bool)],
    is_tried: &dyn Fn(u32, u32) -> bool,
    seconds: &mut Vec<f64>,
) -> Result<Vec<PairOutcome>, Stop> {
    let isolation = scheduler.isolation();
    let expected: HashMap<u32, bool> = targets.iter().copied().collect();
    let trials = candidates.iter().filter_map(|first| {
        let others = targets.iter().map(|(target, _)| *target).filter(|target| target != first);
        let tried: Vec<u32> = others.filter(|target| is_tried(*first, *target)).collect();
        (!tried.is_empty()).then(|| trial_after(name, *first, &tried, isolation))
    });
    let mut found = Vec::new();
    scheduler.each(trials, &mut |trial, record| {
        seconds.push(record.duration.as_secs_f64());
        let Some(Step::Run(before)) = trial.steps.first() else {
            return ControlFlow::Continue(());
        };
        for (branch, outcomes) in trial.branches().zip(&record.outcomes) {
            let ([first], [second]) = (before.as_slice(), branch) else { continue };
            let outcome = failed(outcomes.last().copied().flatten());
            if let (Some(fails), Some(has_failed)) = (expected.get(second), outcome)
                && *fails != has_failed
            {
                found.push(PairOutcome { first: *first, second: *second, has_failed });
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn trial_after(name: &str, first: u32, targets: &[u32], isolation: Isolation) -> Trial {
    let mut steps = vec![Step::Run(vec![first])];
    steps.extend(targets.iter().map(|target| Step::Branch(vec![*target])));
    Trial { name: name.into(), steps, isolation, until: Until::Done, shuffle: None }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

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

    fn minimal_set(count: u32, needed: &[u32]) -> (Vec<u32>, usize) {
        let items: Vec<u32> = (0..count).collect();
        let mut asked = 0;
        let found = minimal_part(&items, &mut |part: &[u32]| -> Result<_, Infallible> {
            asked += 1;
            let has_all = needed.iter().all(|item| part.contains(item));
            Ok(has_all.then(|| part.to_vec()))
        });
        (found.unwrap_or_default(), asked)
    }

    #[test]
    fn one_of_a_thousand_is_found_in_a_few_questions() {
        let (found, asked) = minimal_set(1000, &[777]);
        assert_eq!(found, [777]);
        assert!(asked <= 20, "{asked} questions");
    }

    #[test]
    fn two_that_are_needed_together_are_found() {
        assert_eq!(minimal_set(500, &[3, 490]).0, [3, 490]);
    }

    proptest! {
        #[test]
        fn what_comes_out_has_the_effect_and_nothing_to_spare(
            count in 1u32..80,
            needed in proptest::collection::btree_set(0u32..80, 1..6),
        ) {
            let needed: Vec<u32> = needed.into_iter().filter(|item| *item < count).collect();
            prop_assume!(!needed.is_empty());
            prop_assert_eq!(minimal_set(count, &needed).0, needed);
        }

        #[test]
        fn any_effect_leaves_a_part_that_is_minimal(count in 1u32..24, salt: u64) {
            // An arbitrary effect, as long as all items together have it.
            let items: Vec<u32> = (0..count).collect();
            let effect = |part: &[u32]| {
                let text = format!("{part:?}");
                part.len() as u32 == count || flakeproof_core::Seed(salt).split(&text).0.is_multiple_of(3)
            };
            let found = minimal_part(&items, &mut |part: &[u32]| -> Result<_, Infallible> {
                Ok(effect(part).then(|| part.to_vec()))
            }).unwrap_or_default();
            prop_assert!(effect(&found));
            if found.len() > 1 {
                for left_out in 0..found.len() {
                    let mut rest = found.clone();
                    rest.remove(left_out);
                    prop_assert!(!effect(&rest), "{found:?} can lose {left_out}");
                }
            }
        }
    }
}
