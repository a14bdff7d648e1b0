//! What models that read source are worth on tests that they have not learned from.
//!
//! A [`Protocol`] says which tests are asked and which may be learned from; under each, FLAST and
//! the ensemble learn anew for every fold. Thresholds and probabilities come from the training part
//! alone, in which the same unit is held out as outside: no test that is asked has a say.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_learn::ensemble::{
    AboutEnsemble, BaseModel, BaseModels, Basis, EnsembleError, EnsembleParams, Readings,
};
use flakeproof_learn::evaluate::{
    Confusion, Fold, HeldOut, Isotonic, average_precision, folds, lowest_of_top,
};
use flakeproof_learn::flast::{Aim, Corpus, Cut, HoldOut, Neighbourhood, Recipe};
use flakeproof_learn::labelled::LabelledTest;
use serde::{Deserialize, Serialize};

use crate::real;

/// Which tests are asked, and which may be learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Random folds with equal shares of flaky tests. Rewards recognising the class.
    Random,
    /// Folds that never part a class.
    Class,
    /// One project is asked, all others are learned from: what a new user gets.
    Project,
}

/// How FLAST is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FlastValidationParams {
    /// The variant of FLAST.
    pub recipe: Recipe,
    /// Which tests are asked.
    pub protocol: Protocol,
    /// How many folds.
    pub folds: usize,
    /// The seed of all chance.
    pub seed: Seed,
    /// Whether to say how likely each test is flaky.
    pub with_probabilities: bool,
}

/// What FLAST said of tests that it had not learned from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlastValidation {
    /// How many folds there were.
    pub folds: usize,
    /// What was said about each test, and what is true, by row.
    pub asked: Vec<FlastPrediction>,
    /// The time spent learning, over all folds.
    pub learning: Duration,
    /// The time spent predicting, over all folds.
    pub predicting: Duration,
}

/// What FLAST said about one test, and what is true.
#[derive(Debug, Clone, PartialEq)]
pub struct FlastPrediction {
    /// Its row in the data.
    pub row: u32,
    /// The fold in which it was asked.
    pub fold: usize,
    /// The flaky share of its neighbours' votes.
    pub flaky_share: f64,
    /// How likely it is flaky by that share, calibrated on the training part alone; where that
    /// was asked for.
    pub probability: Option<f64>,
    /// Whether it was called flaky.
    pub predicted: bool,
    /// Whether it is.
    pub flaky: bool,
    /// Whether the predicted category is the true one; `None` where one of them is not known.
    pub is_category_right: Option<bool>,
}

/// How an ensemble is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleValidationParams {
    /// What the ensemble is like. What it holds out inside is what the protocol holds out outside.
    pub ensemble: EnsembleParams,
    /// Which tests are asked.
    pub protocol: Protocol,
    /// How many folds.
    pub folds: usize,
}

/// What an ensemble said of tests that it had not learned from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EnsembleValidation {
    /// How many folds there were.
    pub folds: usize,
    /// What was said about each test, and what is true, by row.
    pub asked: Vec<EnsemblePrediction>,
    /// Who sat in the ensemble.
    pub members: Vec<BaseModel>,
    /// The weights of the members in each fold; those that sit out weigh nothing, or are not there.
    pub weights: Vec<Vec<(BaseModel, f64)>>,
}

/// What an ensemble said about one test, and what is true.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsemblePrediction {
    /// Its row in the data.
    pub row: u32,
    /// The fold in which it was asked.
    pub fold: usize,
    /// The score of the ensemble.
    pub score: f64,
    /// The probability that it is flaky.
    pub probability: f64,
    /// What each member said.
    pub said: Vec<(BaseModel, f64)>,
    /// What the score rests on.
    pub basis: Basis,
    /// Whether it was called flaky.
    pub predicted: bool,
    /// Whether it is.
    pub flaky: bool,
}

impl Protocol {
    /// The folds of a corpus. `Project` has as many as there are projects.
    #[must_use]
    pub fn folds(self, corpus: &Corpus<'_>, count: usize, seed: Seed) -> Vec<Fold> {
        let flaky = corpus.labels();
        match self {
            Self::Random => folds::stratified(&flaky, count, seed),
            Self::Class => folds::grouped(&flaky, corpus.class_numbers(), count, seed),
            Self::Project => folds::leave_one_group_out(corpus.project_numbers()),
        }
    }

    /// The folds of some tests.
    fn folds_of(self, tests: &[LabelledTest], cut: Cut, count: usize, seed: Seed) -> Vec<Fold> {
        self.folds(&Corpus::of_tests(tests, cut), count, seed)
    }

    /// What is held out inside the training part: the same unit as outside.
    #[must_use]
    pub fn hold_out(self) -> HoldOut {
        match self {
            Self::Random => HoldOut::Test,
            Self::Class => HoldOut::Class,
            Self::Project => HoldOut::Project,
        }
    }
}

/// Predictions about rows of the data against the truth, for each project by name.
#[must_use]
pub fn confusion_by_project(
    tests: &[LabelledTest],
    predicted: impl IntoIterator<Item = (u32, bool)>,
) -> BTreeMap<String, Confusion> {
    let mut projects: BTreeMap<String, Confusion> = BTreeMap::new();
    for (row, predicted) in predicted {
        let test = &tests[row as usize];
        projects.entry(test.project.clone()).or_default().count(predicted, test.flaky);
    }
    projects
}

impl FlastValidationParams {
    /// Cut, learn and ask, fold by fold. `clock` says how much time has passed since any moment.
    #[must_use]
    pub fn run(&self, tests: &[LabelledTest], clock: &dyn Fn() -> Duration) -> FlastValidation {
        self.run_on_forms(tests, tests.len(), clock).0
    }

    /// The same, and what is said of another form of each test. After the first `originals` tests stand
    /// their other forms in the same order; nothing is ever learned from those.
    #[must_use]
    pub fn run_on_forms(
        &self,
        tests: &[LabelledTest],
        originals: usize,
        clock: &dyn Fn() -> Duration,
    ) -> (FlastValidation, FlastValidation) {
        let begin = clock();
        let corpus = Corpus::of_tests(tests, self.recipe.cut);
        let cutting = clock().saturating_sub(begin);
        let (tests, forms) = tests.split_at(originals);
        let folds = self.protocol.folds_of(tests, self.recipe.cut, self.folds, self.seed);
        let mut validation = FlastValidation { folds: folds.len(), ..FlastValidation::default() };
        let mut of_forms = validation.clone();
        for (number, fold) in folds.into_iter().enumerate() {
            let start = clock();
            // All rows were cut at once; each fold learns from its own part only.
            let share = real(fold.train.len()) / real(tests.len());
            validation.learning += cutting.mul_f64(share);
            let known =
                Neighbourhood::of_rows(&corpus, fold.train.clone(), &self.recipe, self.seed);
            let learned = FlastFold {
                number,
                threshold: self.threshold(&known),
                probability: self.calibration(&known),
                corpus: &corpus,
                known,
            };
            let then = clock();
            validation.asked.extend(learned.ask(&fold.test, 0));
            validation.learning += then.saturating_sub(start);
            validation.predicting += clock().saturating_sub(then) + cutting.mul_f64(1.0 - share);
            if !forms.is_empty() {
                of_forms.asked.extend(learned.ask(&fold.test, originals));
            }
        }
        validation.asked.sort_by_key(|asked| asked.row);
        of_forms.asked.sort_by_key(|asked| asked.row);
        (validation, of_forms)
    }

    /// The threshold, chosen on the training part alone; above every share where nothing will do.
    fn threshold(&self, known: &Neighbourhood<'_, '_>) -> f64 {
        if let Aim::Fixed(threshold) = self.recipe.aim {
            return threshold;
        }
        self.recipe.aim.threshold(&self.held_out(known)).unwrap_or(f64::INFINITY)
    }

    fn calibration(&self, known: &Neighbourhood<'_, '_>) -> Option<Isotonic> {
        self.with_probabilities.then(|| Isotonic::fit(&self.held_out(known))).flatten()
    }

    fn held_out(&self, known: &Neighbourhood<'_, '_>) -> HeldOut {
        known.held_out_shares(self.protocol.hold_out(), self.seed)
    }
}

/// What was learned for one fold.
struct FlastFold<'c, 'a> {
    number: usize,
    threshold: f64,
    probability: Option<Isotonic>,
    corpus: &'c Corpus<'a>,
    known: Neighbourhood<'c, 'a>,
}

impl FlastFold<'_, '_> {
    /// What is said of some tests in the form that stands so many rows further on.
    fn ask<'r>(&'r self, rows: &'r [u32], further: usize) -> impl Iterator<Item = FlastPrediction> {
        let opinions = self.known.ask_rows(&further_on(rows, further));
        rows.iter().zip(opinions).map(|(row, opinion)| {
            let predicted = opinion.flaky_share >= self.threshold;
            let category = predicted.then(|| self.known.category(&opinion)).flatten();
            let truth = self.corpus.category(*row);
            let calibrated = self.probability.as_ref();
            FlastPrediction {
                row: *row,
                fold: self.number,
                flaky_share: opinion.flaky_share,
                probability: calibrated.map(|it| it.probability(opinion.flaky_share)),
                predicted,
                flaky: self.corpus.is_flaky(*row),
                is_category_right: category.zip(truth).map(|((said, _), is)| said == is),
            }
        })
    }
}

/// The rows that stand so many rows further on.
fn further_on(rows: &[u32], further: usize) -> Vec<u32> {
    let further = u32::try_from(further).unwrap_or(u32::MAX);
    rows.iter().map(|row| row.saturating_add(further)).collect()
}

impl FlastValidation {
    /// Take in what came out elsewhere: of another project, measured alone.
    pub fn join(&mut self, other: Self) {
        self.folds = self.folds.max(other.folds);
        self.asked.extend(other.asked);
        self.learning += other.learning;
        self.predicting += other.predicting;
    }

    /// How many tests say whether their category was named right.
    #[must_use]
    pub fn categories_told(&self) -> usize {
        self.asked.iter().filter(|asked| asked.is_category_right.is_some()).count()
    }

    /// Predictions against the truth.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        self.asked.iter().map(|asked| (asked.predicted, asked.flaky)).collect()
    }

    /// The area under the precision-recall curve of all shares together.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let scored: Vec<(f64, bool)> =
            self.asked.iter().map(|asked| (asked.flaky_share, asked.flaky)).collect();
        average_precision(&scored, 1.0)
    }

    /// The share of tests called flaky whose category was named right (the paper's A_FC), among
    /// those whose category is known.
    #[must_use]
    pub fn category_accuracy(&self) -> Option<f64> {
        let told: Vec<bool> =
            self.asked.iter().filter_map(|asked| asked.is_category_right).collect();
        let right = told.iter().filter(|right| **right).count();
        (!told.is_empty()).then(|| real(right) / real(told.len()))
    }

    /// Predictions against the truth for each project, by name.
    #[must_use]
    pub fn by_project(&self, tests: &[LabelledTest]) -> BTreeMap<String, Confusion> {
        confusion_by_project(tests, self.asked.iter().map(|asked| (asked.row, asked.predicted)))
    }
}

impl EnsembleValidationParams {
    /// Measure. `progress` is told the number of folds that are done, and of all.
    ///
    /// # Errors
    /// When a fold has too few tests to learn from.
    pub fn run(
        &self,
        readings: &Readings,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EnsembleValidation, EnsembleError> {
        Ok(self.run_on_forms(readings, readings.tests().len(), progress)?.0)
    }

    /// The same, and what is said of another form of each test. After the first `originals` readings stand
    /// those of their other forms in the same order; nothing is ever learned from them.
    ///
    /// # Errors
    /// When a fold has too few tests to learn from.
    pub fn run_on_forms(
        &self,
        readings: &Readings,
        originals: usize,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(EnsembleValidation, EnsembleValidation), EnsembleError> {
        let cut = self.ensemble.recipe.cut;
        let corpus = Corpus::of_tests(readings.tests(), cut);
        let (tests, forms) = readings.tests().split_at(originals);
        let folds = self.protocol.folds_of(tests, cut, self.folds, self.ensemble.seed);
        let hold_out = self.protocol.hold_out();
        let ensemble = EnsembleParams { hold_out, ..self.ensemble.clone() };
        let mut validation =
            EnsembleValidation { folds: folds.len(), ..EnsembleValidation::default() };
        let mut of_forms = validation.clone();
        for (number, fold) in folds.iter().enumerate() {
            progress(number, folds.len());
            let (members, about) = ensemble.fit_rows(readings, &corpus, &fold.train, "")?;
            let ask = |further: usize| {
                let rows = further_on(&fold.test, further);
                let opinions = ensemble.neighbours(&corpus, &fold.train, &rows);
                let said = members.ask_rows(readings, &opinions, &rows);
                let place = |(at, row)| Asked { readings, fold: number, at, row, said: &said };
                let asked = rows.into_iter().enumerate().map(place);
                let asked = asked.map(|asked| asked.prediction(&members, &about));
                // A form is told as the test it is one of.
                let rows = fold.test.iter();
                asked
                    .zip(rows)
                    .map(|(asked, row)| EnsemblePrediction { row: *row, ..asked })
                    .collect()
            };
            let said: Vec<EnsemblePrediction> = ask(0);
            validation.asked.extend(said);
            if !forms.is_empty() {
                let said: Vec<EnsemblePrediction> = ask(originals);
                of_forms.asked.extend(said);
            }
            let weights = about.members.iter().copied().zip(about.blend.weights().iter().copied());
            validation.weights.push(weights.collect());
            let new = about.members.iter().filter(|it| !validation.members.contains(it));
            let new: Vec<BaseModel> = new.copied().collect();
            validation.members.extend(new);
        }
        progress(folds.len(), folds.len());
        validation.asked.sort_by_key(|asked| asked.row);
        of_forms.asked.sort_by_key(|asked| asked.row);
        of_forms.members.clone_from(&validation.members);
        of_forms.weights.clone_from(&validation.weights);
        Ok((validation, of_forms))
    }
}

/// A test that is asked about in a fold, and what each member says of all that are.
struct Asked<'r> {
    readings: &'r Readings,
    fold: usize,
    /// Its place among them.
    at: usize,
    row: u32,
    said: &'r [Vec<f64>],
}

impl Asked<'_> {
    fn prediction(&self, members: &BaseModels, about: &AboutEnsemble) -> EnsemblePrediction {
        let said: Vec<f64> = self.said.iter().map(|scores| scores[self.at]).collect();
        let blended = || about.blend.ask(&said.iter().copied().map(Some).collect::<Vec<_>>());
        let (score, basis) = match members.score_text(self.readings, self.row) {
            Some(score) => (score, Basis::Text),
            None => (blended().0, Basis::Project),
        };
        let balanced = about.thresholds(basis).balanced;
        EnsemblePrediction {
            row: self.row,
            fold: self.fold,
            score,
            probability: about.probability(score, basis),
            said: about.members.iter().copied().zip(said).collect(),
            basis,
            predicted: score >= balanced.map_or(f64::INFINITY, |level| level.from),
            flaky: self.readings.tests()[self.row as usize].flaky,
        }
    }
}

impl EnsembleValidation {
    /// Predictions against the truth.
    #[must_use]
    pub fn confusion(&self) -> Confusion {
        self.asked.iter().map(|asked| (asked.predicted, asked.flaky)).collect()
    }

    /// The area under the precision-recall curve.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let scored: Vec<(f64, bool)> =
            self.asked.iter().map(|asked| (asked.score, asked.flaky)).collect();
        average_precision(&scored, 1.0)
    }

    /// Predictions against the truth when, of each project, only those called flaky remain that stand out
    /// there: at most this share of its tests, those with the highest scores.
    #[must_use]
    pub fn confusion_of_top(&self, readings: &Readings, share: f64) -> Confusion {
        let mut scores: BTreeMap<(&str, bool), Vec<f64>> = BTreeMap::new();
        let key = |asked: &EnsemblePrediction| {
            let project = readings.tests()[asked.row as usize].project.as_str();
            (project, asked.basis == Basis::Text)
        };
        for asked in &self.asked {
            scores.entry(key(asked)).or_default().push(asked.score);
        }
        let lowest: BTreeMap<_, f64> =
            scores.into_iter().map(|(key, scores)| (key, lowest_of_top(&scores, share))).collect();
        let stands_out = |asked: &EnsemblePrediction| asked.score >= lowest[&key(asked)];
        let asked = self.asked.iter();
        asked.map(|asked| (asked.predicted && stands_out(asked), asked.flaky)).collect()
    }

    /// The area under the precision-recall curve of one member alone.
    #[must_use]
    pub fn average_precision_of(&self, member: BaseModel) -> Option<f64> {
        let said = |asked: &EnsemblePrediction| {
            let (_, score) = asked.said.iter().find(|(it, _)| *it == member)?;
            Some((*score, asked.flaky))
        };
        let scored: Vec<(f64, bool)> = self.asked.iter().filter_map(said).collect();
        average_precision(&scored, 1.0)
    }

    /// Predictions against the truth for each project, by name.
    #[must_use]
    pub fn by_project(&self, readings: &Readings) -> BTreeMap<String, Confusion> {
        let predicted = self.asked.iter().map(|asked| (asked.row, asked.predicted));
        confusion_by_project(readings.tests(), predicted)
    }
}
