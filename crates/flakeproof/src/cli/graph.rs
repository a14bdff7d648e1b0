//! `flakeproof graph`, as it is typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Draw how values flow through one test into what it asserts. Nothing is run.
///
/// Follows values from where they begin (a literal, a field, the clock) through set-up, fixtures,
/// helpers and calls into the code under test. Understands Java, Python, JavaScript, TypeScript, Go
/// and Rust. The code under test is looked for in the current folder.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// The test, by its id or the end of it.
    #[arg(value_name = "TEST")]
    pub(crate) test: String,
    /// Files and folders to look for the test in.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to draw it.
    #[arg(long, visible_alias = "output-format", value_name = "FORMAT", default_value = "text")]
    pub(crate) format: GraphFormat,
    /// Write it to this file instead of stdout.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How many paths to show as text.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) show: usize,
}

/// How to draw a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// The paths on the code itself, for people.
    Text,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// One JSON document.
    Json,
}
