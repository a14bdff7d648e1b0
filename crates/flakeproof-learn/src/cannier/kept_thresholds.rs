//! The thresholds that a model is kept with: where to stop believing it.
//!
//! For NOD flaky tests they are the knee of CANNIER's front on tests that were held out. They are
//! thresholds on the forest's own answers, as in the paper, not on calibrated probabilities.

use flakeproof_core::Thresholds;

use super::answers::Answers;
use super::class_cost::Recheck;
use super::dataset::Dataset;
use super::delegation::Delegation;
use super::front::{Front, Setting};
use super::grid::{LAST_STEP, step_of, threshold_of};
use super::problem::Problem;
use super::reruns::MaxReruns;
use super::suites::Suites;
use super::validation::Validation;

/// The share of victims and polluters that must stay candidates. Which pairs they make is not known
/// when one of two models learns, so there is no front to take a knee from.
const KEPT: f64 = 0.95;

/// The thresholds for a model that was measured so; `None` where nothing tells them.
pub(super) fn choose_thresholds(
    data: &Dataset,
    suites: &Suites,
    validation: &Validation,
) -> Option<Thresholds> {
    match data.problem {
        Problem::Nod | Problem::NodVsVictim => balanced(data, suites, validation),
        Problem::Victim | Problem::Polluter => keeping_most(&validation.scored()),
    }
}

/// The knee for RERUN, respectively for iDFlakies' classification.
fn balanced(data: &Dataset, suites: &Suites, validation: &Validation) -> Option<Thresholds> {
    let runs = u32::try_from(data.most_runs()).unwrap_or(u32::MAX);
    let answers = Answers::of_validations(data, suites, &[(runs, validation.clone())]).ok()?;
    let delegation = match data.problem {
        Problem::NodVsVictim => {
            Delegation::to_classification(suites, &answers, Recheck::RECOMMENDED)
        }
        Problem::Nod | Problem::Victim | Problem::Polluter => {
            Delegation::to_rerun(suites, &answers, MaxReruns::new(suites.baseline_runs())?)
        }
    };
    let front = Front::new(delegation.original(), &delegation.grid());
    match front.pins.balanced.setting {
        Setting::Between(thresholds) => Some(thresholds),
        Setting::Candidates { .. } => None,
    }
}

/// The highest threshold that enough positive tests reach.
fn keeping_most(scored: &[(f64, bool)]) -> Option<Thresholds> {
    let positive: Vec<usize> =
        scored.iter().filter(|(_, it)| *it).map(|(answer, _)| step_of(*answer)).collect();
    let needed = KEPT * crate::real(positive.len());
    let keeps = |step: &usize| {
        crate::real(positive.iter().filter(|reached| *reached >= step).count()) >= needed
    };
    let step = (0..=LAST_STEP).rev().find(keeps)?;
    Thresholds::candidates_from(threshold_of(step)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_of_twenty_positive_tests_stay_candidates() {
        let mut scored: Vec<(f64, bool)> = (0..19u32).map(|_| (0.4, true)).collect();
        scored.extend([(0.1, true), (0.9, false), (0.39, false)]);
        assert_eq!(keeping_most(&scored), Thresholds::new(0.4, 1.01).ok());
        scored.push((0.2, true));
        assert_eq!(keeping_most(&scored), Thresholds::new(0.2, 1.01).ok());
    }
}
