//! Charts and graphs as SVG: self-contained, without a script, readable on light and dark pages.

mod beeswarm;
mod curves;
mod front;
mod graph;

pub use beeswarm::{Beeswarm, Point, Swarm};
pub use curves::{Curve, Curves};
pub use front::{FrontChart, Pin, Place};
pub use graph::Svg;

/// A text as it may stand in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
