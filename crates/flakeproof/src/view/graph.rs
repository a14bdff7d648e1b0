//! The dependency graph of a test, as a person reads it.

use std::fmt::Write as _;

use flakeproof_core::TestId;
use flakeproof_syntax::dependence::{ContextualPath, Graph};
use flakeproof_syntax::project::Project;

use super::paths::{ShownPath, assertion_of, paths};
use super::predictions::count;
use super::printed;
use super::styles::{DIM, STRONG};

/// What is shown of a graph.
pub(crate) struct ShownGraph<'g> {
    /// The test.
    pub(crate) test: &'g TestId,
    /// Its file and line.
    pub(crate) place: String,
    /// Its graph.
    pub(crate) graph: &'g Graph,
    /// The code.
    pub(crate) project: &'g Project,
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
    let _ = printed::out(text);
}

/// A text with colours as it stands in a file.
pub(crate) fn colourless(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
