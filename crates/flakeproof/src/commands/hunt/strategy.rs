//! From what was asked for to the strategy of the hunt, and what the reader should know about it.

use std::path::Path;

use flakeproof_core::{History, Notice, Suite};
use flakeproof_detect::hunt::Strategy;
use flakeproof_learn::cannier::Problem as Question;

use super::by_features::ByFeatures;
use super::by_source::BySource;
use super::candidates;
use super::priors::Priors;
use super::targets::Targets;
use crate::models::kept_models;
use crate::problem::Problem;
use crate::settings::{Asked, StrategyName, StrategyOptions};
use crate::source::changed_tests::ChangedTests;

/// The strategy of a hunt, and what comes with it.
#[derive(Debug, Default)]
pub(super) struct ChosenStrategy {
    pub(super) strategy: Strategy,
    /// The only tests that are looked at, if not all are.
    pub(super) targets: Option<Targets>,
    /// What the reader should know before it begins: which models steer, and which tests are looked at.
    pub(super) first: Vec<Notice>,
    /// What the reader should know in the end.
    pub(super) notices: Vec<Notice>,
}

/// The strategy where nobody says anything: a plan, if the project has a model of its own.
pub(super) fn usual(folder: &Path) -> StrategyName {
    if kept_models::is_any_in(folder) { StrategyName::Plan } else { StrategyName::Off }
}

impl ChosenStrategy {
    /// Ask the models about the suite. The places of its tests are relative to `root`; models are
    /// looked for in `folder`.
    pub(super) fn of(
        asked: &Asked,
        suite: &Suite,
        root: &Path,
        folder: &Path,
        history: &dyn History,
    ) -> Result<Self, Problem> {
        if asked.strategy == StrategyOptions::Off {
            return Ok(Self::default());
        }
        let by_source = BySource::of(suite, root, folder)?;
        let by_features = ByFeatures::of(suite, folder, history)?;
        let mut chosen = Self {
            first: vec![models(&asked.strategy, &by_source, &by_features)],
            ..Self::default()
        };
        match &asked.strategy {
            StrategyOptions::Off => {}
            StrategyOptions::Cannier { thresholds } => {
                let few = candidates::choose(suite, &by_source, &by_features, *thresholds);
                chosen.strategy = Strategy::Cannier(few.candidates);
                chosen.notices = few.notices;
            }
            StrategyOptions::Plan { may_stay_hidden, rates } => {
                let mut priors = Priors::of(&by_source, &by_features);
                // Without a history nobody is known.
                priors.recall(suite, &history.known_flaky().unwrap_or_default());
                if let Some(base) = &asked.diff {
                    let changed = ChangedTests::since(base, root)?;
                    let targets = Targets::of(suite, &by_source, &changed);
                    targets.narrow(&mut priors);
                    chosen.first.push(looked_at(&targets, base));
                    chosen.targets = Some(targets);
                }
                chosen.strategy = Strategy::Plan(priors.forecast(suite, rates, *may_stay_hidden));
            }
        }
        chosen.notices.extend(by_source.notices);
        Ok(chosen)
    }
}

fn looked_at(targets: &Targets, base: &str) -> Notice {
    let (all, changed) = (targets.len(), targets.changed());
    let suspects = match all - changed {
        0 => String::new(),
        1 => ", and 1 in the same files looks flaky".to_owned(),
        suspects => format!(", and {suspects} in the same files look flaky"),
    };
    let changed = match changed {
        1 => "1 test was".to_owned(),
        changed => format!("{changed} tests were"),
    };
    Notice {
        what: format!("{changed} added or changed since `{base}`{suspects}"),
        next: "only they are looked at; the others run beside them".into(),
    }
}

fn models(options: &StrategyOptions, by_source: &BySource, by_features: &ByFeatures) -> Notice {
    let questions: &[Question] = match options {
        StrategyOptions::Off => &[],
        StrategyOptions::Plan { .. } => &[Question::Nod, Question::Victim],
        StrategyOptions::Cannier { .. } => &Question::ALL,
    };
    let forests = questions.iter().filter_map(|question| by_features.on(*question));
    let mut names = vec![by_source.model.as_str()];
    names.extend(forests.map(|said| said.name.as_str()));
    let (how, next) = match options {
        StrategyOptions::Off => ("nothing", ""),
        StrategyOptions::Cannier { .. } => ("CANNIER", "`--steer off` reruns every test"),
        StrategyOptions::Plan { .. } => ("a plan", "`--steer off` treats every test alike"),
    };
    let say = if names.len() == 1 { "says" } else { "say" };
    let what = format!("{how} steers this hunt, by what {} {say}", names.join(" and "));
    Notice { what, next: next.to_owned() }
}
