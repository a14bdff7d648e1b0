//! The ensemble: several models read a test's source, and what they say is weighed.
//!
//! Its members see different things: [`flast`](crate::flast) the tests whose words are near, a
//! [`linear`](crate::linear) model the words of the test and of the code around it,
//! [`boost`](crate::boost)ed trees what smells of flakiness there; and where single tests are held out, so
//! that siblings of a test are known, a [`forest`](crate::forest) what is known of those. Each learns from the same tests;
//! what each is worth is learned on tests that it has not seen, held out as the ensemble will be asked:
//! single tests, whole classes or whole projects. An ensemble for unknown projects therefore listens to
//! other members than one for a project that it knows, and members that do not help there sit out. A test of
//! which only the text is known is left to the member that reads nothing else.

mod base_model;
mod model;
mod readings;
mod selection;
mod siblings;
mod text_model;

pub use base_model::{BaseModel, BaseModels, Blend};
pub use model::{
    AboutEnsemble, AskedTest, Basis, Ensemble, EnsembleError, EnsembleParams, EnsembleScore, KIND,
};
pub use readings::{ReadWords, Reading, Readings, SourceReader};
pub use siblings::SiblingPosition;
pub use text_model::AboutText;
