//! Several curves over a logarithmic axis, each named at its right end.

use std::fmt::Write as _;

use super::opening::{escaped, opening};

/// Curves over the same axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// What is shown, in one line.
    pub title: String,
    /// What the horizontal axis means; it is logarithmic.
    pub x: String,
    /// What the vertical axis means; it begins with 0.
    pub y: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, from left to right; both coordinates are positive.
    pub points: Vec<(f64, f64)>,
}

const LEFT: f64 = 60.0;
const TOP: f64 = 56.0;
const WIDE: f64 = 520.0;
const HIGH: f64 = 320.0;
/// Room for the names.
const RIGHT: f64 = 210.0;
const BELOW: f64 = 60.0;
/// Names nearer than this would hide each other.
const LINE: f64 = 16.0;
/// Told apart on light and on dark ground, and by people who see fewer colours.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#7f7f7f"];

const STYLE: &str = "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}\
    .grid{stroke:#8884}.curve{fill:none;stroke-width:2}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}}</style>";

impl Curves {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let (width, height) = (LEFT + WIDE + RIGHT, TOP + HIGH + BELOW);
        let mut svg = opening(width, height, &self.title, STYLE);
        let scale = self.scale();
        self.write_axes(&mut svg, &scale);
        self.write_curves(&mut svg, &scale);
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self) -> Scale {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let xs = || points().map(|point| point.0.log10());
        let (from, to) =
            (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let highest = points().map(|point| point.1).fold(1.0, f64::max);
        Scale { from, to: to.max(from + 0.1), highest }
    }

    fn write_axes(&self, svg: &mut String, scale: &Scale) {
        let (bottom, end) = (TOP + HIGH, LEFT + WIDE);
        let ticks = self.curves.first().map(|curve| curve.points.as_slice()).unwrap_or_default();
        for (value, _) in ticks {
            let x = scale.x(*value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
                bottom + 18.0
            );
        }
        for part in 0..=4u32 {
            let value = scale.highest * f64::from(part) / 4.0;
            let y = scale.y(value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + WIDE / 2.0,
            bottom + 42.0,
            escaped(&self.x),
            20,
            TOP - 10.0,
            escaped(&self.y)
        );
    }

    fn write_curves(&self, svg: &mut String, scale: &Scale) {
        let mut taken: Vec<f64> = Vec::new();
        for (curve, colour) in self.curves.iter().zip(COLOURS.iter().cycle()) {
            let points: Vec<String> = curve
                .points
                .iter()
                .map(|(x, y)| format!("{:.1},{:.1}", scale.x(*x), scale.y(*y)))
                .collect();
            let mut y = curve.points.last().map_or(TOP, |(_, y)| scale.y(*y) + 4.0);
            while let Some(near) = taken.iter().copied().find(|it| (it - y).abs() < LINE) {
                y = near + LINE;
            }
            taken.push(y);
            let _ = writeln!(
                svg,
                "<polyline class=\"curve\" stroke=\"{colour}\" points=\"{}\"/>\
                 <text x=\"{}\" y=\"{y:.1}\" style=\"fill:{colour}\">{}</text>",
                points.join(" "),
                LEFT + WIDE + 8.0,
                escaped(&curve.name)
            );
        }
    }
}

/// From values to places on the picture.
struct Scale {
    /// The decades at both ends.
    from: f64,
    to: f64,
    highest: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        LEFT + WIDE * (value.log10() - self.from) / (self.to - self.from)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + HIGH * (1.0 - value / self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_named_and_no_name_hides_another() {
        let curve = |name: &str, end: f64| Curve {
            name: name.to_owned(),
            points: vec![(1.0, 0.0), (100.0, end)],
        };
        let curves = vec![curve("one & only", 10.0), curve("second", 10.0)];
        let svg = Curves { title: "t".into(), x: "x".into(), y: "y".into(), curves }.svg();
        assert!(svg.contains("points=\"60.0,376.0 580.0,56.0\""), "{svg}");
        assert!(svg.contains("y=\"60.0\" style=\"fill:#0072b2\">one &amp; only<"));
        assert!(svg.contains("y=\"76.0\" style=\"fill:#d55e00\">second<"));
    }
}
