//! What accuracy costs: the points that nothing beats in both, with some of them pinned (CANNIER,
//! Figure 8). Costs span decades, so their axis is logarithmic.

use std::fmt::Write as _;

use super::opening::{escaped, opening};

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

const LEFT: f64 = 70.0;
const TOP: f64 = 46.0;
const WIDE: f64 = 640.0;
const HIGH: f64 = 320.0;
const MARGIN: f64 = 30.0;
const LINE: f64 = 22.0;
/// Decades at the most; whatever is cheaper stands at the left edge.
const DECADES: f64 = 9.0;

impl FrontChart {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let scale = self.scale();
        #[expect(clippy::cast_precision_loss, reason = "a handful of pins")]
        let height = TOP + HIGH + 70.0 + LINE * self.pins.len() as f64;
        let width = LEFT + WIDE + MARGIN;
        let mut svg = opening(width, height, &self.title, STYLE);
        self.axes(&mut svg, &scale);
        self.line(&mut svg, &scale);
        self.pins(&mut svg, &scale);
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self) -> Scale {
        let places = || self.front.iter().chain(self.pins.iter().map(|pin| &pin.place));
        let decades = || places().map(|it| it.cost).filter(|it| *it > 0.0).map(f64::log10);
        let dearest = decades().fold(f64::NEG_INFINITY, f64::max);
        let to = if dearest.is_finite() { dearest.ceil() } else { 1.0 };
        let cheapest = decades().fold(to, f64::min).floor();
        let worst = places().map(|it| it.performance).fold(0.9, f64::min);
        Scale {
            from: cheapest.clamp(to - DECADES, to - 1.0),
            to,
            worst: (10.0 * worst).floor() / 10.0,
        }
    }

    fn axes(&self, svg: &mut String, scale: &Scale) {
        let bottom = TOP + HIGH;
        let mut decade = scale.from;
        while decade <= scale.to {
            let x = scale.x(10f64.powf(decade));
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
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
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{at:.2}</text>",
                LEFT + WIDE,
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"note\" x=\"{LEFT}\" y=\"{}\">{}</text>",
            LEFT + WIDE / 2.0,
            bottom + 38.0,
            escaped(&self.cost),
            TOP - 8.0,
            escaped(&self.performance)
        );
    }

    /// Between two points one gets what the cheaper one gives.
    fn line(&self, svg: &mut String, scale: &Scale) {
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
    fn pins(&self, svg: &mut String, scale: &Scale) {
        let mut below = TOP + HIGH + 66.0;
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
            dot(LEFT, below - 4.0);
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{below}\">{}</text>",
                LEFT + 18.0,
                escaped(&pin.name)
            );
            below += LINE;
        }
    }
}

/// From costs and performances to places on the picture.
struct Scale {
    /// The decades of the cheapest and the dearest point.
    from: f64,
    to: f64,
    /// The performance at the bottom.
    worst: f64,
}

impl Scale {
    fn x(&self, cost: f64) -> f64 {
        let decade = if cost > 0.0 { cost.log10() } else { self.from };
        LEFT + WIDE * ((decade - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn y(&self, performance: f64) -> f64 {
        TOP + HIGH * (1.0 - ((performance - self.worst) / (1.0 - self.worst)).clamp(0.0, 1.0))
    }
}

const STYLE: &str = "<style>\
text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}\
.note{fill:#777}.power{font-size:9px}.grid{stroke:#e4e4e4}\
.front{fill:none;stroke:#1e78eb;stroke-width:2}.pin{fill:#d62850}.number{fill:#fff;font-weight:600}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#999}.grid{stroke:#333}\
.front{stroke:#6aa9ff}.number{fill:#fff}}\
</style>";

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
}
