//! What an ensemble is to be like, how it learns, and what it says once it has learned.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use flakeproof_core::Seed;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::base_model::{BaseModel, BaseModels, Blend, importance, odds};
use super::readings::{Reading, Readings};
use super::selection::Candidates;
use super::siblings::{SiblingModel, around};
use super::text_model::{self, AboutText, TextModel};
use crate::boost::{BoostParams, Boosted};
use crate::evaluate::{Fold, HeldOut, Isotonic, folds};
use crate::flast::{
    Aim, Corpus, HoldOut, Level, Neighbourhood, Opinion, Recipe, Space, ThresholdLevels,
};
use crate::labelled;
use crate::linear::{Linear, LinearParams};
use crate::model_file::{Aligned, Arrays, ModelFile, ModelFileError};
use crate::network::{Embeddings, Network, NetworkParams, PretrainParams, TrainingSet};

/// What an ensemble is to be like.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleParams {
    /// What is held out to learn what each member's word is worth.
    pub hold_out: HoldOut,
    /// In how many parts.
    pub parts: usize,
    /// How neighbours are found.
    pub recipe: Recipe,
    /// How words are weighed.
    pub linear: LinearParams,
    /// How smells are weighed.
    pub boost: BoostParams,
    /// How paths are read; without it nobody does.
    pub network: Option<NetworkParams>,
    /// The vectors of words that the network begins with; without them it learns its own from the
    /// methods of the projects.
    pub embeddings: Option<Embeddings>,
    /// The precision of the careful threshold.
    pub careful_precision: f64,
    /// The seed of all chance.
    pub seed: Seed,
}

/// Why no ensemble can be trained.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnsembleError {
    /// There are too few tests, classes or projects, or too few flaky ones.
    #[error("{tests} tests, {flaky} of them flaky, are too few to learn from and to hold out")]
    TooFew {
        /// How many tests there are.
        tests: usize,
        /// How many of them are flaky.
        flaky: usize,
    },
}

/// The members that always learn in seconds; the one that reads texts does, too.
const CHEAP: usize = 3;

/// What members said of tests that they had not seen.
#[derive(Default)]
pub(super) struct HeldOutWords {
    pub(super) said: Vec<Vec<f64>>,
    pub(super) rows: Vec<u32>,
    /// What was known around each of them.
    pub(super) around: Vec<Vec<f32>>,
    /// The part that each of them was held out with.
    pub(super) parts: Vec<usize>,
    /// What the text alone said of all tests, those without a project among them, and the truth.
    pub(super) texts: Vec<(f64, bool)>,
}

impl EnsembleParams {
    /// The ensemble that does best on held-out parts of the labelled tests.
    #[must_use]
    pub fn new(hold_out: HoldOut, seed: Seed) -> Self {
        Self {
            hold_out,
            parts: 5,
            recipe: Recipe::rarity(),
            linear: LinearParams { cost: 0.3, fewest: 2, seed },
            boost: BoostParams::new(seed),
            network: Some(NetworkParams::new(seed)),
            embeddings: None,
            careful_precision: 0.9,
            seed,
        }
    }

    /// Learn from labelled tests.
    ///
    /// # Errors
    /// When there are too few of them.
    pub fn fit(&self, readings: &Readings, name: &str) -> Result<Ensemble<'static>, EnsembleError> {
        let corpus = Corpus::of_tests(&readings.tests, self.recipe.cut);
        let all: Vec<u32> = (0..u32::try_from(readings.tests.len()).unwrap_or(u32::MAX)).collect();
        let (members, about) = self.fit_rows(readings, &corpus, &all, name)?;
        Ok(Ensemble::new(about, members, corpus))
    }

    /// Learn from some of the tests, whose corpus is that of all.
    ///
    /// # Errors
    /// When there are too few of them.
    pub fn fit_rows(
        &self,
        readings: &Readings,
        corpus: &Corpus<'_>,
        rows: &[u32],
        name: &str,
    ) -> Result<(BaseModels, AboutEnsemble), EnsembleError> {
        let flaky = rows.iter().filter(|row| readings.tests[**row as usize].flaky).count();
        let too_few = EnsembleError::TooFew { tests: rows.len(), flaky };
        let mut held_out = self.hold_out(readings, corpus, rows).ok_or(too_few.clone())?;
        let with_source = readings.with_source(rows);
        let mut network = self.network(readings, &with_source);
        if let Some((_, scores)) = &network {
            held_out.said.push(held_out.rows.iter().map(|row| odds(scores[row])).collect());
        }
        let company = match self.hold_out {
            HoldOut::Test => SiblingModel::fit(readings, &held_out, rows, self.parts, self.seed),
            HoldOut::Class | HoldOut::Project => None,
        };
        let company = company.map(|(company, scores)| {
            held_out.said.push(scores);
            company
        });
        let labels: Vec<bool> =
            held_out.rows.iter().map(|row| readings.tests[*row as usize].flaky).collect();
        let weights = match self.hold_out {
            HoldOut::Project => importance(readings, &held_out.rows),
            HoldOut::Test | HoldOut::Class => vec![1.0; labels.len()],
        };
        let sitting = match self.hold_out {
            HoldOut::Project => Candidates {
                said: &held_out.said,
                flaky: &labels,
                importance: &weights,
                parts: &held_out.parts,
            }
            .sitting(),
            HoldOut::Test | HoldOut::Class => (0..held_out.said.len()).collect(),
        };
        if network.is_some() && company.is_none() && !sitting.contains(&(held_out.said.len() - 1)) {
            // It costs more than all others together when somebody is waiting.
            network = None;
            held_out.said.pop();
        }
        let blend = Blend::fit_some(&held_out.said, &sitting, &labels, &weights);
        let scored: Vec<(f64, bool)> = labels
            .iter()
            .enumerate()
            .map(|(at, flaky)| {
                let said: Vec<Option<f64>> =
                    held_out.said.iter().map(|scores| Some(scores[at])).collect();
                (blend.ask(&said).0, *flaky)
            })
            .collect();
        let others = labels.iter().filter(|flaky| !**flaky).count();
        let scored = HeldOut::new(scored, others);
        let mut members = BaseModels::fit(self, readings, &with_source).ok_or(too_few)?;
        members.paths = network.map(|(network, _)| network);
        members.company = company;
        members.text = self.reads_texts().then(|| TextModel::fit(self, readings, rows)).flatten();
        let text = members.text.as_ref();
        let text = text.map(|_| AboutText::of_held_out(self, std::mem::take(&mut held_out.texts)));
        let tests: Vec<_> = rows.iter().map(|row| readings.tests[*row as usize].clone()).collect();
        let mut projects: Vec<String> = tests.iter().map(|test| test.project.clone()).collect();
        projects.sort();
        projects.dedup();
        let about = AboutEnsemble {
            name: name.to_owned(),
            recipe: self.recipe.clone(),
            seed: self.seed,
            tests: rows.len(),
            flaky,
            projects,
            data: labelled::digest(&tests),
            hold_out: self.hold_out,
            members: members.names(),
            average_precision: scored.average_precision(),
            thresholds: self.thresholds(&scored),
            calibration: Isotonic::fit(&scored),
            blend,
            text,
        };
        Ok((members, about))
    }

    /// Whether a member reads texts alone: where siblings are known, so are their projects.
    fn reads_texts(&self) -> bool {
        self.hold_out == HoldOut::Project
    }

    pub(super) fn thresholds(&self, held_out: &HeldOut) -> ThresholdLevels {
        let level = |aim: Aim| aim.threshold(held_out).map(|from| Level::at(from, held_out));
        ThresholdLevels {
            balanced: level(Aim::Balance),
            careful: level(Aim::Precision(self.careful_precision)),
            careful_precision: self.careful_precision,
        }
    }

    /// Ask each part of the tests about members that learned from the other parts.
    fn hold_out(
        &self,
        readings: &Readings,
        corpus: &Corpus<'_>,
        rows: &[u32],
    ) -> Option<HeldOutWords> {
        let parts = self.inner_folds(readings, rows);
        let heard: Vec<Option<HeldOutWords>> = parts
            .par_iter()
            .enumerate()
            .map(|(number, part)| {
                let rows_at = |places: &[u32]| -> Vec<u32> {
                    places.iter().map(|place| rows[*place as usize]).collect()
                };
                let (train, all) = (rows_at(&part.train), rows_at(&part.test));
                let test = readings.with_source(&all);
                let mut members = BaseModels::fit(self, readings, &readings.with_source(&train))?;
                let mut texts = Vec::new();
                if self.reads_texts() {
                    let text = TextModel::fit(self, readings, &train)?;
                    let flaky = all.iter().map(|row| readings.is_flaky(*row));
                    texts = text.ask_rows(readings, &all).into_iter().zip(flaky).collect();
                    members.text = Some(text);
                }
                let opinions = self.neighbours(corpus, &train, &test);
                let said = members.ask_rows(readings, &opinions, &test);
                let around = self.around(readings, &opinions, &train, &test);
                let parts = vec![number; test.len()];
                Some(HeldOutWords { said, rows: test, around, parts, texts })
            })
            .collect();
        let cheap = if self.reads_texts() { CHEAP + 1 } else { CHEAP };
        let mut found = HeldOutWords { said: vec![Vec::new(); cheap], ..HeldOutWords::default() };
        for part in heard {
            let part = part?;
            found.said.iter_mut().zip(part.said).for_each(|(all, new)| all.extend(new));
            found.rows.extend(part.rows);
            found.around.extend(part.around);
            found.parts.extend(part.parts);
            found.texts.extend(part.texts);
        }
        (!found.rows.is_empty()).then_some(found)
    }

    /// What known tests tell of some others, if siblings of those are among them.
    fn around(
        &self,
        readings: &Readings,
        opinions: &[Opinion],
        known: &[u32],
        test: &[u32],
    ) -> Vec<Vec<f32>> {
        if self.hold_out != HoldOut::Test {
            return Vec::new();
        }
        let siblings = readings.siblings(known);
        let asked = test.iter().zip(opinions);
        asked.map(|(row, it)| around(&siblings, readings, it, *row)).collect()
    }

    /// What the neighbours of some tests among known ones say.
    #[must_use]
    pub fn neighbours(&self, corpus: &Corpus<'_>, known: &[u32], test: &[u32]) -> Vec<Opinion> {
        Neighbourhood::of_rows(corpus, known.to_vec(), &self.recipe, self.seed).ask_rows(test)
    }

    /// The network, and what each of its parts says of the tests that it did not learn from. It parts
    /// the tests itself, as the ensemble does, so that it need not learn once more for each part.
    fn network(&self, readings: &Readings, rows: &[u32]) -> Option<(Network, BTreeMap<u32, f64>)> {
        let params = self.network.as_ref()?;
        let groups = readings.groups_of(self.hold_out);
        let pick = |row: &u32| groups[*row as usize];
        let set = TrainingSet {
            corpus: &readings.paths,
            rows,
            flaky: &rows.iter().map(|row| readings.tests[*row as usize].flaky).collect::<Vec<_>>(),
            groups: &rows.iter().map(pick).collect::<Vec<_>>(),
        };
        let own = self.embeddings.is_none().then(|| {
            let methods = readings.methods_of(rows);
            let params = PretrainParams::new(params.dimension, self.seed);
            (!methods.is_empty()).then(|| params.fit(&methods))
        });
        let own = own.flatten();
        let embeddings = self.embeddings.as_ref().or(own.as_ref());
        let fitted = params.fit(&set, embeddings, &mut |_| ControlFlow::Continue(()));
        let fitted = fitted.ok()?;
        Some((fitted.network, rows.iter().copied().zip(fitted.held_out).collect()))
    }

    fn inner_folds(&self, readings: &Readings, rows: &[u32]) -> Vec<Fold> {
        let (projects, classes) = readings.groups();
        let pick =
            |groups: &[u32]| -> Vec<u32> { rows.iter().map(|row| groups[*row as usize]).collect() };
        let flaky: Vec<bool> = rows.iter().map(|row| readings.tests[*row as usize].flaky).collect();
        let seed = self.seed.split("parts");
        match self.hold_out {
            HoldOut::Test => folds::stratified(&flaky, self.parts, seed),
            HoldOut::Class => folds::grouped(&flaky, &pick(&classes), self.parts, seed),
            HoldOut::Project => folds::grouped(&flaky, &pick(&projects), self.parts, seed),
        }
    }
}

/// The kind of these model files.
pub const KIND: &str = "jury";

/// What an ensemble says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AboutEnsemble {
    /// What people call it.
    pub name: String,
    /// How neighbours are found.
    pub recipe: Recipe,
    /// The seed of all chance.
    pub seed: Seed,
    /// How many tests it knows.
    pub tests: usize,
    /// How many of them are flaky.
    pub flaky: usize,
    /// The projects they come from.
    pub projects: Vec<String>,
    /// The digest of the training data.
    pub data: String,
    /// What was held out to measure it and to choose weights and thresholds.
    pub hold_out: HoldOut,
    /// Who sits in it.
    pub members: Vec<BaseModel>,
    /// The area under its precision-recall curve on held-out tests.
    pub average_precision: Option<f64>,
    /// From which score on a test is called flaky.
    pub thresholds: ThresholdLevels,
    /// From scores to probabilities.
    pub calibration: Option<Isotonic>,
    /// What each member's word is worth; nothing where it sits out.
    pub blend: Blend,
    /// What the member is worth that reads texts alone, if there is one.
    #[serde(default)]
    pub text: Option<AboutText>,
}

/// What a score rests on. Scores of one are not compared with thresholds of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Basis {
    /// The test and the project around it.
    Project,
    /// The text of the test alone.
    Text,
}

/// A test, as an ensemble is asked about it.
#[derive(Debug, Clone, Copy)]
pub struct AskedTest<'t> {
    /// What its neighbours say.
    pub near: &'t Opinion,
    /// What was read of it.
    pub reading: &'t Reading,
    /// What its paths say, if it has some.
    pub paths: Option<f64>,
}

/// What an ensemble says of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnsembleScore {
    /// How flaky it looks, from 0 to 1; compared with thresholds.
    pub score: f64,
    /// What each member adds to the logarithmic odds of the score.
    pub shares: Vec<(BaseModel, f64)>,
    /// What it rests on.
    pub basis: Basis,
}

/// An ensemble that has learned.
#[derive(Debug)]
pub struct Ensemble<'a> {
    /// What it says about itself.
    pub about: AboutEnsemble,
    members: BaseModels,
    corpus: Corpus<'a>,
    /// Made when neighbours are first asked for.
    space: OnceLock<Arc<Space>>,
}

impl<'a> Ensemble<'a> {
    pub(super) fn new(about: AboutEnsemble, members: BaseModels, corpus: Corpus<'a>) -> Self {
        Self { about, members, corpus, space: OnceLock::new() }
    }

    /// The known tests in their space, ready to be asked.
    #[must_use]
    pub fn neighbourhood(&self) -> Neighbourhood<'_, 'a> {
        let AboutEnsemble { recipe, seed, .. } = &self.about;
        let space = self.space.get_or_init(|| Arc::new(Space::of_all(&self.corpus, recipe, *seed)));
        Neighbourhood::in_space(&self.corpus, recipe, Arc::clone(space))
    }

    /// The known tests.
    #[must_use]
    pub fn corpus(&self) -> &Corpus<'a> {
        &self.corpus
    }

    /// The member that reads paths, if it sits in this ensemble.
    #[must_use]
    pub fn network(&self) -> Option<&Network> {
        self.members.paths.as_ref()
    }

    /// Whether a member's word weighs anything, or another member hears it.
    #[must_use]
    pub fn listens_to(&self, member: BaseModel) -> bool {
        let is_weighed = |(it, weight): (&BaseModel, &f64)| *it == member && *weight != 0.0;
        let AboutEnsemble { members, blend, .. } = &self.about;
        self.members.company.is_some() || members.iter().zip(blend.weights()).any(is_weighed)
    }

    /// Whether what it says of a test is decided by the numbers read of it, without its words, its paths
    /// and its neighbours.
    #[must_use]
    pub fn needs_numbers_alone(&self) -> bool {
        let others = [BaseModel::Words, BaseModel::Neighbours, BaseModel::Siblings];
        self.network().is_none() && !others.into_iter().any(|member| self.listens_to(member))
    }

    /// What the ensemble says of tests, given what their neighbours and their paths say. Who has nothing
    /// to say does not weigh, and who does not weigh is not asked.
    #[must_use]
    pub fn scores(&self, asked: &[AskedTest<'_>]) -> Vec<EnsembleScore> {
        let in_project =
            |it: &AskedTest<'_>| self.members.text.is_none() || it.reading.sees_a_project();
        let in_project: Vec<bool> = asked.iter().map(in_project).collect();
        let by_smells = self.listens_to(BaseModel::Smells);
        let by_text = self.listens_to(BaseModel::Text);
        let readings = |is_asked: &dyn Fn(bool) -> bool| -> Vec<&Reading> {
            let asked = asked.iter().zip(&in_project).filter(|(_, it)| is_asked(**it));
            asked.map(|(it, _)| it.reading).collect()
        };
        let rows = readings(&|in_project| in_project && by_smells);
        let rows: Vec<&[f32]> = rows.iter().map(|reading| reading.smells.as_slice()).collect();
        let mut smells = self.members.smells.margins(&rows).into_iter();
        let text = self.members.text.as_ref();
        let texts = text.map(|it| it.ask(&readings(&|in_project| !in_project || by_text)));
        let mut texts = texts.unwrap_or_default().into_iter();
        let score = |(asked, in_project): (&AskedTest<'_>, &bool)| {
            if *in_project {
                let smells = if by_smells { smells.next() } else { None };
                let text = if by_text { texts.next() } else { None };
                self.in_project(asked, smells, text)
            } else {
                let margin = texts.next().unwrap_or_default();
                let shares = vec![(BaseModel::Text, margin)];
                EnsembleScore { score: text_model::score(margin), shares, basis: Basis::Text }
            }
        };
        asked.iter().zip(&in_project).map(score).collect()
    }

    /// What it says of a test with a project around it, given what two of its members say.
    fn in_project(
        &self,
        asked: &AskedTest<'_>,
        smells: Option<f64>,
        text: Option<f64>,
    ) -> EnsembleScore {
        let AskedTest { near, reading, paths } = asked;
        let words =
            self.listens_to(BaseModel::Words).then(|| self.members.words.margin(&reading.words));
        let mut said = vec![Some(odds(near.flaky_share)), words, smells];
        if self.members.text.is_some() {
            said.push(text);
        }
        if self.members.paths.is_some() {
            said.push(paths.map(odds));
        }
        if let Some(company) = &self.members.company {
            let others: Vec<f64> = said.iter().map(|it| it.unwrap_or(f64::NAN)).collect();
            said.push(company.ask(&self.corpus, near, reading, &others));
        }
        let (score, shares) = self.about.blend.ask(&said);
        let shares = self.about.members.iter().copied().zip(shares).collect();
        EnsembleScore { score, shares, basis: Basis::Project }
    }

    /// What each smell adds to the suspicion of the member that smells, for each test.
    #[must_use]
    pub fn smells(&self, readings: &[&Reading]) -> Vec<Vec<f64>> {
        let rows: Vec<&[f32]> = readings.iter().map(|reading| reading.smells.as_slice()).collect();
        self.members.smells.contributions(&rows)
    }

    /// What each number of the text adds to the suspicion of the member that reads it alone, for each
    /// test.
    #[must_use]
    pub fn cues(&self, readings: &[&Reading]) -> Vec<Vec<f64>> {
        let text = self.members.text.as_ref();
        text.map_or_else(|| vec![Vec::new(); readings.len()], |text| text.contributions(readings))
    }

    /// The bytes of its model file.
    ///
    /// # Errors
    /// When it cannot be written down, which would be a fault of this program.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelFileError> {
        let about = serde_json::to_value(&self.about)
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        let mut arrays = Arrays::default();
        self.corpus.save(&mut arrays);
        self.members.words.save(&mut arrays);
        self.members.smells.save(&mut arrays);
        if let Some(text) = &self.members.text {
            arrays.bytes("text", &text.to_file()?);
        }
        if let Some(network) = &self.members.paths {
            arrays.bytes("network", &network.to_file(&())?);
        }
        if let Some(company) = &self.members.company {
            arrays.bytes("company", &company.to_file()?);
        }
        arrays.into_file(KIND, about)
    }

    /// The model in the bytes of a file, used where they lie.
    ///
    /// # Errors
    /// When the file is not a whole, unchanged model of this kind and version.
    pub fn of_file(bytes: &'a [u8]) -> Result<Self, ModelFileError> {
        let file = ModelFile::open(bytes, KIND)?;
        let about: AboutEnsemble = serde_json::from_value(file.header.model.clone())
            .map_err(|error| ModelFileError::Inconsistent(error.to_string()))?;
        let text = match about.members.contains(&BaseModel::Text) {
            true => Some(TextModel::of_file(file.bytes("text")?)?),
            false => None,
        };
        let paths = match about.members.contains(&BaseModel::Paths) {
            true => Some(network_of(file.bytes("network")?)?),
            false => None,
        };
        let company = match about.members.contains(&BaseModel::Siblings) {
            true => Some(SiblingModel::of_file(file.bytes("company")?)?),
            false => None,
        };
        let (words, smells) = (Linear::load(&file)?, Boosted::load(&file)?);
        let members = BaseModels { words, smells, text, paths, company };
        let corpus = Corpus::load(&file)?;
        Ok(Self::new(about, members, corpus))
    }
}

/// The network in a file inside the file.
fn network_of(bytes: &[u8]) -> Result<Network, ModelFileError> {
    let (network, ()) = Network::of_file(Aligned::copy_of(bytes).bytes())?;
    Ok(network)
}

impl AboutEnsemble {
    /// The probability that a test with this score is flaky.
    #[must_use]
    pub fn probability(&self, score: f64, basis: Basis) -> f64 {
        let steps = match (basis, &self.text) {
            (Basis::Text, Some(text)) => &text.calibration,
            (Basis::Text, None) | (Basis::Project, _) => &self.calibration,
        };
        steps.as_ref().map_or(score, |steps| steps.probability(score))
    }

    /// From which score on a test is called flaky.
    #[must_use]
    pub fn thresholds(&self, basis: Basis) -> &ThresholdLevels {
        match (basis, &self.text) {
            (Basis::Text, Some(text)) => &text.thresholds,
            (Basis::Text, None) | (Basis::Project, _) => &self.thresholds,
        }
    }
}
