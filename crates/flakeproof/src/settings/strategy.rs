//! Where a hunt spends its time, as it is meant.

use clap::ValueEnum;
use flakeproof_core::Thresholds;
use serde::{Deserialize, Serialize};

use super::RawSettings;
use crate::cli::HuntArguments;
use crate::problem::Problem;

/// Of the flaky tests expected at first, this share may stay hidden.
const MAY_STAY_HIDDEN: f64 = 0.1;

/// The thresholds of balanced CANNIER+RERUN (Table 8 of the paper).
pub(crate) const BALANCED_RERUN: (f64, f64) = (0.07, Thresholds::UNREACHED);

/// What decides where a hunt looks next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StrategyName {
    /// Nothing: every test gets the same.
    Off,
    /// Models say which tests are rerun, and which pairs are tried.
    Cannier,
    /// The next run goes where it is most likely to show a flaky test for its time.
    Plan,
}

/// What decides where a hunt looks next, with its numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StrategyOptions {
    #[default]
    Off,
    Cannier {
        /// Between which answers a test is rerun; `None` for those kept with the model.
        thresholds: Option<Thresholds>,
    },
    Plan {
        /// The share of the flaky tests expected at first that may stay hidden.
        may_stay_hidden: f64,
        /// How often known flaky tests fail. Kept, because the hunt itself adds to what is known.
        rates: Vec<f64>,
    },
}

impl StrategyOptions {
    /// What was asked for; where nobody said anything, a plan if the time is short, else what `usual`
    /// says.
    pub(crate) fn resolve(
        typed: &HuntArguments,
        settings: &RawSettings,
        usual: StrategyName,
    ) -> Result<Self, Problem> {
        if typed.victim.is_some() {
            // One test is looked at: there is nothing to choose.
            return Ok(Self::Off);
        }
        let name = match (typed.steer, &typed.diff) {
            (Some(StrategyName::Off | StrategyName::Cannier), Some(_)) => {
                return Err(Problem::usage(
                    "`--diff` looks at some tests only, which only `--steer plan` can",
                    "leave out `--steer`",
                ));
            }
            (_, Some(_)) => StrategyName::Plan,
            (typed, None) => typed.or(settings.steer).unwrap_or(usual_within(settings, usual)),
        };
        refuse_what_is_without_effect(typed, name)?;
        Ok(match name {
            StrategyName::Off => Self::Off,
            StrategyName::Cannier => Self::Cannier { thresholds: thresholds(settings)? },
            StrategyName::Plan => Self::Plan {
                may_stay_hidden: settings.hidden.map_or(MAY_STAY_HIDDEN, |share| share.0),
                rates: Vec::new(),
            },
        })
    }

    /// What decides, without its numbers.
    pub(crate) fn name(&self) -> StrategyName {
        match self {
            Self::Off => StrategyName::Off,
            Self::Cannier { .. } => StrategyName::Cannier,
            Self::Plan { .. } => StrategyName::Plan,
        }
    }

    /// The first option that was typed and says something else than this.
    pub(crate) fn contradicted_by(&self, typed: &HuntArguments) -> Option<&'static str> {
        let is_other = |typed: Option<f64>, kept: Option<f64>| {
            typed.is_some_and(|typed| kept.map(f64::to_bits) != Some(typed.to_bits()))
        };
        let thresholds = match self {
            Self::Cannier { thresholds } => *thresholds,
            Self::Off | Self::Plan { .. } => None,
        };
        let hidden = match self {
            Self::Plan { may_stay_hidden, .. } => Some(*may_stay_hidden),
            Self::Off | Self::Cannier { .. } => None,
        };
        let options = [
            ("--steer", typed.steer.is_some_and(|it| it != self.name())),
            ("--lower", is_other(typed.lower, thresholds.map(Thresholds::lower))),
            ("--upper", is_other(typed.upper, thresholds.map(Thresholds::upper))),
            ("--hidden", is_other(typed.hidden.map(|share| share.0), hidden)),
        ];
        options.into_iter().find(|(_, is_other)| *is_other).map(|(name, _)| name)
    }
}

/// A budget is best spent by a plan; who says how often tests are rerun wants none.
fn usual_within(settings: &RawSettings, usual: StrategyName) -> StrategyName {
    match settings.budget.is_some() && settings.max_reruns.is_none() {
        true => StrategyName::Plan,
        false => usual,
    }
}

/// An option that changes nothing is a mistake.
fn refuse_what_is_without_effect(typed: &HuntArguments, name: StrategyName) -> Result<(), Problem> {
    let options = [
        ("--lower", typed.lower.is_some(), StrategyName::Cannier, "cannier"),
        ("--upper", typed.upper.is_some(), StrategyName::Cannier, "cannier"),
        ("--hidden", typed.hidden.is_some(), StrategyName::Plan, "plan"),
    ];
    let without_effect =
        options.into_iter().find(|(_, is_typed, whose, _)| *is_typed && *whose != name);
    match without_effect {
        // A hunt that goes on knows by its record what steers it.
        Some((option, _, _, whose)) if !typed.resume => Err(Problem::usage(
            format!("`{option}` says something only with `--steer {whose}`"),
            format!("add `--steer {whose}`, or leave it out"),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Both thresholds if one is given; the other is as in the paper.
fn thresholds(settings: &RawSettings) -> Result<Option<Thresholds>, Problem> {
    if settings.lower.is_none() && settings.upper.is_none() {
        return Ok(None);
    }
    let (lower, upper) = BALANCED_RERUN;
    let given = Thresholds::new(settings.lower.unwrap_or(lower), settings.upper.unwrap_or(upper));
    given.map(Some).map_err(|error| {
        Problem::usage(error.to_string(), "write for example `--lower 0.07 --upper 1.01`")
    })
}
