//! Patches of Python tests: pytest and unittest.

mod addition;
mod file;
mod fixture;
mod imports;
mod reset;
mod restore;
mod transplant;

pub use addition::Addition;
pub use file::{PythonFile, Style, TestFunction};
pub use reset::resets;
pub use restore::{Surround, restores, restores_in_file};
pub use transplant::Transplant;
