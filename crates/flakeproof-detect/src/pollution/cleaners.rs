//! Tests that heal what a polluter did, when they run between it and its victim.

use std::ops::ControlFlow;

use crate::hunt::trial::{Step, Trial, Until};
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, failed};

use super::prefix::fails_after;

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
        Trial { name: "clean".into(), steps, isolation, until: Until::Done }
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
