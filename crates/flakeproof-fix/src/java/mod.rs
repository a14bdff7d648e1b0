//! Patches of Java tests: JUnit 3 to 5 and TestNG.

mod addition;
mod expression;
mod file;
mod fixture;
mod imports;
mod mutants;
mod pin;
mod reset;
mod restore;
mod sources;
mod statics;
mod transplant;
mod unordered;

pub use addition::Addition;
pub use file::{Framework, JavaFile, TestMethod, mentions};
pub(crate) use mutants::mutants;
pub use pin::pins;
pub use reset::resets;
pub use restore::restores;
pub use sources::Sources;
pub use transplant::Transplant;
pub use unordered::open_orders;
