//! The dependency graph of a test, as a person reads it: its values on their lines, path by path.

use std::fmt::Write as _;

use flakeproof_core::TestId;
use flakeproof_syntax::dependence::{ContextualPath, Edge, Graph, NodeId, NodeKind};
use flakeproof_syntax::project::ProjectIndex;

use super::terminal::{self, CHANCE, DIM, OPEN, STRONG, count};
use crate::source::code_places::{Around, CodePlace, CodePlaces};

/// What is shown of a graph.
pub(crate) struct ShownGraph<'g> {
    /// The test.
    pub(crate) test: &'g TestId,
    /// Its file and line.
    pub(crate) place: String,
    /// Its graph.
    pub(crate) graph: &'g Graph,
    /// The code.
    pub(crate) project: &'g ProjectIndex,
    /// All of its paths.
    pub(crate) paths: &'g [ContextualPath],
    /// How many of them to show.
    pub(crate) most: usize,
}

/// The graph as text with colours.
pub(crate) fn graph(shown: &ShownGraph<'_>) -> String {
    let ShownGraph { test, place, graph, project, .. } = shown;
    let mut text = format!("{STRONG}{test}{STRONG:#}\n{DIM}{place}{DIM:#}\n");
    let _ = writeln!(
        text,
        "{}, {}, {}, {}\n",
        count(graph.nodes.len(), "value"),
        count(graph.edges.len(), "flow"),
        count(graph.assertions.len(), "assertion"),
        count(shown.paths.len(), "path")
    );
    // The first paths are from all over the test; beside one another stand those of an assertion.
    let mut first: Vec<&ContextualPath> = shown.paths.iter().take(shown.most).collect();
    first.sort_by_key(|path| assertion_of(graph, path));
    let first: Vec<ShownPath<'_>> =
        first.into_iter().map(|path| ShownPath { path, weight: None }).collect();
    text.push_str(&paths(graph, project, &first));
    let more = shown.paths.len().saturating_sub(shown.most);
    if more > 0 {
        let _ = writeln!(
            text,
            "{DIM}and {}: `--show {}` shows all{DIM:#}",
            count(more, "more path"),
            shown.paths.len()
        );
    }
    if graph.is_cut {
        let _ = writeln!(text, "{DIM}the test goes on: only its beginning was read{DIM:#}");
    }
    text
}

/// Print a text with colours, where the terminal has them.
pub(crate) fn coloured(text: &str) {
    let _ = terminal::out(text);
}

/// A text with colours as it stands in a file.
pub(crate) fn colourless(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// A longer line is cut to what surrounds the value.
const WIDEST: usize = 110;
/// What is kept before the value on a longer line.
const BEFORE: usize = 40;
/// From so many steps on, what two paths have in common is shown once.
const REPEATED: usize = 3;
/// Functions in one another deeper than this are shown as deep as this.
const DEEPEST: usize = 4;
/// A longer mark says nothing more.
const LONGEST_MARK: usize = 60;

/// A path to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownPath<'g> {
    /// The path.
    pub(crate) path: &'g ContextualPath,
    /// Its share of a model's attention, where a model has looked at it.
    pub(crate) weight: Option<f64>,
}

/// The paths on the lines of code they pass, in the order given. Paths into the same assertion
/// that follow one another stand below one headline.
pub(crate) fn paths(graph: &Graph, project: &ProjectIndex, shown: &[ShownPath<'_>]) -> String {
    let mut writer =
        Writer { graph, project, places: CodePlaces::in_project(project), text: String::new() };
    let mut before: Option<&ContextualPath> = None;
    for it in shown {
        let assertion = assertion_of(graph, it.path);
        let above = before.filter(|before| assertion_of(graph, before) == assertion);
        if above.is_none() {
            writer.headline(it.path);
        }
        writer.path(it, above.map_or(0, |above| same_end(above, it.path)));
        before = Some(it.path);
    }
    writer.text
}

/// How many steps two paths have in common at their ends.
fn same_end(one: &ContextualPath, other: &ContextualPath) -> usize {
    let pairs = one.steps.iter().rev().zip(other.steps.iter().rev());
    pairs.take_while(|(one, other)| one == other).count()
}

/// The assertion a path ends in.
fn assertion_of(graph: &Graph, path: &ContextualPath) -> Option<u32> {
    let (last, _) = path.steps.last()?;
    let is_end = |nodes: &[NodeId]| nodes.contains(last);
    let own = graph.node(*last).and_then(|node| node.assertion);
    own.or_else(|| u32::try_from(graph.assertions.iter().position(|it| is_end(&it.nodes))?).ok())
}

struct Writer<'p> {
    graph: &'p Graph,
    project: &'p ProjectIndex,
    places: CodePlaces<'p>,
    text: String,
}

/// One value of a path.
struct Step<'p> {
    place: CodePlace<'p>,
    /// The function and the file it is in.
    around: String,
    /// Whether another function calls that one.
    is_called: bool,
    /// How the value came here.
    label: String,
}

impl<'p> Writer<'p> {
    fn headline(&mut self, path: &ContextualPath) {
        let assertion = assertion_of(self.graph, path);
        let assertion = assertion.and_then(|at| self.graph.assertions.get(at as usize));
        let words = assertion.map(|it| it.words.texts(self.project).map(one_line).collect());
        let words: Vec<String> = words.unwrap_or_default();
        let end = path.steps.last().and_then(|(node, _)| self.graph.node(*node));
        let place = end.and_then(|node| self.places.place(node.unit, node.span));
        let place = place.map(|it| format!("{}:{}", it.file, it.line)).unwrap_or_default();
        let words = words.join(" ");
        let _ = writeln!(self.text, "into {STRONG}{words}{STRONG:#}  {DIM}{place}{DIM:#}\n");
    }

    /// A path that goes on like the one above it with so many last steps.
    fn path(&mut self, shown: &ShownPath<'_>, as_above: usize) {
        if let Some(weight) = shown.weight {
            let _ = writeln!(self.text, "  {OPEN}{:.0} %{OPEN:#} of the attention", 100.0 * weight);
        }
        let mut steps = self.steps(shown.path);
        let is_repeated = as_above >= REPEATED;
        if is_repeated {
            steps.truncate((steps.len() + 1).saturating_sub(as_above));
        }
        let mut callers: Vec<&str> = Vec::new();
        for section in steps.chunk_by(|a, b| a.around == b.around) {
            let Some(first) = section.first() else { continue };
            let known = callers.iter().position(|caller| *caller == first.around);
            callers.truncate(known.unwrap_or(if first.is_called { callers.len() } else { 0 }));
            self.section(section, callers.len());
            callers.push(&first.around);
        }
        if is_repeated {
            let _ = writeln!(self.text, "        {DIM}┆ from here on as above{DIM:#}");
        }
        self.text.push('\n');
    }

    fn steps(&mut self, path: &ContextualPath) -> Vec<Step<'p>> {
        let mut steps = Vec::with_capacity(path.steps.len());
        let mut through: Option<&Edge> = None;
        for (at, (node, edge)) in path.steps.iter().enumerate() {
            let how = match through {
                None if path.is_cut => "comes from further away".to_owned(),
                None => "begins here".to_owned(),
                Some(edge) => self.how(edge),
            };
            let is_last = at + 1 == path.steps.len();
            let end = if is_last { self.end(*node) } else { "" };
            through = edge.and_then(|edge| self.graph.edge(edge));
            let Some(node) = self.graph.node(*node) else { continue };
            let Some(place) = self.places.place(node.unit, node.span) else { continue };
            let function = self.places.around(node.unit, node.span);
            let is_called = function.as_ref().is_some_and(|it| it.is_called && calls(&how, it));
            let around = match function {
                Some(function) => format!("in {}, {}", function.name, place.file),
                None => format!("in {}", place.file),
            };
            steps.push(Step { place, around, is_called, label: how + end });
        }
        steps
    }

    /// Through what a value came: the operation, and the code under test that it calls.
    fn how(&mut self, edge: &Edge) -> String {
        let words: Vec<String> = edge.operation.texts(self.project).map(one_line).collect();
        let words = words.join(" ");
        match edge.code.and_then(|code| self.places.declaration(code)) {
            Some(code) => {
                format!("through {words} → {} ({}:{})", code.name, code.file, code.line)
            }
            None => format!("through {words}"),
        }
    }

    fn end(&self, node: NodeId) -> &'static str {
        match self.graph.node(node).map(|node| node.kind) {
            Some(NodeKind::Assertion) => ", where the test ends",
            _ => ", asserted here",
        }
    }

    /// The steps within one function, called by this many others.
    fn section(&mut self, steps: &[Step<'p>], depth: usize) {
        let Some(first) = steps.first() else { return };
        let deeper = "    ".repeat(depth.min(DEEPEST));
        let arrow = if depth == 0 { "" } else { "↳ " };
        let _ = writeln!(self.text, "  {deeper}{DIM}{arrow}{}{DIM:#}", first.around);
        let indent = |step: &Step<'_>| step.place.text.len() - step.place.text.trim_start().len();
        let cut = steps.iter().map(indent).min().unwrap_or_default();
        let mut before: Option<(u32, usize)> = None;
        for step in steps {
            let window = Window::cut_from(&step.place, cut);
            let here = (step.place.line, window.begin);
            if before != Some(here) {
                let line = step.place.line;
                let _ = writeln!(self.text, "  {deeper}{DIM}{line:>5} │{DIM:#} {}", window.text);
            }
            before = Some(here);
            let _ = writeln!(
                self.text,
                "  {deeper}      {DIM}│{DIM:#} {}{CHANCE}{}{CHANCE:#} {DIM}{}{DIM:#}",
                " ".repeat(window.blank),
                "^".repeat(window.marks),
                step.label
            );
        }
    }
}

/// The part of a line that is shown, and where its marks stand.
struct Window {
    /// The first character shown.
    begin: usize,
    text: String,
    blank: usize,
    marks: usize,
}

impl Window {
    /// A line without its first bytes, which are blank; a long one around its value.
    fn cut_from(place: &CodePlace<'_>, cut: usize) -> Self {
        let count = |range: &str| range.chars().count();
        let line = place.text.get(cut..).unwrap_or_default();
        let from = count(place.text.get(cut..place.marked.start).unwrap_or_default());
        let marks = count(place.text.get(place.marked.clone()).unwrap_or_default());
        let marks = marks.clamp(1, LONGEST_MARK);
        let is_long = count(line) > WIDEST;
        let begin = if is_long && from + marks > WIDEST { from.saturating_sub(BEFORE) } else { 0 };
        let shown = line.chars().skip(begin).take(WIDEST);
        // A tab is one character wide here, so that marks stand where they should.
        let mut text: String = shown.map(|it| if it.is_control() { ' ' } else { it }).collect();
        if begin > 0 {
            text.insert(0, '…');
        }
        if is_long && begin + WIDEST < count(line) {
            text.push('…');
        }
        Self { begin, text, blank: from - begin + usize::from(begin > 0), marks }
    }
}

/// Whether a value came here through a call of this function.
fn calls(how: &str, function: &Around) -> bool {
    let name = function.name.rsplit(['.', ' ']).next().unwrap_or(&function.name);
    how.split(' ').any(|word| word == name)
}

/// A text without line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use flakeproof_syntax::dependence::PathLimits;
    use flakeproof_syntax::{Finder, Layout, SourceFile};

    use super::*;

    const TEXT: &str = "\
def test_total():
\ttotal = add(now(), 2)
\ttwice = total + total
\tassert twice == 4
";

    /// The paths of the test in this text, each with this share.
    fn shown(text: &str, weight: Option<f64>) -> String {
        let file = SourceFile { path: "test_a.py", text };
        let unit = Finder::default().lower(&file, &Layout::default()).unit;
        let project = ProjectIndex::new(vec![unit]);
        let (_, test) = project.tests().next().expect("there is a test");
        let graph = Graph::new(&project, test, None);
        let found = graph.paths(&project, &PathLimits::default());
        let all: Vec<ShownPath<'_>> = found.iter().map(|path| ShownPath { path, weight }).collect();
        anstream::adapter::strip_str(&paths(&graph, &project, &all)).to_string()
    }

    #[test]
    fn values_are_marked_on_their_lines_and_what_is_common_is_shown_once() {
        insta::assert_snapshot!(shown(TEXT, None));
    }

    #[test]
    fn a_model_says_how_much_it_looked_at_a_path() {
        assert!(shown(TEXT, Some(0.314)).contains("  31 % of the attention\n"));
    }

    #[test]
    fn marks_stand_below_their_values_in_any_script() {
        let text = TEXT.replace("now()", "'grüße', now()");
        let shown = shown(&text, None);
        let code = "      2 │ total = add('grüße', now(), 2)\n";
        let marks = "        │                      ^^^^^ begins here\n";
        assert!(shown.contains(&format!("{code}{marks}")), "{shown}");
    }
}
