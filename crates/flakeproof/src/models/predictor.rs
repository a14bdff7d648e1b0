//! What a model predicts of tests.

use flakeproof_core::{ModelFacts, Notice, Prediction, Predictions, SimilarTest};
use flakeproof_learn::flast::{HoldOut, Level, Neighbourhood, Opinion, SharedTerm, TermField};
use flakeproof_learn::knn::Neighbour;
use flakeproof_syntax::Language;

use super::ensemble_scores::{self, ScoredTest};
use super::model::{Model, ModelSource};
use crate::cli::ThresholdChoice;
use crate::problem::Problem;
use crate::source::project_source::ProjectSource;
use crate::source::source_tests::SourceTest;

/// Neighbours told of each test, flaky or not, and flaky ones told of each suspect.
const NEAREST: usize = 3;
const NEAREST_FLAKY: usize = 5;
/// Words told of each neighbour.
const WORDS: usize = 12;

/// Of which tests the flaky neighbours and shared words are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only of those called flaky: thousands of others would drown them.
    OfSuspects,
    /// Of all.
    OfEveryTest,
}

/// What the model says about the tests, in their order. `project` reads the source around them,
/// which not every model needs.
///
/// # Errors
/// When the source is needed and cannot be read.
pub(crate) fn predict(
    source: &ModelSource,
    model: &Model<'_>,
    tests: &[SourceTest],
    choice: ThresholdChoice,
    detail: Detail,
    project: impl FnOnce() -> Result<ProjectSource, Problem>,
) -> Result<Predictions, Problem> {
    let known = model.neighbourhood();
    let texts: Vec<_> = tests.iter().map(SourceTest::text).collect();
    let opinions = known.ask_tests(&texts);
    let threshold = Threshold::choose(model, choice);
    let predictor = Predictor { model, known: &known, threshold: &threshold, detail };
    let mut notices: Vec<Notice> = Vec::new();
    let scored: Vec<ScoredTest> = match model {
        Model::Flast(_) => {
            opinions.iter().map(|opinion| ScoredTest::from_score(opinion.flaky_share)).collect()
        }
        Model::Ensemble(ensemble) => {
            let project = project()?;
            let deserves = |score: f64| predictor.is_told(score);
            let scored = ensemble_scores::score(ensemble, &project, tests, &opinions, &deserves);
            notices.extend(project.notices);
            scored
        }
    };
    let asked = tests.iter().zip(&opinions).zip(scored);
    let predictions =
        asked.map(|((test, opinion), scored)| predictor.prediction(test, opinion, scored));
    let predictions = predictions.collect();
    notices.splice(0..0, threshold.notice.iter().cloned().chain(foreign(source, tests)));
    Ok(Predictions {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        tests: predictions,
        model: facts(source, model, &threshold, choice),
        notices,
    })
}

/// The model inside the program has seen Java only.
fn foreign(source: &ModelSource, tests: &[SourceTest]) -> Option<Notice> {
    let mut languages: Vec<&str> = tests
        .iter()
        .map(|test| test.language)
        .filter(|language| !matches!(language, Language::Java | Language::Kotlin))
        .map(Language::name)
        .collect();
    languages.sort_unstable();
    languages.dedup();
    (source.is_shipped() && !languages.is_empty()).then(|| Notice {
        what: format!(
            "the model inside flakeproof learned from Java; nobody measured it on {}",
            languages.join(", ")
        ),
        next: "take its suspects as hints, and train a model on your own tests".to_owned(),
    })
}

/// Where "flaky" begins.
struct Threshold {
    level: Option<Level>,
    /// The lowest probability, where that was asked for.
    probability: Option<f64>,
    notice: Option<Notice>,
}

impl Threshold {
    fn choose(model: &Model<'_>, choice: ThresholdChoice) -> Self {
        let thresholds = model.thresholds();
        let (level, probability) = match choice {
            ThresholdChoice::Balanced => (thresholds.balanced, None),
            ThresholdChoice::Careful => (thresholds.careful, None),
            ThresholdChoice::Probability(lowest) => (None, Some(lowest)),
        };
        let notice = (level.is_none() && probability.is_none()).then(|| Notice {
            what: match choice {
                ThresholdChoice::Careful => format!(
                    "no test is called flaky: on held-out tests, no threshold of this model has \
                     {:.0} % of its alarms right",
                    100.0 * thresholds.careful_precision
                ),
                ThresholdChoice::Balanced | ThresholdChoice::Probability(_) => {
                    "no test is called flaky: this model found none of the flaky tests held out"
                        .to_owned()
                }
            },
            next: "give a probability to `--threshold`, or train on more labelled tests".to_owned(),
        });
        Self { level, probability, notice }
    }

    fn is_flaky(&self, score: f64, probability: f64) -> bool {
        self.level.is_some_and(|level| score >= level.from)
            || self.probability.is_some_and(|lowest| probability >= lowest)
    }
}

struct Predictor<'q, 'm> {
    model: &'q Model<'m>,
    known: &'q Neighbourhood<'q, 'm>,
    threshold: &'q Threshold,
    detail: Detail,
}

impl Predictor<'_, '_> {
    /// Whether a test with this score is told of in detail.
    fn is_told(&self, score: f64) -> bool {
        let probability = self.model.probability(score);
        self.detail == Detail::OfEveryTest || self.threshold.is_flaky(score, probability)
    }

    fn prediction(&self, test: &SourceTest, opinion: &Opinion, scored: ScoredTest) -> Prediction {
        let probability = self.model.probability(scored.score);
        let flaky = self.threshold.is_flaky(scored.score, probability);
        let in_detail = flaky || self.detail == Detail::OfEveryTest;
        let told = self.told(opinion, in_detail);
        Prediction {
            id: test.id.clone(),
            file: test.file.clone(),
            line: test.first_line,
            end_line: test.last_line,
            language: test.language.name().to_owned(),
            probability,
            flaky,
            category: flaky.then(|| self.category(test, opinion)).flatten(),
            neighbours: told.map(|it| self.similar(test, it, in_detail)).collect(),
            reasons: scored.reasons,
            paths: scored.paths,
        }
    }

    /// The neighbours worth telling: the nearest, and in detail the nearest flaky ones.
    fn told<'o>(
        &self,
        opinion: &'o Opinion,
        in_detail: bool,
    ) -> impl Iterator<Item = &'o Neighbour> {
        let corpus = self.model.corpus();
        let mut flaky_told = 0;
        opinion.neighbours.iter().enumerate().filter_map(move |(rank, neighbour)| {
            let is_told_as_flaky =
                in_detail && corpus.is_flaky(neighbour.row) && flaky_told < NEAREST_FLAKY;
            flaky_told += usize::from(is_told_as_flaky);
            (rank < NEAREST || is_told_as_flaky).then_some(neighbour)
        })
    }

    fn similar(&self, test: &SourceTest, neighbour: &Neighbour, with_words: bool) -> SimilarTest {
        let corpus = self.model.corpus();
        let shared = if with_words {
            self.known.shared_terms(&test.text(), neighbour.row)
        } else {
            Vec::new()
        };
        SimilarTest {
            id: corpus.id(neighbour.row).to_owned(),
            project: corpus.project(neighbour.row).to_owned(),
            similarity: f64::from(neighbour.similarity).clamp(0.0, 1.0),
            flaky: corpus.is_flaky(neighbour.row),
            category: corpus.category(neighbour.row).map(str::to_owned),
            shared: shared.iter().take(WORDS).map(readable).collect(),
        }
    }

    /// The category of its neighbours; where none has one, that of the nearest tests that do.
    fn category(&self, test: &SourceTest, opinion: &Opinion) -> Option<String> {
        let near = self.known.category(opinion).map(|(category, _)| category.to_owned());
        near.or_else(|| {
            let opinions = self.known.ask_categorised(&[test.text()]);
            let category = self.known.category(opinions.first()?)?.0.to_owned();
            Some(category)
        })
    }
}

fn readable(shared: &SharedTerm) -> String {
    match shared.field {
        TermField::Source => shared.term.clone(),
        TermField::Class => format!("{} (class)", shared.term),
        TermField::Package => format!("{} (package)", shared.term),
    }
}

fn facts(
    source: &ModelSource,
    model: &Model<'_>,
    threshold: &Threshold,
    choice: ThresholdChoice,
) -> ModelFacts {
    let (tests, flaky) = model.tests();
    let (recipe, projects, data) = model.origin();
    ModelFacts {
        name: source.name(),
        kind: model.kind().to_owned(),
        recipe: recipe.to_owned(),
        tests,
        flaky,
        projects,
        data: data.to_owned(),
        held_out: match model.hold_out() {
            HoldOut::Test => "test",
            HoldOut::Class => "class",
            HoldOut::Project => "project",
        }
        .to_owned(),
        precision: threshold.level.and_then(|level| level.precision),
        recall: threshold.level.and_then(|level| level.recall),
        threshold: match choice {
            ThresholdChoice::Balanced => "balanced".to_owned(),
            ThresholdChoice::Careful => "careful".to_owned(),
            ThresholdChoice::Probability(lowest) => lowest.to_string(),
        },
    }
}
