//! Draws the graphs of labelled tests: `cargo run --release --example paths_of_tests -- TESTS.jsonl
//! SOURCES [REPORT]`, where `SOURCES` has a folder per project and each line of `TESTS.jsonl` names
//! `project`, `class`, `method` and whether it is `in_peeler`.
//!
//! Prints how many tests have a path, how many and how long paths are, how many edges lead into
//! the project's code, and what everything costs. `REPORT` gets a line for each test without one.

#![expect(clippy::print_stderr, reason = "an example talks to a person")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakeproof_syntax::dependence::{Graph, PathLimits};
use flakeproof_syntax::flow::{Declared, Unit};
use flakeproof_syntax::project::{ProjectIndex, ReachLimits};
use flakeproof_syntax::{Finder, Language, Layout, SourceFile};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tests, sources, rest @ ..] = arguments.as_slice() else {
        return Err("give the file of tests and the folder of sources".into());
    };
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global()?;
    let mut projects: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
    for line in std::fs::read_to_string(tests)?.lines() {
        let test = Labelled::read(line)?;
        projects.entry(test.project.clone()).or_default().push(test);
    }
    let started = Instant::now();
    let (mut all, mut peeler, mut cost) = (Figures::default(), Figures::default(), Cost::default());
    let mut report = String::new();
    for (name, tests) in &projects {
        let drawn = of_project(&Path::new(sources).join(name), tests, &mut cost);
        let mut own = Figures::default();
        for (test, drawn) in tests.iter().zip(&drawn) {
            own.add(drawn);
            all.add(drawn);
            if test.in_peeler {
                peeler.add(drawn);
            }
            if drawn.paths == 0 {
                let Labelled { class, method, .. } = test;
                report.push_str(&format!("{name} {class}#{method}: {}\n", drawn.reason));
            }
        }
        eprintln!("{name}: {own}");
    }
    eprintln!("in PEELER: {peeler}\nall: {all}");
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{seconds:.1} s in all, {cost:?}; largest memory {}", largest_memory());
    if let Some(path) = rest.first() {
        std::fs::write(path, report)?;
    }
    Ok(())
}

struct Labelled {
    project: String,
    class: String,
    method: String,
    in_peeler: bool,
}

impl Labelled {
    fn read(line: &str) -> Result<Self, serde_json::Error> {
        let fields: serde_json::Value = serde_json::from_str(line)?;
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        Ok(Self {
            project: text("project"),
            class: text("class"),
            method: text("method"),
            in_peeler: fields["in_peeler"].as_bool().unwrap_or(false),
        })
    }
}

/// Where the time went, on the clock.
#[derive(Debug, Default)]
struct Cost {
    read: Duration,
    lower: Duration,
    index: Duration,
    draw: Duration,
    reach: Duration,
}

/// What became of one test.
#[derive(Default)]
struct Drawn {
    is_found: bool,
    paths: usize,
    nodes: usize,
    edges: usize,
    edges_with_code: usize,
    paths_with_code: usize,
    is_cut: bool,
    reached: usize,
    reason: &'static str,
}

fn of_project(root: &Path, tests: &[Labelled], cost: &mut Cost) -> Vec<Drawn> {
    let clock = Instant::now();
    let mut paths = Vec::new();
    walk(root, &mut paths);
    paths.sort();
    let files: Vec<(String, String)> = paths
        .par_iter()
        .filter_map(|path| {
            let bytes = std::fs::read(path).ok()?;
            let relative = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
            Some((relative, String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect();
    cost.read += clock.elapsed();
    let clock = Instant::now();
    let layout = Layout::default();
    let units: Vec<Unit> = files
        .into_par_iter()
        .map_init(Finder::default, |finder, (path, text)| {
            finder.lower(&SourceFile { path: &path, text: &text }, &layout).unit
        })
        .collect();
    cost.lower += clock.elapsed();
    let clock = Instant::now();
    let project = ProjectIndex::new(units);
    cost.index += clock.elapsed();
    let clock = Instant::now();
    let mut drawn: Vec<Drawn> = tests.par_iter().map(|test| draw(&project, test)).collect();
    cost.draw += clock.elapsed();
    let clock = Instant::now();
    drawn.par_iter_mut().zip(tests).for_each(|(drawn, test)| {
        if let Some(declared) = project.find_method(&test.class, &test.method) {
            let reached =
                project.reach_of_test(declared, Some(&test.class), ReachLimits::default());
            drawn.reached = reached.len();
        }
    });
    cost.reach += clock.elapsed();
    drawn
}

fn draw(project: &ProjectIndex, test: &Labelled) -> Drawn {
    let Some(declared) = project.find_method(&test.class, &test.method) else {
        let class = project.find_class(&test.class);
        let reason = if class.is_some() { "no such method" } else { "no such class" };
        return Drawn { reason, ..Drawn::default() };
    };
    let graph = Graph::new(project, declared, Some(&test.class));
    let paths = graph.paths(project, &PathLimits::default());
    let edges: Vec<_> =
        paths.iter().flat_map(|p| &p.steps).filter_map(|(_, edge)| graph.edge((*edge)?)).collect();
    Drawn {
        is_found: true,
        paths: paths.len(),
        nodes: paths.iter().map(|path| path.steps.len()).sum(),
        edges: graph.edges.len(),
        edges_with_code: graph.edges.iter().filter(|edge| edge.code.is_some()).count(),
        paths_with_code: edges.iter().filter(|edge| edge.code.is_some()).count(),
        is_cut: graph.is_cut,
        reached: 0,
        reason: reason(project, declared, &graph),
    }
}

fn reason(project: &ProjectIndex, declared: Declared, graph: &Graph) -> &'static str {
    let is_empty = project.function(declared).is_none_or(|function| function.body.is_empty());
    match (is_empty, graph.assertions.is_empty()) {
        (true, _) => "empty body",
        (false, true) => "nothing asserted, nothing called",
        (false, false) => "nothing flows into what is asserted",
    }
}

#[derive(Default)]
struct Figures {
    tests: usize,
    found: usize,
    with_path: usize,
    paths: usize,
    nodes: usize,
    edges: usize,
    edges_with_code: usize,
    steps_with_code: usize,
    cut: usize,
    full: usize,
    reached: usize,
    reasons: BTreeMap<&'static str, usize>,
}

impl Figures {
    fn add(&mut self, drawn: &Drawn) {
        self.tests += 1;
        self.found += usize::from(drawn.is_found);
        self.with_path += usize::from(drawn.paths > 0);
        self.paths += drawn.paths;
        self.nodes += drawn.nodes;
        self.edges += drawn.edges;
        self.edges_with_code += drawn.edges_with_code;
        self.steps_with_code += drawn.paths_with_code;
        self.cut += usize::from(drawn.is_cut);
        self.full += usize::from(drawn.paths == 100);
        self.reached += drawn.reached;
        if drawn.paths == 0 {
            *self.reasons.entry(drawn.reason).or_default() += 1;
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        write!(
            f,
            "{} tests, {} found, {:.2} % without a path {:?}; {:.1} paths of {:.1} nodes, {} with \
             100; {:.1} edges, {:.1} % with code ({:.1} % on paths); {:.1} functions reached; {} \
             cut",
            self.tests,
            self.found,
            100.0 * (1.0 - share(self.with_path, self.tests)),
            self.reasons,
            share(self.paths, self.with_path),
            share(self.nodes, self.paths),
            self.full,
            share(self.edges, self.found),
            100.0 * share(self.edges_with_code, self.edges),
            100.0 * share(self.steps_with_code, self.nodes - self.paths.min(self.nodes)),
            share(self.reached, self.found),
            self.cut,
        )
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, found);
        } else if path.to_str().is_some_and(|path| Language::of_path(path).is_some()) {
            found.push(path);
        }
    }
}

/// The most memory this process has used, as Linux tells it.
fn largest_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
