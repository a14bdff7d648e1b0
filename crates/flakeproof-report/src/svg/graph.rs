//! The dependency graph of a test beside its code: a row for each line that runs, values below what
//! flows into them.
//!
//! The picture is bounded: of a large graph, the values on paths are drawn, and how many were left
//! out is written below.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::charts::escaped;
use crate::graph::{GraphEdge, GraphNode, TestGraph, ValueKind, beginning, file_name};
use crate::{Error, Renderer};

/// A longer line of code is cut.
const LONGEST_LINE: usize = 46;
/// A longer operation is cut.
const LONGEST_OPERATION: usize = 26;

const STYLE: &str = "<style>\
text{font:12px monospace;fill:#333}.title{font:bold 15px sans-serif}\
.note{font:11px sans-serif;fill:#666}\
.operation{font-size:10.5px;fill:#666;paint-order:stroke;stroke:#fff;stroke-width:4px}\
rect{fill:#f4f4f4;stroke:#888}.literal{stroke-dasharray:3 2}\
.start{stroke:#009e73;stroke-width:2}.assert{stroke:#d55e00;stroke-width:2.5}\
path{fill:none;stroke:#888;stroke-width:1.3}marker path{fill:#888;stroke:none}\
.code{stroke:#0072b2;stroke-dasharray:5 3;stroke-width:1.8}.row{stroke:#ddd}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.note,.operation{fill:#aaa}\
.operation{stroke:#1c1c1c}rect{fill:#2a2a2a}.row{stroke:#333}}</style>";

const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
    markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>";

/// More values than this are a thicket.
const MOST: usize = 80;

/// Where rows begin.
const TOP: f64 = 56.0;
/// The height of a value.
const HIGH: f64 = 26.0;
/// The width of a letter.
const LETTER: f64 = 7.3;
/// Code stands left of this, values right of it.
const LEFT: f64 = 430.0;
/// Values that would go beyond this start another row.
const RIGHT: f64 = 1_160.0;
/// From a row to the next.
const ROW: f64 = 66.0;
/// Between neighbours.
const GAP: f64 = 26.0;
/// A longer text of a value is cut.
const LONGEST: usize = 30;

/// Renders a graph as a picture: self-contained, without a script, on light and dark pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Svg;

impl Renderer<TestGraph> for Svg {
    fn render(&self, graph: &TestGraph) -> Result<Vec<u8>, Error> {
        let drawn = drawn_values(graph);
        let layout = Layout::new(graph, &drawn);
        let title = escaped(graph.id.as_str());
        let title_width = LETTER * 1.3 * f64::from(count(graph.id.as_str())) + 40.0;
        let (width, height) = (layout.width.max(title_width), layout.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             role=\"img\" aria-label=\"{title}\">\n{STYLE}\n{ARROW}\n\
             <text class=\"title\" x=\"20\" y=\"26\">{title}</text>\n",
        );
        write_rows(&mut svg, graph, &layout, width);
        write_edges(&mut svg, graph, &layout);
        for drawn in &layout.boxes {
            write_box(&mut svg, graph, drawn);
        }
        // Above all lines, so that none runs through a word.
        write_operations(&mut svg, graph, &layout);
        write_legend(&mut svg, graph, drawn.len(), height);
        svg.push_str("</svg>\n");
        Ok(svg.into_bytes())
    }
}

/// The values to draw, in the order they come to be.
fn drawn_values(graph: &TestGraph) -> Vec<u32> {
    let all = 0..u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX);
    let mut chosen: BTreeSet<u32> = BTreeSet::new();
    for path in &graph.paths {
        let new = path.nodes.iter().filter(|node| !chosen.contains(node)).count();
        if chosen.len() + new <= MOST {
            chosen.extend(path.nodes.iter().filter(|node| all.contains(node)));
        }
    }
    for node in all {
        if chosen.len() >= MOST {
            break;
        }
        chosen.insert(node);
    }
    chosen.into_iter().collect()
}

/// Where everything stands.
#[derive(Debug, Default)]
struct Layout {
    boxes: Vec<Box>,
    rows: Vec<Row>,
    width: f64,
    height: f64,
}

impl Layout {
    /// Place these values of a graph.
    fn new(graph: &TestGraph, drawn: &[u32]) -> Self {
        let mut layout = Self::default();
        let line_of = |at: &u32| node(graph, *at).map(|node| (node.file.as_str(), node.line));
        let mut y = TOP;
        // A line that calls a helper comes again with what the helper gives back, so that
        // everything flows downwards.
        for values in drawn.chunk_by(|a, b| line_of(a) == line_of(b)) {
            let Some((file, line)) = values.first().and_then(line_of) else { continue };
            layout.rows.push(Row { file: file.to_owned(), line, y });
            y = layout.place_row(graph, values, y) + ROW;
        }
        let right = layout.boxes.iter().map(|it| it.x + it.width).fold(LEFT, f64::max);
        (layout.width, layout.height) = (right + 70.0, y + 30.0);
        layout
    }

    /// The drawn value of a node.
    fn find(&self, node: u32) -> Option<&Box> {
        self.boxes.iter().find(|it| it.node == node)
    }

    /// Place the values of one line, as far as possible below what flows into them; the height of
    /// the last of them.
    fn place_row(&mut self, graph: &TestGraph, values: &[u32], mut y: f64) -> f64 {
        let mut free = LEFT;
        for at in values {
            let Some(node) = node(graph, *at) else { continue };
            let label = beginning(&node.text, LONGEST);
            let letters = u32::try_from(label.chars().count()).unwrap_or(u32::MAX);
            let width = LETTER * f64::from(letters) + 18.0;
            let wished = self.above(graph, *at).map_or(free, |middle| middle - width / 2.0);
            let mut x = wished.min(RIGHT - width).max(free);
            if x + width > RIGHT && free > LEFT {
                (x, y) = (LEFT, y + ROW);
            }
            free = x + width + GAP;
            self.boxes.push(Box { node: *at, label, x, y, width });
        }
        y
    }

    /// The middle of what flows into a value.
    fn above(&self, graph: &TestGraph, to: u32) -> Option<f64> {
        let into = graph.edges.iter().filter(|edge| edge.to == to);
        let from: Vec<f64> = into.filter_map(|edge| Some(self.find(edge.from)?.middle())).collect();
        let count = u32::try_from(from.len()).ok().filter(|count| *count > 0)?;
        Some(from.iter().sum::<f64>() / f64::from(count))
    }
}

/// A line of code beside its values.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    file: String,
    line: u32,
    y: f64,
}

/// A drawn value.
#[derive(Debug, Clone, PartialEq)]
struct Box {
    node: u32,
    label: String,
    x: f64,
    y: f64,
    width: f64,
}

impl Box {
    fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

fn node(graph: &TestGraph, at: u32) -> Option<&GraphNode> {
    graph.nodes.get(at as usize)
}

fn write_rows(svg: &mut String, graph: &TestGraph, layout: &Layout, width: f64) {
    let mut file = "";
    for Row { file: own, line, y } in &layout.rows {
        let code = graph.lines.iter().find(|it| it.file == *own && it.line == *line);
        let code = beginning(code.map_or("", |it| it.text.trim()), LONGEST_LINE);
        let middle = y + HIGH / 2.0 + 4.0;
        let _ = writeln!(
            svg,
            "<line class=\"row\" x1=\"20\" x2=\"{:.0}\" y1=\"{middle:.0}\" y2=\"{middle:.0}\" \
             transform=\"translate(0 16)\"/>\
             <text class=\"note\" x=\"52\" y=\"{middle:.0}\" text-anchor=\"end\">{line}</text>\
             <text x=\"62\" y=\"{middle:.0}\">{}</text>",
            width - 20.0,
            escaped(&code)
        );
        if file != own {
            let y = y - 8.0;
            let name = escaped(own);
            let _ = writeln!(svg, "<text class=\"note\" x=\"20\" y=\"{y:.0}\">{name}</text>");
        }
        file = own;
    }
}

fn write_edges(svg: &mut String, graph: &TestGraph, layout: &Layout) {
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (layout.find(edge.from), layout.find(edge.to)) else {
            continue;
        };
        let class = if edge.code.is_some() { " class=\"code\"" } else { "" };
        let _ = writeln!(
            svg,
            "<path{class} marker-end=\"url(#arrow)\" d=\"{}\">{}</path>",
            curve(from, to),
            title_of(edge)
        );
    }
}

/// The line from a value to another.
fn curve(from: &Box, to: &Box) -> String {
    let (x, end) = (from.middle(), to.middle());
    let (begin, below) = (from.y + HIGH, to.y);
    if (to.y - from.y).abs() < HIGH {
        // Over the values between them.
        let (begin, high) = (from.y, from.y - 30.0);
        return format!(
            "M{x:.1} {begin:.1}C{x:.1} {high:.1} {end:.1} {high:.1} {end:.1} {begin:.1}"
        );
    }
    let bend = (below - begin) / 2.0;
    let (first, last) = (begin + bend, below - bend);
    format!("M{x:.1} {begin:.1}C{x:.1} {first:.1} {end:.1} {last:.1} {end:.1} {below:.1}")
}

fn title_of(edge: &GraphEdge) -> String {
    let Some(code) = &edge.code else { return String::new() };
    format!("<title>{}, {}</title>", escaped(&code.name), escaped(&code.place()))
}

fn write_box(svg: &mut String, graph: &TestGraph, drawn: &Box) {
    let Some(node) = graph.nodes.get(drawn.node as usize) else { return };
    let radius = if node.kind == ValueKind::Call { HIGH / 2.0 } else { 4.0 };
    let _ = writeln!(
        svg,
        "<g><title>{}</title><rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
         height=\"{HIGH}\" rx=\"{radius}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
         text-anchor=\"middle\">{}</text></g>",
        escaped(&format!("{} ({}:{})", node.text, file_name(&node.file), node.line)),
        classes(node).join(" "),
        drawn.x,
        drawn.y,
        drawn.width,
        drawn.middle(),
        drawn.y + 17.0,
        escaped(&drawn.label)
    );
}

fn classes(node: &GraphNode) -> Vec<&'static str> {
    let mut classes = vec![match node.kind {
        ValueKind::Variable => "variable",
        ValueKind::Literal => "literal",
        ValueKind::Call => "call",
        ValueKind::Assertion => "assertion",
    }];
    classes.extend(node.start.then_some("start"));
    let is_asserted = node.assertion.is_some() || node.kind == ValueKind::Assertion;
    classes.extend(is_asserted.then_some("assert"));
    classes
}

/// What values came through stands above what they flow into, each operation once.
fn write_operations(svg: &mut String, graph: &TestGraph, layout: &Layout) {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for to in &layout.boxes {
        let into = graph.edges.iter().filter(|edge| edge.to == to.node);
        let drawn = into.filter(|edge| layout.find(edge.from).is_some());
        let labels: BTreeSet<String> =
            drawn.map(|edge| beginning(&edge.label(), LONGEST_OPERATION)).collect();
        for label in labels {
            let at = (to.middle(), to.y - 13.0);
            let (x, y) = free_place(&mut taken, at, f64::from(count(&label)) * LETTER);
            let _ = writeln!(
                svg,
                "<text class=\"operation\" x=\"{x:.1}\" y=\"{y:.1}\" \
                 text-anchor=\"middle\">{}</text>",
                escaped(&label)
            );
        }
    }
}

/// The place for a word of this width: here, or a little above if others are in the way.
fn free_place(taken: &mut Vec<(f64, f64, f64)>, at: (f64, f64), width: f64) -> (f64, f64) {
    let (x, mut y) = at;
    for _ in 0..4 {
        let is_near = |it: &&(f64, f64, f64)| {
            (it.0 - x).abs() < f64::midpoint(it.2, width) && (it.1 - y).abs() < 11.0
        };
        match taken.iter().find(is_near) {
            Some(near) => y = near.1 - 11.0,
            None => break,
        }
    }
    taken.push((x, y, width));
    (x, y)
}

fn write_legend(svg: &mut String, graph: &TestGraph, drawn: usize, height: f64) {
    let y = height - 16.0;
    let all = graph.nodes.len();
    let left_out = if drawn < all {
        format!("; {drawn} of {all} values are drawn, those on paths first")
    } else {
        String::new()
    };
    let _ = writeln!(
        svg,
        "<text class=\"note\" x=\"20\" y=\"{y:.0}\">green: START, where values begin · orange: \
         ASSERT, what is asserted · blue dashes: through the code under test{left_out}</text>"
    );
}

fn count(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphPath;
    use crate::sample;

    fn picture(graph: &TestGraph) -> String {
        String::from_utf8(Svg.render(graph).unwrap()).unwrap()
    }

    #[test]
    fn the_picture_shows_code_values_and_flows() {
        insta::assert_snapshot!(picture(&sample::graph()));
    }

    #[test]
    fn of_a_long_graph_the_picture_says_what_was_left_out() {
        let svg = picture(&sample::long_graph(5_000));
        assert_eq!(svg.matches("<rect").count(), 80);
        assert!(svg.contains("80 of 5000 values are drawn"));
        assert!(svg.len() < 60_000, "{}", svg.len());
    }

    #[test]
    fn a_small_graph_is_drawn_whole() {
        assert_eq!(drawn_values(&sample::graph()), [0, 1, 2, 3]);
    }

    #[test]
    fn of_a_large_graph_paths_come_first() {
        let mut graph = sample::long_graph(1_000);
        graph.paths = vec![GraphPath { nodes: vec![500, 999], edges: vec![], cut: false }];
        let drawn = drawn_values(&graph);
        assert_eq!(drawn.len(), MOST);
        assert_eq!(drawn[MOST - 2..], [500, 999]);
    }

    #[test]
    fn a_line_is_a_row_and_no_value_hides_another() {
        let mut graph = sample::graph();
        for at in 0..40 {
            let text = format!("value number {at}");
            graph.nodes.push(GraphNode { text, ..graph.nodes[3].clone() });
        }
        let drawn: Vec<u32> = (0..44).collect();
        let layout = Layout::new(&graph, &drawn);
        assert_eq!(layout.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(layout.boxes.len(), 44);
        for (at, one) in layout.boxes.iter().enumerate() {
            for other in &layout.boxes[at + 1..] {
                let apart = one.y != other.y
                    || one.x + one.width < other.x
                    || other.x + other.width < one.x;
                assert!(apart, "{one:?} {other:?}");
            }
        }
    }
}
