//! Tests that heal what a polluter did, when they run between it and its victim, and what it is
//! that they clean: two pictures of one environment, and what differs.

use std::ops::ControlFlow;

use flakeproof_core::{Isolation, LeftBehind, LeftKind, State, TestId};
use flakeproof_runner::{Error, Probe, Result, Then};

use super::polluters::fails_after;
use crate::hunt::trial::{Step, Trial, Until};
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, failed, last_failed};

/// So many candidates are tried after one run of the polluters.
const TOGETHER: usize = 25;

/// The candidates after which the victim passes although its polluters ran.
pub(crate) fn cleaners(
    scheduler: &mut TrialScheduler<'_, '_>,
    polluters: &[u32],
    victim: u32,
    candidates: &[u32],
) -> Result<Vec<u32>, Stop> {
    let isolation = scheduler.isolation();
    let trials = candidates.chunks(TOGETHER).map(|some| {
        let mut steps = vec![Step::Run(polluters.to_vec())];
        steps.extend(some.iter().map(|candidate| Step::Branch(vec![*candidate, victim])));
        Trial { name: "clean".into(), steps, isolation, until: Until::Done, shuffle: None }
    });
    let mut found = Vec::new();
    scheduler.each(trials, &mut |trial, record| {
        for (branch, outcomes) in trial.branches().zip(&record.outcomes) {
            if let ([candidate, _], [Some(_), last]) = (branch, outcomes.as_slice())
                && failed(*last) == Some(false)
            {
                found.push(*candidate);
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut confirmed = Vec::new();
    for candidate in found {
        let before: Vec<u32> = polluters.iter().copied().chain([candidate]).collect();
        if !fails_after(scheduler, &before, victim)? {
            confirmed.push(candidate);
        }
    }
    Ok(confirmed)
}

/// So many candidates are tried together where nothing can be copied.
const GROUP: usize = 8;

/// The first candidates after which the victim passes although its polluters ran, at most so many.
///
/// For environments that cannot be copied: the polluters would run again for each candidate, so a group
/// of them is tried at once, and a group that heals is halved. None of them may make the victim fail by
/// itself: it would hide one that heals.
pub(crate) fn nearest_cleaners(
    scheduler: &mut TrialScheduler<'_, '_>,
    polluters: &[u32],
    victim: u32,
    candidates: &[u32],
    most: usize,
) -> Result<Vec<u32>, Stop> {
    let mut groups: Vec<&[u32]> = candidates.chunks(GROUP).collect();
    try_at_once(scheduler, polluters, victim, &groups)?;
    groups.reverse();
    let mut found = Vec::new();
    while found.len() < most
        && let Some(group) = groups.pop()
    {
        let before: Vec<u32> = polluters.iter().chain(group).copied().collect();
        match (group, fails_once_after(scheduler, &before, victim)?) {
            (_, Some(true)) | ([_], None) => {}
            ([one], Some(false)) => {
                if !fails_after(scheduler, &before, victim)? {
                    found.push(*one);
                }
            }
            // Somebody heals, or took the environment away.
            (_, Some(false) | None) => {
                let (nearer, farther) = group.split_at(group.len().div_ceil(2));
                groups.extend([farther, nearer]);
            }
        }
    }
    Ok(found)
}

/// Try groups beside each other, where that takes long: they are known then when it is their turn.
#[expect(clippy::cast_precision_loss, reason = "there are at most some hundred groups")]
fn try_at_once(
    scheduler: &mut TrialScheduler<'_, '_>,
    polluters: &[u32],
    victim: u32,
    groups: &[&[u32]],
) -> Result<(), Stop> {
    let Some((first, rest)) = groups.split_first() else { return Ok(()) };
    if scheduler.most_at_once().is_none() {
        return Ok(());
    }
    let before = |group: &[u32]| polluters.iter().chain(group).copied().collect::<Vec<u32>>();
    let begin = scheduler.now();
    fails_once_after(scheduler, &before(first), victim)?;
    let each = scheduler.now().saturating_sub(begin).as_secs_f64();
    let Some(at_once) = scheduler.at_once_for(each * rest.len() as f64) else {
        return Ok(());
    };
    let isolation = scheduler.isolation();
    let trials = rest.iter().map(|group| once_after(&before(group), victim, isolation));
    scheduler.beside_each_other(at_once, |scheduler| {
        scheduler.each(trials, &mut |_, _| ControlFlow::Continue(()))
    })
}

fn once_after(before: &[u32], test: u32, isolation: Isolation) -> Trial {
    let steps = vec![Step::Run(before.to_vec()), Step::Branch(vec![test])];
    Trial { name: "clean".into(), steps, isolation, until: Until::Done, shuffle: None }
}

/// Whether a test fails after others, seen once; `None` if it did not come to that.
fn fails_once_after(
    scheduler: &mut TrialScheduler<'_, '_>,
    before: &[u32],
    test: u32,
) -> Result<Option<bool>, Stop> {
    let trial = once_after(before, test, scheduler.isolation());
    let mut has_failed = None;
    scheduler.one_by_one(std::iter::once(trial), &mut |_, record| {
        has_failed = last_failed(record);
        ControlFlow::Continue(())
    })?;
    Ok(has_failed)
}

/// So many differences are kept; a polluter that changes more changes everything.
const MOST_DIFFERENCES: usize = 40;

/// What is not as it was after these tests; nothing if the adapter cannot tell.
///
/// Not a trial: it decides nothing, and it costs one run of the polluters.
pub(crate) fn left_behind(
    scheduler: &TrialScheduler<'_, '_>,
    tests: &[TestId],
) -> Result<Vec<LeftBehind>, Stop> {
    if !scheduler.adapter.can().state {
        return Ok(Vec::new());
    }
    let pictures = pictures(scheduler, tests);
    scheduler.tidy()?;
    match pictures {
        Ok((before, after)) => {
            let mut left = State::left_behind(&before, &after);
            left.truncate(MOST_DIFFERENCES);
            left.iter_mut().filter(|it| it.kind == LeftKind::File).for_each(forget_times);
            Ok(left)
        }
        Err(Error::Cancelled) => Err(Stop::Interrupted),
        // The polluters are known without it.
        Err(_) => Ok(Vec::new()),
    }
}

/// When a file was written is other in every run; that it was is what matters.
fn forget_times(file: &mut LeftBehind) {
    let size = |text: &String| text.split(',').next().unwrap_or_default().to_owned();
    let (before, mut after) = (file.before.as_ref().map(size), file.after.as_ref().map(size));
    if before == after {
        after = after.map(|size| format!("{size}, written anew"));
    }
    (file.before, file.after) = (before, after);
}

fn pictures(scheduler: &TrialScheduler<'_, '_>, tests: &[TestId]) -> Result<(State, State)> {
    let mut environment = scheduler.adapter.open(scheduler.isolation())?;
    let before = environment.look()?;
    environment.expect(tests, Then::Open)?;
    for test in tests {
        environment.run(test, Probe::attempt(1))?;
    }
    let after = environment.look()?;
    // Its teardown is nobody's outcome.
    let _ = environment.close();
    Ok((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_size_and_not_by_its_time() {
        let file = |before: &str, after: &str| {
            let mut file = LeftBehind {
                kind: LeftKind::File,
                name: "a.txt".into(),
                before: Some(before.into()),
                after: Some(after.into()),
            };
            forget_times(&mut file);
            (file.before.unwrap_or_default(), file.after.unwrap_or_default())
        };
        let grown = file("3 bytes, 100", "5 bytes, 200");
        assert_eq!(grown, ("3 bytes".to_owned(), "5 bytes".to_owned()));
        let rewritten = file("3 bytes, 100", "3 bytes, 200");
        assert_eq!(rewritten, ("3 bytes".to_owned(), "3 bytes, written anew".to_owned()));
    }
}
