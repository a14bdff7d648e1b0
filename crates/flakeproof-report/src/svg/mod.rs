//! Charts and graphs as SVG: self-contained, without a script, readable on light and dark pages.

mod beeswarm;
mod curves;
mod front;
mod graph;
mod opening;

pub use beeswarm::{Beeswarm, Point, Swarm};
pub use curves::{Curve, Curves};
pub use front::{FrontChart, Pin, Tradeoff};
pub use graph::Svg;
