//! Nearest neighbours among sparse vectors.

mod best;
mod rows;
mod search;

pub use best::{Neighbour, NeighbourLimit};
pub use rows::{SparseRow, SparseRows};
pub use search::{Scratch, SearchIndex};
