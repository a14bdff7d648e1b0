//! How each feature moves the answers of a model: a row of dots for each feature, a dot for each
//! test (CANNIER, Figure 6).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::charts::{escaped, opening};

/// A beeswarm plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Beeswarm {
    /// What is shown, in one line.
    pub title: String,
    /// What the horizontal axis means.
    pub axis: String,
    /// The rows, from top to bottom.
    pub rows: Vec<Swarm>,
}

/// The dots of one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Swarm {
    /// The name of the feature.
    pub name: String,
    /// The dots.
    pub points: Vec<Point>,
}

/// One test in the row of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// What the feature adds to the model's answer.
    pub contribution: f64,
    /// The rank of the feature's value among all tests, from 0 (lowest) to 1; `None` if it is
    /// missing.
    pub level: Option<f64>,
}

const LABELS: f64 = 190.0;
const PLOT: f64 = 620.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = 46.0;
const ROW: f64 = 30.0;
const RADIUS: f64 = 1.8;
const SHADES: u8 = 10;

/// Dots in one row at the most: more would hide each other, and make a file that no viewer likes.
const MOST_DOTS: usize = 1500;

impl Beeswarm {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let contributions =
            self.rows.iter().flat_map(|row| row.points.iter().map(|point| point.contribution));
        let reach = contributions.fold(0f64, |reach, it| reach.max(it.abs())).max(1e-9);
        let height = TOP + ROW * real(self.rows.len()) + 44.0;
        let width = LABELS + PLOT + MARGIN;
        let mut svg = opening(width, height, &self.title, STYLE);
        for (number, row) in self.rows.iter().enumerate() {
            let middle = TOP + ROW * (real(number) + 0.5);
            let name = escaped(&row.name.replace('_', " "));
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
                 <line class=\"row\" x1=\"{LABELS}\" x2=\"{}\" y1=\"{middle}\" y2=\"{middle}\"/>",
                LABELS - 10.0,
                middle + 4.0,
                LABELS + PLOT
            );
            dots(&mut svg, row, middle, reach);
        }
        self.axis(&mut svg, reach, TOP + ROW * real(self.rows.len()));
        svg.push_str("</svg>\n");
        svg
    }

    fn axis(&self, svg: &mut String, reach: f64, bottom: f64) {
        let zero = place(0.0, reach);
        let _ = writeln!(
            svg,
            "<line class=\"zero\" x1=\"{zero}\" x2=\"{zero}\" y1=\"{TOP}\" y2=\"{bottom}\"/>"
        );
        for at in [-reach, 0.0, reach] {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at:+.2}</text>",
                place(at, reach),
                bottom + 16.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"note\" x=\"{zero}\" y=\"{:.1}\" text-anchor=\"middle\">{} · blue: low \
             value, red: high value, grey: missing</text>",
            bottom + 34.0,
            escaped(&self.axis)
        );
    }
}

/// The dots of one row, stacked away from the middle where they would hide each other. Dots of one
/// colour are one path of strokes without length: a tenth of the bytes of as many circles.
fn dots(svg: &mut String, row: &Swarm, middle: f64, reach: f64) {
    let step = row.points.len().div_ceil(MOST_DOTS).max(1);
    let mut stacked: HashMap<i64, u32> = HashMap::new();
    let mut paths: BTreeMap<Option<u8>, String> = BTreeMap::new();
    for point in row.points.iter().step_by(step) {
        let x = place(point.contribution, reach);
        #[expect(clippy::cast_possible_truncation, reason = "a place on the picture")]
        let column = (x / (2.0 * RADIUS)) as i64;
        let before = stacked.entry(column).or_default();
        let side = if before.is_multiple_of(2) { 1.0 } else { -1.0 };
        let away = (f64::from(before.div_ceil(2)) * RADIUS).min(ROW / 2.0 - 3.0);
        *before += 1;
        let path = paths.entry(point.level.map(shade)).or_default();
        let _ = write!(path, "M{x:.0} {:.1}h0", middle + side * away);
    }
    for (shade, path) in paths {
        let _ = writeln!(svg, "<path stroke=\"{}\" d=\"{path}\"/>", colour(shade));
    }
}

fn place(contribution: f64, reach: f64) -> f64 {
    LABELS + PLOT / 2.0 * (1.0 + contribution / reach)
}

/// The step of a level on the scale of colours.
fn shade(level: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10")]
    let shade = (f64::from(SHADES) * level.clamp(0.0, 1.0)).round() as u8;
    shade
}

/// From blue over violet to red; grey for what is missing.
fn colour(shade: Option<u8>) -> String {
    let Some(shade) = shade else { return "#999".to_owned() };
    let mix = |low: f64, high: f64| low + (high - low) * f64::from(shade) / f64::from(SHADES);
    format!("rgb({:.0},{:.0},{:.0})", mix(30.0, 235.0), mix(120.0, 40.0), mix(235.0, 80.0))
}

#[expect(clippy::cast_precision_loss, reason = "a number of rows")]
fn real(count: usize) -> f64 {
    count as f64
}

const STYLE: &str = "<style>\
text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}\
path{stroke-width:3.6;stroke-linecap:round}.note{fill:#777}.row{stroke:#e4e4e4}.zero{stroke:#888}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#999}.row{stroke:#333}}\
</style>";

#[cfg(test)]
mod tests {
    use super::*;

    fn swarm(points: usize) -> Beeswarm {
        let point = |at: usize| Point {
            contribution: real(at % 7) / 10.0 - 0.3,
            level: (!at.is_multiple_of(5)).then(|| real(at % 5) / 4.0),
        };
        let points = (0..points).map(point).collect();
        Beeswarm {
            title: "a <b> & \"c\"".into(),
            axis: "SHAP value".into(),
            rows: vec![Swarm { name: "run_time".into(), points }],
        }
    }

    #[test]
    fn each_test_is_a_dot_inside_the_picture() {
        let svg = swarm(12).svg();
        assert_eq!(svg.matches("h0").count(), 12);
        assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
        assert!(svg.contains("run time"));
        assert!(svg.contains("#999"), "a missing value is grey");
    }

    #[test]
    fn a_million_tests_make_no_monster() {
        assert!(swarm(1_000_000).svg().len() < 40_000);
    }

    #[test]
    fn no_test_is_a_picture_too() {
        assert!(swarm(0).svg().ends_with("</svg>\n"));
    }
}
