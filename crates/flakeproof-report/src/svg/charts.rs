//! Charts over a logarithmic axis, because what they show spans decades: what accuracy costs, the
//! points that nothing beats in both, with some of them pinned (CANNIER, Figure 8); and several
//! curves, each named at its right end. With how every picture begins, and how foreign text stands
//! in it.

use std::fmt::Write as _;

/// A front of performance against cost.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontChart {
    /// What is shown, in one line.
    pub title: String,
    /// What the vertical axis means.
    pub performance: String,
    /// What the horizontal axis means.
    pub cost: String,
    /// The front, the cheapest point first.
    pub front: Vec<Tradeoff>,
    /// Points with a name.
    pub pins: Vec<Pin>,
}

/// How good something is, and what it costs: a point of the chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tradeoff {
    /// How good it is, at most 1.
    pub performance: f64,
    /// What it costs.
    pub cost: f64,
}

/// A point with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Pin {
    /// Its name and what is to be known about it, in one line.
    pub name: String,
    /// Where it stands.
    pub place: Tradeoff,
}

const FRONT_LEFT: f64 = 70.0;
const FRONT_TOP: f64 = 46.0;
const FRONT_WIDE: f64 = 640.0;
const FRONT_HIGH: f64 = 320.0;
const FRONT_MARGIN: f64 = 30.0;
const FRONT_LINE: f64 = 22.0;
/// Decades at the most; whatever is cheaper stands at the left edge.
const DECADES: f64 = 9.0;

impl FrontChart {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let scale = self.scale();
        #[expect(clippy::cast_precision_loss, reason = "a handful of pins")]
        let height = FRONT_TOP + FRONT_HIGH + 70.0 + FRONT_LINE * self.pins.len() as f64;
        let width = FRONT_LEFT + FRONT_WIDE + FRONT_MARGIN;
        let mut svg = opening(width, height, &self.title, FRONT_STYLE);
        self.axes(&mut svg, &scale);
        self.line(&mut svg, &scale);
        self.pins(&mut svg, &scale);
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self) -> FrontScale {
        let places = || self.front.iter().chain(self.pins.iter().map(|pin| &pin.place));
        let decades = || places().map(|it| it.cost).filter(|it| *it > 0.0).map(f64::log10);
        let dearest = decades().fold(f64::NEG_INFINITY, f64::max);
        let to = if dearest.is_finite() { dearest.ceil() } else { 1.0 };
        let cheapest = decades().fold(to, f64::min).floor();
        let worst = places().map(|it| it.performance).fold(0.9, f64::min);
        FrontScale {
            from: cheapest.clamp(to - DECADES, to - 1.0),
            to,
            worst: (10.0 * worst).floor() / 10.0,
        }
    }

    fn axes(&self, svg: &mut String, scale: &FrontScale) {
        let bottom = FRONT_TOP + FRONT_HIGH;
        let mut decade = scale.from;
        while decade <= scale.to {
            let x = scale.x(10f64.powf(decade));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{FRONT_TOP}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">10\
                 <tspan class=\"power\" dy=\"-5\">{decade:.0}</tspan></text>",
                bottom + 18.0
            );
            decade += 1.0;
        }
        for part in 0..=4u32 {
            let at = scale.worst + (1.0 - scale.worst) * f64::from(part) / 4.0;
            let y = scale.y(at);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{FRONT_LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{at:.2}</text>",
                FRONT_LEFT + FRONT_WIDE,
                FRONT_LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"note\" x=\"{FRONT_LEFT}\" y=\"{}\">{}</text>",
            FRONT_LEFT + FRONT_WIDE / 2.0,
            bottom + 38.0,
            escaped(&self.cost),
            FRONT_TOP - 8.0,
            escaped(&self.performance)
        );
    }

    /// Between two points one gets what the cheaper one gives.
    fn line(&self, svg: &mut String, scale: &FrontScale) {
        let mut path = String::new();
        for (number, place) in self.front.iter().enumerate() {
            let (x, y) = (scale.x(place.cost), scale.y(place.performance));
            let _ = if number == 0 {
                write!(path, "M{x:.1} {y:.1}")
            } else {
                write!(path, "H{x:.1}V{y:.1}")
            };
        }
        let _ = writeln!(svg, "<path class=\"front\" d=\"{path}\"/>");
    }

    /// Numbered on the front and named below it, where names cannot hide each other.
    fn pins(&self, svg: &mut String, scale: &FrontScale) {
        let mut below = FRONT_TOP + FRONT_HIGH + 66.0;
        for (number, pin) in self.pins.iter().enumerate() {
            let number = number + 1;
            let mut dot = |x: f64, y: f64| {
                let _ = write!(
                    svg,
                    "<circle class=\"pin\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>\
                     <text class=\"number\" x=\"{x:.1}\" y=\"{:.1}\" \
                     text-anchor=\"middle\">{number}</text>",
                    y + 4.0
                );
            };
            dot(scale.x(pin.place.cost), scale.y(pin.place.performance));
            dot(FRONT_LEFT, below - 4.0);
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{below}\">{}</text>",
                FRONT_LEFT + 18.0,
                escaped(&pin.name)
            );
            below += FRONT_LINE;
        }
    }
}

/// From costs and performances to places on the picture.
struct FrontScale {
    /// The decades of the cheapest and the dearest point.
    from: f64,
    to: f64,
    /// The performance at the bottom.
    worst: f64,
}

impl FrontScale {
    fn x(&self, cost: f64) -> f64 {
        let decade = if cost > 0.0 { cost.log10() } else { self.from };
        FRONT_LEFT + FRONT_WIDE * ((decade - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn y(&self, performance: f64) -> f64 {
        FRONT_TOP
            + FRONT_HIGH * (1.0 - ((performance - self.worst) / (1.0 - self.worst)).clamp(0.0, 1.0))
    }
}

const FRONT_STYLE: &str = "<style>\
text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}\
.note{fill:#777}.power{font-size:9px}.grid{stroke:#e4e4e4}\
.front{fill:none;stroke:#1e78eb;stroke-width:2}.pin{fill:#d62850}.number{fill:#fff;font-weight:600}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#999}.grid{stroke:#333}\
.front{stroke:#6aa9ff}.number{fill:#fff}}\
</style>";

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

const CURVE_LEFT: f64 = 60.0;
const CURVE_TOP: f64 = 56.0;
const CURVE_WIDE: f64 = 520.0;
const CURVE_HIGH: f64 = 320.0;
/// Room for the names.
const CURVE_RIGHT: f64 = 210.0;
const CURVE_BELOW: f64 = 60.0;
/// Names nearer than this would hide each other.
const CURVE_LINE: f64 = 16.0;
/// Told apart on light and on dark ground, and by people who see fewer colours.
const CURVE_COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#7f7f7f"];

const CURVE_STYLE: &str = "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}\
    .grid{stroke:#8884}.curve{fill:none;stroke-width:2}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}}</style>";

impl Curves {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let (width, height) =
            (CURVE_LEFT + CURVE_WIDE + CURVE_RIGHT, CURVE_TOP + CURVE_HIGH + CURVE_BELOW);
        let mut svg = opening(width, height, &self.title, CURVE_STYLE);
        let scale = self.scale();
        self.write_axes(&mut svg, &scale);
        self.write_curves(&mut svg, &scale);
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self) -> CurveScale {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let xs = || points().map(|point| point.0.log10());
        let (from, to) =
            (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let highest = points().map(|point| point.1).fold(1.0, f64::max);
        CurveScale { from, to: to.max(from + 0.1), highest }
    }

    fn write_axes(&self, svg: &mut String, scale: &CurveScale) {
        let (bottom, end) = (CURVE_TOP + CURVE_HIGH, CURVE_LEFT + CURVE_WIDE);
        let ticks = self.curves.first().map(|curve| curve.points.as_slice()).unwrap_or_default();
        for (value, _) in ticks {
            let x = scale.x(*value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{CURVE_TOP}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
                bottom + 18.0
            );
        }
        for part in 0..=4u32 {
            let value = scale.highest * f64::from(part) / 4.0;
            let y = scale.y(value);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{CURVE_LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
                CURVE_LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            CURVE_LEFT + CURVE_WIDE / 2.0,
            bottom + 42.0,
            escaped(&self.x),
            20,
            CURVE_TOP - 10.0,
            escaped(&self.y)
        );
    }

    fn write_curves(&self, svg: &mut String, scale: &CurveScale) {
        let mut taken: Vec<f64> = Vec::new();
        for (curve, colour) in self.curves.iter().zip(CURVE_COLOURS.iter().cycle()) {
            let points: Vec<String> = curve
                .points
                .iter()
                .map(|(x, y)| format!("{:.1},{:.1}", scale.x(*x), scale.y(*y)))
                .collect();
            let mut y = curve.points.last().map_or(CURVE_TOP, |(_, y)| scale.y(*y) + 4.0);
            while let Some(near) = taken.iter().copied().find(|it| (it - y).abs() < CURVE_LINE) {
                y = near + CURVE_LINE;
            }
            taken.push(y);
            let _ = writeln!(
                svg,
                "<polyline class=\"curve\" stroke=\"{colour}\" points=\"{}\"/>\
                 <text x=\"{}\" y=\"{y:.1}\" style=\"fill:{colour}\">{}</text>",
                points.join(" "),
                CURVE_LEFT + CURVE_WIDE + 8.0,
                escaped(&curve.name)
            );
        }
    }
}

/// From values to places on the picture.
struct CurveScale {
    /// The decades at both ends.
    from: f64,
    to: f64,
    highest: f64,
}

impl CurveScale {
    fn x(&self, value: f64) -> f64 {
        CURVE_LEFT + CURVE_WIDE * (value.log10() - self.from) / (self.to - self.from)
    }

    fn y(&self, value: f64) -> f64 {
        CURVE_TOP + CURVE_HIGH * (1.0 - value / self.highest)
    }
}

/// The beginning of a chart: its size, its looks, and its title on top.
pub(super) fn opening(width: f64, height: f64, title: &str, style: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{style}\n<text class=\"title\" x=\"20\" y=\"24\">{title}</text>\n",
    )
}

/// A text as it may stand in XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(places: &[(f64, f64)]) -> FrontChart {
        let place =
            |(performance, cost): &(f64, f64)| Tradeoff { performance: *performance, cost: *cost };
        let front: Vec<Tradeoff> = places.iter().map(place).collect();
        let pin = |place: &Tradeoff| Pin { name: "the <best>".into(), place: *place };
        FrontChart {
            title: "RERUN & co".into(),
            performance: "MCC".into(),
            cost: "seconds".into(),
            pins: front.last().map(pin).into_iter().collect(),
            front,
        }
    }

    #[test]
    fn each_decade_has_a_line_and_each_pin_a_name() {
        let svg = chart(&[(0.55, 2e4), (0.92, 5e6), (1.0, 4.9e7)]).svg();
        for decade in ["4", "5", "6", "7", "8"] {
            assert!(svg.contains(&format!("dy=\"-5\">{decade}</tspan>")), "{decade} in {svg}");
        }
        assert!(svg.contains("RERUN &amp; co") && svg.contains("the &lt;best&gt;"));
        assert!(
            svg.contains("<text x=\"62\" y=\"370.0\" text-anchor=\"end\">0.50</text>"),
            "{svg}"
        );
    }

    #[test]
    fn nothing_and_what_costs_nothing_are_pictures_too() {
        for places in [&[][..], &[(1.0, 0.0)], &[(-0.3, 1e-20), (1.0, 1e12)]] {
            let svg = chart(places).svg();
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }

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
