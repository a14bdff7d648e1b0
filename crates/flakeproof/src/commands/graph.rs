//! `flakeproof graph`: how values flow through one test, as a person reads it and as reports draw
//! it.

use std::collections::HashSet;

use flakeproof_core::{ExitCode, Notice};
use flakeproof_report::graph::{
    CalledCode, CodeLine, Dot, GraphAssertion, GraphEdge, GraphNode, GraphPath, TestGraph,
    ValueKind,
};
use flakeproof_report::svg::Svg;
use flakeproof_report::{Json, Renderer};
use flakeproof_syntax::Language;
use flakeproof_syntax::dependence::{
    Assertion, ContextualPath, Edge, Graph, Node, NodeKind, PathLimits, Words,
};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;

use crate::cli::{GraphArguments, GraphFormat};
use crate::problem::Problem;
use crate::session::{current_folder, naming, reports};
use crate::source::code_places::CodePlaces;
use crate::source::project_source::{self, ProjectSource};
use crate::source::source_cache::SourceCache;
use crate::source::source_tests::{self, SourceTest};
use crate::view::{self, ShownGraph};

/// Run the command.
pub(crate) fn run(typed: &GraphArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let cache = SourceCache::of(&folder);
    let (found, source) = ProjectSource::read_with_tests(&typed.paths, &folder, cache)?;
    if found.tests.is_empty() {
        view::notices(&found.notices);
        return Err(source_tests::no_tests(&typed.paths));
    }
    let test = naming::the_one_written(&typed.test, &found.tests)?;
    if !project_source::has_graphs(test.language) {
        return Err(no_graphs_for(test.language));
    }
    let mut notices = found.notices;
    notices.extend(source.notices.iter().cloned());
    let found = source.find(&test.id);
    source.save();
    let Some(declared) = found else {
        view::notices(&notices);
        return Err(unreadable(test));
    };
    let project = source.index();
    let graph = Graph::new(project, declared, None);
    let paths = graph.paths(project, &PathLimits::default());
    if paths.is_empty() {
        notices.push(why_no_path(project, declared, &graph));
    }
    put(&Drawing { project, test, graph: &graph, paths: &paths }, notices, typed)?;
    Ok(ExitCode::Clean)
}

/// Print or write the graph as it was asked for.
fn put(drawing: &Drawing<'_>, notices: Vec<Notice>, typed: &GraphArguments) -> Result<(), Problem> {
    if typed.output_format != GraphFormat::Json {
        view::notices(&notices);
    }
    match (typed.output_format, &typed.output) {
        (GraphFormat::Text, output) => {
            let text = view::graph(&drawing.shown(typed.show));
            match output {
                Some(path) => reports::put(path, view::colourless(&text).as_bytes())?,
                None => view::coloured(&text),
            }
        }
        (format, Some(path)) => reports::put(path, &rendered(&drawing.draw(notices), format)?)?,
        (format, None) => view::data(&rendered(&drawing.draw(notices), format)?),
    }
    Ok(())
}

fn rendered(graph: &TestGraph, format: GraphFormat) -> Result<Vec<u8>, Problem> {
    let rendered = match format {
        GraphFormat::Dot => Dot.render(graph),
        GraphFormat::Svg => Svg.render(graph),
        GraphFormat::Json | GraphFormat::Text => Json.render(graph),
    };
    rendered.map_err(|error| reports::cannot_render(&error))
}

fn no_graphs_for(language: Language) -> Problem {
    Problem::usage(
        format!("no graph can be drawn of a test in {}", language.name()),
        "name a test in Java, Python, JavaScript, TypeScript, Go or Rust; `flakeproof explain` \
         understands this one",
    )
}

fn unreadable(test: &SourceTest) -> Problem {
    Problem::usage(
        format!("{} could not be read well enough to draw {}", test.file, test.id),
        "does the file compile? If it does, please report this as a bug",
    )
}

/// Why nothing is asserted about any value.
fn why_no_path(project: &ProjectIndex, declared: Declared, graph: &Graph) -> Notice {
    let is_empty = project.function(declared).is_none_or(|function| function.body.is_empty());
    let (what, next) = match (is_empty, graph.assertions.is_empty()) {
        (true, _) => {
            ("the test has no path: its body is empty", "let it call and assert something")
        }
        (false, true) => (
            "the test has no path: it asserts nothing and calls nothing",
            "let it call and assert something",
        ),
        (false, false) => (
            "the test has no path: no value flows into what it asserts",
            "let it assert something that depends on a value",
        ),
    };
    Notice { what: what.to_owned(), next: next.to_owned() }
}

/// What a graph is drawn of.
struct Drawing<'g> {
    pub(super) project: &'g ProjectIndex,
    pub(super) test: &'g SourceTest,
    pub(super) graph: &'g Graph,
    pub(super) paths: &'g [ContextualPath],
}

impl Drawing<'_> {
    /// The graph for the terminal, with at most so many paths.
    pub(super) fn shown(&self, most: usize) -> ShownGraph<'_> {
        ShownGraph {
            test: &self.test.id,
            place: format!("{}:{}", self.test.file, self.test.first_line),
            graph: self.graph,
            project: self.project,
            paths: self.paths,
            most,
        }
    }

    /// The graph with all its texts.
    pub(super) fn draw(&self, notices: Vec<Notice>) -> TestGraph {
        let mut places = CodePlaces::in_project(self.project);
        let Self { test, graph, .. } = self;
        TestGraph {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: test.id.clone(),
            file: test.file.clone(),
            line: test.first_line,
            language: test.language.name().to_owned(),
            nodes: graph.nodes.iter().map(|node| self.node(node, &mut places)).collect(),
            edges: graph.edges.iter().map(|edge| self.edge(edge, &mut places)).collect(),
            assertions: graph.assertions.iter().map(|it| self.assertion(it)).collect(),
            paths: self.paths.iter().map(path).collect(),
            lines: self.lines(&mut places),
            is_cut: graph.is_cut,
            notices,
        }
    }

    fn node(&self, node: &Node, places: &mut CodePlaces<'_>) -> GraphNode {
        let unit = self.project.units().get(node.unit as usize);
        GraphNode {
            text: one_line(unit.map_or("", |unit| unit.text_of(node.span))),
            kind: match node.kind {
                NodeKind::Variable => ValueKind::Variable,
                NodeKind::Literal => ValueKind::Literal,
                NodeKind::Call => ValueKind::Call,
                NodeKind::Assertion => ValueKind::Assertion,
            },
            file: unit.map(|unit| unit.path.clone()).unwrap_or_default(),
            line: places.place(node.unit, node.span).map_or(node.span.line, |place| place.line),
            start: node.is_start,
            assertion: node.assertion,
        }
    }

    fn edge(&self, edge: &Edge, places: &mut CodePlaces<'_>) -> GraphEdge {
        let code = edge.code.and_then(|code| places.declaration(code));
        let code = code.map(|code| CalledCode {
            name: code.name,
            file: code.file.to_owned(),
            line: code.line,
        });
        GraphEdge { from: edge.from.0, to: edge.to.0, operation: self.words(&edge.operation), code }
    }

    fn assertion(&self, assertion: &Assertion) -> GraphAssertion {
        let nodes = assertion.nodes.iter().map(|node| node.0).collect();
        GraphAssertion { words: self.words(&assertion.words), nodes }
    }

    fn words(&self, words: &Words) -> Vec<String> {
        words.texts(self.project).map(one_line).collect()
    }

    fn lines(&self, places: &mut CodePlaces<'_>) -> Vec<CodeLine> {
        let mut lines: Vec<CodeLine> = Vec::new();
        let mut seen = HashSet::new();
        for node in &self.graph.nodes {
            let place = places.place(node.unit, node.span);
            if let Some(place) = place.filter(|place| seen.insert((place.file, place.line))) {
                let (file, text) = (place.file.to_owned(), place.text.to_owned());
                lines.push(CodeLine { file, line: place.line, text });
            }
        }
        lines
    }
}

fn path(path: &ContextualPath) -> GraphPath {
    GraphPath {
        nodes: path.steps.iter().map(|(node, _)| node.0).collect(),
        edges: path.steps.iter().filter_map(|(_, edge)| Some(edge.as_ref()?.0)).collect(),
        cut: path.is_cut,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
