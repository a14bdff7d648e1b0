//! An ensemble that has learned, and what it says.

use std::sync::{Arc, OnceLock};

use flakeproof_core::Seed;
use serde::{Deserialize, Serialize};

use super::base_model::{BaseModel, BaseModels, odds};
use super::blend::Blend;
use super::readings::Reading;
use super::sibling_model::SiblingModel;
use crate::boost::Boosted;
use crate::evaluate::Isotonic;
use crate::flast::{Corpus, HoldOut, Neighbourhood, Opinion, Recipe, Space, ThresholdLevels};
use crate::linear::Linear;
use crate::model_file::{Aligned, Arrays, ModelFile, ModelFileError};
use crate::network::Network;

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
    /// What each member's word is worth.
    pub blend: Blend,
}

/// What an ensemble says of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleScore {
    /// How flaky it looks, from 0 to 1; compared with thresholds.
    pub score: f64,
    /// What each member adds to the logarithmic odds of the score.
    pub shares: Vec<(BaseModel, f64)>,
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

    /// What the ensemble says of a test, given what its neighbours and its paths say. Who has nothing to
    /// say does not weigh.
    #[must_use]
    pub fn score(&self, near: &Opinion, reading: &Reading, paths: Option<f64>) -> EnsembleScore {
        let [words, smells] = self.members.ask(reading);
        let mut said = vec![Some(odds(near.flaky_share)), Some(words), Some(smells)];
        if self.members.paths.is_some() {
            said.push(paths.map(odds));
        }
        if let Some(company) = &self.members.company {
            let others: Vec<f64> = said.iter().map(|it| it.unwrap_or(f64::NAN)).collect();
            said.push(company.ask(&self.corpus, near, reading, &others));
        }
        let (score, shares) = self.about.blend.ask(&said);
        EnsembleScore { score, shares: self.about.members.iter().copied().zip(shares).collect() }
    }

    /// What each smell adds to the suspicion of the member that smells.
    #[must_use]
    pub fn smells(&self, reading: &Reading) -> Vec<f64> {
        self.members.smells.contributions(&reading.smells)
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
        let paths = match about.members.contains(&BaseModel::Paths) {
            true => Some(network_of(file.bytes("network")?)?),
            false => None,
        };
        let company = match about.members.contains(&BaseModel::Siblings) {
            true => Some(SiblingModel::of_file(file.bytes("company")?)?),
            false => None,
        };
        let (words, smells) = (Linear::load(&file)?, Boosted::load(&file)?);
        let members = BaseModels { words, smells, paths, company };
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
    pub fn probability(&self, score: f64) -> f64 {
        self.calibration.as_ref().map_or(score, |steps| steps.probability(score))
    }
}
