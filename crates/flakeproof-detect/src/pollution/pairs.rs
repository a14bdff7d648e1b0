//! PAIRWISE: every test before every target, the first of each pair run once for all of them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use flakeproof_core::Isolation;

use crate::hunt::trial::{Step, Trial, Until};
use crate::hunt::trial_scheduler::{Stop, TrialScheduler, failed};

/// A test before another one, and whether that one failed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairOutcome {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) has_failed: bool,
}

/// Run every target after every candidate that is to be tried before it; give those pairs in which it
/// does not do as expected.
pub(crate) fn surprising(
    scheduler: &mut TrialScheduler<'_, '_>,
    candidates: &[u32],
    targets: &[(u32, bool)],
    is_tried: &dyn Fn(u32, u32) -> bool,
) -> Result<Vec<PairOutcome>, Stop> {
    let isolation = scheduler.isolation();
    let expected: HashMap<u32, bool> = targets.iter().copied().collect();
    let trials = candidates.iter().filter_map(|first| {
        let others = targets.iter().map(|(target, _)| *target).filter(|target| target != first);
        let tried: Vec<u32> = others.filter(|target| is_tried(*first, *target)).collect();
        (!tried.is_empty()).then(|| after(*first, &tried, isolation))
    });
    let mut found = Vec::new();
    scheduler.each(trials, &mut |trial, record| {
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

fn after(first: u32, targets: &[u32], isolation: Isolation) -> Trial {
    let mut steps = vec![Step::Run(vec![first])];
    steps.extend(targets.iter().map(|target| Step::Branch(vec![*target])));
    Trial { name: "pairs".into(), steps, isolation, until: Until::Done }
}
