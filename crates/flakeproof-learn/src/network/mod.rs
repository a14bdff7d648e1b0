//! PEELER: a network that reads the contextual paths of tests and says which of them are flaky.
//!
//! After Qin et al., "PEELER: learning to effectively predict flakiness without running tests"
//! (ICSME 2022), sections III-B and III-C. Own code, forwards and backwards: on two cores it is as
//! fast as the large frameworks, adds no dependency, and the same seed gives the same bytes on any
//! number of threads.

mod batch;
mod classifier;
mod corpus;
mod layers;
mod lstm;
mod matrix;
mod member;
mod model;
mod params;
mod pretrain;
mod train;
mod vocabulary;
mod weights;

pub use corpus::{Bag, PathCorpus, PathStep, PathWriter};
pub use model::{KIND, Network, NetworkOpinion};
pub use params::{
    EpochLog, Fitted, MemberLog, NetworkFitError, NetworkParams, Progress, TrainingSet,
};
pub use pretrain::{Methods, PretrainParams};
pub use vocabulary::{Embeddings, EmbeddingsError};
