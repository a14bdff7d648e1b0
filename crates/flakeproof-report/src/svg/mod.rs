//! Charts and graphs as SVG: self-contained, without a script, readable on light and dark pages.

mod beeswarm;
mod charts;
mod graph;

pub use beeswarm::{Beeswarm, Point, Swarm};
pub use charts::{Curve, Curves, FrontChart, Pin, Tradeoff};
pub use graph::Svg;
