//! The dependency graph of a test beside its code: a row for each line, values flow downwards.
//!
//! The picture is bounded: of a large graph, the values on paths are drawn, and how many were left
//! out is written below.

mod layout;
mod picture;
mod selection;

pub use picture::Svg;
