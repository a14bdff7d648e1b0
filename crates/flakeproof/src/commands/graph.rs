//! `flakeproof graph`: how values flow through one test.

use flakeproof_core::{ExitCode, Notice};
use flakeproof_report::graph::{Dot, TestGraph};
use flakeproof_report::svg::Svg;
use flakeproof_report::{Json, Renderer};
use flakeproof_syntax::Language;
use flakeproof_syntax::dependence::{Graph, PathLimits};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::Project;

use super::drawn_graph::Drawing;
use crate::cli::{GraphArguments, GraphFormat};
use crate::problem::Problem;
use crate::session::{current_folder, naming, reports};
use crate::source::project_source::{self, ProjectSource};
use crate::source::source_tests::{self, SourceTest};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &GraphArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let found = source_tests::read(&typed.paths, &folder)?;
    if found.tests.is_empty() {
        view::notices(&found.notices);
        return Err(source_tests::no_tests(&typed.paths));
    }
    let test = naming::the_one_written(&typed.test, &found.tests)?;
    if !project_source::has_graphs(test.language) {
        return Err(no_graphs_for(test.language));
    }
    let source = ProjectSource::read(&typed.paths, &folder)?;
    let mut notices = found.notices;
    notices.extend(source.notices.iter().cloned());
    let Some(declared) = source.find(&test.id) else {
        view::notices(&notices);
        return Err(unreadable(test));
    };
    let project = &source.project;
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
    if typed.format != GraphFormat::Json {
        view::notices(&notices);
    }
    match (typed.format, &typed.output) {
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
fn why_no_path(project: &Project, declared: Declared, graph: &Graph) -> Notice {
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
