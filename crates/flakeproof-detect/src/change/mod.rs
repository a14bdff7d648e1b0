//! What changed: since a test last passed, in the code and around it, and since the work that is judged
//! began; and the code from before that work.

mod before;
mod foreign_code;
mod servers;
mod since_pass;

pub use before::{BeforeTheChange, CompareBase, PartOfSuite};
pub use since_pass::ChangeSince;
