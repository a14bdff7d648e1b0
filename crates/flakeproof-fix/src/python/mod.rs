//! Patches of Python tests: pytest and unittest.

mod addition;
mod file;
mod fixture;
mod imports;
mod pin;
mod reset;
mod restore;
mod transplant;
mod unordered;

pub use addition::Addition;
pub use file::{PythonFile, Style, TestFunction};
pub use pin::pins;
pub use reset::resets;
pub use restore::{Surround, restores, restores_in_file};
pub use transplant::Transplant;
pub use unordered::open_orders;
