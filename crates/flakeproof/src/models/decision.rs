//! When a test is called flaky: from which score on, and only if it stands out in its project.
//!
//! What speaks of servers and threads often lies around all tests of a project. A model that has never seen
//! the project then finds most of them as suspicious as tests that are known to be flaky: it tells
//! projects apart, and not their tests. Nobody looks through a thousand suspects. So by the model inside the program a
//! suspect must be among the few tests of its project with the highest scores, too; what that costs is
//! measured in `evaluation/jury`.

use flakeproof_core::Notice;
use flakeproof_learn::ensemble::Basis;
use flakeproof_learn::evaluate::lowest_of_top;
use flakeproof_learn::flast::Level;

use super::figures::{Figures, Measured};
use super::model::{Model, ModelSource};
use super::predictor;
use super::rule_check;
use super::test_reader::TestReader;
use crate::cli::{MostSuspects, ThresholdChoice};

/// When a test is called flaky.
pub(crate) struct Decision {
    pub(crate) choice: ThresholdChoice,
    level: Option<Level>,
    /// The same for tests of which only the text is known.
    text: Option<Level>,
    most: MostSuspects,
    /// From which score on a test stands out. Scores that rest on different things are not compared.
    lowest: f64,
    lowest_of_texts: f64,
    /// What the reader should know of it.
    pub(crate) notices: Vec<Notice>,
}

impl Decision {
    /// By the score alone.
    pub(crate) fn by_threshold(model: &Model<'_>, choice: ThresholdChoice) -> Self {
        let level = |basis: Basis| match choice {
            ThresholdChoice::Balanced => model.thresholds(basis).balanced,
            ThresholdChoice::Careful => model.thresholds(basis).careful,
            ThresholdChoice::Probability(_) => None,
        };
        let (level, text) = (level(Basis::Project), level(Basis::Text));
        let precision = model.thresholds(Basis::Project).careful_precision;
        let notices = level.is_none().then(|| without_level(choice, precision)).flatten();
        Self {
            choice,
            level,
            text,
            most: MostSuspects::ALL,
            lowest: f64::NEG_INFINITY,
            lowest_of_texts: f64::NEG_INFINITY,
            notices: notices.into_iter().collect(),
        }
    }

    /// By the score, and by how the test stands among all of its project, which the reader has.
    pub(crate) fn in_project(
        source: &ModelSource,
        model: &Model<'_>,
        project: &TestReader<'_>,
        choice: ThresholdChoice,
        most: Option<MostSuspects>,
    ) -> Self {
        let usual = match choice {
            ThresholdChoice::Balanced | ThresholdChoice::Careful if source.is_shipped() => {
                MostSuspects::USUAL
            }
            ThresholdChoice::Balanced
            | ThresholdChoice::Careful
            | ThresholdChoice::Probability(_) => MostSuspects::ALL,
        };
        let decision = Self::by_threshold(model, choice);
        match most.unwrap_or(usual) {
            MostSuspects::ALL => decision,
            most => decision.with_most(source, model, project, most),
        }
    }

    fn with_most(
        mut self,
        source: &ModelSource,
        model: &Model<'_>,
        project: &TestReader<'_>,
        most: MostSuspects,
    ) -> Self {
        let scores: Vec<(f64, Basis)> = predictor::scores(source, model, project)
            .into_iter()
            .zip(project.tests)
            .filter(|(_, test)| !source.is_shipped() || rule_check::is_seen(test.language))
            .map(|(scored, _)| scored)
            .collect();
        let lowest = |wanted: Basis| {
            let of_basis = scores.iter().filter(|(_, basis)| *basis == wanted);
            lowest_of_top(&of_basis.map(|(score, _)| *score).collect::<Vec<_>>(), most.share())
        };
        let count = |decision: &Self| {
            let is_flaky = |(score, basis): &&(f64, Basis)| {
                decision.is_flaky(*score, *basis, model.probability(*score, *basis))
            };
            scores.iter().filter(is_flaky).count()
        };
        let all = count(&self);
        (self.lowest, self.lowest_of_texts) = (lowest(Basis::Project), lowest(Basis::Text));
        self.most = most;
        let few = count(&self);
        if few < all {
            self.notices.push(Notice {
                what: format!(
                    "the model finds {all} of {} tests as suspicious as flaky ones: that says more of the \
                     project than of a test, so only the {few} that stand out are suspects",
                    scores.len()
                ),
                next: "`--max-suspects 100%` makes all of them suspects".to_owned(),
            });
        }
        self
    }

    /// Whether a test with this score is called flaky.
    pub(crate) fn is_flaky(&self, score: f64, basis: Basis, probability: f64) -> bool {
        let (level, lowest) = match basis {
            Basis::Project => (self.level, self.lowest),
            Basis::Text => (self.text, self.lowest_of_texts),
        };
        let is_high = match self.choice {
            ThresholdChoice::Probability(from) => probability >= from,
            ThresholdChoice::Balanced | ThresholdChoice::Careful => {
                level.is_some_and(|level| score >= level.from)
            }
        };
        is_high && score >= lowest
    }

    /// What this decision is worth, if it was measured.
    pub(crate) fn measured(&self, source: &ModelSource) -> Option<Measured> {
        if source.is_shipped() {
            return match self.choice {
                ThresholdChoice::Balanced => Figures::shipped().of(self.most),
                ThresholdChoice::Careful | ThresholdChoice::Probability(_) => None,
            };
        }
        let level = self.level.filter(|_| self.most == MostSuspects::ALL)?;
        Some(Measured { precision: level.precision?, recall: level.recall? })
    }
}

/// That no test is called flaky, where a threshold was meant that the model does not have.
fn without_level(choice: ThresholdChoice, careful_precision: f64) -> Option<Notice> {
    let what = match choice {
        ThresholdChoice::Careful => format!(
            "no test is called flaky: on held-out tests, no threshold of this model has {:.0} % of its \
             alarms right",
            100.0 * careful_precision
        ),
        ThresholdChoice::Balanced => {
            "no test is called flaky: this model found none of the flaky tests held out".to_owned()
        }
        ThresholdChoice::Probability(_) => return None,
    };
    let next = "give a probability to `--threshold`, or train on more labelled tests".to_owned();
    Some(Notice { what, next })
}
