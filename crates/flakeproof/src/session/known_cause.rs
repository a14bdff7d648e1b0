//! What makes a test fail, as `cause` found it, for those who run the test again.

use std::path::Path;
use std::sync::Arc;

use flakeproof_core::{CauseRecord, FlakyKind, KnownFlaky, LeverName, LeverValue, Suite};
use flakeproof_core::{Tally, TestId};
use flakeproof_detect::cause::UnderLever;
use flakeproof_runner::Adapter;
use flakeproof_runner::levers::{self, InForce, Machine};

use super::history;
use crate::cli::LeverToPull;
use crate::problem::Problem;
use crate::settings::StoreName;

/// The latest answer about the test that is meant; `None` if no experiment knows it, or several tests may
/// be meant.
pub(crate) fn known_cause(
    typed: &str,
    store: Option<&StoreName>,
    folder: &Path,
) -> Result<Option<CauseRecord>, Problem> {
    let Some(history) = history::find(store, folder)? else { return Ok(None) };
    let mut causes = history.causes().map_err(|error| history::unreadable(&error))?;
    causes.retain(|it| it.test.as_str().ends_with(typed));
    let exact = causes.iter().position(|it| it.test.as_str() == typed);
    Ok(match (exact, causes.len()) {
        (Some(at), _) => Some(causes.swap_remove(at)),
        (None, 1) => causes.pop(),
        (None, _) => None,
    })
}

/// A lever to run a test under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeverPulled {
    pub(crate) lever: LeverValue,
    /// How often the test failed under it, if that is known.
    pub(crate) failed: Option<Tally>,
}

/// The lever to run a test under: what was typed, else what makes it fail.
///
/// Where a hunt knows the very tests that make it fail, that is more than an order of the whole suite.
pub(crate) fn lever_to_pull(
    typed: Option<&LeverToPull>,
    cause: Option<&CauseRecord>,
    hunted: Option<&KnownFlaky>,
) -> Option<LeverPulled> {
    let known = cause.and_then(|it| it.found.as_ref()?.failing_under());
    match typed {
        Some(LeverToPull::None) => None,
        Some(LeverToPull::This(lever)) => {
            let failed = known.filter(|(known, _)| known == lever).map(|(_, tally)| tally);
            Some(LeverPulled { lever: lever.clone(), failed })
        }
        None => {
            let depends_on_order =
                hunted.and_then(|it| it.test.kind).is_some_and(|kind| match kind {
                    FlakyKind::Victim | FlakyKind::Brittle => true,
                    FlakyKind::Nod | FlakyKind::Id => false,
                });
            known
                .filter(|(lever, _)| !(depends_on_order && lever.name == LeverName::Order))
                .map(|(lever, tally)| LeverPulled { lever, failed: Some(tally) })
        }
    }
}

/// What to run a test under, where this machine and the runner allow it.
pub(crate) fn pulled(
    lever: &LeverValue,
    adapter: &dyn Adapter,
    in_force: &InForce,
    suite: &Suite,
) -> Result<UnderLever, Problem> {
    let machine = Arc::new(Machine::probe_for(adapter));
    let setting = match (adapter.obstacle_to(lever.name), levers::by_name(lever.name)) {
        (Some(obstacle), _) => Err(obstacle),
        (None, Some(found)) => found.setting(&lever.value, &machine),
        (None, None) => Err("there is no such lever".to_owned()),
    };
    let setting = setting.map_err(|why| {
        Problem::usage(
            format!("the test cannot be run under {lever}: {why}"),
            "say `--lever none` to run it without, or name another",
        )
    })?;
    Ok(UnderLever {
        in_force: in_force.clone(),
        intervention: setting.intervention,
        suite: suite.tests.iter().map(|test| test.id.clone()).collect(),
        machine,
    })
}

/// The test that is meant, as hunts and experiments know it.
pub(crate) fn known_id<'k>(
    hunted: Option<&'k KnownFlaky>,
    cause: Option<&'k CauseRecord>,
) -> Option<&'k TestId> {
    hunted.map(|it| &it.test.id).or_else(|| cause.map(|it| &it.test))
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{Cause, CauseAnswer, CauseProgress, HuntRecord, HuntedTest, TriedLever};

    use super::*;

    fn caused_by(name: LeverName, answer: CauseAnswer) -> CauseRecord {
        let with = Tally { runs: 9, failures: 9 };
        let lever = TriedLever {
            name,
            value: "v".into(),
            answer: Some(answer),
            plain: Tally { runs: 9, failures: 0 },
            with,
            beside: None,
            remark: None,
        };
        CauseRecord {
            id: "1".into(),
            started: String::new(),
            command: Vec::new(),
            seed: "7".into(),
            test: "t".into(),
            found: Some(Cause {
                test: "t".into(),
                answer,
                plain: Tally::default(),
                levers: vec![lever],
                not_tried: Vec::new(),
                category: None,
                command: None,
                failure: None,
            }),
            progress: CauseProgress::default(),
        }
    }

    fn hunted(kind: FlakyKind) -> KnownFlaky {
        let mut test = HuntedTest::new("t".into(), None);
        test.kind = Some(kind);
        let hunt = HuntRecord {
            id: "1".into(),
            started: String::new(),
            command: Vec::new(),
            fingerprint: String::new(),
            seed: "7".into(),
            settings: String::new(),
            version: String::new(),
        };
        KnownFlaky { hunt, test }
    }

    #[test]
    fn what_makes_it_fail_is_pulled_and_what_makes_it_pass_is_not() {
        let zone = caused_by(LeverName::Zone, CauseAnswer::CausedBy);
        let found = lever_to_pull(None, Some(&zone), None).expect("it is known");
        assert_eq!(found.lever.to_string(), "zone=v");
        assert_eq!(found.failed, Some(Tally { runs: 9, failures: 9 }));
        assert_eq!(lever_to_pull(Some(&LeverToPull::None), Some(&zone), None), None);
        let seed = caused_by(LeverName::HashSeed, CauseAnswer::StabilisedBy);
        assert_eq!(lever_to_pull(None, Some(&seed), None), None);
    }

    #[test]
    fn a_hunt_knows_more_about_an_order_than_a_lever_does() {
        let order = caused_by(LeverName::Order, CauseAnswer::CausedBy);
        assert_eq!(lever_to_pull(None, Some(&order), Some(&hunted(FlakyKind::Victim))), None);
        assert!(lever_to_pull(None, Some(&order), Some(&hunted(FlakyKind::Nod))).is_some());
        assert!(lever_to_pull(None, Some(&order), None).is_some());
    }
}
